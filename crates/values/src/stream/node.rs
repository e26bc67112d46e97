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
//! INV-NODE: the ids are within `first..=last` and rise; `live` items are there. What it would take in Redis is
//! [counted](super::size) as items are added.

use super::StreamId;
use super::code::{Reader, put_number, put_text};
use super::size::{fields_frame, item_frame, node_frame};
use crate::Text;
use crate::listpack::text_len;
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
    /// INV-SIZE: what fields and items, also those that were deleted, would take in a listpack.
    size: u32,
    /// Items.
    pub(crate) live: u16,
    /// Items, and those that were deleted.
    pub(crate) added: u16,
}

/// Items that were deleted from a node.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Deleted {
    pub(crate) count: u16,
    /// Bytes that they took in a listpack.
    pub(crate) size: usize,
    /// The greatest of their ids.
    pub(crate) last: StreamId,
}

impl Deleted {
    /// Counts one.
    pub(crate) fn add(&mut self, id: StreamId, size: usize) {
        self.count = self.count.saturating_add(1);
        self.size = self.size.saturating_add(size);
        self.last = self.last.max(id);
    }
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

    /// Whether its fields are those of its node.
    pub(crate) fn has_node_fields(&self) -> bool {
        self.shared.is_some()
    }

    /// What it would take in a listpack, in a node whose first id is this.
    fn listpack_len(&self, first: StreamId) -> usize {
        let is_same = self.has_node_fields();
        let texts = self
            .pairs()
            .map(|(field, value)| text_len(&value) + if is_same { 0 } else { text_len(&field) });
        item_frame(first, self.id, self.pairs, is_same) + texts.sum::<usize>()
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
        let fields = put_fields(scratch, pairs.clone().map(|[field, _]| field));
        let items_at = scratch.len() as u32;
        let size = in_u32(fields + put_item(scratch, id, id, pairs, true));
        let block = Thin::new(&[scratch]);
        Node { first: id, last: id, block, items_at, size, live: 1, added: 1 }
    }

    /// A node that was begun with this id and these fields, still without items.
    pub(crate) fn begun<'a>(
        first: StreamId,
        fields: impl ExactSizeIterator<Item = &'a [u8]>,
        scratch: &mut Vec<u8>,
    ) -> Self {
        scratch.clear();
        let size = in_u32(put_fields(scratch, fields));
        let (block, items_at) = (Thin::new(&[scratch]), scratch.len() as u32);
        Node { first, last: first, block, items_at, size, live: 0, added: 0 }
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
        let size = put_item(scratch, self.first, id, pairs, is_same);
        let end = self.block.len();
        self.block.splice(end..end, scratch);
        self.last = id;
        self.live += 1;
        self.added += 1;
        self.size = self.size.saturating_add(in_u32(size));
    }

    /// Counts items that were deleted before they got here.
    pub(crate) fn count_deleted(&mut self, deleted: Deleted) {
        self.last = self.last.max(deleted.last);
        self.size = self.size.saturating_add(in_u32(deleted.size));
        self.added = self.added.saturating_add(deleted.count);
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

    /// Items that were deleted.
    pub(crate) fn deleted(&self) -> u16 {
        self.added - self.live
    }

    /// What it would take as a listpack.
    pub(crate) fn listpack_len(&self) -> usize {
        node_frame(self.live, self.deleted()) + self.size as usize
    }

    /// What fields and live items take of `size`.
    fn live_len(&self) -> usize {
        let fields: usize = self.fields().map(|field| text_len(&field)).sum();
        let items: usize = self.items().map(|item| item.listpack_len(self.first)).sum();
        fields_frame(self.fields().len()) + fields + items
    }

    /// What items that were deleted took in a listpack. Reads all others.
    pub(crate) fn deleted_len(&self) -> usize {
        (self.size as usize).saturating_sub(self.live_len())
    }

    /// The fields of the node.
    pub(crate) fn fields(&self) -> impl ExactSizeIterator<Item = Text<'_>> {
        let mut reader = Reader { bytes: &self.block, at: 0 };
        let count = reader.number() as usize;
        (0..count).map(move |_| reader.text())
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
        let (size, live) = (self.size as usize, self.live_len());
        assert!(size == live || size > live && self.deleted() > 0, "INV-SIZE: {size}, {live}");
    }
}

/// Sizes end far below this, and what is larger is too large for any limit.
fn in_u32(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(u32::MAX)
}

/// Writes the fields of a node. What they would take in a listpack.
fn put_fields<'a>(to: &mut Vec<u8>, fields: impl ExactSizeIterator<Item = &'a [u8]>) -> usize {
    let count = fields.len();
    put_number(to, count as u64);
    fields_frame(count) + fields.map(|field| put_text(to, field)).sum::<usize>()
}

/// Writes an item of a node whose first id is this. What it would take in a listpack.
fn put_item<'a>(
    to: &mut Vec<u8>,
    first: StreamId,
    id: StreamId,
    pairs: impl ExactSizeIterator<Item = [&'a [u8]; 2]>,
    is_same: bool,
) -> usize {
    let mut size = item_frame(first, id, pairs.len(), is_same);
    put_number(to, if is_same { 0 } else { pairs.len() as u64 });
    let ms = id.ms - first.ms;
    put_number(to, ms);
    put_number(to, if ms == 0 { id.seq - first.seq } else { id.seq });
    for [field, value] in pairs {
        if !is_same {
            size += put_text(to, field);
        }
        size += put_text(to, value);
    }
    size
}
