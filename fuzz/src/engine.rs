// SPDX-License-Identifier: Apache-2.0
//! [`Engine`]: the stores that are compared with a model, and the freedoms of each.

use arbitrary::{Result, Unstructured};
use std::fmt::Debug;
use storage::{Store, StoreError};
use storage_hashmap::HashMapStore;
use storage_seg::{Eviction, SegStore};

/// How a store under test is made, read from the start of an input.
pub(crate) trait Engine: Sized + Debug {
    /// The store that it makes.
    type Store: Store + Debug;

    /// The number of the last operation that makes sense.
    const OPERATIONS: u8;

    /// Whether only `expire` itself gives memory of expired items back during an `expire`.
    const IS_EXACT: bool;

    /// Whether an item may get another version when it is moved to make room.
    const MOVES_VERSIONS: bool;

    /// Sizes and the rest of what can be chosen.
    fn read(input: &mut Unstructured<'_>) -> Result<Self>;

    /// The handles of an empty store, one at least.
    fn build(&self) -> Vec<Self::Store>;

    /// The memory it is given.
    fn memory(&self) -> u64;

    /// Whether it drops items to make room.
    fn evicts(&self) -> bool;

    /// The length of a value, from a byte of the input.
    fn length(&self, byte: u8) -> usize;

    /// Whether it may refuse a value of `len` bytes with `error`.
    fn may_refuse(&self, error: StoreError, key_len: usize, len: usize) -> bool;
}

/// Bytes that a store may need for an item besides its key and its value.
const ITEM_OVERHEAD_MAX: u64 = 512;

/// How a [`HashMapStore`] is made: four bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HashMap {
    memory: u64,
    item_max: u64,
    shards: usize,
    evicts: bool,
}

impl Engine for HashMap {
    type Store = HashMapStore;
    const OPERATIONS: u8 = 13;
    const IS_EXACT: bool = true;
    const MOVES_VERSIONS: bool = false;

    fn read(input: &mut Unstructured<'_>) -> Result<Self> {
        Ok(HashMap {
            memory: (64 << 10) << input.int_in_range(0..=3)?,
            item_max: *input.choose(&[64, 1000, 8192, 20_000, 1 << 20])?,
            shards: 1 << input.int_in_range(0..=3)?,
            evicts: input.ratio(3, 4)?,
        })
    }

    fn build(&self) -> Vec<HashMapStore> {
        let builder = HashMapStore::builder()
            .memory(self.memory)
            .item_max(self.item_max)
            .shards(self.shards)
            .evict(self.evicts)
            .seed(7);
        vec![builder.build()]
    }

    fn memory(&self) -> u64 {
        self.memory
    }

    fn evicts(&self) -> bool {
        self.evicts
    }

    fn length(&self, byte: u8) -> usize {
        let small = usize::from(byte);
        if byte % 4 == 3 { small * small / 2 } else { small }
    }

    fn may_refuse(&self, error: StoreError, key_len: usize, len: usize) -> bool {
        let needed = (key_len + len) as u64 + ITEM_OVERHEAD_MAX;
        match error {
            StoreError::TooLarge => len as u64 > self.item_max || needed > self.memory / 2,
            StoreError::OutOfMemory => !self.evicts,
            _ => false,
        }
    }
}

/// How a [`SegStore`] is made: five bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seg {
    memory: u64,
    value_max: u64,
    eviction: Eviction,
    /// One makes a store for one thread alone.
    handles: usize,
    integrity: bool,
}

impl Seg {
    /// The smallest there are: a megabyte is fifteen of them.
    const SEGMENT: u64 = 64 << 10;
    const POLICIES: [&'static str; 9] =
        ["scored", "merge", "s3fifo", "fifo", "random", "random-fifo", "cte", "util", "none"];
}

impl Engine for Seg {
    type Store = SegStore;
    const OPERATIONS: u8 = 19;
    // Room is made ahead of need, out of expired items too.
    const IS_EXACT: bool = false;
    const MOVES_VERSIONS: bool = true;

    fn read(input: &mut Unstructured<'_>) -> Result<Self> {
        let policy = *input.choose(&Self::POLICIES)?;
        Ok(Seg {
            memory: (1 << 20) << input.int_in_range(0..=2)?,
            value_max: *input.choose(&[64, 1000, 20_000, 100_000, 200_000])?,
            eviction: policy.parse().expect("it is a policy"),
            handles: input.int_in_range(1..=3)?,
            integrity: input.ratio(1, 4)?,
        })
    }

    fn build(&self) -> Vec<SegStore> {
        let builder = SegStore::builder()
            .memory(self.memory)
            .value_max(self.value_max)
            .segment_bytes(Self::SEGMENT)
            .workers(self.handles)
            .eviction(self.eviction)
            .integrity(self.integrity)
            .seed(7);
        let first = builder.build().expect("the options are possible");
        let clones: Vec<SegStore> = (1..self.handles).map(|_| first.clone()).collect();
        std::iter::once(first).chain(clones).collect()
    }

    fn memory(&self) -> u64 {
        self.memory
    }

    fn evicts(&self) -> bool {
        self.eviction != Eviction::None
    }

    fn length(&self, byte: u8) -> usize {
        let small = usize::from(byte);
        match byte % 8 {
            7 => small * small * 2,
            3 => small * 64,
            _ => small,
        }
    }

    fn may_refuse(&self, error: StoreError, key_len: usize, len: usize) -> bool {
        match error {
            StoreError::TooLarge => len as u64 > self.value_max,
            // A row of segments can be in the way of pins and of other handles.
            StoreError::OutOfMemory => {
                !self.evicts() || (key_len + len) as u64 + ITEM_OVERHEAD_MAX > Self::SEGMENT
            }
            _ => false,
        }
    }
}
