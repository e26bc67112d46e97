// SPDX-License-Identifier: Apache-2.0
//! A long random run compared with a plain map: all rules at once, in random order.

use super::subject::{Noise, Subject, text};
use crate::{Keyspace, Policy, Reason, View};
use std::collections::BTreeMap;
use values::Entry;

const STEPS: usize = 10_000;
const STEPS_BETWEEN_CHECKS: usize = 1_000;
const KEYS: usize = 300;
const DATABASES: usize = 4;

/// The text and the expiry of the entry put last under each key of each database.
type Model = BTreeMap<(usize, Vec<u8>), (Vec<u8>, Option<u64>)>;

/// Through one handle: with memory to spare, then under each policy with too little.
pub(super) fn run<K: Keyspace>(make: &impl Fn() -> K) {
    Run::new(vec![Subject::new(make)], 1).go();
    for policy in Policy::ALL {
        let subject = Subject::new(make);
        subject.keyspace.settings().set_policy(policy);
        subject.keyspace.settings().set_maxmemory(100_000);
        Run::new(vec![subject], 2 + policy as u64).go();
    }
}

/// Through several handles, any of them at each step.
pub(super) fn run_shared<K: Keyspace>(make: &impl Fn() -> K) {
    let first = Subject::new(make);
    Run::new(vec![first.another(), first.another(), first], 20).go();
}

struct Run<K> {
    subjects: Vec<Subject<K>>,
    noise: Noise,
    model: Model,
}

impl<K: Keyspace> Run<K> {
    fn new(subjects: Vec<Subject<K>>, seed: u64) -> Self {
        subjects[0].keyspace.settings().add_listener();
        Run { subjects, noise: Noise::new(seed), model: Model::new() }
    }

    fn go(mut self) {
        for step in 1..=STEPS {
            let chosen = self.noise.below(self.subjects.len());
            let (db, key) = (self.noise.below(DATABASES), self.key());
            match self.noise.below(200) {
                0..50 => self.look(chosen, db, &key),
                50..100 => self.put(chosen, db, &key),
                100..120 => self.edit(chosen, db, &key),
                120..140 => self.set_expiry(chosen, db, &key),
                140..155 => self.take(chosen, db, &key),
                155..165 => self.move_to(chosen, db, &key),
                165..185 => self.maintain(chosen),
                185..198 => self.pass_time(),
                198 => self.swap(chosen),
                _ => self.clear(chosen, db),
            }
            self.hear(chosen);
            if step % STEPS_BETWEEN_CHECKS == 0 {
                self.compare(chosen);
            }
        }
        self.subjects.into_iter().for_each(Subject::finish);
    }

    fn key(&mut self) -> Vec<u8> {
        let number = self.noise.below(KEYS);
        vec![b'k'; number % 40].into_iter().chain(number.to_le_bytes()).collect()
    }

    fn value(&mut self) -> Vec<u8> {
        match self.noise.below(4) {
            0 => self.noise.below(100_000).to_string().into_bytes(),
            _ => vec![b'v'; self.noise.below(20_000) >> self.noise.below(14)],
        }
    }

    /// Never, past, or up to a minute away, mostly near.
    fn expiry(&mut self) -> Option<u64> {
        let soon_ms = (self.noise.below(60_000) >> self.noise.below(16)) as u64;
        let now_ms = self.subjects[0].now_ms;
        match self.noise.below(10) {
            0..4 => None,
            4 => Some(now_ms - soon_ms),
            _ => Some(now_ms + soon_ms),
        }
    }

    fn is_live(&self, value: &(Vec<u8>, Option<u64>)) -> bool {
        value.1.is_none_or(|expiry| expiry > self.subjects[0].now_ms)
    }

    fn expected(&self, db: usize, key: &[u8]) -> Option<Vec<u8>> {
        let value = self.model.get(&(db, key.to_vec()));
        value.filter(|value| self.is_live(value)).map(|value| value.0.clone())
    }

    fn look(&mut self, chosen: usize, db: usize, key: &[u8]) {
        let expected = self.expected(db, key);
        assert_eq!(self.subjects[chosen].read(db, key), expected, "RULE-READ: in a random run");
    }

    /// What is needed before each write; `false` if it is refused.
    fn room(&mut self, chosen: usize) -> bool {
        let (room, told) = self.subjects[chosen].make_room();
        for (db, key, reason) in told {
            let value = self.model.remove(&(db, key)).expect("RULE-GONE: what goes was there");
            let is_live = self.is_live(&value);
            assert_eq!(reason == Reason::Evicted, is_live, "RULE-GONE: by make_room");
            let policy = self.subjects[chosen].keyspace.settings().policy();
            assert!(!policy.is_volatile() || value.1.is_some(), "RULE-POLICY: {policy:?}");
        }
        room
    }

    fn put(&mut self, chosen: usize, db: usize, key: &[u8]) {
        if !self.room(chosen) {
            return self.take(chosen, db, key);
        }
        let (value, expiry) = (self.value(), self.expiry());
        let mut entry = Entry::string(key, &value);
        entry.set_expiry(expiry);
        let expected = self.expected(db, key);
        let old = self.subjects[chosen].put_entry(db, entry);
        assert_eq!(old, expected, "RULE-READ: replaced in a random run");
        self.hear(chosen);
        self.model.insert((db, key.to_vec()), (value, expiry));
    }

    fn edit(&mut self, chosen: usize, db: usize, key: &[u8]) {
        self.room(chosen);
        let more = self.value();
        let expected = self.expected(db, key);
        let mut view = self.subjects[chosen].view(key);
        let entry = view.get_mut(db, key);
        assert_eq!(entry.is_some(), expected.is_some(), "RULE-EDIT: in a random run");
        if let (Some(mut entry), Some(mut value)) = (entry, expected) {
            entry.append(&more);
            value.extend_from_slice(&more);
            assert_eq!(text(&entry), value, "RULE-EDIT: in a random run");
            let expiry = entry.expiry();
            self.model.insert((db, key.to_vec()), (value, expiry));
        }
    }

    fn set_expiry(&mut self, chosen: usize, db: usize, key: &[u8]) {
        let expiry = self.expiry();
        let expected = self.expected(db, key);
        let was_set = self.subjects[chosen].view(key).set_expiry(db, key, expiry);
        assert_eq!(was_set, expected.is_some(), "RULE-EDIT: set_expiry in a random run");
        if let Some(value) = expected {
            self.model.insert((db, key.to_vec()), (value, expiry));
        }
    }

    fn take(&mut self, chosen: usize, db: usize, key: &[u8]) {
        let expected = self.expected(db, key);
        let taken = self.subjects[chosen].delete(db, key);
        assert_eq!(taken, expected, "RULE-READ: taken in a random run");
        if taken.is_some() {
            self.model.remove(&(db, key.to_vec()));
        }
    }

    /// Renames into another database, as one step.
    fn move_to(&mut self, chosen: usize, db: usize, key: &[u8]) {
        let (to, new_key) = (self.noise.below(DATABASES), self.key());
        let expected = self.expected(db, key);
        let subject = &mut self.subjects[chosen];
        let scope = subject.keyspace.scope(key) | subject.keyspace.scope(&new_key);
        let mut view = subject.keyspace.view(scope, subject.now_ms);
        let entry = view.take(db, key);
        assert_eq!(entry.as_ref().map(text), expected, "RULE-READ: moved in a random run");
        let Some(entry) = entry else { return };
        if let Some(old) = view.put(entry.rename(&new_key), to) {
            view.dispose(old);
        }
        drop(view);
        let value = self.model.remove(&(db, key.to_vec())).expect("it was expected");
        self.hear(chosen);
        self.model.insert((to, new_key), value);
    }

    fn maintain(&mut self, chosen: usize) {
        let (told, _) = self.subjects[chosen].maintain();
        for (db, key, reason) in told {
            let value = self.model.remove(&(db, key)).expect("RULE-GONE: what goes was there");
            let is_live = self.is_live(&value);
            assert_eq!(reason == Reason::Evicted, is_live, "RULE-GONE: by maintain");
        }
    }

    fn pass_time(&mut self) {
        let millis = (self.noise.below(5000) >> self.noise.below(12)) as u64;
        self.subjects.iter_mut().for_each(|subject| subject.now_ms += millis);
    }

    fn clear(&mut self, chosen: usize, db: usize) {
        if self.noise.below(3) == 0 {
            self.subjects[chosen].whole().clear(db);
            self.model.retain(|(of, _), _| *of != db);
        }
    }

    fn swap(&mut self, chosen: usize) {
        let (a, b) = (self.noise.below(DATABASES), self.noise.below(DATABASES));
        self.subjects[chosen].whole().swap(a, b);
        let swapped = |db| {
            if db == a {
                b
            } else if db == b {
                a
            } else {
                db
            }
        };
        let model = std::mem::take(&mut self.model);
        self.model =
            model.into_iter().map(|((db, key), value)| ((swapped(db), key), value)).collect();
    }

    /// The entries that the views of this step met.
    fn hear(&mut self, chosen: usize) {
        for (db, key, reason) in self.subjects[chosen].drained() {
            assert_eq!(reason, Reason::Expired, "RULE-GONE: met by a view");
            let value = self.model.remove(&(db, key)).expect("RULE-GONE: what goes was there");
            assert!(!self.is_live(&value), "RULE-GONE: met by a view");
        }
    }

    /// Reads everything.
    fn compare(&mut self, chosen: usize) {
        self.subjects[chosen].keyspace.check_integrity();
        let model = self.model.clone();
        for ((db, key), value) in &model {
            let expected = self.is_live(value).then(|| value.0.clone());
            let view = self.subjects[chosen].view(key);
            let seen = view.peek(*db, key).map(text);
            assert_eq!(seen, expected, "RULE-READ: in a random run");
        }
        for db in 0..DATABASES {
            let len = model.keys().filter(|(of, _)| *of == db).count();
            let seen = self.subjects[chosen].whole().len(db);
            assert_eq!(seen, len, "RULE-LEN: in a random run");
        }
    }
}
