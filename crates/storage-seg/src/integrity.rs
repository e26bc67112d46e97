// SPDX-License-Identifier: Apache-2.0
//! The invariants across the parts of a store, and their check.
//!
//! * INV-COUNTED: a segment's counts of live items and bytes are those of the items that the index
//!   points to, and the handles' sums equal the segments' sums.
//! * INV-PLACE: an entry points to an item within the written part of a segment in use, and the item's
//!   key has the entry's hash.
//! * INV-DUE: no item outlives its segment's due time.
//! * INV-DEAD: an item that is marked dead is not in the index.
//! * INV-LIMIT: segments in use and index are within the limit, unless it was lowered and they are not yet.
//!
//! Each part checks its own invariants. The check is exact only while no other handle is at work.

use crate::epoch::Participant;
use crate::segment::State;
use crate::shared::Shared;
use crate::tally::Count;
use std::collections::HashMap;

/// Panics with the name of an invariant that does not hold.
pub(crate) fn check(shared: &Shared, turn: &Participant) {
    if !turn.is_online() {
        // No item may be read outside of a turn.
        return;
    }
    shared.pool.inspect(|inner| inner.check(&shared.pool));
    shared.index.check_integrity(|location| shared.hash(shared.item(turn, location).key()));
    let mut found: HashMap<u32, (u32, u32)> = HashMap::new();
    shared.index.for_each(|location, _| {
        let (number, offset) = shared.heap.place(location);
        let segment = shared.pool.segment(number);
        let in_use = matches!(segment.state(), State::Open | State::Sealed | State::Claimed);
        assert!(in_use, "INV-PLACE: {location:?} is in a segment that is {:?}", segment.state());
        let item = shared.item(turn, location);
        let len = item.len() as u32;
        assert!(offset + len <= segment.written(), "INV-PLACE: {location:?} was not written");
        assert!(!item.is_dead(), "INV-DEAD: {location:?}");
        let expiry_ms = item.expiry_ms(segment.base_ms());
        let due_ms = segment.due_ms();
        assert!(expiry_ms.unwrap_or(u64::MAX) <= due_ms, "INV-DUE: {expiry_ms:?}, {due_ms}");
        let (items, bytes) = found.entry(number).or_default();
        *items += 1;
        *bytes += len;
    });
    let (mut items, mut bytes) = (0, 0);
    for number in shared.pool.numbers() {
        let segment = shared.pool.segment(number);
        let in_index = found.get(&number).copied().unwrap_or_default();
        if matches!(segment.state(), State::Open | State::Sealed | State::Claimed) {
            let counted = (segment.live_items(), segment.live_bytes());
            assert_eq!(counted, in_index, "INV-COUNTED: segment {number}");
        }
        items += u64::from(in_index.0);
        bytes += u64::from(in_index.1);
    }
    let sums = shared.tallies.sums();
    let counted = (sums.get(Count::Items), sums.get(Count::ItemBytes));
    assert_eq!(counted, (items, bytes), "INV-COUNTED: the sums of the handles");
    let stats = shared.stats();
    let is_within = stats.used_bytes <= stats.limit_bytes;
    assert!(is_within || shared.is_lowering(), "INV-LIMIT: {stats:?}");
}
