// SPDX-License-Identifier: Apache-2.0
//! [`Miniature`]: a simulation of a small store without values, to see how many hits a share for new
//! items would bring.
//!
//! It evicts as the store does, by the same [`Plan`]s, from two queues of items in place of segments.

use super::fate::{Lessons, Plan};
use super::frequency::{UNUSED, used};
use super::policy::Eviction;
use super::sample::Scale;
use crate::empty::{Candidate, Fate};
use crate::order::{KEPT, NEW, TIERS};
use rapidhash::RapidHashMap;
use std::collections::VecDeque;

/// The most items that one write examines to make room. Any excess that remains is left to the next
/// write.
const LOOKS_MAX: usize = 64;

/// Lessons that a miniature draws per its memory's worth of bytes examined.
const LESSONS: u64 = 64;

/// Ghosts (remembered frequencies of dropped items) that are kept: the number of live items divided
/// by this.
const REMEMBERED: usize = 6;

/// An item larger than the memory divided by this is refused.
const LEN_PART: u64 = 4;

/// An item is read late if so much was written since it was, as a divisor of the memory.
const LATE_PART: u64 = 4;

/// The expiry of an item that never expires.
const NEVER: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Kept {
    /// Its length in bytes; 0 for a ghost.
    len: u32,
    /// The number of its entry in the queues, which may also have stale entries of its key.
    number: u32,
    /// When it expires, in seconds of the store's clock, or [`NEVER`].
    due_s: u32,
    frequency: u8,
    tier: u8,
    /// What had passed when it was written, in bytes.
    at: u64,
}

impl Kept {
    fn has_expired(&self, now_ms: u64) -> bool {
        self.due_s != NEVER && u64::from(self.due_s) <= now_ms / 1000
    }
}

/// Keys in the order of insertion, with their entry numbers. Entries of keys that are gone, or have
/// another number by now, are stale and skipped.
type Queue = VecDeque<(u64, u32)>;

#[derive(Debug)]
pub(super) struct Miniature {
    new_share: f64,
    scale: Scale,
    memory: u64,
    items: RapidHashMap<u64, Kept>,
    queues: [Queue; TIERS],
    bytes: [u64; TIERS],
    live: usize,
    remembered: Queue,
    numbers: u32,
    lessons: Lessons,
    plan: Plan,
    /// Bytes written and kept since the memory size last changed.
    passed: u64,
    /// An item was too large since then.
    has_refused: bool,
}

impl Miniature {
    /// A miniature of a store with this memory.
    pub(super) fn new(new_share: f64, scale: Scale, memory: u64) -> Self {
        let memory = memory >> scale.bits();
        let lessons = Lessons::new(memory, memory / LESSONS);
        Miniature {
            new_share,
            scale,
            memory,
            items: RapidHashMap::default(),
            queues: Default::default(),
            bytes: [0; TIERS],
            live: 0,
            remembered: Queue::new(),
            numbers: 0,
            plan: Plan::new(NEW, &lessons),
            lessons,
            passed: 0,
            has_refused: false,
        }
    }

    /// Bytes that its items may have, as the scale counts them.
    pub(super) fn memory(&self) -> u64 {
        self.memory
    }

    /// The number of live items.
    pub(super) fn len(&self) -> usize {
        self.live
    }

    /// Whether it would hold more items with more memory.
    pub(super) fn is_full(&self) -> bool {
        self.used() > self.memory / 8 * 7 || self.has_refused
    }

    /// Whether enough bytes have passed through that its contents depend on its share and not on
    /// its start.
    pub(super) fn is_warm(&self) -> bool {
        self.passed > 2 * self.memory
    }

    /// Changes the scale, and drops the keys that are not sampled any more.
    pub(super) fn rescale(&mut self, scale: Scale, memory: u64) {
        self.scale = scale;
        self.set_memory(memory);
        self.passed = 0;
        self.has_refused = false;
        self.items.retain(|&key, item| scale.samples(key, item.len));
        let live = self.items.values().filter(|item| item.len > 0);
        self.live = live.clone().count();
        self.bytes = [0; TIERS];
        live.for_each(|item| self.bytes[usize::from(item.tier)] += scale.bytes(item.len));
        self.tidy();
    }

    /// Changes the memory of the store, for the same keys.
    pub(super) fn set_memory(&mut self, memory: u64) {
        self.memory = memory >> self.scale.bits();
        self.lessons.draw_from(self.memory, self.memory / LESSONS);
    }

    /// The mean length of the store's items, as far as they are here.
    pub(super) fn mean_len(&self) -> f64 {
        let (mut items, mut bytes) = (0.0, 0.0);
        for item in self.items.values().filter(|item| item.len > 0) {
            items += self.scale.part(item.len);
            bytes += self.scale.bytes(item.len) as f64;
        }
        bytes / f64::max(items, 1.0)
    }

    /// Whether an item that is there was never used, and much was written since it was.
    pub(super) fn is_read_late(&self, key: u64) -> bool {
        self.items.get(&key).is_some_and(|item| {
            let passed = self.passed.saturating_sub(item.at);
            item.len > 0 && item.frequency == UNUSED && passed > self.memory / LATE_PART
        })
    }

    /// Reads an item. Returns its length if it is there.
    pub(super) fn read(&mut self, key: u64, now_ms: u64) -> Option<u32> {
        let item = self.items.get_mut(&key).filter(|item| item.len > 0)?;
        if item.has_expired(now_ms) {
            self.take(key);
            return None;
        }
        item.frequency = used(item.frequency);
        Some(item.len)
    }

    /// Writes an item, and makes room for it.
    pub(super) fn write(
        &mut self,
        key: u64,
        (len, due_ms): (u32, Option<u64>),
        policy: &Eviction,
        now_ms: u64,
    ) {
        let frequency = self.take(key).map_or(UNUSED, used);
        if self.scale.bytes(len) > self.memory / LEN_PART {
            self.has_refused = true;
            return;
        }
        let due_s = due_ms.map_or(NEVER, |due| due.div_ceil(1000).min(u64::from(NEVER)) as u32);
        let at = self.passed;
        self.put(key, Kept { len, number: 0, due_s, frequency, tier: NEW, at });
        self.live += 1;
        let mut looks = 0;
        while self.used() > self.memory && looks < LOOKS_MAX {
            looks += usize::from(self.look(policy, now_ms));
        }
    }

    pub(super) fn delete(&mut self, key: u64) {
        self.take(key);
    }

    fn used(&self) -> u64 {
        self.bytes.iter().sum()
    }

    /// Removes an item or a ghost. Returns its frequency.
    fn take(&mut self, key: u64) -> Option<u8> {
        let item = self.items.remove(&key)?;
        if item.len > 0 {
            self.bytes[usize::from(item.tier)] -= self.scale.bytes(item.len);
            self.live -= 1;
        }
        Some(item.frequency)
    }

    /// Puts an item at the end of its tier's queue.
    fn put(&mut self, key: u64, item: Kept) {
        let tier = usize::from(item.tier);
        self.numbers = self.numbers.wrapping_add(1);
        self.items.insert(key, Kept { number: self.numbers, ..item });
        self.queues[tier].push_back((key, self.numbers));
        let bytes = self.scale.bytes(item.len);
        self.bytes[tier] += bytes;
        self.passed += bytes;
        if self.queues[tier].len() > 2 * self.items.len() + LOOKS_MAX {
            self.tidy();
        }
    }

    /// Removes stale entries from the queues.
    fn tidy(&mut self) {
        let items = &self.items;
        let is_own =
            |(key, number): &(u64, u32)| items.get(key).is_some_and(|item| item.number == *number);
        self.queues.iter_mut().for_each(|queue| queue.retain(is_own));
        self.remembered.retain(is_own);
    }

    /// Decides on the next item to examine. Returns whether there was one: false if the queue is
    /// empty or its next entry stale.
    fn look(&mut self, policy: &Eviction, now_ms: u64) -> bool {
        let new_max = (self.new_share * self.memory as f64) as u64;
        let is_new = self.bytes[usize::from(NEW)] > new_max || self.bytes[usize::from(KEPT)] == 0;
        let queue = &mut self.queues[usize::from(if is_new { NEW } else { KEPT })];
        let Some((key, number)) = queue.pop_front() else { return false };
        let item = self.items.get(&key).filter(|item| item.number == number && item.len > 0);
        let Some(&item) = item else { return false };
        self.take(key);
        if item.has_expired(now_ms) {
            return true;
        }
        let candidate = Candidate { frequency: item.frequency, len: item.len };
        match self.plan.decide_part(policy, candidate, self.scale.halvings(item.len)) {
            Fate::Keep { tier, frequency } => {
                self.put(key, Kept { tier, frequency, ..item });
                self.live += 1;
            }
            Fate::Drop { remember: true } => self.remember(key, item),
            Fate::Drop { remember: false } => {}
        }
        self.plan.learn(policy, &self.lessons, false);
        true
    }

    fn remember(&mut self, key: u64, item: Kept) {
        self.numbers = self.numbers.wrapping_add(1);
        self.items.insert(key, Kept { len: 0, number: self.numbers, ..item });
        self.remembered.push_back((key, self.numbers));
        while self.remembered.len() > self.live / REMEMBERED + 1 {
            let Some((key, number)) = self.remembered.pop_front() else { return };
            if self.items.get(&key).is_some_and(|item| item.number == number) {
                self.take(key);
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    const POLICY: Eviction = Eviction::Scored { size_exponent: 1.0 };
    const LEN: u32 = 100;

    /// A miniature of a store, which has this memory, for all of the keys.
    fn new(new_share: f64, memory: u64) -> Miniature {
        Miniature::new(new_share, Scale::new(0, LEN.into()), memory)
    }

    fn write(miniature: &mut Miniature, key: u64) {
        miniature.write(key, (LEN, None), &POLICY, 0);
    }

    /// The share of items still present when each is read once, after further writes of `part` of the
    /// memory.
    fn read_after(new_share: f64, part: f64) -> f64 {
        let mut miniature = new(new_share, 1_000 * u64::from(LEN));
        let distance = (part * 1_000.0) as u64;
        let mut hits = 0;
        for key in 0..20_000 {
            write(&mut miniature, key);
            let old = key.checked_sub(distance).and_then(|old| miniature.read(old, 0));
            hits += u32::from(key >= 10_000 && old.is_some());
        }
        f64::from(hits) / 10_000.0
    }

    #[test]
    fn what_is_read_late_needs_a_larger_share() {
        assert_eq!(read_after(0.9, 0.75), 1.0);
        assert!(read_after(0.12, 0.75) < 0.6, "{}", read_after(0.12, 0.75));
        assert_eq!(read_after(0.12, 0.05), 1.0);
    }

    #[test]
    fn memory_is_kept_and_what_is_known_is_bounded() {
        let mut miniature = new(0.12, 1_000 * u64::from(LEN));
        for round in 0..10_u64 {
            for key in 0..3_000_u64 {
                write(&mut miniature, key * round % 5_000);
                assert!(miniature.used() <= miniature.memory + 2 * u64::from(LEN));
                let entries: usize = miniature.queues.iter().map(VecDeque::len).sum();
                assert!(entries <= 4 * miniature.items.len() + 2 * LOOKS_MAX + 2, "{entries}");
                assert!(miniature.items.len() <= miniature.live + miniature.live / 4 + 2);
            }
        }
        assert_eq!(miniature.len(), 1_000);
        // One key, over and over.
        let mut miniature = new(0.12, 1_000 * u64::from(LEN));
        (0..10_000).for_each(|_| write(&mut miniature, 7));
        assert_eq!((miniature.len(), miniature.used()), (1, u64::from(LEN)));
        assert!(miniature.queues[0].len() <= 2 + LOOKS_MAX);
    }

    #[test]
    fn what_has_expired_was_deleted_or_is_too_large_is_not_there() {
        let mut miniature = new(0.12, 10_000);
        miniature.write(1, (LEN, Some(50_000)), &POLICY, 0);
        let reads = [49_999, 50_000].map(|now_ms| miniature.read(1, now_ms));
        assert_eq!(reads, [Some(LEN), None]);
        write(&mut miniature, 2);
        miniature.delete(2);
        miniature.write(3, (3_000, None), &POLICY, 0);
        assert_eq!((miniature.read(2, 0), miniature.read(3, 0)), (None, None));
        assert_eq!((miniature.len(), miniature.used()), (0, 0));
    }

    #[test]
    fn a_smaller_one_goes_on_with_the_keys_that_are_left() {
        let mut miniature = new(0.3, 1_000 * u64::from(LEN));
        (0..5_000).for_each(|key| write(&mut miniature, key));
        miniature.rescale(Scale::new(1, LEN.into()), 1_000 * u64::from(LEN));
        assert!((400..=600).contains(&miniature.len()) && !miniature.is_warm());
        assert_eq!(miniature.used(), miniature.len() as u64 * u64::from(LEN));
        (0..5_000).step_by(2).for_each(|key| write(&mut miniature, 10_000 + key));
        assert!(miniature.len() == 500 && miniature.is_warm() && miniature.is_full());
    }
}
