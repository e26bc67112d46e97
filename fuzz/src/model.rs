// SPDX-License-Identifier: Apache-2.0
//! What a store must hold: a plain map with exact expiry.

use clock::Ticks;
use std::collections::{BTreeMap, BTreeSet};
use storage::{Change, Condition, Expiry, Item, Put, StoreError, Version};

/// An item as it must be read.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Expected {
    value: Vec<u8>,
    flags: u32,
    expiry: Expiry,
    version: Version,
}

impl Expected {
    /// What `item` holds.
    pub(crate) fn of(item: &impl Item) -> Self {
        Expected {
            value: item.value().to_vec(),
            flags: item.flags(),
            expiry: item.expiry(),
            version: item.version(),
        }
    }

    /// Its value.
    pub(crate) fn value(&self) -> &[u8] {
        &self.value
    }

    /// Its version.
    pub(crate) fn version(&self) -> Version {
        self.version
    }

    /// Whether `item` holds the same, but for its version.
    pub(crate) fn is_like(&self, item: &impl Item) -> bool {
        let Expected { value, flags, expiry, .. } = self;
        *value == item.value() && *flags == item.flags() && *expiry == item.expiry()
    }

    /// Whether the other is the same, but for its version.
    pub(crate) fn is_moved(&self, other: &Self) -> bool {
        *self == Expected { version: self.version, ..other.clone() }
    }
}

impl std::fmt::Debug for Expected {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let start = self.value[..self.value.len().min(16)].escape_ascii();
        let Expected { value, flags, expiry, version } = self;
        write!(f, "\"{start}\" ({} bytes) {flags} {expiry:?} {version:?}", value.len())
    }
}

/// All items, dead ones included, and every version that a key ever had.
#[derive(Debug, Default)]
pub(crate) struct Model {
    items: BTreeMap<Vec<u8>, Expected>,
    versions: BTreeSet<(Vec<u8>, u64)>,
}

impl Model {
    /// The live item under `key`.
    pub(crate) fn live(&self, key: &[u8], now: Ticks) -> Option<&Expected> {
        self.items.get(key).filter(|item| !item.expiry.is_past(now))
    }

    /// All keys with a live item.
    pub(crate) fn live_keys(&self, now: Ticks) -> Vec<Vec<u8>> {
        let live = self.items.iter().filter(|(_, item)| !item.expiry.is_past(now));
        live.map(|(key, _)| key.clone()).collect()
    }

    /// The length of the longest value, dead ones included.
    pub(crate) fn longest(&self) -> usize {
        self.items.values().map(|item| item.value.len()).max().unwrap_or(0)
    }

    /// How many keys have a live item.
    pub(crate) fn live_count(&self, now: Ticks) -> usize {
        self.items.values().filter(|item| !item.expiry.is_past(now)).count()
    }

    /// Why the condition of `put` does not hold, if it does not.
    pub(crate) fn refusal(&self, put: &Put<'_>, now: Ticks) -> Option<StoreError> {
        let live = self.live(put.key, now);
        match (put.condition, live) {
            (Condition::IfAbsent, Some(_)) => Some(StoreError::Exists),
            (Condition::IfPresent | Condition::IfVersion(_), None) => Some(StoreError::NotFound),
            (Condition::IfVersion(version), Some(item)) if item.version != version => {
                Some(StoreError::Exists)
            }
            _ => None,
        }
    }

    /// Takes over what was written, under a version that the key must not have had before.
    pub(crate) fn write(&mut self, put: &Put<'_>, version: Version) {
        let Put { key, value, flags, expiry, .. } = *put;
        let fresh = self.versions.insert((key.to_vec(), version.get()));
        assert!(fresh, "{version:?} is not new to {}", key.escape_ascii());
        let item = Expected { value: value.to_vec(), flags, expiry, version };
        self.items.insert(key.to_vec(), item);
    }

    /// The value that `change` makes of the live item under `key`, with flags and expiry; `None`
    /// when it writes no value.
    pub(crate) fn changed(
        &self,
        key: &[u8],
        change: &Change<'_>,
        now: Ticks,
    ) -> Option<(Vec<u8>, u32, Expiry)> {
        if let Change::Put { value, flags, expiry } = *change {
            return Some((value.to_vec(), flags, expiry));
        }
        let item = self.live(key, now)?;
        let value = match *change {
            Change::Number(digits) => digits.as_bytes().to_vec(),
            Change::Extend { before, after } => [before, &item.value, after].concat(),
            _ => return None,
        };
        Some((value, item.flags, item.expiry))
    }

    /// Changes the expiry of the item under `key`.
    pub(crate) fn set_expiry(&mut self, key: &[u8], expiry: Expiry) {
        if let Some(item) = self.items.get_mut(key) {
            item.expiry = expiry;
        }
    }

    /// Takes over a version that the item under `key` has got without a write.
    pub(crate) fn moved(&mut self, key: &[u8], version: Version) {
        let fresh = self.versions.insert((key.to_vec(), version.get()));
        assert!(fresh, "{version:?} is not new to {}", key.escape_ascii());
        if let Some(item) = self.items.get_mut(key) {
            item.version = version;
        }
    }

    /// Removes the item under `key`.
    pub(crate) fn remove(&mut self, key: &[u8]) {
        self.items.remove(key);
    }

    /// Removes all items; their versions stay used.
    pub(crate) fn clear(&mut self) {
        self.items.clear();
    }
}
