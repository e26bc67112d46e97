// SPDX-License-Identifier: Apache-2.0
//! [`Room`]: what is left of the limits that a client gives for what it reads (COUNT, MAXCOUNT, MAXSIZE).

use crate::session::waiting::ReadLimits;
use crate::wire::fault::Fault;
use crate::wire::reply::{Output, Version, Writer};
use bytes::Bytes;

impl ReadLimits {
    /// Everything is read.
    pub(super) const NONE: Self =
        ReadLimits { items: usize::MAX, items_in_all: usize::MAX, bytes: usize::MAX };

    /// Refuses limits that contradict each other.
    pub(super) fn check(self) -> Result<(), Fault> {
        if self.items != usize::MAX && self.items_in_all < self.items {
            return Err(Fault::new("ERR MAXCOUNT must be greater than or equal to COUNT"));
        }
        Ok(())
    }
}

/// What is left of the limits while stream after stream is read.
#[derive(Debug)]
pub(super) struct Room {
    limits: ReadLimits,
    version: Version,
    is_full: bool,
    has_items: bool,
}

impl Room {
    pub(super) fn new(limits: ReadLimits, version: Version) -> Self {
        Room { limits, version, is_full: false, has_items: false }
    }

    /// Whether nothing more is read.
    pub(super) fn is_full(&self) -> bool {
        self.is_full || self.limits.items_in_all == 0
    }

    /// The most items of the next stream.
    pub(super) fn items(&self) -> usize {
        if self.is_full { 0 } else { self.limits.items.min(self.limits.items_in_all) }
    }

    /// Whether an item as `write` writes it is part of the reply. If not, no other is.
    pub(super) fn takes(&mut self, write: impl FnOnce(&mut Writer<'_, Measure>)) -> bool {
        let is_first = !self.has_items;
        self.is_full |= !self.fits(write) && !is_first;
        if !self.is_full {
            self.limits.items_in_all = self.limits.items_in_all.saturating_sub(1);
            self.has_items = true;
        }
        !self.is_full
    }

    /// Subtracts what `write` writes from the bytes that are left; whether there were so many.
    pub(super) fn fits(&mut self, write: impl FnOnce(&mut Writer<'_, Measure>)) -> bool {
        if self.limits.bytes == usize::MAX {
            return true;
        }
        let mut measure = Measure(0);
        write(&mut Writer::new(&mut measure, self.version));
        let left = self.limits.bytes.checked_sub(measure.0);
        self.limits.bytes = left.unwrap_or(0);
        left.is_some()
    }
}

/// The length of what is written to it.
#[derive(Debug)]
pub(super) struct Measure(usize);

impl Output for Measure {
    type Mark = usize;

    fn reserve(&mut self, _: usize) {}

    fn put(&mut self, bytes: &[u8]) {
        self.0 = self.0.saturating_add(bytes.len());
    }

    fn put_pinned(&mut self, value: Bytes) {
        self.put(&value);
    }

    fn put_shared(&mut self, text: Bytes) {
        self.put(&text);
    }

    fn mark(&self) -> usize {
        self.0
    }

    fn insert(&mut self, _: usize, bytes: &[u8]) {
        self.put(bytes);
    }

    fn truncate(&mut self, mark: usize) {
        self.0 = mark;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn room(items: usize, items_in_all: usize, bytes: usize) -> Room {
        Room::new(ReadLimits { items, items_in_all, bytes }, Version::Resp2)
    }

    #[test]
    fn the_first_item_always_has_room() {
        let mut room = room(usize::MAX, usize::MAX, 1);
        assert!(room.takes(|out| out.bulk(b"more than a byte")));
        assert!(!room.is_full());
        assert!(!room.takes(|out| out.raw(b"x")) && room.is_full() && room.items() == 0);
    }

    #[test]
    fn bytes_are_those_on_the_wire() {
        let mut room = room(usize::MAX, usize::MAX, 14);
        assert!(room.fits(|out| out.bulk(b"a")));
        assert!(room.takes(|out| out.bulk(b"b")), "7 bytes each");
        assert!(!room.takes(|out| out.raw(b"x")));
    }

    #[test]
    fn items_are_counted_over_all_streams() {
        let mut room = room(2, 3, usize::MAX);
        assert_eq!(room.items(), 2);
        assert!(room.takes(|_| {}) && room.takes(|_| {}));
        assert_eq!((room.items(), room.is_full()), (1, false));
        assert!(room.takes(|_| {}) && room.is_full());
    }
}
