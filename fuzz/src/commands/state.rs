// SPDX-License-Identifier: Apache-2.0
//! [`State`]: all that clients can see of a keyspace, in plain collections.

use crate::keyspace::value::Value;
use keyspace::{Keyspace, Scope, View};
use std::collections::{BTreeMap, BTreeSet};
use storage_typed::TypedStore;
use values::Type;

/// A database and a key.
pub(crate) type Place = (usize, Vec<u8>);

/// A live entry.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Kept {
    pub(crate) value: Value,
    pub(crate) expiry: Option<u64>,
}

impl Kept {
    /// A value that does not expire.
    pub(crate) fn new(value: Value) -> Self {
        Kept { value, expiry: None }
    }
}

/// All live entries. A hash of which all fields have expired, but which is still there, has none.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct State {
    pub(crate) entries: BTreeMap<Place, Kept>,
}

impl State {
    /// What `store` holds now. No collection in it is empty.
    pub(crate) fn of(store: &mut TypedStore, now_ms: u64) -> Self {
        let databases = store.databases();
        let mut view = store.view(Scope::ALL, now_ms);
        let mut entries = BTreeMap::new();
        for db in 0..databases {
            if view.is_empty(db) {
                continue;
            }
            let mut cursor = 0;
            loop {
                cursor = view.scan(db, cursor, &mut |entry| {
                    let may_be = matches!(entry.data_type(), Type::String | Type::Stream);
                    assert!(may_be || !entry.is_empty(), "an empty collection is kept: {entry:?}");
                    let value = Value::of(entry, now_ms);
                    let kept = Kept { value, expiry: entry.expiry() };
                    entries.insert((db, entry.key().to_vec()), kept);
                });
                if cursor == 0 {
                    break;
                }
            }
        }
        State { entries }
    }

    /// The places where this and the other differ.
    pub(crate) fn changes(&self, other: &State) -> BTreeSet<Place> {
        let places = self.entries.keys().chain(other.entries.keys());
        places
            .filter(|place| self.entries.get(*place) != other.entries.get(*place))
            .cloned()
            .collect()
    }

    /// Checks the values in some places on all ways to read them.
    pub(crate) fn check(&self, places: &BTreeSet<Place>, store: &mut TypedStore, now_ms: u64) {
        let view = store.view(Scope::ALL, now_ms);
        for place in places {
            if let Some(kept) = self.entries.get(place) {
                let entry = view.peek(place.0, &place.1).expect("it was seen in a walk");
                kept.value.check(entry, now_ms);
            }
        }
    }
}
