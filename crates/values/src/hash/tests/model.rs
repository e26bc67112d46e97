// SPDX-License-Identifier: Apache-2.0
//! Hashes against the sorted map of the standard library, while time goes by.

use super::{LIMITS, hash, hash_mut};
use crate::hash::large::REST_MS;
use crate::hash::packed::NEVER;
use crate::{Encoding, Entry};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// What is in a hash: the value and the due time of each field, expired ones included.
type Model = BTreeMap<Vec<u8>, (Vec<u8>, u64)>;

fn live_fields(entry: &Entry, now_ms: u64) -> Vec<(Vec<u8>, Vec<u8>)> {
    let pairs = hash(entry).iter(now_ms);
    let mut pairs: Vec<_> = pairs.map(|(name, value)| (name.to_vec(), value.to_vec())).collect();
    pairs.sort();
    pairs
}

#[derive(Clone, Debug)]
enum Step {
    Set(Vec<u8>, Vec<u8>),
    SetKeeping(Vec<u8>, Vec<u8>),
    Remove(Vec<u8>),
    SetExpiry(Vec<u8>, Option<u64>),
    Wait(u64),
    RemoveExpired(usize),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let name = || prop_oneof![20 => "[a-h]", 1 => "long name [a-c]"].prop_map(String::into_bytes);
    let text = prop_oneof![20 => "[xy]{0,8}", 1 => "[xy]{9,300}"];
    let value = text.prop_map(String::into_bytes).boxed();
    let wait = prop_oneof![4 => 0..500_u64, 1 => 500..5_000_u64].boxed();
    let step = prop_oneof![
        6 => (name(), value.clone()).prop_map(|(name, value)| Step::Set(name, value)),
        2 => (name(), value).prop_map(|(name, value)| Step::SetKeeping(name, value)),
        3 => name().prop_map(Step::Remove),
        4 => (name(), prop::option::of(wait.clone())).prop_map(|(name, at)| Step::SetExpiry(name, at)),
        3 => wait.prop_map(Step::Wait),
        2 => (0..20_usize).prop_map(Step::RemoveExpired),
    ];
    prop::collection::vec(step, 0..150)
}

/// A hash, its model and what they were told.
struct Pair {
    entry: Entry,
    model: Model,
    now_ms: u64,
    /// Whether the hash has had to become large.
    large: bool,
}

impl Pair {
    fn live(&self, name: &[u8]) -> bool {
        self.model.get(name).is_some_and(|(_, due)| *due > self.now_ms)
    }

    fn set(&mut self, name: Vec<u8>, value: Vec<u8>, keep: bool) {
        let now_ms = self.now_ms;
        let mut edit = hash_mut(&mut self.entry);
        let new = if keep {
            edit.set_keeping_expiry(&name, &value, now_ms)
        } else {
            edit.set(&name, &value, now_ms)
        };
        assert_eq!(new, !self.live(&name));
        self.large |= name.len().max(value.len()) > LIMITS.hash_value;
        let due = match self.model.get(&name) {
            Some((_, due)) if keep && *due > now_ms => *due,
            _ => NEVER,
        };
        self.model.insert(name, (value, due));
        self.large |= self.model.len() > LIMITS.hash_entries;
    }

    fn step(&mut self, step: Step) {
        let now_ms = self.now_ms;
        match step {
            Step::Set(name, value) => self.set(name, value, false),
            Step::SetKeeping(name, value) => self.set(name, value, true),
            Step::Remove(name) => {
                let live = self.live(&name);
                assert_eq!(hash_mut(&mut self.entry).remove(&name, now_ms), live);
                self.model.remove(&name);
            }
            Step::SetExpiry(name, after) => {
                let (live, expiry) = (self.live(&name), after.map(|after| now_ms + after));
                assert_eq!(hash_mut(&mut self.entry).set_expiry(&name, expiry, now_ms), live);
                if let Some((_, due)) = self.model.get_mut(&name).filter(|_| live) {
                    *due = expiry.unwrap_or(NEVER);
                }
            }
            Step::Wait(ms) => self.now_ms += ms,
            Step::RemoveExpired(budget) => {
                let mut gone = 0;
                let removed = hash_mut(&mut self.entry).remove_expired(now_ms, budget, |name| {
                    let (_, due) = self.model.remove(name).expect("it was there");
                    assert!(due <= now_ms, "it has expired");
                    gone += 1;
                });
                assert_eq!(removed, gone);
            }
        }
    }

    fn compare(&self) {
        let (read, now_ms) = (hash(&self.entry), self.now_ms);
        read.check_integrity();
        assert_eq!((read.len(), self.entry.len()), (self.model.len(), self.model.len()));
        assert_eq!(self.entry.encoding() == Encoding::Hashtable, self.large);
        if !self.large {
            assert_eq!(self.entry.heap_bytes(), self.entry.copy_to(b"key").heap_bytes());
        }
        let live = self.model.iter().filter(|(_, (_, due))| *due > now_ms);
        let live: Vec<_> = live.map(|(name, (value, _))| (name.clone(), value.clone())).collect();
        assert_eq!(live_fields(&self.entry, now_ms), live);
        assert_eq!(read.live(now_ms), live.len());
        for (name, (value, due)) in &self.model {
            let value = self.live(name).then_some(value.as_slice());
            assert_eq!(read.get(name, now_ms), value);
            let due = value.map(|_| Some(*due).filter(|due| *due != NEVER));
            assert_eq!(read.expiry_of(name, now_ms), due);
        }
        assert_eq!(read.get(b"nobody", now_ms), None);
    }
}

proptest! {
    #[test]
    fn a_hash_is_a_map_of_what_has_not_expired(steps in steps()) {
        let entry = Entry::new_hash(b"key");
        let mut pair = Pair { entry, model: Model::new(), now_ms: 1_000, large: false };
        for step in steps {
            pair.step(step);
            pair.compare();
        }
        // Whatever has expired is found in the end, after a rest and a pass.
        for _ in 0..4 {
            pair.step(Step::Wait(REST_MS));
            pair.step(Step::RemoveExpired(1_000));
        }
        let now_ms = pair.now_ms;
        prop_assert!(pair.model.values().all(|(_, due)| *due > now_ms - 2 * REST_MS));
        pair.compare();
    }
}
