// SPDX-License-Identifier: Apache-2.0
//! [`Builder`]: how large a store is and how it behaves.

use crate::budget::{Account, Limits, Pool, SHARE_MIN};
use crate::hands::{Hand, Hands};
use crate::hash::Hasher;
use crate::heads::Heads;
use crate::record::{KEY_MAX, Record};
use crate::shard::{Common, Counts, Shard};
use crate::slab::{Entry, Era, NEVER_MS, Slab};
use crate::store::{HashMapStore, Shared};
use crate::sweep::Sweep;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use storage::Evictions;

/// More shards than this help on no machine.
const SHARDS_MAX: usize = 4096;

/// The least memory an item can take: its entry and its allocation, in bytes.
const ITEM_MIN: u64 = 64;

/// Makes a [`HashMapStore`].
///
/// ```
/// use storage::Store;
/// use storage_hashmap::HashMapStore;
///
/// let store = HashMapStore::builder().memory(8 << 20).item_max(64 << 10).shards(4).build();
/// assert_eq!(store.stats().limit_bytes, 8 << 20);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Builder {
    memory: u64,
    item_max: u64,
    shards: usize,
    evict: bool,
    seed: Option<u64>,
}

impl Default for Builder {
    /// 64 MiB, values of up to 1 MiB, four shards, evicting, with a random seed.
    fn default() -> Self {
        Builder { memory: 64 << 20, item_max: 1 << 20, shards: 4, evict: true, seed: None }
    }
}

impl Builder {
    /// The memory limit in bytes, for items, index and what handles reserve; 64 KiB at least.
    pub fn memory(mut self, bytes: u64) -> Self {
        self.memory = bytes.max(SHARE_MIN);
        self
    }

    /// The longest value in bytes, below 4 GiB. Whatever it is, an item takes no more than half of
    /// the memory.
    pub fn item_max(mut self, bytes: u64) -> Self {
        self.item_max = bytes.min(u64::from(u32::MAX));
        self
    }

    /// How many workers can write at once without waiting for each other: one is enough for one
    /// worker, 16 for each is right for several. Rounded up to a power of two, and down where a
    /// shard's share of the memory would be below 64 KiB.
    pub fn shards(mut self, shards: usize) -> Self {
        self.shards = shards.clamp(1, SHARDS_MAX).next_power_of_two();
        self
    }

    /// Whether to drop items when memory is full. If not, writes that need memory fail with
    /// [`OutOfMemory`](storage::StoreError::OutOfMemory).
    pub fn evict(mut self, evict: bool) -> Self {
        self.evict = evict;
        self
    }

    /// Makes the hash function the same in every run, for tests. Clients that know the seed can
    /// choose keys that all collide in one bucket.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Some(seed);
        self
    }

    /// Makes the store. Allocates little: memory is taken as items come.
    pub fn build(&self) -> HashMapStore {
        let shards_max = (self.memory / SHARE_MIN).max(1);
        let shards = (self.shards as u64).min(1 << shards_max.ilog2());
        let item_max = self.item_max as usize;
        let largest = Record::cost_of(KEY_MAX, item_max).min(self.memory / 2);
        let common = Arc::new(Common {
            pool: Pool::new(self.memory),
            limits: Limits::new(self.memory, shards, largest),
            hands: Hands::new(shards),
            item_max,
            evicts: self.evict,
            dues: (0..shards).map(|_| AtomicU64::new(NEVER_MS)).collect(),
        });
        let tables = (0..shards as usize).map(|number| shard(&common, number)).collect();
        HashMapStore::new(Shared::new(common, tables), Hasher::new(self.seed, shards.ilog2()))
    }
}

/// An empty shard. Its chunks are a 64th of its share, within bounds.
fn shard(common: &Arc<Common>, number: usize) -> Shard {
    let share = common.limits.share();
    let expected = (share / ITEM_MIN) as usize;
    let entries = (share / 64 / size_of::<Entry>() as u64).clamp(16, 1024);
    let heads = Heads::new((entries.ilog2() + 2).min(12), expected);
    let slab = Slab::new(entries.ilog2(), expected);
    let mut account = Account::default();
    let cost = heads.chunk_cost();
    account.receive(common.pool.take(cost, common.limits.lease()));
    account.spend(cost);
    Shard {
        common: Arc::clone(common),
        number,
        heads,
        slab,
        account,
        item_bytes: 0,
        hand: Hand::START,
        sweep: Sweep::new(),
        next_version: 1,
        era: Era::FIRST,
        current: 0,
        counts: Counts::default(),
        evictions: Evictions::default(),
    }
}
