// SPDX-License-Identifier: Apache-2.0
//! The caches that are compared, each as its documentation has it used.

use std::sync::Arc;

const VALUE_LEN: usize = 100;

/// A cache in front of values that can be made of their keys.
pub trait Reads: Sync {
    /// Makes one with a limit in bytes, whatever it counts.
    fn new(limit: u64) -> Self;

    /// Reads the value of a key, and writes it if it is missing. Returns whether it was there.
    fn read(&self, key: u64) -> bool;
}

fn value(key: u64) -> [u8; VALUE_LEN] {
    let mut value = [0; VALUE_LEN];
    value[..8].copy_from_slice(&key.to_le_bytes());
    value
}

/// What a reader does with a value: it looks whether it is the right one.
fn check(key: u64, value: &[u8]) {
    assert!(value.len() == VALUE_LEN && value[..8] == key.to_le_bytes(), "another value");
}

/// Ours.
pub struct Shoebill(cache::Cache<u64, [u8]>);

impl Reads for Shoebill {
    fn new(limit: u64) -> Self {
        Shoebill(cache::Cache::builder().memory(limit).build().expect("the limit is possible"))
    }

    fn read(&self, key: u64) -> bool {
        let found = self.0.get_with(&key, |bytes| check(key, bytes)).is_some();
        if !found {
            self.0.insert(&key, &value(key)).expect("it fits");
        }
        found
    }
}

/// moka, with the bytes of values as weights.
pub struct Moka(moka::sync::Cache<u64, Arc<[u8]>>);

impl Reads for Moka {
    fn new(limit: u64) -> Self {
        let builder = moka::sync::Cache::builder().max_capacity(limit);
        Moka(builder.weigher(|_, value: &Arc<[u8]>| value.len() as u32).build())
    }

    fn read(&self, key: u64) -> bool {
        let found = self.0.get(&key).map(|value| check(key, &value)).is_some();
        if !found {
            self.0.insert(key, value(key).into());
        }
        found
    }
}

/// quick_cache, with the bytes of values as weights.
pub struct Quick(quick_cache::sync::Cache<u64, Arc<[u8]>, Bytes>);

/// Weighs a value by its bytes.
#[derive(Clone)]
pub struct Bytes;

impl quick_cache::Weighter<u64, Arc<[u8]>> for Bytes {
    fn weight(&self, _key: &u64, value: &Arc<[u8]>) -> u64 {
        value.len() as u64
    }
}

impl Reads for Quick {
    fn new(limit: u64) -> Self {
        let items = limit as usize / VALUE_LEN;
        Quick(quick_cache::sync::Cache::with_weighter(items, limit, Bytes))
    }

    fn read(&self, key: u64) -> bool {
        let found = self.0.get(&key).map(|value| check(key, &value)).is_some();
        if !found {
            self.0.insert(key, value(key).into());
        }
        found
    }
}
