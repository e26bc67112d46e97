// SPDX-License-Identifier: Apache-2.0
//! [`Random`]: random numbers to choose shards and samples, and uses that count.

use std::hash::{BuildHasher, RandomState};

/// A source of numbers that are random enough for sampling: SplitMix64, a few cycles each.
#[derive(Clone, Debug)]
pub(crate) struct Random(u64);

impl Random {
    pub(crate) const fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// One that differs from run to run.
    pub(crate) fn unpredictable() -> Self {
        Random(RandomState::new().hash_one(0_u64))
    }

    /// Another source, independent of this one.
    pub(crate) fn fork(&mut self) -> Self {
        Random(self.next())
    }

    #[inline]
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    /// A number below `bound`, all about equally likely; 0 if `bound` is.
    #[inline]
    pub(crate) fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(bound)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spread_evenly_below_the_bound() {
        let mut random = Random::new(1);
        let mut counts = [0; 5];
        for _ in 0..10_000 {
            counts[random.below(5) as usize] += 1;
        }
        assert!(counts.iter().all(|count| (1_800..2_200).contains(count)), "{counts:?}");
        assert_eq!((random.below(1), random.below(0)), (0, 0));
    }

    #[test]
    fn a_seed_repeats_and_a_fork_does_not() {
        let mut random = Random::new(7);
        assert_eq!(random.next(), Random::new(7).next());
        assert_ne!(random.fork().next(), random.next());
        assert_ne!(Random::unpredictable().next(), Random::unpredictable().next());
    }
}
