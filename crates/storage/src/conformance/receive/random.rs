// SPDX-License-Identifier: Apache-2.0
//! A random run: drafts on a few keys, and all that can happen between their pieces, beside a plain map.

use super::Arriving;
use crate::conformance::Limits;
use crate::conformance::model::refusal;
use crate::conformance::subject::{Noise, Seen, Subject, show};
use crate::{Condition, Expiry, Marks, Put, Receive, Version};
use std::collections::{BTreeMap, HashSet};

const STEPS: usize = 6_000;
const KEYS: usize = 24;
/// Drafts under way at most.
const OPEN: usize = 4;

pub(super) fn run<S: Receive>(make: &impl Fn(Limits) -> S) {
    for (limits, seed) in [(Limits::ROOMY, 31), (Limits::TIGHT, 32)] {
        Run::new(vec![Subject::new(make, limits)], seed).go();
    }
}

pub(super) fn run_shared<S: Receive + Clone>(make: &impl Fn(Limits) -> S) {
    let mut first = Subject::new(make, Limits::ROOMY);
    Run::new(vec![first.another(), first.another(), first], 33).go();
}

struct Run<S: Receive> {
    handles: Vec<Subject<S>>,
    noise: Noise,
    /// Values that are arriving, each with its handle.
    drafts: Vec<(usize, Arriving<S::Draft>)>,
    /// The last item under each key, until it is removed. It may have expired.
    model: BTreeMap<Vec<u8>, Seen>,
    versions: HashSet<(Vec<u8>, Version)>,
    /// Live items that the store no longer had.
    lost: u64,
}

impl<S: Receive> Run<S> {
    fn new(handles: Vec<Subject<S>>, seed: u64) -> Self {
        let (model, versions) = (BTreeMap::new(), HashSet::new());
        Run { handles, noise: Noise::new(seed), drafts: Vec::new(), model, versions, lost: 0 }
    }

    fn go(mut self) {
        for step in 1..=STEPS {
            let handle = self.noise.below(self.handles.len());
            let key = self.key();
            match self.noise.below(100) {
                0..20 if self.drafts.len() < OPEN => self.begin(handle, &key),
                0..60 => self.append(),
                60..70 => self.commit(),
                70..73 => self.give_up(),
                73..83 => self.put(handle, &key),
                83..86 => self.delete(handle, &key),
                86..92 => drop(self.handles[handle].expire(step % 9)),
                92..97 => self.handles[0].advance(step as u64 % 20),
                97..99 => self.handles[handle].store.rest(),
                _ => {
                    self.handles[handle].clear();
                    self.model.clear();
                }
            }
            let key = self.key();
            self.look(handle, &key);
            if step % 500 == 0 {
                self.handles[handle].store.check_integrity();
            }
        }
        drop(self.drafts);
        self.handles.into_iter().for_each(Subject::finish);
    }

    fn key(&mut self) -> Vec<u8> {
        format!("key {}", self.noise.below(KEYS)).into_bytes()
    }

    fn value(&mut self) -> Vec<u8> {
        let most = self.handles[0].limits.value_bytes as usize;
        let len = self.noise.below(most) >> self.noise.below(12);
        self.noise.bytes(len)
    }

    fn expiry(&mut self) -> Expiry {
        let millis = self.noise.below(3_000) >> self.noise.below(8);
        if self.noise.below(3) == 0 { self.handles[0].within(millis as u64) } else { Expiry::NEVER }
    }

    fn live(&self, key: &[u8]) -> Option<Seen> {
        let now = self.handles[0].now();
        self.model.get(key).filter(|seen| !seen.expiry.is_past(now)).cloned()
    }

    /// Reads `key` and compares. Where memory is tight the item may have been evicted.
    fn look(&mut self, handle: usize, key: &[u8]) {
        let (seen, live) = (self.handles[handle].read(key), self.live(key));
        let tight = self.handles[handle].limits == Limits::TIGHT;
        if tight && seen.is_none() && live.is_some() {
            self.lost += 1;
            let (lost, evicted) = (self.lost, self.handles[handle].stats().evicted);
            assert!(lost <= evicted, "RULE-RECEIVE: {lost} items lost, {evicted} evicted");
            self.model.remove(key);
        } else {
            assert_eq!(seen, live, "RULE-RECEIVE: {} in a random run", show(key));
        }
    }

    fn begin(&mut self, handle: usize, key: &[u8]) {
        let (value, expiry, flags) = (self.value(), self.expiry(), self.noise.next() as u32);
        let put = Put::new(key, &value).expiry(expiry).flags(flags);
        let draft = Arriving::begin(&mut self.handles[handle], put);
        self.drafts.push((handle, draft));
    }

    /// The number of a draft, if there is one.
    fn any(&mut self) -> Option<usize> {
        let drafts = self.drafts.len();
        (drafts > 0).then(|| self.noise.below(drafts))
    }

    fn append(&mut self) {
        let Some(number) = self.any() else { return };
        let bytes = self.noise.below(40_000) >> self.noise.below(16);
        let (handle, draft) = &mut self.drafts[number];
        draft.more(&mut self.handles[*handle], bytes);
    }

    fn give_up(&mut self) {
        if let Some(number) = self.any() {
            self.drafts.swap_remove(number);
        }
    }

    fn commit(&mut self) {
        let Some(number) = self.any() else { return };
        let (handle, mut draft) = self.drafts.swap_remove(number);
        draft.more(&mut self.handles[handle], usize::MAX);
        let key = draft.key.clone();
        self.look(handle, &key);
        let live = self.live(&key);
        let version = live.as_ref().map_or(1, |seen| seen.version.get());
        let condition = match self.noise.below(8) {
            0 => Condition::IfAbsent,
            1 => Condition::IfPresent,
            2 => Condition::IfVersion(Version::new(version).expect("not zero")),
            3 => Condition::IfVersion(Version::new(version + 1).expect("not zero")),
            _ => Condition::Always,
        };
        match refusal(condition, live.as_ref()) {
            None => {
                let written = draft.seen(Version::new(1).expect("not zero"));
                let version = draft.commit(&mut self.handles[handle], condition);
                self.written(&key, Seen { version, ..written });
            }
            Some(error) => {
                let result = draft.try_commit(&mut self.handles[handle], condition);
                assert_eq!(result, Err(error), "RULE-RECEIVE: {condition:?} for {}", show(&key));
            }
        }
        self.look(handle, &key);
    }

    fn written(&mut self, key: &[u8], seen: Seen) {
        let new = self.versions.insert((key.to_vec(), seen.version));
        assert!(new, "RULE-RECEIVE: {:?} came again for {}", seen.version, show(key));
        self.model.insert(key.to_vec(), seen);
    }

    fn put(&mut self, handle: usize, key: &[u8]) {
        let (value, expiry) = (self.value(), self.expiry());
        let version = self.handles[handle].write(Put::new(key, &value).expiry(expiry));
        self.written(key, Seen { value, flags: 0, expiry, version, marks: Marks::NONE });
    }

    fn delete(&mut self, handle: usize, key: &[u8]) {
        self.look(handle, key);
        let live = self.live(key).is_some();
        let deleted = self.handles[handle].delete(key);
        assert_eq!(deleted, live, "RULE-RECEIVE: {} is deleted", show(key));
        self.model.remove(key);
    }
}
