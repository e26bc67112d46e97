// SPDX-License-Identifier: Apache-2.0
//! [`Model`]: the expected content and statistics of a keyspace.

use super::value::Value;
use keyspace::{Gone, Policy, Reason};
use std::collections::{BTreeMap, VecDeque};

/// Where an entry is: its database and its key.
pub(crate) type Place = (usize, Vec<u8>);

/// An entry as it must be.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) value: Value,
    pub(crate) expiry: Option<u64>,
    /// Tells it apart from those that were under its key before it.
    pub(crate) born: u64,
}

impl Kept {
    fn is_live(&self, now_ms: u64) -> bool {
        self.expiry.is_none_or(|expiry| expiry > now_ms)
    }
}

/// What [`keyspace::KeyspaceStats`] must say has happened.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    pub(crate) hits: u64,
    pub(crate) misses: u64,
    pub(crate) expired: u64,
    pub(crate) evicted: u64,
    /// Times that fields of a hash are told to have expired.
    pub(crate) fields_told: u64,
}

/// All entries, those included that have expired and are not yet known to be removed.
#[derive(Debug, Default)]
pub(crate) struct Model {
    entries: BTreeMap<Place, Kept>,
    born: u64,
    /// Expired entries that a view has met, in that order, which it must report.
    met: VecDeque<Place>,
    pub(crate) counts: Counts,
    pub(crate) now_ms: u64,
}

impl Model {
    /// Nothing, at this time.
    pub(crate) fn new(now_ms: u64) -> Self {
        Model { now_ms, ..Model::default() }
    }

    /// The live entry of a place.
    pub(crate) fn live(&self, place: &Place) -> Option<&Kept> {
        self.entries.get(place).filter(|kept| kept.is_live(self.now_ms))
    }

    /// As [`Model::live`], to change it.
    pub(crate) fn live_mut(&mut self, place: &Place) -> Option<&mut Kept> {
        let now_ms = self.now_ms;
        self.entries.get_mut(place).filter(|kept| kept.is_live(now_ms))
    }

    /// All places with what is there, live or not.
    pub(crate) fn entries(&self) -> impl Iterator<Item = (&Place, &Kept)> {
        self.entries.iter()
    }

    /// All places with a live entry.
    pub(crate) fn live_places(&self) -> impl Iterator<Item = &Place> {
        self.entries().filter(|(_, kept)| kept.is_live(self.now_ms)).map(|(place, _)| place)
    }

    /// Whether a policy has something to evict.
    pub(crate) fn may_evict(&self, policy: Policy) -> bool {
        let is_candidate = |kept: &Kept| !policy.is_volatile() || kept.expiry.is_some();
        policy != Policy::NoEviction && self.entries.values().any(is_candidate)
    }

    /// A view looks for an entry: if it has expired it is removed.
    pub(crate) fn meet(&mut self, place: &Place) {
        if self.entries.contains_key(place) && self.live(place).is_none() {
            self.entries.remove(place);
            self.met.push_back(place.clone());
        }
    }

    /// An entry is put where there is none, or takes the place of one.
    pub(crate) fn put(&mut self, place: Place, value: Value, expiry: Option<u64>) {
        self.meet(&place);
        self.born += 1;
        let born = self.entries.get(&place).map_or(self.born, |kept| kept.born);
        self.entries.insert(place, Kept { value, expiry, born });
    }

    /// An entry is taken out.
    pub(crate) fn remove(&mut self, place: &Place) -> Option<Kept> {
        self.entries.remove(place)
    }

    /// A database is emptied.
    pub(crate) fn clear(&mut self, db: usize) {
        self.entries.retain(|(of, _), _| *of != db);
    }

    /// Two databases change places; their entries are as good as new.
    pub(crate) fn swap(&mut self, a: usize, b: usize) {
        if a == b {
            return;
        }
        for ((db, key), mut kept) in std::mem::take(&mut self.entries) {
            let to = match db {
                _ if db == a => b,
                _ if db == b => a,
                _ => db,
            };
            if to != db {
                self.born += 1;
                kept.born = self.born;
            }
            self.entries.insert((to, key), kept);
        }
    }

    /// What views have met is told, in that order and nothing else.
    pub(crate) fn told_by_view(&mut self, gone: Gone<'_>) {
        let told = (gone.db, gone.key.to_vec());
        assert_eq!(gone.reason, Reason::Expired, "RULE-GONE: by a view");
        assert_eq!(self.met.pop_front(), Some(told), "RULE-GONE: by a view");
        self.counts.expired += 1;
    }

    /// All that views have met has been told.
    pub(crate) fn check_told(&self) {
        assert!(self.met.is_empty(), "RULE-GONE: a view has met these in silence: {:?}", self.met);
    }

    /// Something went by itself, of which only now is heard.
    pub(crate) fn told(&mut self, gone: Gone<'_>, policy: Policy) {
        let place = (gone.db, gone.key.to_vec());
        let now_ms = self.now_ms;
        let kept = self.entries.get(&place);
        let kept = kept.unwrap_or_else(|| panic!("RULE-GONE: {gone:?} was not there"));
        match gone.reason {
            Reason::Expired => {
                assert!(!kept.is_live(now_ms), "RULE-GONE: {gone:?} too soon: {kept:?}");
                self.counts.expired += 1;
            }
            Reason::Evicted => {
                assert!(kept.is_live(now_ms), "RULE-GONE: {gone:?} has expired: {kept:?}");
                let may_go = policy != Policy::NoEviction
                    && (!policy.is_volatile() || kept.expiry.is_some());
                assert!(may_go, "RULE-POLICY: {gone:?} under {policy:?}: {kept:?}");
                self.counts.evicted += 1;
            }
            Reason::FieldExpired => {
                let is_hash = matches!(kept.value, Value::Hash(_));
                let fields = if let Value::Hash(fields) = &kept.value { fields.len() } else { 0 };
                let has_expired = kept.value.len(now_ms) < fields;
                assert!(is_hash && has_expired, "RULE-GONE: {gone:?}: {kept:?}");
                self.counts.fields_told += 1;
                return;
            }
            Reason::Emptied => {
                let is_hash = matches!(kept.value, Value::Hash(_));
                assert!(is_hash && kept.value.len(now_ms) == 0, "RULE-GONE: {gone:?}: {kept:?}");
            }
        }
        self.entries.remove(&place);
    }
}
