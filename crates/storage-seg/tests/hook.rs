// SPDX-License-Identifier: Apache-2.0
//! The hook `on_drop`: called once for each item that is evicted or expires, and for no other.

mod support;

use clock::Ticks;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use storage::{Change, Expiry, Put, Store, StoreError};
use storage_seg::{Builder, Eviction, Reason, SegStore};
use support::{Random, check, describe, flags, name, policies, stamps};

/// Items that were reported, by the stamp of their value, which no other has.
type Reported = Arc<Mutex<HashMap<u64, (u64, Reason)>>>;

/// A store whose hook checks and records the items it is called with.
fn watched(builder: Builder) -> (Builder, Reported) {
    let reported = Reported::default();
    let seen = Arc::clone(&reported);
    let builder = builder.on_drop(move |key, value, reason| {
        let key = u64::from_le_bytes(key.try_into().expect("keys have eight bytes"));
        let stamp = *stamps(key, value).last().expect("values are not empty");
        let before =
            seen.lock().expect("no thread panicked with the lock").insert(stamp, (key, reason));
        assert_eq!(before, None, "key {key} with {stamp} was reported before");
    });
    (builder, reported)
}

/// An item that was written and not taken away by a client.
#[derive(Clone, Copy, Debug)]
struct Written {
    stamp: u64,
    expiry: Expiry,
}

/// The items that must be present after the clients' operations and the reported drops.
struct Run {
    store: SegStore,
    reported: Reported,
    now: Ticks,
    stamp: u64,
    /// By key; an item that is not in here must not be reported.
    present: HashMap<u64, Written>,
}

impl Run {
    fn new(builder: Builder) -> Self {
        let (builder, reported) = watched(builder);
        let store = builder.build().expect("the options are possible");
        let now = Ticks::from_millis(5_000);
        Run { store, reported, now, stamp: 0, present: HashMap::new() }
    }

    /// Removes the reported items from the model: each must have been present, and have that
    /// reason.
    fn settle(&mut self) {
        for (stamp, (key, reason)) in
            self.reported.lock().expect("no thread panicked with the lock").drain()
        {
            let Some(written) = self.present.get(&key).filter(|written| written.stamp == stamp)
            else {
                panic!("{reason:?}: key {key} with {stamp}, which was not there");
            };
            match reason {
                Reason::Expired => assert!(written.expiry.is_past(self.now), "{written:?}"),
                _ => assert!(!written.expiry.is_past(self.now), "{reason:?} of an expired item"),
            }
            self.present.remove(&key);
        }
    }

    fn put(&mut self, key: u64, length: usize, expiry: Expiry) {
        self.stamp += 1;
        let (name, value) = (name(key), describe(key, self.stamp, length));
        let put = Put::new(&name, &value).flags(flags(key)).expiry(expiry);
        let result = self.store.put(put, self.now);
        // What had to go for it went before it.
        self.settle();
        match result {
            Ok(_) => drop(self.present.insert(key, Written { stamp: self.stamp, expiry })),
            Err(error) => assert_eq!(error, StoreError::OutOfMemory),
        }
    }

    fn step(&mut self, random: &mut Random) {
        let key = random.below(2_000);
        let expiry = match random.below(3) {
            0 => Expiry::NEVER,
            1 => Expiry::after(Duration::from_millis(1 + random.below(2_000)), self.now),
            _ => Expiry::after(Duration::from_secs(1 + random.below(100)), self.now),
        };
        match random.below(100) {
            0..50 => self.put(key, random.below(4_000) as usize, expiry),
            50..55 => self.put(key, 60_000 + random.below(80_000) as usize, expiry),
            55..65 => {
                let was_there = self.store.delete(&name(key), self.now);
                self.settle();
                if was_there {
                    self.present.remove(&key).expect("deleted, and was not there");
                }
            }
            65..75 => {
                let change = Change::Expire(expiry);
                let result = self.store.update(&name(key), self.now, |item| match item {
                    Some(_) => (change, true),
                    None => (Change::Keep, false),
                });
                self.settle();
                if let Ok(true) = result
                    && let Some(written) = self.present.get_mut(&key)
                {
                    written.expiry = expiry;
                }
            }
            75..90 => {
                if let Some(item) = self.store.get(&name(key), self.now) {
                    let stamp = *check(&item, key).last().expect("not empty");
                    assert_eq!(Some(stamp), self.present.get(&key).map(|written| written.stamp));
                }
            }
            90..98 => {
                self.now = self.now + Duration::from_millis(random.below(200));
                self.store.expire(self.now, random.below(100) as usize);
                self.settle();
            }
            _ if random.below(50) == 0 => {
                self.store.clear();
                self.present.clear();
            }
            _ => self.store.check_integrity(),
        }
    }

    /// Every item that is not there was reported, taken away by a client, or waits to expire.
    fn finish(mut self) {
        for key in 0..2_000 {
            let found = self.store.get(&name(key), self.now).is_some();
            let expected = self.present.get(&key);
            let is_live = expected.is_some_and(|written| !written.expiry.is_past(self.now));
            assert_eq!(found, is_live, "key {key}: {expected:?}");
        }
        // Then all expire.
        self.now = self.now + Duration::from_secs(200);
        for _ in 0..1_000 {
            self.store.expire(self.now, 100);
        }
        self.settle();
        let stats = self.store.stats();
        assert!(stats.evicted + stats.expired > 1_000 || stats.evicted == 0, "{stats:?}");
    }
}

#[test]
fn every_policy_reports_what_leaves_by_itself_and_nothing_else() {
    for eviction in policies() {
        let builder = SegStore::builder().memory(2 << 20).value_max(200_000).seed(1);
        let mut run = Run::new(builder.eviction(eviction));
        let mut random = Random::new(3);
        for _ in 0..20_000 {
            run.step(&mut random);
        }
        run.finish();
    }
}

#[test]
fn expired_items_are_reported_when_their_memory_comes_back() {
    let builder = SegStore::builder().memory(8 << 20).value_max(1 << 20).seed(1);
    let mut run = Run::new(builder);
    for key in 0..1_000 {
        let ttl = Duration::from_secs(1 + key % 3);
        run.put(key, 100, Expiry::after(ttl, run.now));
    }
    run.settle();
    assert_eq!(run.present.len(), 1_000, "nothing has left so far");
    run.now = run.now + Duration::from_secs(5);
    for _ in 0..20 {
        run.store.expire(run.now, 100);
    }
    run.settle();
    assert_eq!(run.present.len(), 0, "all were reported");
    assert_eq!(run.store.stats().expired, 1_000);
}

/// The index has no room for some of a multitude of tiny items that come at once: these are reported
/// as others are.
#[test]
fn what_a_crowded_index_drops_is_reported() {
    let (builder, reported) = watched(
        SegStore::builder().memory(1 << 20).value_max(1_000).eviction(Eviction::Fifo).seed(1),
    );
    let mut store = builder.build().expect("the options are possible");
    let now = Ticks::from_millis(1);
    let mut written = 0;
    for key in 0..40_000 {
        let (name, value) = (name(key), describe(key, key, 0));
        store.put(Put::new(&name, &value).flags(flags(key)), now).expect("others can go");
        written += 1;
    }
    let found = (0..40_000).filter(|&key| store.get(&name(key), now).is_some()).count();
    let reported = reported.lock().expect("no thread panicked with the lock");
    assert!(reported.values().all(|&(_, reason)| reason == Reason::Evicted));
    assert_eq!(reported.len() + found, written);
}

/// Cleared items are not reported, whichever way their memory comes back.
#[test]
fn cleared_items_are_not_reported() {
    for expire in [false, true] {
        let builder = SegStore::builder().memory(1 << 20).value_max(1_000).seed(1);
        let mut run = Run::new(builder);
        for round in 0..20 {
            for key in 0..1_500 {
                let expiry = match key % 2 {
                    0 => Expiry::NEVER,
                    _ => Expiry::after(Duration::from_millis(500), run.now),
                };
                run.put(key + 10_000 * round, 10, expiry);
            }
            run.store.clear();
            run.present.clear();
            run.now = run.now + Duration::from_secs(1);
            if expire {
                for _ in 0..100 {
                    run.store.expire(run.now, 100);
                }
            }
        }
        run.settle();
    }
}
