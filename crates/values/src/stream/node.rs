// SPDX-License-Identifier: Apache-2.0
//! [`Node`]: some items of a stream that follow each other, in one allocation.
//!
//! ```text
//!  │ fields │ field … │ item … │          the fields of the node's first item, then all items
//!  item:
//!  │ 0      │ ms │ seq │ value …       │   an item with these fields
//!  │ pairs  │ ms │ seq │ field, value …│   an item with other fields
//! ```
//!
//! `ms` is the difference to the milliseconds of the node's first id. If it is 0, `seq` is a
//! difference, too. Numbers and texts are written as `code.rs` says. An item that is deleted is cut out.
//!
//! INV-NODE: the ids are within `first..=last` and rise; `live` items are there.

use super::StreamId;
use super::code::{Reader, put_number, put_text};
use crate::Text;
use crate::thin::Thin;
use std::ops::Range;

/// Some items of a stream.
#[derive(Debug)]
pub(crate) struct Node {
    /// The id of the item with which the node was made, which may be deleted.
    pub(crate) first: StreamId,
    /// The id of the item that was added last, which may be deleted.
    pub(crate) last: StreamId,
    block: Thin,
    /// Where in the block the items begin.
    items_at: u32,
    /// Items.
    pub(crate) live: u16,
    /// Items, and those that were deleted.
    pub(crate) added: u16,
}

/// An item: an id, and fields with values.
#[derive(Clone, Copy, Debug)]
pub struct StreamItem<'a> {
    /// Its id.
    pub id: StreamId,
    /// The fields, if they are those of the node.
    shared: Option<Reader<'a>>,
    pairs: usize,
    texts: Reader<'a>,
    start: usize,
    end: usize,
}

impl<'a> StreamItem<'a> {
    /// Pairs of a field and a value.
    #[expect(clippy::len_without_is_empty, reason = "no item is empty")]
    pub fn len(&self) -> usize {
        self.pairs
    }

    /// The fields, each with its value, in the order in which they were given.
    pub fn pairs(&self) -> impl ExactSizeIterator<Item = (Text<'a>, Text<'a>)> + use<'a> {
        let (mut shared, mut texts) = (self.shared, self.texts);
        (0..self.pairs).map(move |_| {
            let field = shared.as_mut().unwrap_or(&mut texts).text();
            (field, texts.text())
        })
    }

    /// Where in its node it is.
    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

impl Node {
    /// The most items of a node, whatever the limits say.
    pub(crate) const ITEMS_MAX: usize = u16::MAX as usize;

    /// A node of one item.
    pub(crate) fn new<'a>(
        id: StreamId,
        pairs: impl ExactSizeIterator<Item = [&'a [u8]; 2]> + Clone,
        scratch: &mut Vec<u8>,
    ) -> Self {
        scratch.clear();
        put_number(scratch, pairs.len() as u64);
        pairs.clone().for_each(|[field, _]| put_text(scratch, field));
        let items_at = scratch.len() as u32;
        scratch.extend_from_slice(&[0, 0, 0]);
        pairs.for_each(|[_, value]| put_text(scratch, value));
        Node { first: id, last: id, block: Thin::new(&[scratch]), items_at, live: 1, added: 1 }
    }

    /// Adds an item behind the others.
    pub(crate) fn append<'a>(
        &mut self,
        id: StreamId,
        pairs: impl ExactSizeIterator<Item = [&'a [u8]; 2]> + Clone,
        scratch: &mut Vec<u8>,
    ) {
        scratch.clear();
        let is_same = self.has_fields(pairs.clone().map(|[field, _]| field));
        put_number(scratch, if is_same { 0 } else { pairs.len() as u64 });
        let ms = id.ms - self.first.ms;
        put_number(scratch, ms);
        put_number(scratch, if ms == 0 { id.seq - self.first.seq } else { id.seq });
        for [field, value] in pairs {
            if !is_same {
                put_text(scratch, field);
            }
            put_text(scratch, value);
        }
        let end = self.block.len();
        self.block.splice(end..end, scratch);
        self.last = id;
        self.live += 1;
        self.added += 1;
    }

    /// Whether these are the fields of the node, in this order.
    fn has_fields<'a>(&self, fields: impl ExactSizeIterator<Item = &'a [u8]>) -> bool {
        let mut reader = Reader { bytes: &self.block, at: 0 };
        reader.number() == fields.len() as u64
            && fields.into_iter().all(|field| *reader.text() == *field)
    }

    /// The memory behind it.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.block.heap_bytes()
    }

    /// Bytes of the items and the fields.
    pub(crate) fn len(&self) -> usize {
        self.block.len()
    }

    /// The item that begins at `start`, if one does.
    #[inline]
    pub(crate) fn item_at(&self, start: usize) -> Option<StreamItem<'_>> {
        let mut reader = Reader { bytes: &self.block, at: start };
        if reader.is_over() {
            return None;
        }
        let pairs = reader.number();
        let (ms, seq) = (reader.number(), reader.number());
        let seq = if ms == 0 { self.first.seq + seq } else { seq };
        let id = StreamId::new(self.first.ms + ms, seq);
        let texts = reader;
        let mut shared = None;
        let pairs = if pairs == 0 {
            let mut fields = Reader { bytes: &self.block, at: 0 };
            let pairs = fields.number();
            shared = Some(fields);
            reader.skip_texts(pairs);
            pairs
        } else {
            reader.skip_texts(2 * pairs);
            pairs
        };
        Some(StreamItem { id, shared, pairs: pairs as usize, texts, start, end: reader.at })
    }

    /// Where the first item begins.
    pub(crate) fn start(&self) -> usize {
        self.items_at as usize
    }

    /// All items.
    pub(crate) fn items(&self) -> impl Iterator<Item = StreamItem<'_>> + Clone {
        let mut at = self.start();
        std::iter::from_fn(move || {
            let item = self.item_at(at)?;
            at = item.end;
            Some(item)
        })
    }

    /// The item with this id.
    pub(crate) fn find(&self, id: StreamId) -> Option<StreamItem<'_>> {
        self.items().find(|item| item.id >= id).filter(|item| item.id == id)
    }

    /// Cuts out `count` items at these bytes.
    pub(crate) fn cut(&mut self, range: Range<usize>, count: u16) {
        self.block.splice(range, &[]);
        self.live -= count;
    }

    pub(crate) fn copy(&self) -> Node {
        Node { block: Thin::new(&[&self.block]), ..*self }
    }

    /// # Panics
    ///
    /// When an invariant does not hold, with its name.
    pub(crate) fn check(&self) {
        let mut before = None;
        for item in self.items() {
            assert!(self.first <= item.id && item.id <= self.last, "INV-NODE: {}", item.id);
            assert!(before < Some(item.id), "INV-NODE: the order");
            before = Some(item.id);
        }
        assert_eq!(self.items().count(), usize::from(self.live), "INV-NODE");
        assert!(self.live > 0 && self.live <= self.added, "INV-NODE");
    }
}
