// SPDX-License-Identifier: Apache-2.0
//! Times to live: an item is served up to the last millisecond before its expiry and not from it on,
//! and its memory comes back soon after.

mod support;

use clock::Ticks;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;
use storage::{Change, Expiry, Item, Put, Store};
use storage_seg::{Builder, SegStore};
use support::{Random, check, describe, flags, name};

const SECOND: u64 = 1_000;
const HOUR: u64 = 3_600 * SECOND;
const DAY: u64 = 24 * HOUR;

/// The times to live in milliseconds.
const TTLS: [u64; 7] = [SECOND, 2 * SECOND, 5 * SECOND, 59 * SECOND, 60 * SECOND, HOUR, 29 * DAY];

/// Items that a worker lets a store look at per turn.
const BUDGET: usize = 64;

/// What is to be found under a key at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Appointment {
    at_ms: u64,
    key: u64,
    is_there: bool,
}

/// A store, the time, and what must be seen at which time.
struct Timeline {
    handles: Vec<SegStore>,
    now_ms: u64,
    turns: usize,
    appointments: BinaryHeap<Reverse<Appointment>>,
}

impl Timeline {
    fn new(builder: &Builder, handles: usize) -> Self {
        let first = builder.clone().workers(handles).seed(4).build().expect("it is possible");
        let others: Vec<_> = (1..handles).map(|_| first.clone()).collect();
        let handles = std::iter::once(first).chain(others).collect();
        Timeline { handles, now_ms: 12_345, turns: 0, appointments: BinaryHeap::new() }
    }

    fn now(&self) -> Ticks {
        Ticks::from_millis(self.now_ms)
    }

    fn after(&self, ttl_ms: u64) -> Expiry {
        Expiry::after(Duration::from_millis(ttl_ms), self.now())
    }

    /// The handle whose turn it is.
    fn store(&mut self) -> &mut SegStore {
        let number = self.turns % self.handles.len();
        &mut self.handles[number]
    }

    /// A turn of each worker's loop. Returns how many items came back.
    fn turn(&mut self) -> usize {
        let (now, mut sum) = (self.now(), 0);
        self.turns += 1;
        for store in &mut self.handles {
            let freed = store.expire(now, BUDGET);
            assert!(freed <= BUDGET, "freed {freed}");
            store.rest();
            sum += freed;
        }
        sum
    }

    fn write(&mut self, key: u64, ttl_ms: u64, length: usize) {
        let (now, expiry) = (self.now(), self.after(ttl_ms));
        let (name, value) = (name(key), describe(key, ttl_ms, length));
        let put = Put::new(&name, &value).flags(flags(key)).expiry(expiry);
        self.store().put(put, now).expect("there is memory");
    }

    /// Writes, and looks just before the expiry and at it.
    fn write_and_watch(&mut self, key: u64, ttl_ms: u64) {
        self.write(key, ttl_ms, 4);
        self.watch(key, self.now_ms, self.now_ms + ttl_ms);
    }

    fn watch(&mut self, key: u64, from_ms: u64, expiry_ms: u64) {
        let appointments = [
            Appointment { at_ms: (from_ms + expiry_ms) / 2, key, is_there: true },
            Appointment { at_ms: expiry_ms - 1, key, is_there: true },
            Appointment { at_ms: expiry_ms, key, is_there: false },
            Appointment { at_ms: expiry_ms + 10 * SECOND, key, is_there: false },
        ];
        self.appointments.extend(appointments.map(Reverse));
    }

    /// Keeps all appointments up to a time, with a turn at each and one per `turn_ms` at least.
    fn pass(&mut self, until_ms: u64, turn_ms: u64) {
        while self.now_ms < until_ms {
            let next = self.appointments.peek().map_or(u64::MAX, |Reverse(next)| next.at_ms);
            self.now_ms = next.min(self.now_ms + turn_ms).min(until_ms);
            while let Some(&Reverse(next)) = self.appointments.peek()
                && next.at_ms <= self.now_ms
            {
                self.appointments.pop();
                assert_eq!(next.at_ms, self.now_ms, "an appointment was missed");
                assert_eq!(self.finds(next.key), next.is_there, "{next:?}");
            }
            self.turn();
        }
    }

    /// Keeps all appointments there are.
    fn pass_all(&mut self, turn_ms: u64) {
        while let Some(&Reverse(next)) = self.appointments.peek() {
            self.pass(next.at_ms.max(self.now_ms + 1), turn_ms);
        }
    }

    fn finds(&mut self, key: u64) -> bool {
        let now = self.now();
        let Some(item) = self.store().get(&name(key), now) else { return false };
        check(&item, key);
        assert!(!item.expiry().is_past(now), "key {key} is read after its expiry");
        true
    }

    fn items(&self) -> u64 {
        self.handles[0].stats().items
    }

    /// Bytes in segments.
    fn segment_bytes(&self) -> u64 {
        let stats = self.handles[0].stats();
        stats.used_bytes - stats.index_bytes
    }

    /// Nothing is left, and nothing was lost on the way.
    fn finish(&mut self) {
        for _ in 0..10 {
            self.now_ms += SECOND;
            for _ in 0..20 {
                self.turn();
            }
        }
        let stats = self.handles[0].stats();
        assert_eq!((stats.items, stats.item_bytes, stats.evicted), (0, 0, 0), "{stats:?}");
        assert_eq!(self.segment_bytes(), 0, "{stats:?}");
        let now = self.now();
        for store in &mut self.handles {
            store.expire(now, 0);
            store.check_integrity();
            store.rest();
        }
    }
}

/// Stores in which each time to live has segments of its own, in which several share them, and in
/// which all do.
fn builders() -> [Builder; 3] {
    let builder = SegStore::builder().memory(64 << 20).value_max(64 << 10);
    [
        builder.clone().segment_bytes(64 << 10),
        builder.clone().segment_bytes(512 << 10),
        builder.segment_bytes(8 << 20),
    ]
}

#[test]
fn written_once_a_second_all_live_as_long_as_they_say() {
    for builder in builders() {
        for handles in [1, 2] {
            let mut time = Timeline::new(&builder, handles);
            for key in 0..1_500 {
                let ttl = TTLS[key as usize % TTLS.len()];
                time.write_and_watch(key, ttl);
                time.pass(time.now_ms + SECOND, 100);
            }
            time.pass_all(HOUR);
            time.finish();
        }
    }
}

#[test]
fn written_a_hundred_thousand_times_a_second_all_live_as_long_as_they_say() {
    for (builder, handles) in builders().into_iter().zip([1, 2, 1]) {
        let mut time = Timeline::new(&builder, handles);
        let mut random = Random::new(5);
        for key in 0..250_000 {
            let ttl = TTLS[random.below(7) as usize];
            if key % 97 == 0 {
                time.write_and_watch(key, ttl);
            } else {
                time.write(key, ttl, 4);
            }
            if key % 100 == 99 {
                time.pass(time.now_ms + 1, 1);
            }
        }
        assert_eq!(time.handles[0].stats().evicted, 0, "with most of the memory free");
        // Turns come often while there is something to do.
        time.pass(time.now_ms + 80 * SECOND, 50);
        time.pass_all(HOUR);
        for _ in 0..5_000 {
            time.turn();
        }
        time.finish();
    }
}

/// Ten megabytes of a time to live are written within a second. The worker goes on writing something
/// else, and two seconds after the expiry all of the memory is back.
#[test]
fn memory_comes_back_soon_where_nobody_writes() {
    for ttl in TTLS {
        for handles in [1, 2] {
            let builder = SegStore::builder().memory(64 << 20).value_max(64 << 10);
            let mut time = Timeline::new(&builder, handles);
            for key in 0..10_000 {
                time.write(key, ttl, 1_000);
                if key % 10 == 9 {
                    time.pass(time.now_ms + 1, 1);
                }
            }
            let last = time.now_ms + ttl;
            let before = time.segment_bytes();
            assert!(before > 10_000_000, "{before} bytes");
            time.pass(last - SECOND - 1, HOUR);
            // Two kilobytes a second that never expire.
            let (mut key, mut most) = (1 << 32, 0);
            while time.now_ms < last + 2 * SECOND {
                time.pass(time.now_ms + 5, 5);
                if time.now_ms.is_multiple_of(50) {
                    time.write(key, 100 * DAY, 100);
                    key += 1;
                }
                most = most.max(time.turn());
            }
            assert!(most <= BUDGET * handles, "{most} items in one turn");
            let (left, after) = (time.items(), time.segment_bytes());
            assert_eq!(left, key - (1 << 32), "with a time to live of {ttl} ms");
            assert!(after <= 4 << 17, "{after} bytes of {before} are in use after {ttl} ms");
        }
    }
}

/// A steady stream: expired items take a few segments at most.
#[test]
fn memory_comes_back_while_others_are_written() {
    for ttl in [SECOND, 5 * SECOND, 60 * SECOND, HOUR] {
        let builder = SegStore::builder().memory(64 << 20).value_max(64 << 10);
        let mut time = Timeline::new(&builder, 1);
        // So many that 10 MB are alive at a time.
        let pause = ttl / 1_000;
        for key in 0..4_000 {
            time.write(key, ttl, 10_000);
            time.pass(time.now_ms + pause, pause.div_ceil(4));
            if key > 1_000 && key % 50 == 0 {
                let (live, bytes) = (1_000 * 10_060, time.segment_bytes());
                // An eighth of the time to live is in one segment; two are open or not yet swept.
                let most = live + live / 8 + (4 << 17);
                assert!(bytes <= most, "{bytes} bytes where {live} are alive, {ttl} ms to live");
            }
        }
        assert_eq!(time.handles[0].stats().evicted, 0);
        time.pass(time.now_ms + ttl + 2 * SECOND, SECOND.min(ttl));
        time.finish();
    }
}

#[test]
fn one_write_an_hour_is_enough() {
    for builder in builders() {
        let mut time = Timeline::new(&builder, 1);
        let mut most = 0;
        for key in 0..24 {
            time.write_and_watch(key, 2 * HOUR);
            let next = time.now_ms + HOUR;
            while time.now_ms < next {
                time.pass(time.now_ms + 60 * SECOND, 60 * SECOND);
                most = most.max(time.items());
            }
        }
        // Two are alive at a time, and one has just expired.
        assert!(most <= 4, "{most} items were kept");
        time.pass_all(60 * SECOND);
        time.finish();
    }
}

/// The expiry is changed in every direction, while others of the same segment stay as they are.
#[test]
fn a_touch_moves_the_expiry_both_ways() {
    let targets = [Some(SECOND), Some(30 * SECOND), Some(HOUR), Some(30 * DAY), None];
    for (number, builder) in builders().into_iter().enumerate() {
        for handles in [1, 2] {
            let mut time = Timeline::new(&builder, handles);
            let (mut key, mut forever) = (0, Vec::new());
            for from in [Some(5 * SECOND), Some(60 * SECOND), Some(HOUR), None] {
                for first in targets {
                    for second in targets {
                        let now = time.now();
                        // One beside it, which nobody touches.
                        time.write_and_watch(key + 1_000_000, 7 * SECOND);
                        let expiry = from.map_or(Expiry::NEVER, |ttl| time.after(ttl));
                        let (name, value) = (name(key), describe(key, 1, 50));
                        let put = Put::new(&name, &value).flags(flags(key)).expiry(expiry);
                        let version = time.store().put(put, now).expect("there is memory");
                        for target in [first, second] {
                            time.pass(time.now_ms + 300, 100);
                            touch(&mut time, key, target);
                        }
                        let now = time.now();
                        let item = time.store().get(&name, now).expect("it lives a second more");
                        assert_eq!(item.version(), version, "a touch is no write");
                        match second {
                            Some(ttl) => time.watch(key, time.now_ms, time.now_ms + ttl),
                            None => forever.push(key),
                        }
                        key += 1;
                    }
                }
            }
            time.pass_all(HOUR);
            for key in forever {
                assert!(time.finds(key), "key {key} never expires");
                touch(&mut time, key, Some(SECOND));
                time.watch(key, time.now_ms, time.now_ms + SECOND);
            }
            time.pass_all(HOUR);
            // A segment waits for the latest expiry there ever was in it: with eight segments in all,
            // for that of an item that was to stay.
            time.pass(time.now_ms + 31 * DAY, DAY);
            let shares_with_never = number == 2;
            assert_eq!(time.items() > 0, shares_with_never, "{} items are left", time.items());
        }
    }
}

fn touch(time: &mut Timeline, key: u64, ttl: Option<u64>) {
    let now = time.now();
    let expiry = ttl.map_or(Expiry::NEVER, |ttl| time.after(ttl));
    let result = time.store().update(&name(key), now, |item| match item {
        Some(item) => {
            check(&item, key);
            (Change::Expire(expiry), true)
        }
        None => (Change::Keep, false),
    });
    assert_eq!(result, Ok(true), "key {key} is there");
}

/// An item that is written with a past expiry replaces the old one and is never read.
#[test]
fn a_past_expiry_is_an_item_that_is_gone() {
    let mut time = Timeline::new(&SegStore::builder().memory(8 << 20).value_max(1 << 20), 1);
    for key in 0..500 {
        time.write(key, HOUR, 10);
        let (now, name) = (time.now(), name(key));
        let put = Put::new(&name, b"gone").expiry(Expiry::at(Ticks::from_millis(key)));
        time.store().put(put, now).expect("there is memory");
        assert!(!time.finds(key));
    }
    time.pass(time.now_ms + 2 * SECOND, 10);
    assert_eq!(time.items(), 0);
    time.pass(time.now_ms + HOUR, 60 * SECOND);
    time.finish();
}
