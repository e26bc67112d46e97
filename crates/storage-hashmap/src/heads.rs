// SPDX-License-Identifier: Apache-2.0
//! [`Heads`]: the buckets of a shard, grown one at a time (linear hashing).
//!
//! There are `n` buckets, any number of them. With `p` the power of two for which `p <= n < 2p`, a
//! tag belongs to bucket `tag % 2p` if there is such a bucket, else to `tag % p`. Adding bucket `n`
//! therefore splits only bucket `n - p`, and no insert pays for more than one split:
//!
//! ```text
//!  n = 4 + 2   [ 0 | 1 | 2 | 3 | 4 | 5 ]    0 and 1 have been split into 4 and 5; 2 is the next
//! ```
//!
//! The heads lie in chunks of a fixed size, so growth copies none.

use crate::slab::{NONE, Slab};

/// The buckets: each the first entry of a chain, or [`NONE`].
#[derive(Debug)]
pub(crate) struct Heads {
    chunks: Vec<Box<[u32]>>,
    buckets: u32,
    /// `2p - 1`.
    mask: u32,
    shift: u32,
}

/// No more buckets than this, so that a bucket's number fits a tag twice over.
const BUCKETS_MAX: u32 = 1 << 30;

impl Heads {
    /// One chunk of `2^shift` empty buckets, to be grown to about `expected`.
    pub(crate) fn new(shift: u32, expected: usize) -> Self {
        let mut chunks = Vec::with_capacity((expected >> shift) + 1);
        chunks.push(vec![NONE; 1 << shift].into_boxed_slice());
        Heads { chunks, buckets: 1 << shift, mask: (1 << shift) - 1, shift }
    }

    /// Buckets in use.
    pub(crate) fn buckets(&self) -> u32 {
        self.buckets
    }

    /// Memory of a chunk, including the table's entry for it.
    pub(crate) fn chunk_cost(&self) -> u64 {
        ((size_of::<u32>() << self.shift) + size_of::<Box<[u32]>>()) as u64
    }

    /// Chunks that have memory.
    pub(crate) fn present(&self) -> usize {
        self.chunks.len()
    }

    /// Buckets for which there is memory.
    pub(crate) fn capacity(&self) -> usize {
        self.chunks.len() << self.shift
    }

    /// Whether the next [`Heads::split`] needs [`Heads::grow`] first.
    pub(crate) fn is_full(&self) -> bool {
        self.buckets as usize == self.capacity()
    }

    /// Whether there may be one more bucket.
    pub(crate) fn can_split(&self) -> bool {
        self.buckets < BUCKETS_MAX
    }

    /// Adds a chunk for buckets to come.
    pub(crate) fn grow(&mut self) {
        self.chunks.push(vec![NONE; 1 << self.shift].into_boxed_slice());
    }

    /// The bucket of a tag.
    #[inline]
    pub(crate) fn bucket(&self, tag: u32) -> u32 {
        let bucket = tag & self.mask;
        if bucket < self.buckets { bucket } else { bucket & (self.mask >> 1) }
    }

    /// How many low bits the tags of a bucket have in common.
    pub(crate) fn bits(&self, bucket: u32) -> u32 {
        let half = self.mask.div_ceil(2);
        let bits = self.mask.count_ones();
        // A bucket that has not been split also has the tags of the bucket it would be split into.
        if bucket < half && bucket + half >= self.buckets { bits - 1 } else { bits }
    }

    /// Where the head of a bucket is kept.
    #[inline]
    pub(crate) fn head(&self, bucket: u32) -> &u32 {
        let mask = (1 << self.shift) - 1;
        &self.chunks[(bucket >> self.shift) as usize][(bucket & mask) as usize]
    }

    #[inline]
    pub(crate) fn set_head(&mut self, bucket: u32, slot: u32) {
        let mask = (1 << self.shift) - 1;
        self.chunks[(bucket >> self.shift) as usize][(bucket & mask) as usize] = slot;
    }

    /// Adds one bucket, for which there is memory, and moves the entries that belong to it.
    pub(crate) fn split(&mut self, slab: &mut Slab) {
        debug_assert!(!self.is_full() && self.can_split(), "INV-BUCKET");
        let new = self.buckets;
        if new > self.mask {
            self.mask = self.mask * 2 + 1;
        }
        let old = new & (self.mask >> 1);
        self.buckets += 1;
        let (mut stay, mut go) = (NONE, NONE);
        let mut slot = *self.head(old);
        while slot != NONE {
            let bucket = self.bucket(slab.entry(slot).tag);
            let entry = slab.entry_mut(slot);
            let next = entry.next();
            let chain = if bucket == new { &mut go } else { &mut stay };
            entry.set_next(*chain);
            *chain = slot;
            slot = next;
        }
        self.set_head(old, stay);
        self.set_head(new, go);
    }

    /// Undoes the last [`Heads::split`]; returns whether a chunk became free. Does nothing when
    /// only the first chunk is in use.
    pub(crate) fn merge(&mut self, slab: &mut Slab) -> bool {
        if self.buckets == 1 << self.shift {
            return false;
        }
        let gone = self.buckets - 1;
        let kept = gone & (self.mask >> 1);
        let mut slot = *self.head(gone);
        self.set_head(gone, NONE);
        while slot != NONE {
            let first = *self.head(kept);
            let entry = slab.entry_mut(slot);
            let next = entry.next();
            entry.set_next(first);
            self.set_head(kept, slot);
            slot = next;
        }
        self.buckets = gone;
        if gone == self.mask.div_ceil(2) {
            self.mask >>= 1;
        }
        let is_spare = (self.chunks.len() - 1) << self.shift >= gone as usize + (1 << self.shift);
        if is_spare {
            self.chunks.pop();
        }
        is_spare
    }
}
