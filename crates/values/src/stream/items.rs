// SPDX-License-Identifier: Apache-2.0
//! [`Items`]: the items of a stream in [nodes](super::node), and what is known of those that were
//! there.
//!
//! INV-ITEMS: the nodes are in the order of their ids and not empty; `len` is the number of live
//! items, `bytes` the memory behind the nodes; no id is above `last_id`.

use super::StreamId;
use super::chunks::{Place, SortedChunks};
use super::iter::{StreamIter, StreamRevIter};
use super::node::{Deleted, Node, StreamItem};
use crate::Limits;

/// The most bytes, as a listpack, at which a node takes more items, whatever the limits say.
pub(crate) const NODE_BYTES_MAX: usize = 64 << 10;

/// The items of a stream.
#[derive(Debug)]
pub(crate) struct Items {
    pub(super) nodes: SortedChunks<Node>,
    pub(super) len: usize,
    bytes: usize,
    pub(super) last_id: StreamId,
    pub(super) max_deleted_id: StreamId,
    pub(super) added: u64,
}

impl Items {
    pub(super) const fn new() -> Self {
        Items {
            nodes: SortedChunks::new(),
            len: 0,
            bytes: 0,
            last_id: StreamId::MIN,
            max_deleted_id: StreamId::MIN,
            added: 0,
        }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes + self.nodes.heap_bytes()
    }

    /// The id of the first item; 0-0 if there is none.
    pub(super) fn first_id(&self) -> StreamId {
        let first = self.nodes.first().and_then(|node| node.items().next());
        first.map_or(StreamId::MIN, |item| item.id)
    }

    /// The first item.
    pub(super) fn first(&self) -> Option<StreamItem<'_>> {
        self.nodes.first()?.items().next()
    }

    /// The last item.
    pub(super) fn last(&self) -> Option<StreamItem<'_>> {
        self.nodes.last()?.items().last()
    }

    /// The place of the node that may have an item with this id, or of the first behind it.
    pub(super) fn place(&self, id: StreamId) -> Place {
        self.nodes.partition(|node| node.last < id)
    }

    /// The item with this id.
    pub(super) fn get(&self, id: StreamId) -> Option<StreamItem<'_>> {
        self.nodes.get(self.place(id))?.find(id)
    }

    /// The items with ids from `start` to `end`.
    pub(super) fn range(&self, start: StreamId, end: StreamId) -> StreamIter<'_> {
        StreamIter::new(self.nodes.range(self.place(start), self.nodes.end()), start, end)
    }

    /// The same backwards.
    pub(super) fn range_rev(&self, start: StreamId, end: StreamId) -> StreamRevIter<'_> {
        let behind = self.nodes.partition(|node| node.first <= end);
        StreamRevIter::new(self.nodes.range(self.nodes.start(), behind), start, end)
    }

    /// Adds an item behind all others.
    pub(super) fn append<'a>(
        &mut self,
        id: StreamId,
        pairs: impl ExactSizeIterator<Item = [&'a [u8]; 2]> + Clone,
        limits: &Limits,
    ) {
        let scratch = &mut Vec::new();
        assert!(id > self.last_id, "ids rise");
        let more: usize = pairs.clone().map(|[field, value]| field.len() + value.len()).sum();
        let entries_max = match limits.stream_node_entries {
            0 => Node::ITEMS_MAX,
            limit => limit.min(Node::ITEMS_MAX),
        };
        let bytes_max = match limits.stream_node_bytes {
            0 => NODE_BYTES_MAX,
            limit => limit.min(NODE_BYTES_MAX),
        };
        let has_room = |node: &&mut Node| {
            let is_begun = node.live == 0;
            let has_room = node.listpack_len() + more < bytes_max;
            is_begun || has_room && usize::from(node.added) < entries_max
        };
        match self.nodes.last_mut().filter(has_room) {
            Some(node) => {
                self.bytes -= node.heap_bytes();
                node.append(id, pairs, scratch);
                self.bytes += node.heap_bytes();
            }
            None => self.push_node(Node::new(id, pairs, scratch)),
        }
        self.last_id = id;
        self.len += 1;
        self.added = self.added.saturating_add(1);
    }

    fn push_node(&mut self, node: Node) {
        // Deleted items at the end may have had greater ids, which are forgotten.
        if let Some(before) = self.nodes.last_mut().filter(|before| before.last >= node.first) {
            before.last = self.last_id;
        }
        self.bytes += node.heap_bytes();
        self.nodes.push(node);
    }

    /// Begins a node, to which at least one item must be added.
    pub(super) fn begin_node<'a>(
        &mut self,
        first: StreamId,
        fields: impl ExactSizeIterator<Item = &'a [u8]>,
    ) {
        self.push_node(Node::begun(first, fields, &mut Vec::new()));
    }

    /// Ends the node that was begun last, from which these items were deleted; removes it if no item was added.
    pub(super) fn end_node(&mut self, deleted: Deleted) {
        match self.nodes.last_mut() {
            Some(node) if node.live > 0 => node.count_deleted(deleted),
            _ => self.remove_node(self.nodes.partition(|node| node.live > 0)),
        }
    }

    /// The id of the last item; 0-0 if there is none.
    pub(super) fn last_live_id(&self) -> StreamId {
        self.last().map_or(StreamId::MIN, |item| item.id)
    }

    /// Sets the greatest id, which is not less than that of any item.
    pub(super) fn set_last_id(&mut self, id: StreamId) {
        // Deleted items at the end may have had greater ids, which are forgotten.
        if let Some(node) = self.nodes.last_mut() {
            node.last = node.last.min(id);
        }
        self.last_id = id;
    }

    /// Removes the item with this id; whether there was one.
    pub(super) fn remove(&mut self, id: StreamId) -> bool {
        let place = self.place(id);
        let Some(node) = self.nodes.get_mut(place) else { return false };
        let Some(range) = node.find(id).map(|item| item.range()) else { return false };
        if node.live == 1 {
            self.remove_node(place);
        } else {
            self.bytes -= node.heap_bytes();
            node.cut(range, 1);
            self.bytes += node.heap_bytes();
            self.len -= 1;
        }
        true
    }

    /// Removes a node with all its items.
    pub(super) fn remove_node(&mut self, place: Place) {
        let node = self.nodes.remove(place);
        self.bytes -= node.heap_bytes();
        self.len -= usize::from(node.live);
    }

    /// Cuts items off the start of the first node: as many as `goes` is true of, one after the other.
    pub(super) fn cut_first(&mut self, mut goes: impl FnMut(StreamItem<'_>) -> bool) {
        let Some(node) = self.nodes.get_mut(self.nodes.start()) else { return };
        let (mut end, mut count) = (node.start(), 0);
        for item in node.items().take_while(|item| goes(*item)) {
            end = item.range().end;
            count += 1;
        }
        if count == node.live {
            return self.remove_node(self.nodes.start());
        }
        self.bytes -= node.heap_bytes();
        node.cut(node.start()..end, count);
        self.bytes += node.heap_bytes();
        self.len -= usize::from(count);
    }

    pub(super) fn copy(&self) -> Items {
        let mut nodes = SortedChunks::new();
        self.nodes.iter().for_each(|node| nodes.push(node.copy()));
        Items { nodes, ..*self }
    }

    /// Frees some nodes; returns how many.
    pub(super) fn free_some(&mut self) -> usize {
        let gone = self.nodes.take_chunk().unwrap_or_default();
        self.bytes -= gone.iter().map(Node::heap_bytes).sum::<usize>();
        self.len -= gone.iter().map(|node| usize::from(node.live)).sum::<usize>();
        gone.len()
    }

    /// # Panics
    ///
    /// When an invariant does not hold, with its name.
    pub(super) fn check(&self) {
        self.nodes.check(|one, next| one.last < next.first);
        self.nodes.iter().for_each(Node::check);
        let len: usize = self.nodes.iter().map(|node| usize::from(node.live)).sum();
        let bytes: usize = self.nodes.iter().map(Node::heap_bytes).sum();
        assert_eq!((len, bytes), (self.len, self.bytes), "INV-ITEMS");
        assert!(self.nodes.last().is_none_or(|node| node.last <= self.last_id), "INV-ITEMS");
    }
}
