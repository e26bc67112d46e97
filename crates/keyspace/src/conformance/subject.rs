// SPDX-License-Identifier: Apache-2.0
//! [`Subject`]: the keyspace under test, at a moment.

use crate::{Gone, Keyspace, Reason, Scope, View};
use values::{Digits, Entry};

/// The steps that the kit gives to `maintain`.
pub(super) const BUDGET: usize = 128;

/// What an engine told, to keep.
pub(super) type Told = (usize, Vec<u8>, Reason);

/// A handle of the keyspace under test, and the present time.
pub(super) struct Subject<K> {
    pub(super) keyspace: K,
    pub(super) now_ms: u64,
}

impl<K: Keyspace> Subject<K> {
    /// An empty keyspace at an uneven moment, so that no rounding goes unseen.
    pub(super) fn new(make: &impl Fn() -> K) -> Self {
        let keyspace = make();
        assert!(keyspace.databases() >= 4, "the kit needs four databases");
        Subject { keyspace, now_ms: 1_700_012_345_678 }
    }

    /// Another handle on the same keyspace, at the same moment.
    pub(super) fn another(&self) -> Self {
        Subject { keyspace: self.keyspace.clone(), now_ms: self.now_ms }
    }

    /// A view of one key.
    pub(super) fn view(&mut self, key: &[u8]) -> K::View<'_> {
        let scope = self.keyspace.scope(key);
        self.keyspace.view(scope, self.now_ms)
    }

    /// A view of everything.
    pub(super) fn whole(&mut self) -> K::View<'_> {
        self.keyspace.view(Scope::ALL, self.now_ms)
    }

    /// Puts an entry; the text of the one it replaces.
    pub(super) fn put_entry(&mut self, db: usize, entry: Entry) -> Option<Vec<u8>> {
        let scope = self.keyspace.scope(entry.key());
        let mut view = self.keyspace.view(scope, self.now_ms);
        let old = view.put(entry, db)?;
        let text = text(&old);
        view.dispose(old);
        Some(text)
    }

    /// Puts a string that does not expire.
    pub(super) fn put(&mut self, db: usize, key: &[u8], value: &[u8]) -> Option<Vec<u8>> {
        self.put_entry(db, Entry::string(key, value))
    }

    /// Puts a string that expires this many milliseconds from now.
    pub(super) fn put_for(&mut self, db: usize, key: &[u8], value: &[u8], ttl_ms: u64) {
        let mut entry = Entry::string(key, value);
        entry.set_expiry(Some(self.now_ms + ttl_ms));
        self.put_entry(db, entry);
    }

    /// What `get` sees; `peek` must see the same before.
    #[track_caller]
    pub(super) fn read(&mut self, db: usize, key: &[u8]) -> Option<Vec<u8>> {
        let mut view = self.view(key);
        let peeked = view.peek(db, key).map(text);
        let read = view.get(db, key).map(|entry| {
            assert_eq!(entry.key(), key, "RULE-READ: the key of what is read");
            text(entry)
        });
        assert_eq!(read, peeked, "RULE-READ: get and peek of {}", key.escape_ascii());
        read
    }

    /// Removes and frees an entry. Returns its text.
    pub(super) fn delete(&mut self, db: usize, key: &[u8]) -> Option<Vec<u8>> {
        let mut view = self.view(key);
        let entry = view.take(db, key)?;
        let text = text(&entry);
        view.dispose(entry);
        Some(text)
    }

    /// The entries that the handle reports from its views.
    pub(super) fn drained(&mut self) -> Vec<Told> {
        let mut told = Vec::new();
        self.keyspace.view(Scope::NONE, self.now_ms).drain_gone(&mut note(&mut told));
        told
    }

    /// Calls `maintain` once. Returns what was reported, and whether there is more to do.
    pub(super) fn maintain(&mut self) -> (Vec<Told>, bool) {
        let mut told = Vec::new();
        let more = self.keyspace.maintain(self.now_ms, BUDGET, &mut note(&mut told));
        (told, more)
    }

    /// Lets this many milliseconds pass, with maintenance meanwhile. Returns what was reported.
    pub(super) fn pass(&mut self, millis: u64) -> Vec<Told> {
        let end_ms = self.now_ms + millis;
        // An idle worker comes by now and then, at least once a second.
        let step_ms = (millis / 400).clamp(25, 1000);
        let mut all = Vec::new();
        while self.now_ms < end_ms {
            self.now_ms = end_ms.min(self.now_ms + step_ms);
            // An engine may say for ever that there is more to do soon.
            for _ in 0..1000 {
                let (told, more) = self.maintain();
                all.extend(told);
                if !more {
                    break;
                }
            }
        }
        all
    }

    /// One call of `make_room`.
    pub(super) fn make_room(&mut self) -> (bool, Vec<Told>) {
        let mut told = Vec::new();
        let room = self.keyspace.make_room(self.now_ms, &mut note(&mut told));
        (room, told)
    }

    /// Checks the engine and drops it.
    pub(super) fn finish(self) {
        self.keyspace.check_integrity();
    }
}

fn note(told: &mut Vec<Told>) -> impl FnMut(Gone<'_>) {
    |gone| told.push((gone.db, gone.key.to_vec(), gone.reason))
}

/// The text of a string.
pub(super) fn text(entry: &Entry) -> Vec<u8> {
    entry.text(&mut Digits::new()).to_vec()
}

/// Numbers from a seed.
pub(super) struct Noise(u64);

impl Noise {
    pub(super) fn new(seed: u64) -> Self {
        Noise(seed)
    }

    /// SplitMix64.
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    pub(super) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }
}
