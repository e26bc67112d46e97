// SPDX-License-Identifier: Apache-2.0
//! The typed keyspace compared with plain maps, in random sequences of operations that are shrunk
//! when they fail: 16 databases, expiry on manual time, and every policy with almost no memory.

use keyspace::{Gone, Keyspace, Policy, Reason, Scope, View};
use proptest::collection::vec;
use proptest::prelude::*;
use std::collections::BTreeMap;
use storage_typed::TypedStore;
use values::{Digits, Entry};

const DATABASES: usize = 16;
/// How far the count of used bytes may be behind, over all shards.
const BEHIND: u64 = 8 << 10;

/// What an entry may take besides its value, its place in the index included. The first of a database
/// in a shard costs a bucket, and one among many a new chunk of buckets now and then.
const SMALL: u64 = 1 << 10;

#[derive(Clone, Debug)]
enum Step {
    Get { db: usize, key: u8 },
    Put { db: usize, key: u8, len: usize, ttl_ms: Option<u64> },
    Append { db: usize, key: u8, len: usize },
    SetExpiry { db: usize, key: u8, ttl_ms: Option<u64> },
    Take { db: usize, key: u8 },
    Rename { db: usize, from: u8, to: u8 },
    Clear { db: usize },
    Swap { a: usize, b: usize },
    Pass { millis: u64 },
    Maintain { budget: usize },
}

fn step() -> impl Strategy<Value = Step> {
    let db = || prop_oneof![3 => Just(0_usize), 1 => 0..DATABASES];
    let key = || 0_u8..60;
    let len = || prop_oneof![4 => 0_usize..200, 1 => 0_usize..3000];
    let ttl = || prop_oneof![Just(None), (0_u64..3000).prop_map(Some)];
    prop_oneof![
        6 => (db(), key()).prop_map(|(db, key)| Step::Get { db, key }),
        12 => (db(), key(), len(), ttl())
            .prop_map(|(db, key, len, ttl_ms)| Step::Put { db, key, len, ttl_ms }),
        4 => (db(), key(), len()).prop_map(|(db, key, len)| Step::Append { db, key, len }),
        3 => (db(), key(), ttl()).prop_map(|(db, key, ttl_ms)| Step::SetExpiry { db, key, ttl_ms }),
        3 => (db(), key()).prop_map(|(db, key)| Step::Take { db, key }),
        3 => (db(), key(), key()).prop_map(|(db, from, to)| Step::Rename { db, from, to }),
        1 => db().prop_map(|db| Step::Clear { db }),
        1 => (db(), db()).prop_map(|(a, b)| Step::Swap { a, b }),
        3 => (0_u64..1500).prop_map(|millis| Step::Pass { millis }),
        4 => (1_usize..200).prop_map(|budget| Step::Maintain { budget }),
    ]
}

fn policy() -> impl Strategy<Value = Policy> {
    proptest::sample::select(Policy::ALL.to_vec())
}

/// What a step may have done to the memory.
#[derive(Clone, Copy, Debug)]
enum Effect {
    Nothing,
    /// It has moved an entry, or given it an expiry.
    Changed,
    /// It has made room and written an entry of this length.
    Written(usize),
}

type Value = (Vec<u8>, Option<u64>);

/// The keyspace and what must be in it.
struct Run {
    store: TypedStore,
    now_ms: u64,
    model: BTreeMap<(usize, u8), Value>,
    limit: u64,
    policy: Policy,
}

impl Run {
    fn new(shards: usize, policy: Policy, limit: u64) -> Self {
        // The same hashes in every run, so that a failure repeats.
        values::seed_hashes(1);
        let store = TypedStore::builder().shards(shards).databases(DATABASES).seed(1).build();
        store.settings().set_policy(policy);
        store.settings().set_maxmemory(limit);
        store.settings().add_listener();
        Run { store, now_ms: 1_700_000_000_123, model: BTreeMap::new(), limit, policy }
    }

    fn live(&self, db: usize, key: u8) -> Option<&Value> {
        let is_live = |value: &&Value| value.1.is_none_or(|expiry| expiry > self.now_ms);
        self.model.get(&(db, key)).filter(is_live)
    }

    /// Takes note of what went by itself, which must have been there and free to go.
    fn bury(&mut self, gone: &[(usize, u8, Reason)]) {
        for &(db, key, reason) in gone {
            let is_live = self.live(db, key).is_some();
            let (_, expiry) = self.model.remove(&(db, key)).expect("what goes was there");
            assert_eq!(is_live, reason == Reason::Evicted, "{reason:?}");
            assert!(!is_live || expiry.is_some() || !self.policy.is_volatile(), "it may not go");
        }
    }

    /// Makes room for a write; whether there is any.
    fn room(&mut self) -> bool {
        let mut gone = Vec::new();
        let room = self.store.make_room(self.now_ms, &mut |one| gone.push(note(one)));
        self.bury(&gone);
        let used = self.store.used_bytes();
        assert_eq!(room, used <= self.limit, "{used} used of {}", self.limit);
        let may_go = self.model.values().any(|value| {
            let policy = self.policy;
            policy != Policy::NoEviction && (!policy.is_volatile() || value.1.is_some())
        });
        assert!(room || !may_go, "refused though something may go");
        room
    }

    /// Tells of what views have met.
    fn drain(&mut self) {
        let mut gone = Vec::new();
        let mut view = self.store.view(Scope::NONE, self.now_ms);
        view.drain_gone(&mut |one| gone.push(note(one)));
        drop(view);
        self.bury(&gone);
    }

    /// Does a step and compares.
    fn take(&mut self, step: &Step) -> Effect {
        let effect = match *step {
            Step::Get { db, key } => {
                let expected = self.live(db, key).cloned();
                let mut view = view(&mut self.store, self.now_ms, &[key]);
                assert_eq!(view.get(db, &[key]).map(read), expected);
                Effect::Nothing
            }
            Step::Put { db, key, len, ttl_ms } if self.room() => self.put(db, key, len, ttl_ms),
            Step::Append { db, key, len } if self.room() => self.append(db, key, len),
            Step::Put { .. } | Step::Append { .. } => Effect::Nothing,
            Step::SetExpiry { db, key, ttl_ms } => self.set_expiry(db, key, ttl_ms),
            Step::Take { db, key } => {
                let expected = self.live(db, key).cloned();
                let taken = view(&mut self.store, self.now_ms, &[key]).take(db, &[key]);
                assert_eq!(taken.as_ref().map(read), expected);
                if taken.is_some() {
                    self.model.remove(&(db, key));
                }
                Effect::Nothing
            }
            Step::Rename { db, from, to } => self.rename(db, from, to),
            Step::Clear { db } => {
                self.store.view(Scope::ALL, self.now_ms).clear(db);
                self.model.retain(|(of, _), _| *of != db);
                Effect::Nothing
            }
            Step::Swap { a, b } => {
                self.store.view(Scope::ALL, self.now_ms).swap(a, b);
                let model = std::mem::take(&mut self.model).into_iter();
                let swapped = |db| {
                    if db == a {
                        b
                    } else if db == b {
                        a
                    } else {
                        db
                    }
                };
                self.model = model.map(|((db, key), value)| ((swapped(db), key), value)).collect();
                Effect::Nothing
            }
            Step::Pass { millis } => {
                self.now_ms += millis;
                Effect::Nothing
            }
            Step::Maintain { budget } => {
                let mut gone = Vec::new();
                self.store.maintain(self.now_ms, budget, &mut |one| gone.push(note(one)));
                self.bury(&gone);
                Effect::Nothing
            }
        };
        self.drain();
        effect
    }

    fn put(&mut self, db: usize, key: u8, len: usize, ttl_ms: Option<u64>) -> Effect {
        let value = (vec![b'p'; len], ttl_ms.map(|ttl_ms| self.now_ms + ttl_ms));
        let mut entry = Entry::string(&[key], &value.0);
        entry.set_expiry(value.1);
        let expected = self.live(db, key).cloned();
        let old = view(&mut self.store, self.now_ms, &[key]).put(entry, db);
        assert_eq!(old.as_ref().map(read), expected);
        self.drain();
        self.model.insert((db, key), value);
        Effect::Written(len)
    }

    fn append(&mut self, db: usize, key: u8, len: usize) -> Effect {
        let expected = self.live(db, key).cloned();
        let mut view = view(&mut self.store, self.now_ms, &[key]);
        let entry = view.get_mut(db, &[key]);
        assert_eq!(entry.as_deref().map(read), expected);
        let (Some(mut entry), Some(mut value)) = (entry, expected) else { return Effect::Nothing };
        entry.append(&vec![b'a'; len]);
        value.0.extend(vec![b'a'; len]);
        let written = Effect::Written(value.0.len());
        self.model.insert((db, key), value);
        written
    }

    fn set_expiry(&mut self, db: usize, key: u8, ttl_ms: Option<u64>) -> Effect {
        let expected = self.live(db, key).cloned();
        let expiry = ttl_ms.map(|ttl_ms| self.now_ms + ttl_ms);
        let was_set = view(&mut self.store, self.now_ms, &[key]).set_expiry(db, &[key], expiry);
        assert_eq!(was_set, expected.is_some());
        let Some((value, _)) = expected else { return Effect::Nothing };
        self.model.insert((db, key), (value, expiry));
        Effect::Changed
    }

    fn rename(&mut self, db: usize, from: u8, to: u8) -> Effect {
        let expected = self.live(db, from).cloned();
        let mut view = view(&mut self.store, self.now_ms, &[from, to]);
        let taken = view.take(db, &[from]);
        assert_eq!(taken.as_ref().map(read), expected);
        let Some(entry) = taken else { return Effect::Nothing };
        view.put(entry.rename(&[to]), db);
        drop(view);
        let value = self.model.remove(&(db, from)).expect("it was expected");
        self.drain();
        self.model.insert((db, to), value);
        Effect::Changed
    }

    /// Everything that is there, and nothing else, is seen; and the numbers are right.
    fn compare(&mut self) {
        self.store.check_integrity();
        let view = self.store.view(Scope::ALL, self.now_ms);
        for (&(db, key), value) in &self.model {
            let is_live = value.1.is_none_or(|expiry| expiry > self.now_ms);
            assert_eq!(view.peek(db, &[key]).map(read).as_ref(), is_live.then_some(value));
        }
        for db in 0..DATABASES {
            let here = || self.model.iter().filter(|((of, _), _)| *of == db);
            assert_eq!(view.len(db), here().count());
            let volatile = here().filter(|(_, value)| value.1.is_some()).count();
            assert_eq!(view.volatile_len(db), volatile);
        }
    }
}

/// A view of some keys.
fn view<'a>(store: &'a mut TypedStore, now_ms: u64, keys: &[u8]) -> impl View + use<'a> {
    let scopes = keys.iter().map(|&key| store.scope(&[key]));
    let scope = scopes.fold(Scope::NONE, |all, scope| all | scope);
    store.view(scope, now_ms)
}

fn note(gone: Gone<'_>) -> (usize, u8, Reason) {
    (gone.db, gone.key[0], gone.reason)
}

fn read(entry: &Entry) -> Value {
    (entry.text(&mut Digits::new()).to_vec(), entry.expiry())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn it_does_what_plain_maps_do(
        steps in vec(step(), 1..400),
        shards in 0_u32..7,
        policy in policy(),
    ) {
        let mut run = Run::new(1 << shards, policy, u64::MAX);
        for step in &steps {
            run.take(step);
        }
        run.compare();
    }

    /// After each write memory is at the limit or below, but for what was written and for what is
    /// not yet counted; that much is exact.
    #[test]
    fn it_keeps_to_its_limit_under_every_policy(
        steps in vec(step(), 1..600),
        shards in 0_u32..7,
        policy in policy(),
        limit in 12_000_u64..60_000,
    ) {
        let mut run = Run::new(1 << shards, policy, limit);
        for step in &steps {
            let before = run.store.stats().used_bytes;
            let most = match run.take(step) {
                Effect::Nothing => before.max(limit + BEHIND),
                Effect::Changed => before + SMALL,
                Effect::Written(len) => limit + BEHIND + SMALL + 2 * len as u64,
            };
            let used = run.store.stats().used_bytes;
            prop_assert!(used <= most, "{used} used of {limit} after {step:?}");
        }
        run.compare();
    }
}
