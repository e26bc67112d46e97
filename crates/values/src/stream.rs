// SPDX-License-Identifier: Apache-2.0
//! Streams: [`StreamRef`] reads one and [`StreamMut`] edits one.
//!
//! A stream is a sequence of items, each with an [id](StreamId) and pairs of a field and a value. Ids
//! rise, and items are added at the end only. A stream that has lost its last item stays, for it
//! knows which id it has given last.
//!
//! [Items](items) are kept in [nodes], some dozens in one allocation, in which ids are
//! written as differences and the fields that items have in common are written once. The nodes are in
//! [sorted chunks](chunks).
//!
//! [Groups](group) of [consumers] share the items of a stream: each gets some, which are
//! [pending] until it acknowledges them, or gives them back. Who claims such items gets the oldest first, [by
//! age](by_age). Items that a group still [needs](references) may be kept when items are removed.
//!
//! [Producers](producer) may add messages so that a message that comes again is [not added twice](idempotence).
//!
//! [nodes]: node

mod by_age;
mod chunks;
mod code;
mod consumers;
mod counts;
mod group;
mod group_claim;
mod group_edit;
mod id;
mod idempotence;
mod items;
mod iter;
pub(crate) mod large;
mod node;
mod pending;
mod producer;
mod references;
mod size;
#[cfg(test)]
mod tests;
mod trim;

use crate::large::{Large, LargeMut, LargeRef};
use crate::{Entry, Limits};
use large::LargeStream;

pub use consumers::StreamConsumer;
pub use group::{PendingItem, StreamGroup};
pub use group_claim::Deliveries;
pub use group_edit::{Claim, Claimed, ConsumerNumber, StreamGroupMut};
pub use id::StreamId;
pub use idempotence::{Idempotence, IdempotenceLimits};
pub(crate) use items::NODE_BYTES_MAX;
pub use iter::{StreamIter, StreamRevIter};
pub use node::StreamItem;
pub(crate) use node::{Deleted, Node};
pub use references::{References, Removed};
pub(crate) use size::item_frame;
pub use trim::{Trim, TrimTo};

/// A stream to read.
#[derive(Clone, Copy, Debug)]
pub struct StreamRef<'a> {
    stream: &'a LargeStream,
}

impl<'a> StreamRef<'a> {
    /// The stream that an entry is, if it is one.
    #[inline]
    pub(crate) fn of(entry: &'a Entry) -> Option<Self> {
        match entry.large() {
            Some(LargeRef::Stream(stream)) => Some(StreamRef { stream }),
            _ => None,
        }
    }

    /// Items.
    pub fn len(self) -> usize {
        self.stream.len()
    }

    /// Whether it has no item.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The greatest id that was given to an item, or set.
    pub fn last_id(self) -> StreamId {
        self.stream.items.last_id
    }

    /// The greatest id of an item that was deleted, and not trimmed.
    pub fn max_deleted_id(self) -> StreamId {
        self.stream.items.max_deleted_id
    }

    /// How many items were ever added.
    pub fn added(self) -> u64 {
        self.stream.items.added
    }

    /// The id of the first item; 0-0 if there is none.
    pub fn first_id(self) -> StreamId {
        self.stream.items.first_id()
    }

    /// The first item.
    pub fn first(self) -> Option<StreamItem<'a>> {
        self.stream.items.first()
    }

    /// The last item.
    pub fn last(self) -> Option<StreamItem<'a>> {
        self.stream.items.last()
    }

    /// The consumer groups, in the order of their names.
    pub fn groups(self) -> impl Iterator<Item = &'a StreamGroup> {
        self.stream.groups.iter().map(|group| &**group)
    }

    /// How many consumer groups there are.
    pub fn groups_len(self) -> usize {
        self.stream.groups.len()
    }

    /// The consumer group with this name.
    pub fn group(self, name: &[u8]) -> Option<&'a StreamGroup> {
        self.stream.group(name)
    }

    /// How many items a group has not read yet, if that is known.
    pub fn lag(self, group: &StreamGroup) -> Option<i64> {
        self.stream.items.lag(group.last_id(), group.read())
    }

    /// How many of the items that were ever added are not behind this id, if that is known.
    pub(crate) fn read_up_to(self, id: StreamId) -> Option<u64> {
        self.stream.items.count_up_to(id)
    }

    /// From when on the first pending item of a group can be claimed by one who claims what others have had for
    /// `idle_ms_min` milliseconds, in unix milliseconds; `None` if there is none.
    pub fn claimable_ms(self, group: &StreamGroup, idle_ms_min: u64) -> Option<u64> {
        group.claimable_ms(&self.stream.items, idle_ms_min)
    }

    /// What is known of the messages of producers, if there were any.
    pub fn idempotence(self) -> Option<&'a Idempotence> {
        self.stream.idempotence.as_deref()
    }

    /// Pieces in which the items are kept.
    pub fn nodes(self) -> usize {
        self.stream.items.nodes.len()
    }

    /// The pieces.
    pub(crate) fn pieces(self) -> impl Iterator<Item = &'a Node> {
        self.stream.items.nodes.iter()
    }

    /// The item with this id.
    pub fn get(self, id: StreamId) -> Option<StreamItem<'a>> {
        self.stream.items.get(id)
    }

    /// The items with ids from `start` to `end`.
    pub fn range(self, start: StreamId, end: StreamId) -> StreamIter<'a> {
        self.stream.items.range(start, end)
    }

    /// The items with ids from `end` back to `start`.
    pub fn range_rev(self, start: StreamId, end: StreamId) -> StreamRevIter<'a> {
        self.stream.items.range_rev(start, end)
    }

    /// # Panics
    ///
    /// When an invariant does not hold, with its name.
    pub fn check_integrity(self) {
        self.stream.check();
    }
}

/// A stream to edit.
///
/// ```
/// use values::{Entry, Limits, References, StreamId, Trim, TrimTo};
///
/// let mut entry = Entry::new_stream(b"readings");
/// let limits = Limits::default();
/// let mut stream = entry.stream_mut(&limits).expect("it is a stream");
/// for ms in 1..=3 {
///     stream.append(StreamId::new(ms, 0), [[b"celsius".as_slice(), b"21"]].into_iter());
/// }
/// let references = References::Keep;
/// let trim = Trim { to: TrimTo::Length(2), by_nodes: false, limit: None, references };
/// assert_eq!(stream.trim(&trim), 1);
///
/// let stream = entry.stream().expect("it is a stream");
/// assert_eq!(stream.first_id(), StreamId::new(2, 0));
/// let (field, value) = stream.last().and_then(|item| item.pairs().next()).expect("a pair");
/// assert_eq!((&*field, &*value), (&b"celsius"[..], &b"21"[..]));
/// ```
#[derive(Debug)]
pub struct StreamMut<'a> {
    stream: &'a mut LargeStream,
    limits: &'a Limits,
}

impl<'a> StreamMut<'a> {
    /// The stream that an entry is, if it is one.
    pub(crate) fn of(entry: &'a mut Entry, limits: &'a Limits) -> Option<Self> {
        match entry.large_mut() {
            Some(LargeMut::Stream(stream)) => Some(StreamMut { stream, limits }),
            _ => None,
        }
    }

    /// The stream that an entry is known to be.
    pub(crate) fn known(entry: &'a mut Entry, limits: &'a Limits) -> Self {
        StreamMut::of(entry, limits).expect("INV-MADE")
    }

    /// The stream, to read.
    pub fn read(&self) -> StreamRef<'_> {
        StreamRef { stream: self.stream }
    }

    /// The memory of the items, in bytes.
    pub(crate) fn items_bytes(&self) -> usize {
        self.stream.items.heap_bytes()
    }

    /// Adds an item. Allocates a node or makes one larger.
    ///
    /// # Panics
    ///
    /// If the id is not greater than [`StreamRef::last_id`], or the item would take 4 GiB.
    pub fn append<'b>(
        &mut self,
        id: StreamId,
        pairs: impl ExactSizeIterator<Item = [&'b [u8]; 2]> + Clone,
    ) {
        self.stream.items.append(id, pairs, self.limits);
    }

    /// Begins a piece with this id, and fields with which those of its items are compared; to be ended. No
    /// item that is there has an id from this on.
    pub(crate) fn begin_piece<'b>(
        &mut self,
        first: StreamId,
        fields: impl ExactSizeIterator<Item = &'b [u8]>,
    ) {
        self.stream.items.begin_node(first, fields);
    }

    /// Ends the piece that was begun, from which these items were deleted.
    pub(crate) fn end_piece(&mut self, deleted: Deleted) {
        self.stream.items.end_node(deleted);
    }

    /// Removes the item with this id; whether there was one.
    pub fn remove(&mut self, id: StreamId) -> bool {
        self.stream.remove(id, References::Keep) == Removed::Yes
    }

    /// Removes the item with this id, if that may be.
    pub fn remove_with(&mut self, id: StreamId, references: References) -> Removed {
        self.stream.remove(id, references)
    }

    /// Removes the oldest items; returns how many.
    pub fn trim(&mut self, trim: &Trim) -> usize {
        self.stream.trim(trim)
    }

    /// The item that a producer's message has become, if it is known. It counts as one that came again.
    pub fn find_again(&mut self, producer: &[u8], message: &[u8], now_ms: u64) -> Option<StreamId> {
        self.stream.idempotence.as_mut()?.find_again(producer, message, now_ms)
    }

    /// Notes the item that a producer's message has become, which is not known.
    pub fn remember(&mut self, producer: &[u8], message: &[u8], id: StreamId, now_ms: u64) {
        let limits = IdempotenceLimits::usual(self.limits);
        self.stream.idempotence_mut(limits).add(producer, message, id, now_ms);
    }

    /// Sets for how long and how many messages are known; `None` leaves that as it is. If it changes, all are
    /// forgotten.
    pub fn set_idempotence(&mut self, seconds: Option<u32>, messages: Option<u32>) {
        let usual = IdempotenceLimits::usual(self.limits);
        let known = self.stream.idempotence_mut(usual);
        let before = known.limits();
        known.set_limits(IdempotenceLimits {
            seconds: seconds.unwrap_or(before.seconds),
            messages: messages.unwrap_or(before.messages),
        });
    }

    /// Adds a consumer group that has read up to an item; whether its name is new.
    pub fn add_group(&mut self, name: &[u8], last_id: StreamId, read: Option<u64>) -> bool {
        self.stream.add_group(name, last_id, read)
    }

    /// Removes a consumer group; whether there was one with this name.
    pub fn remove_group(&mut self, name: &[u8]) -> bool {
        self.stream.remove_group(name)
    }

    /// The consumer group with this name, to edit.
    pub fn group_mut(&mut self, name: &[u8]) -> Option<StreamGroupMut<'_>> {
        self.stream.group_mut(name)
    }

    /// Sets the greatest id. It must not be less than that of any item.
    ///
    /// # Panics
    ///
    /// If it is.
    pub fn set_last_id(&mut self, id: StreamId) {
        let items = &mut self.stream.items;
        assert!(items.nodes.last().is_none_or(|_| items.last_live_id() <= id), "INV-ITEMS");
        items.set_last_id(id);
    }

    /// Sets how many items were ever added.
    pub fn set_added(&mut self, added: u64) {
        self.stream.items.added = added;
    }

    /// Sets the greatest id of a deleted item.
    pub fn set_max_deleted_id(&mut self, id: StreamId) {
        self.stream.items.max_deleted_id = id;
    }
}

impl Entry {
    /// An empty stream.
    pub fn new_stream(key: &[u8]) -> Entry {
        Entry::with_large(key, Large::Stream(Box::new(LargeStream::new())))
    }

    /// The value, if it is a stream.
    #[inline]
    pub fn stream(&self) -> Option<StreamRef<'_>> {
        StreamRef::of(self)
    }

    /// The value to be edited, if it is a stream.
    #[inline]
    pub fn stream_mut<'a>(&'a mut self, limits: &'a Limits) -> Option<StreamMut<'a>> {
        StreamMut::of(self, limits)
    }
}
