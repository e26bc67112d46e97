// SPDX-License-Identifier: Apache-2.0
//! A long random run compared with a plain map: all rules at once, in random order.

use super::Limits;
use super::subject::{Noise, Seen, Subject, show};
use crate::{
    Amend, Change, Condition, Content, Digits, Expiry, Marks, Put, Store, StoreError, Version,
    Write,
};
use clock::Ticks;
use std::collections::{BTreeMap, HashSet};

const STEPS: usize = 12_000;
const STEPS_BETWEEN_SWEEPS: usize = 400;

/// Through one handle: with memory to spare, then with too little.
pub(super) fn run<S: Store>(make: &impl Fn(Limits) -> S) {
    Run::new(vec![Subject::new(make, Limits::ROOMY)], 100, 4).go();
    Run::new(vec![Subject::new(make, Limits::TIGHT)], 600, 5).go();
}

/// Through several handles, any of them at each step.
pub(super) fn run_shared<S: Store + Clone>(make: &impl Fn(Limits) -> S) {
    let mut first = Subject::new(make, Limits::ROOMY);
    let handles = vec![first.another(), first.another(), first];
    Run::new(handles, 100, 6).go();
}

/// The handles under test, and what must be in the store.
struct Run<S> {
    handles: Vec<Subject<S>>,
    keys: Vec<Vec<u8>>,
    noise: Noise,
    /// The last item written under each key, until it is removed. It may have expired.
    model: BTreeMap<Vec<u8>, Seen>,
    /// Every version each key ever had.
    history: HashSet<(Vec<u8>, Version)>,
    /// Live items that the store no longer had.
    lost: u64,
}

impl<S: Store> Run<S> {
    fn new(handles: Vec<Subject<S>>, keys: usize, seed: u64) -> Self {
        let mut noise = Noise::new(seed);
        let mut key = |number: usize| {
            // Numbered, so that no two are the same.
            let len = [0, 1, 6, 30, 248][noise.below(5)];
            let padding = noise.bytes(len);
            [&(number as u16).to_le_bytes()[..], &padding].concat()
        };
        let keys = (0..keys).map(&mut key).collect();
        let (model, history) = (BTreeMap::new(), HashSet::new());
        Run { handles, keys, noise, model, history, lost: 0 }
    }

    fn go(mut self) {
        for step in 1..=STEPS {
            let handle = self.noise.below(self.handles.len());
            let key = self.keys[self.noise.below(self.keys.len())].clone();
            if self.tight() {
                // What the operation may do depends on whether the item was evicted.
                self.look(handle, &key);
            }
            match self.noise.below(100) {
                0..20 => self.look(handle, &key),
                20..55 => self.put(handle, &key),
                55..75 => self.update(handle, &key),
                75..82 => self.delete(handle, &key),
                82..86 => self.handles[handle].prefetch(&key),
                86..93 => drop(self.handles[handle].expire(step % 9)),
                93..99 => self.pass_time(),
                _ if step % 3 == 0 => self.clear(handle),
                _ => self.handles[handle].store.rest(),
            }
            if step % STEPS_BETWEEN_SWEEPS == 0 {
                self.sweep(handle);
            }
        }
        self.handles.into_iter().for_each(Subject::finish);
    }

    fn tight(&self) -> bool {
        self.handles[0].limits == Limits::TIGHT
    }

    fn now(&self) -> Ticks {
        self.handles[0].now()
    }

    /// The item that must be under `key`.
    fn expected(&self, key: &[u8]) -> Option<Seen> {
        self.model.get(key).filter(|seen| !seen.expiry.is_past(self.now())).cloned()
    }

    /// Reads `key` and compares. Where memory is tight the item may have been evicted.
    fn look(&mut self, handle: usize, key: &[u8]) {
        let seen = self.handles[handle].read(key);
        let expected = self.expected(key);
        if self.tight() && seen.is_none() && expected.is_some() {
            self.lost += 1;
            let (lost, evicted) = (self.lost, self.handles[handle].stats().evicted);
            assert!(lost <= evicted, "RULE-READ: {lost} items lost, {evicted} evicted");
            self.model.remove(key);
        } else {
            assert_eq!(seen, expected, "RULE-READ: {} in a random run", show(key));
        }
    }

    fn value(&mut self) -> Vec<u8> {
        let most = if self.tight() { 65_537 } else { 30_000 };
        let len = self.noise.below(most) >> self.noise.below(14);
        self.noise.bytes(len)
    }

    /// Never, past, or up to a minute away, mostly near.
    fn expiry(&mut self) -> Expiry {
        let soon = self.noise.below(60_000) >> self.noise.below(16);
        match self.noise.below(10) {
            0..4 => Expiry::NEVER,
            4 => Expiry::at(Ticks::from_millis(self.now().as_millis() - soon as u64)),
            _ => self.handles[0].within(soon as u64),
        }
    }

    /// Any marks, or none to be set.
    fn marks(&mut self) -> Option<Marks> {
        let (stale, claimed) = (self.noise.below(2) == 0, self.noise.below(2) == 0);
        (self.noise.below(2) == 0).then_some(Marks { stale, claimed })
    }

    /// Any condition; the version is the item's or one that it is not.
    fn condition(&mut self, expected: Option<&Seen>) -> Condition {
        let version = expected.map_or(1, |seen| seen.version.get());
        match self.noise.below(10) {
            0 => Condition::IfAbsent,
            1 => Condition::IfPresent,
            2 => Condition::IfVersion(Version::new(version).expect("not zero")),
            3 => Condition::IfVersion(Version::new(version + 1).expect("not zero")),
            _ => Condition::Always,
        }
    }

    fn put(&mut self, handle: usize, key: &[u8]) {
        let (value, expiry) = (self.value(), self.expiry());
        let flags = self.noise.next() as u32;
        let live = self.expected(key);
        let condition = self.condition(live.as_ref());
        let refusal = refusal(condition, live.as_ref());
        let put = Put::new(key, &value).flags(flags).expiry(expiry).condition(condition);
        let result = self.handles[handle].put(put);
        match (refusal, result) {
            (None, Ok(version)) => {
                let marks = Marks::NONE;
                self.written(key, Seen { value, flags, expiry, version, marks });
            }
            (None, Err(error)) => {
                panic!("RULE-EVICTION: {condition:?} for {}: {error:?}", show(key))
            }
            (Some(error), _) => {
                assert_eq!(result, Err(error), "RULE-CONDITION: {condition:?} for {}", show(key));
            }
        }
    }

    fn written(&mut self, key: &[u8], seen: Seen) {
        let version = seen.version;
        let new = self.history.insert((key.to_vec(), version));
        assert!(new, "RULE-VERSION-NEW: {version:?} came again for {}", show(key));
        self.model.insert(key.to_vec(), seen);
    }

    fn update(&mut self, handle: usize, key: &[u8]) {
        let (before, after) = (self.value(), self.value());
        let (flags, expiry) = (self.noise.next() as u32, self.expiry());
        let number = (self.noise.next() >> self.noise.below(64)).to_string();
        let marks = self.marks();
        let content = match self.noise.below(4) {
            0 => Content::Same,
            1 => Content::Number(Digits::new(number.as_bytes())),
            2 => Content::Around { before: &before, after: &after },
            _ => Content::Whole(&after),
        };
        let expires = self.noise.below(2) == 0;
        let change = match self.noise.below(8) {
            0 => Change::Keep,
            1 => Change::Delete,
            2 => Change::Expire(expiry),
            3 => Change::Number(Digits::new(number.as_bytes())),
            4 => Change::Extend { before: &before, after: &after },
            5 => Change::Put { value: &before, flags, expiry },
            6 => Change::Amend(Amend {
                expiry: expires.then_some(expiry),
                marks,
                read: flags % 2 == 0,
                timed: flags % 3 == 0,
            }),
            _ => Change::Write(Write {
                flags: expires.then_some(flags),
                expiry: expires.then_some(expiry),
                marks,
                ..Write::new(content)
            }),
        };
        let live = self.expected(key);
        let most = self.handles[handle].limits.value_bytes as usize;
        let wanted = after_change(change, live.as_ref(), most);
        let result = self.handles[handle].change_versioned(key, change);
        let what = format!("an update of {}", show(key));
        let wanted = match wanted {
            Ok(wanted) => wanted,
            Err(error) => {
                assert_eq!(result, Err(error), "RULE-UPDATE: {what}");
                return self.look(handle, key);
            }
        };
        let (saw, told) = result.unwrap_or_else(|error| panic!("RULE-UPDATE: {what}: {error:?}"));
        assert_eq!(saw, live, "RULE-UPDATE: what {what} saw");
        let Some(wanted) = wanted.filter(|seen| !seen.expiry.is_past(self.now())) else {
            self.model.remove(key);
            return self.look(handle, key);
        };
        let seen = self.handles[handle].live(key);
        assert_eq!(told, Some(seen.version), "RULE-VERSION-TOLD: by {what}");
        let kept =
            matches!(change, Change::Keep | Change::Miss | Change::Expire(_) | Change::Amend(_));
        let version = if kept { wanted.version } else { seen.version };
        assert_eq!(seen, Seen { version, ..wanted }, "RULE-UPDATE: {what}");
        if kept {
            self.model.insert(key.to_vec(), seen);
        } else {
            self.written(key, seen);
        }
    }

    fn delete(&mut self, handle: usize, key: &[u8]) {
        let live = self.expected(key).is_some();
        let deleted = self.handles[handle].delete(key);
        assert_eq!(deleted, live, "RULE-DELETE: {} in a random run", show(key));
        self.model.remove(key);
    }

    fn clear(&mut self, handle: usize) {
        self.handles[handle].clear();
        self.model.clear();
    }

    /// A few milliseconds, or to an item's expiry, or a millisecond short of it, or far ahead.
    fn pass_time(&mut self) {
        let now = self.now();
        let expiries = self.model.values().filter_map(|seen| seen.expiry.ticks());
        let next =
            expiries.map(|at| at.since(now).as_millis() as u64).filter(|&left| left > 0).min();
        let millis = match self.noise.below(8) {
            0..3 => self.noise.below(4) as u64,
            3 | 4 => next.unwrap_or(1),
            5 | 6 => next.map_or(1, |left| left - 1),
            _ => self.noise.below(100_000) as u64 >> self.noise.below(10),
        };
        self.handles[0].advance(millis);
    }

    fn sweep(&mut self, handle: usize) {
        self.handles[handle].store.check_integrity();
        for key in self.keys.clone() {
            self.look(handle, &key);
        }
        let live = self.keys.iter().filter(|key| self.expected(key).is_some()).count() as u64;
        let items = self.handles[handle].stats().items;
        assert!(items >= live, "RULE-STATS: {items} items, of which {live} are live");
    }
}

/// How a write is refused by its condition, if it is.
pub(super) fn refusal(condition: Condition, live: Option<&Seen>) -> Option<StoreError> {
    match (condition, live) {
        (Condition::IfAbsent, Some(_)) => Some(StoreError::Exists),
        (Condition::IfPresent | Condition::IfVersion(_), None) => Some(StoreError::NotFound),
        (Condition::IfVersion(version), Some(seen)) if version != seen.version => {
            Some(StoreError::Exists)
        }
        _ => None,
    }
}

/// What `change` must make of `live`; its version is the old one.
fn after_change(
    change: Change<'_>,
    live: Option<&Seen>,
    most: usize,
) -> Result<Option<Seen>, StoreError> {
    let needed = live.cloned().ok_or(StoreError::NotFound);
    let seen = match change {
        Change::Keep | Change::Miss => return Ok(live.cloned()),
        Change::Delete => return Ok(None),
        Change::Expire(expiry) => Seen { expiry, ..needed? },
        Change::Number(digits) => Seen { value: digits.as_bytes().to_vec(), ..needed? },
        Change::Extend { before, after } => {
            let seen = needed?;
            let value = [before, &seen.value, after].concat();
            Seen { value, marks: Marks::NONE, ..seen }
        }
        Change::Put { value, flags, expiry } => {
            let version = Version::new(1).expect("not zero");
            Seen { value: value.to_vec(), flags, expiry, version, marks: Marks::NONE }
        }
        Change::Amend(amend) => {
            let seen = needed?;
            let expiry = amend.expiry.unwrap_or(seen.expiry);
            Seen { expiry, marks: amend.marks.unwrap_or(seen.marks), ..seen }
        }
        Change::Write(write) => {
            let value = match write.content {
                Content::Whole(value) => value.to_vec(),
                Content::Same => needed?.value,
                Content::Number(digits) => needed.map(|_| digits.as_bytes().to_vec())?,
                Content::Around { before, after } => [before, &needed?.value, after].concat(),
            };
            let version = Version::new(1).expect("not zero");
            let same = live.filter(|_| write.content.is_the_same_item());
            Seen {
                value,
                flags: write.flags.or(live.map(|seen| seen.flags)).unwrap_or(0),
                expiry: write.expiry.or(live.map(|seen| seen.expiry)).unwrap_or(Expiry::NEVER),
                version,
                marks: write.marks.or(same.map(|seen| seen.marks)).unwrap_or_default(),
            }
        }
    };
    if seen.value.len() > most { Err(StoreError::TooLarge) } else { Ok(Some(seen)) }
}
