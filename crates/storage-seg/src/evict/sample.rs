// SPDX-License-Identifier: Apache-2.0
//! Which requests the simulations see: those for a sample of the keys, chosen by hash.
//!
//! Of items that are longer than usual more are sampled, in proportion to their length, and each counts as so much less in
//! hits and in bytes. So a few large items that take half of the memory are half of what is simulated, even where
//! one small item in thousands is: with each key as likely as any other, none of them might be seen.

use super::trial::Trials;
use crate::index::Location;
use crate::store::SegStore;
use crate::sync::atomic::{AtomicU64, Ordering};
use arrayvec::ArrayVec;
use clock::Ticks;
use std::cell::RefCell;

/// Requests that a handle replays together.
const BATCH: usize = 16;

/// What a client did to a key. An item has so many bytes, and expires at this time.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Deed {
    /// It asked for a key that is sampled whatever its item.
    Read,
    /// It asked for one that is sampled for the length of its item, and found it.
    Found {
        len: u32,
        due_ms: Option<u64>,
    },
    Write {
        len: u32,
        due_ms: Option<u64>,
        /// The store did not have the key.
        is_new: bool,
    },
    Delete {
        len: u32,
    },
}

impl Deed {
    /// The length of the item; 0 if it does not matter.
    pub(super) fn len(self) -> u32 {
        match self {
            Deed::Found { len, .. } | Deed::Write { len, .. } | Deed::Delete { len } => len,
            Deed::Read => 0,
        }
    }
}

/// Of the largest items one key in `2^FEWEST_BITS` is sampled, unless as many of all are: more would cost more than they tell.
const FEWEST_BITS: u32 = 1;

/// Which keys are sampled: one in `2^bits`, and of items that are `2^n` times the usual length so many times as many.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Scale {
    bits: u32,
    /// The logarithm of the usual length.
    usual: u32,
}

impl Scale {
    /// No key is sampled, since no hash is zero in so many bits.
    const NONE: Scale = Scale { bits: 63, usual: 31 };

    /// One key in `2^bits` where the items have this length.
    pub(super) fn new(bits: u32, usual_len: f64) -> Self {
        Scale { bits, usual: usual_len.max(1.0).log2() as u32 }
    }

    pub(super) fn bits(self) -> u32 {
        self.bits
    }

    /// The factor by which more items of this length are sampled, as a power of two.
    pub(super) fn halvings(self, len: u32) -> u32 {
        (len | 1).ilog2().saturating_sub(self.usual).min(self.bits.saturating_sub(FEWEST_BITS))
    }

    /// What such an item counts beside one of the usual length, so that the sample stands for the whole.
    pub(super) fn part(self, len: u32) -> f64 {
        0.5_f64.powi(self.halvings(len) as i32)
    }

    /// What it takes of the memory of a miniature.
    pub(super) fn bytes(self, len: u32) -> u64 {
        u64::from(len >> self.halvings(len))
    }

    /// Whether a key with an item of this length is sampled.
    pub(super) fn samples(self, hash: u64, len: u32) -> bool {
        hash & ((1 << (self.bits - self.halvings(len))) - 1) == 0
    }

    /// The bits that are all 0 in the hash of a key that is sampled whatever its item.
    fn mask(self) -> u64 {
        (1 << self.bits) - 1
    }

    /// Whether a key is sampled whatever its item.
    pub(super) fn samples_any(self, hash: u64) -> bool {
        hash & self.mask() == 0
    }

    /// From which length on more items are sampled than of the usual one.
    fn long(self) -> usize {
        2_usize.saturating_mul(1 << self.usual)
    }
}

/// A scale that is shared.
#[derive(Debug)]
pub(super) struct SharedScale(AtomicU64);

impl SharedScale {
    pub(super) fn none() -> Self {
        SharedScale(AtomicU64::new(Self::packed(Scale::NONE)))
    }

    fn packed(Scale { bits, usual }: Scale) -> u64 {
        u64::from(bits) << 32 | u64::from(usual)
    }

    pub(super) fn load(&self) -> Scale {
        let packed = self.0.load(Ordering::Relaxed);
        Scale { bits: (packed >> 32) as u32, usual: packed as u32 }
    }

    pub(super) fn store(&self, scale: Scale) {
        self.0.store(Self::packed(scale), Ordering::Relaxed);
    }
}

/// The requests that a handle has recorded and not yet replayed.
#[derive(Debug)]
pub(crate) struct Sampler {
    scale: Scale,
    /// Its mask, and the length from which on items are long.
    mask: u64,
    long: usize,
    /// The handle's writes when it last looked whether trials can begin.
    pub(super) looked_at: u32,
    noted: RefCell<ArrayVec<(u64, Deed), BATCH>>,
}

impl Sampler {
    pub(crate) fn new() -> Self {
        let scale = Scale::NONE;
        Sampler {
            scale,
            mask: scale.mask(),
            long: scale.long(),
            looked_at: 0,
            noted: RefCell::default(),
        }
    }

    /// Follows the trials' scale. Returns whether any key is sampled.
    pub(super) fn follow(&mut self, trials: &Trials) -> bool {
        self.scale = trials.scale();
        (self.mask, self.long) = (self.scale.mask(), self.scale.long());
        self.scale != Scale::NONE
    }

    /// Whether more items are sampled than usual where values are so long.
    #[inline]
    pub(crate) fn is_long(&self, value_len: usize) -> bool {
        value_len >= self.long
    }
}

impl SegStore {
    /// Whether a key is sampled whatever its item.
    #[inline]
    pub(crate) fn samples(&self, hash: u64) -> bool {
        hash & self.sampler.mask == 0
    }

    /// Records a request, if its key is sampled whatever its item.
    #[inline]
    pub(crate) fn sample(&self, hash: u64, deed: Deed, now: Ticks) {
        if self.samples(hash) {
            self.note(hash, deed, now);
        }
    }

    /// Records a request that found a long item, if its key is sampled for that.
    #[inline(never)]
    pub(crate) fn sample_long(&self, hash: u64, location: Location, now: Ticks) {
        let (scale, item) = (self.sampler.scale, self.shared.item(&self.turn, location));
        let len = item.len() as u32;
        if scale.samples(hash, len) && !scale.samples_any(hash) {
            let due_ms = item.expiry_ms(self.shared.segment_of(location).base_ms());
            self.note(hash, Deed::Found { len, due_ms }, now);
        }
    }

    /// Records a request that made or removed an item of this length, if its key is sampled.
    #[inline]
    pub(crate) fn sample_changed(&self, hash: u64, len: u32, deed: Deed, now: Ticks) {
        let sampler = &self.sampler;
        let is_long = || sampler.is_long(len as usize) && sampler.scale.samples(hash, len);
        if hash & sampler.mask == 0 || is_long() {
            self.note(hash, deed, now);
        }
    }

    #[cold]
    fn note(&self, hash: u64, deed: Deed, now: Ticks) {
        let mut noted = self.sampler.noted.borrow_mut();
        noted.push((hash, deed));
        if noted.is_full() {
            self.shared.trials.play(&noted, &self.shared, now);
            noted.clear();
        }
    }
}
