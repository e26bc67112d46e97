// SPDX-License-Identifier: Apache-2.0
//! [`Trial`]: a typed keyspace and its model, and the steps that an input stands for.
//!
//! An input is a [`Setup`], then steps. A step works through one of several handles, which are used
//! in turn by one thread:
//!
//! * a session: one view of some keys, or of all, and several actions in it (`session.rs`), which
//!   edit values of all types (`edit/`);
//! * a part of a walk over a database, passing time, maintenance, another setting, a
//!   handle that is added or dropped.
//!
//! After each step (with many shards only after some steps) the engine's invariants are checked, and its
//! numbers are compared with the model's.
//! In the end everything is removed, and the memory in use must be the same as in the beginning.

mod edit;
mod finish;
mod model;
mod session;
pub(crate) mod value;

use arbitrary::{Result, Unstructured};
use edit::expiry;
use keyspace::{Keyspace, Policy, Scope, View};
use model::{Model, Place};
use session::Session;
use std::collections::{BTreeMap, BTreeSet};
use storage_typed::TypedStore;
use values::{Entry, Limits};

/// Databases of the keyspace under test.
const DATABASES: usize = 16;

/// When a run begins: an uneven moment, so that no rounding goes unseen.
const START_MS: u64 = 1_700_012_345_678;

/// Handles that there may be at once.
const HANDLES_MAX: usize = 4;

/// Values that are kept pinned at once.
const PINS_MAX: usize = 8;

/// Shards up to which all invariants are checked after each step, and steps after which they are with
/// more.
const SHARDS_FEW: usize = 4;
const CHECK_EVERY: usize = 8;

/// Calls of `make_room` or `maintain` that must be enough for anything.
const CALLS_MAX: usize = 100_000;

/// How a keyspace is made, and how a run ends.
#[derive(Clone, Copy, Debug)]
struct Setup {
    shards: usize,
    limits: Limits,
    ending: finish::Ending,
}

impl Setup {
    fn read(input: &mut Unstructured<'_>) -> Result<Self> {
        let shards = 1 << input.int_in_range(0..=6_u32)?;
        Ok(Setup { shards, limits: limits(input)?, ending: finish::Ending::read(input)? })
    }

    fn build(&self) -> TypedStore {
        // Only the first time; so an input always does the same.
        values::seed_hashes(7);
        TypedStore::builder().shards(self.shards).databases(DATABASES).seed(7).build()
    }
}

/// Redis's limits, or some that make small values large ones.
fn limits(input: &mut Unstructured<'_>) -> Result<Limits> {
    Ok(match input.int_in_range(0..=3_u8)? {
        0 => Limits {
            hash_entries: 4,
            hash_value: 20,
            list_bytes: 3,
            set_intset: 5,
            set_entries: 4,
            set_value: 20,
            zset_entries: 4,
            zset_value: 20,
            hll_sparse_bytes: 3000,
            stream_node_bytes: 60,
            stream_node_entries: 3,
            ..Limits::default()
        },
        1 => Limits {
            hash_entries: 0,
            hash_value: 0,
            list_bytes: -1,
            set_intset: 0,
            set_entries: 0,
            set_value: 0,
            zset_entries: 0,
            zset_value: 0,
            hll_sparse_bytes: 3000,
            stream_node_bytes: 1,
            stream_node_entries: 1,
            ..Limits::default()
        },
        2 => Limits {
            hash_entries: 100_000,
            hash_value: 100_000,
            list_bytes: -5,
            set_intset: 100_000,
            set_entries: 100_000,
            set_value: 100_000,
            zset_entries: 100_000,
            zset_value: 100_000,
            hll_sparse_bytes: 3000,
            stream_node_bytes: 0,
            stream_node_entries: 0,
            ..Limits::default()
        },
        _ => Limits::default(),
    })
}

/// A keyspace and its model, side by side.
#[derive(Debug)]
pub(crate) struct Trial {
    setup: Setup,
    handles: Vec<TypedStore>,
    model: Model,
    /// Pinned values and what they must stay.
    pins: Vec<(bytes::Bytes, Vec<u8>)>,
    walk: Option<Walk>,
    /// The latest time there has been: clocks are set back, too.
    latest_ms: u64,
    /// Steps so far.
    steps: usize,
}

/// A walk over a database that is under way.
#[derive(Debug)]
struct Walk {
    db: usize,
    cursor: u64,
    /// What was there when it began: the serial numbers of entries.
    there: BTreeMap<Place, u64>,
    seen: BTreeSet<Vec<u8>>,
}

impl Trial {
    /// An empty keyspace of the kind that `input` begins with.
    pub(crate) fn new(input: &mut Unstructured<'_>) -> Result<Self> {
        let setup = Setup::read(input)?;
        let store = setup.build();
        store.settings().add_listener();
        let model = Model::new(START_MS);
        Ok(Trial {
            setup,
            handles: vec![store],
            model,
            pins: Vec::new(),
            walk: None,
            latest_ms: START_MS,
            steps: 0,
        })
    }

    /// Carries out the next step of `input` on both and compares.
    pub(crate) fn step(&mut self, input: &mut Unstructured<'_>) -> Result<()> {
        let handle = input.int_in_range(0..=self.handles.len() - 1)?;
        match input.int_in_range(0..=15_u8)? {
            0..=7 => self.session(handle, input)?,
            8 => self.fill(handle, input)?,
            9 | 10 => self.pass_time(handle, input)?,
            11 => {
                self.maintain(handle, input.arbitrary::<u8>()?.into());
            }
            12 => self.walk(handle, input)?,
            13 => self.change_settings(handle, input)?,
            14 => self.change_handles(handle, input)?,
            _ => self.make_room(handle),
        }
        self.steps += 1;
        // With many shards that takes far longer than the step.
        if self.setup.shards <= SHARDS_FEW || self.steps.is_multiple_of(CHECK_EVERY) {
            self.handles[0].check_integrity();
        }
        self.settle();
        Ok(())
    }

    /// Room for a write; whether there is any.
    fn room(&mut self, handle: usize) -> bool {
        let Trial { handles, model, .. } = self;
        let store = &mut handles[handle];
        let (policy, limit) = (store.settings().policy(), store.settings().maxmemory());
        let has_room = store.make_room(model.now_ms, &mut |gone| model.told(gone, policy));
        if !has_room {
            assert!(store.used_bytes() > limit && limit > 0, "refused with memory to spare");
            assert!(!model.may_evict(policy), "refused, though {policy:?} may evict");
            assert_eq!(store.stats().leaving_bytes, 0, "refused, though some is being freed");
        }
        has_room
    }

    /// Makes room until there is, or nothing more may go.
    fn make_room(&mut self, handle: usize) {
        for _ in 0..CALLS_MAX {
            let limit = self.handles[handle].settings().maxmemory();
            let is_full = limit > 0 && self.handles[handle].used_bytes() > limit;
            if !self.room(handle) || !is_full {
                return;
            }
        }
        panic!("room is never made");
    }

    /// One view, several actions.
    fn session(&mut self, handle: usize, input: &mut Unstructured<'_>) -> Result<()> {
        let has_room = self.room(handle);
        let limits = if input.ratio(1, 8)? { limits(input)? } else { self.setup.limits };
        let keys: Vec<Vec<u8>> =
            (0..input.int_in_range(1..=3)?).map(|_| key(input)).collect::<Result<_>>()?;
        let is_whole = input.ratio(1, 4)?;
        let touches = !input.ratio(1, 8)?;
        let store = &mut self.handles[handle];
        let scopes = keys.iter().map(|key| store.scope(key));
        let scope = scopes.fold(Scope::NONE, |all, scope| all | scope);
        let scope = if is_whole { Scope::ALL } else { scope };
        let mut view = store.view(scope, self.model.now_ms);
        view.set_touch(touches);
        let (model, pins) = (&mut self.model, &mut self.pins);
        let mut session =
            Session { view, model, pins, limits: &limits, keys: &keys, has_room, is_whole };
        let actions = input.int_in_range(1..=6_u8)?;
        let done = (0..actions).try_for_each(|_| session.act(input));
        session.hear();
        self.pins.truncate(PINS_MAX);
        done
    }

    /// Many strings of one size, to fill memory and index.
    fn fill(&mut self, handle: usize, input: &mut Unstructured<'_>) -> Result<()> {
        let count = 1_u32 << input.int_in_range(0..=8_u32)?;
        let first = u32::from(input.arbitrary::<u8>()?) << 4;
        let len = usize::from(input.arbitrary::<u8>()?) << input.int_in_range(0..=4_u32)?;
        let (db, expiry) = (database(input)?, expiry(input, self.model.now_ms)?);
        for number in first..first + count {
            if !self.room(handle) {
                break;
            }
            let key = [&b"fill"[..], &number.to_le_bytes()].concat();
            let text = vec![number as u8; len];
            let mut entry = Entry::string(&key, &text);
            entry.set_expiry(expiry);
            let store = &mut self.handles[handle];
            let mut view = store.view(store.scope(&key), self.model.now_ms);
            if let Some(old) = view.put(entry, db) {
                view.dispose(old);
            }
            self.model.put((db, key), value::Value::String(text), expiry);
            view.drain_gone(&mut |gone| self.model.told_by_view(gone));
        }
        Ok(())
    }

    /// Advances the clock, or sets it back. Before it is set back all expired entries are removed, because
    /// they would be live again otherwise.
    fn pass_time(&mut self, handle: usize, input: &mut Unstructured<'_>) -> Result<()> {
        let by_ms = 1 << input.int_in_range(0..=36_u32)?;
        if input.ratio(1, 16)? {
            if self.remove_expired(handle) {
                self.model.now_ms -= by_ms.min(self.model.now_ms / 2);
            }
        } else {
            self.model.now_ms += by_ms;
        }
        self.latest_ms = self.latest_ms.max(self.model.now_ms);
        Ok(())
    }

    /// One call of `maintain`; whether there is more to do.
    fn maintain(&mut self, handle: usize, budget: usize) -> bool {
        let Trial { handles, model, .. } = self;
        let store = &mut handles[handle];
        let (policy, before) = (store.settings().policy(), store.stats());
        let more = store.maintain(model.now_ms, budget, &mut |gone| model.told(gone, policy));
        let after = store.stats();
        let steps = after.expired + after.expired_fields + after.evicted
            - (before.expired + before.expired_fields + before.evicted);
        // About as much as it may do; a bucket or a packed hash is not left in the middle.
        let most = 2 * budget as u64 + 2200;
        assert!(steps <= most, "{steps} removals with a budget of {budget}");
        more
    }

    /// A step of a walk over a database, the first, the next, or one from any cursor.
    fn walk(&mut self, handle: usize, input: &mut Unstructured<'_>) -> Result<()> {
        if input.ratio(1, 8)? {
            let (db, cursor) = (database(input)?, input.arbitrary()?);
            self.scan(handle, db, cursor);
            return Ok(());
        }
        let steps = 1 << input.int_in_range(0..=8_u32)?;
        let mut walk = match self.walk.take() {
            Some(walk) => walk,
            None => {
                let db = database(input)?;
                let live = self.model.live_places().filter(|(of, _)| *of == db);
                let born = |place: &Place| self.model.live(place).map_or(0, |kept| kept.born);
                let there = live.map(|place| (place.clone(), born(place))).collect();
                Walk { db, cursor: 0, there, seen: BTreeSet::new() }
            }
        };
        for _ in 0..steps {
            let (cursor, seen) = self.scan(handle, walk.db, walk.cursor);
            walk.cursor = cursor;
            walk.seen.extend(seen);
            if cursor == 0 {
                self.end_walk(&walk);
                return Ok(());
            }
        }
        self.walk = Some(walk);
        Ok(())
    }

    fn scan(&mut self, handle: usize, db: usize, cursor: u64) -> (u64, Vec<Vec<u8>>) {
        let store = &mut self.handles[handle];
        let policy = store.settings().policy();
        let mut view = store.view(store.scan_scope(cursor), self.model.now_ms);
        let mut seen = Vec::new();
        let next = view.scan(db, cursor, &mut |entry| seen.push(entry.key().to_vec()));
        // Which expired ones it meets is not foretold.
        view.drain_gone(&mut |gone| self.model.told(gone, policy));
        drop(view);
        for key in &seen {
            assert!(self.model.live(&(db, key.clone())).is_some(), "RULE-SCAN: shows the dead");
        }
        (next, seen)
    }

    /// A walk has shown all that was there from its beginning to its end.
    fn end_walk(&self, walk: &Walk) {
        for (place, born) in &walk.there {
            let is_there = self.model.live(place).is_some_and(|kept| kept.born == *born);
            let is_seen = walk.seen.contains(&place.1);
            assert!(!is_there || is_seen, "RULE-SCAN: {} is left out", place.1.escape_ascii());
        }
    }

    fn change_settings(&mut self, handle: usize, input: &mut Unstructured<'_>) -> Result<()> {
        let settings = self.handles[handle].settings();
        match input.int_in_range(0..=9_u8)? {
            0..=2 => settings.set_policy(*input.choose(&Policy::ALL)?),
            3..=5 => {
                let shift = input.int_in_range(0..=12_u32)?;
                let limit = if shift == 0 { 0 } else { 500 << shift };
                settings.set_maxmemory(limit);
            }
            6 => settings.set_samples(input.int_in_range(0..=70)?),
            7 => {
                settings.set_lfu_log_factor(input.int_in_range(0..=20)?);
                settings.set_lfu_decay_time(input.int_in_range(0..=3)?);
            }
            8 => settings.set_active_expiry(input.arbitrary()?),
            _ => {
                self.handles[handle].reset_stats();
                self.model.counts = Default::default();
            }
        }
        Ok(())
    }

    /// Another handle comes, one goes, or one reserves memory.
    fn change_handles(&mut self, handle: usize, input: &mut Unstructured<'_>) -> Result<()> {
        match input.int_in_range(0..=3_u8)? {
            0 if self.handles.len() < HANDLES_MAX => {
                let another = self.handles[handle].clone();
                self.handles.push(another);
            }
            1 if self.handles.len() > 1 => drop(self.handles.swap_remove(handle)),
            _ => {
                let bytes = 1 << input.int_in_range(0..=16_u32)?;
                self.handles[handle].reserve(bytes - 1);
            }
        }
        Ok(())
    }

    /// Checks the engine, and that its numbers are those of the model.
    fn settle(&mut self) {
        self.model.check_told();
        let stats = self.handles[0].stats();
        let sum = stats.entry_bytes + stats.index_bytes + stats.leaving_bytes;
        assert_eq!(stats.used_bytes, sum + stats.reserved_bytes, "RULE-STATS: bytes");
        let counts = self.model.counts;
        assert_eq!((stats.hits, stats.misses), (counts.hits, counts.misses), "RULE-STATS: reads");
        let told = (counts.expired, counts.evicted);
        assert_eq!((stats.expired, stats.evicted), told, "RULE-STATS: gone");
        assert!(stats.expired_fields >= counts.fields_told, "RULE-STATS: fields");
        let mut databases = [(0, 0); DATABASES];
        for ((db, _), kept) in self.model.entries() {
            databases[*db].0 += 1;
            databases[*db].1 += u64::from(kept.expiry.is_some());
        }
        for (db, seen) in stats.databases.iter().enumerate() {
            assert_eq!((seen.keys, seen.volatile), databases[db], "RULE-STATS: database {db}");
        }
        for (pin, expected) in &self.pins {
            assert!(pin[..] == expected[..], "a pinned value has changed");
        }
    }
}

/// One of 24 keys, of all lengths.
fn key(input: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let number = input.int_in_range(0..=23_usize)?;
    let len = if number < 20 { number } else { number * 13 };
    Ok((0..len).map(|at| (number * 31 + at) as u8).collect())
}

/// A database, the first one mostly.
fn database(input: &mut Unstructured<'_>) -> Result<usize> {
    let number = input.int_in_range(0..=31_usize)?;
    Ok(if number < DATABASES { number } else { number % 2 })
}
