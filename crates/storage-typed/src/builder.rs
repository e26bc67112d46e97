// SPDX-License-Identifier: Apache-2.0
//! [`TypedBuilder`]: how a keyspace is divided.

use super::random::Random;
use super::shared::Shared;
use super::slabs::Slabs;
use super::store::TypedStore;
use keyspace::Scope;
use std::sync::Arc;

/// Each database costs about a cache line or two in each shard, used or not.
const DATABASES_MAX: usize = 1024;

/// Makes a [`TypedStore`].
///
/// ```
/// use keyspace::{Keyspace, Policy};
/// use storage_typed::TypedStore;
///
/// let store = TypedStore::builder().shards(8).databases(4).build();
/// store.settings().set_maxmemory(64 << 20);
/// store.settings().set_policy(Policy::AllkeysLru);
/// assert_eq!(store.databases(), 4);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct TypedBuilder {
    shards: usize,
    databases: usize,
    seed: Option<u64>,
    slabs: Option<Arc<dyn Slabs>>,
}

impl Default for TypedBuilder {
    /// 16 shards and 16 databases.
    fn default() -> Self {
        TypedBuilder { shards: 16, databases: 16, seed: None, slabs: None }
    }
}

impl TypedBuilder {
    /// How many shards there are. More shards let more workers run at once without waiting for each
    /// other: one is enough for one worker, 64 for each is right for several. Rounded up to a power
    /// of two; at most [`Scope::SHARDS_MAX`].
    pub fn shards(mut self, shards: usize) -> Self {
        self.shards = shards.clamp(1, Scope::SHARDS_MAX).next_power_of_two();
        self
    }

    /// How many databases there are: 1 to 1024.
    pub fn databases(mut self, databases: usize) -> Self {
        self.databases = databases.clamp(1, DATABASES_MAX);
        self
    }

    /// Makes random choices the same in every run, for tests: samples for evictions, and which uses
    /// count.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// The program's allocator, if it takes small blocks from slabs: then entries are moved where slabs are sparse.
    pub fn slabs(mut self, slabs: Arc<dyn Slabs>) -> Self {
        self.slabs = Some(slabs);
        self
    }

    /// Makes the keyspace. Memory is taken as entries are added. Its
    /// [settings](keyspace::Keyspace::settings) may change while it is used.
    #[must_use]
    pub fn build(&self) -> TypedStore {
        let random = self.seed.map_or_else(Random::unpredictable, Random::new);
        let slabs = self.slabs.clone();
        TypedStore::new(Arc::new(Shared::new(self.shards, self.databases, random, slabs)))
    }
}
