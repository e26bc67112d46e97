// SPDX-License-Identifier: Apache-2.0
//! [`Hasher`]: keys to shards and tags, by a hash that a client cannot predict.

use rapidhash::v3::{RapidSecrets, rapidhash_v3_micro_inline};
use std::hash::{BuildHasher, RandomState};

/// A seeded hash function. Equal seeds make equal hashes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hasher {
    secrets: RapidSecrets,
    shard_bits: u32,
}

/// The two parts of a key's hash, which share no bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Hash {
    /// The shard in which the key lives.
    pub(crate) shard: usize,
    /// Picks the bucket and rejects other keys.
    pub(crate) tag: u32,
}

impl Hasher {
    /// Hashes for `2^shard_bits` shards; `None` draws a seed from the system's randomness.
    pub(crate) fn new(seed: Option<u64>, shard_bits: u32) -> Self {
        debug_assert!(shard_bits <= 32, "the high half picks the shard");
        let seed = seed.unwrap_or_else(|| RandomState::new().hash_one(0_u64));
        Hasher { secrets: RapidSecrets::seed(seed), shard_bits }
    }

    #[inline]
    pub(crate) fn hash(&self, key: &[u8]) -> Hash {
        // Avalanche and protection cost a nanosecond together, and make the hash resist chosen
        // keys.
        let hash = rapidhash_v3_micro_inline::<true, true>(key, &self.secrets);
        let high = hash >> 32;
        Hash { shard: ((high << self.shard_bits) >> 32) as usize, tag: hash as u32 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_share_the_keys_evenly() {
        let hasher = Hasher::new(Some(1), 3);
        let mut counts = [0; 8];
        for number in 0..8000_u32 {
            counts[hasher.hash(&number.to_le_bytes()).shard] += 1;
        }
        assert!(counts.iter().all(|&count| (850..1150).contains(&count)), "{counts:?}");
        assert_eq!(Hasher::new(Some(1), 0).hash(b"key").shard, 0);
    }

    #[test]
    fn the_seed_decides() {
        let tag = |seed| Hasher::new(seed, 0).hash(b"key").tag;
        assert_eq!(tag(Some(7)), tag(Some(7)));
        assert_ne!(tag(Some(7)), tag(Some(8)));
        assert_ne!(tag(None), tag(None), "two random seeds agree once in four billion runs");
    }
}
