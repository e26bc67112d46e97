// SPDX-License-Identifier: Apache-2.0
//! [`hash_of`]: keys to hashes that a client cannot predict.

use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use rapidhash::v3::{RapidSecrets, rapidhash_v3_micro_inline};

static SECRETS: OnceLock<RapidSecrets> = OnceLock::new();

/// The hash of a key. Its seed is drawn once per process from the system's randomness, so nobody can
/// choose keys that share a bucket.
///
/// The low 48 bits pick a bucket of a [`Table`](crate::Table) and the next eight are the tag there;
/// the top eight are left to the caller, to pick a shard by.
#[inline]
pub fn hash_of(key: &[u8]) -> u64 {
    let random = || RapidSecrets::seed(RandomState::new().hash_one(0_u64));
    // Avalanche and protection cost a nanosecond together, and make the hash resist chosen keys.
    rapidhash_v3_micro_inline::<true, true>(key, SECRETS.get_or_init(random))
}

/// Fixes the seed of [`hash_of`], so that a run can be repeated. Returns false if it has been drawn
/// already.
pub fn seed_hashes(seed: u64) -> bool {
    SECRETS.set(RapidSecrets::seed(seed)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_of_a_key_stays_the_same() {
        let hash = hash_of(b"key");
        assert!(!seed_hashes(1), "the seed has been drawn");
        assert_eq!(hash_of(b"key"), hash);
        assert_ne!(hash_of(b"other"), hash);
    }
}
