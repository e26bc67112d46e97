// SPDX-License-Identifier: Apache-2.0
//! Models of [`Flights`] for loom: every order of what two or three threads do.

use super::*;
use loom::sync::atomic::AtomicU64;
use loom::thread;

/// A source of values, a cache of one key over it, and how often it was computed.
#[derive(Default)]
struct World {
    source: AtomicU64,
    /// 0 is no value.
    cached: AtomicU64,
    computed: AtomicU64,
    flights: Option<Flights>,
}

const KEY: &[u8] = b"key";

impl World {
    fn new(source: u64) -> Arc<Self> {
        let world = World { flights: Some(Flights::new()), ..World::default() };
        world.source.store(source, Ordering::Relaxed);
        Arc::new(world)
    }

    fn flights(&self) -> &Flights {
        self.flights.as_ref().expect("it was made")
    }

    /// What `Cache::get_or_insert_with` does.
    fn get(&self) -> u64 {
        let leader = loop {
            match self.flights().join(KEY, || {}) {
                Joined::Leads(leader) => break leader,
                Joined::Shares(bytes) => return u64::from(bytes[0]),
                Joined::Freed => {}
            }
        };
        let cached = self.cached.load(Ordering::SeqCst);
        if cached != 0 {
            leader.finish(&[cached as u8], || {});
            return cached;
        }
        self.computed.fetch_add(1, Ordering::Relaxed);
        let value = self.source.load(Ordering::Relaxed);
        leader.finish(&[value as u8], || self.cached.store(value, Ordering::SeqCst));
        value
    }

    /// Changes the source, and removes what is cached of it.
    fn change(&self, to: u64) {
        self.source.store(to, Ordering::Relaxed);
        self.flights().detach(KEY);
        self.cached.store(0, Ordering::SeqCst);
    }
}

#[test]
fn models_two_callers_compute_once() {
    loom::model(|| {
        let world = World::new(1);
        let other = Arc::clone(&world);
        let thread = thread::spawn(move || other.get());
        assert_eq!(world.get(), 1);
        assert_eq!(thread.join().expect("it does not panic"), 1);
        assert_eq!(world.computed.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn models_a_leader_that_fails_frees_the_other() {
    loom::model(|| {
        let world = World::new(1);
        let other = Arc::clone(&world);
        let thread = thread::spawn(move || match other.flights().join(KEY, || {}) {
            Joined::Leads(leader) => drop(leader),
            Joined::Shares(_) | Joined::Freed => {}
        });
        assert_eq!(world.get(), 1);
        thread.join().expect("it does not panic");
        assert_eq!(world.computed.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn models_what_is_stored_is_not_of_before_a_change() {
    loom::model(|| {
        let world = World::new(1);
        let other = Arc::clone(&world);
        let thread = thread::spawn(move || other.get());
        world.change(2);
        assert_ne!(world.cached.load(Ordering::SeqCst), 1, "INV-FRESH");
        assert_eq!(world.get(), 2);
        thread.join().expect("it does not panic");
        assert_ne!(world.cached.load(Ordering::SeqCst), 1, "INV-FRESH");
    });
}
