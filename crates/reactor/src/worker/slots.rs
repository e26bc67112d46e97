// SPDX-License-Identifier: Apache-2.0
//! [`Slots`]: where a worker finds the connection with an id.
//!
//! It is looked up for each letter of another worker and each message to a subscriber. The server assigns the ids, one
//! after the other, so nobody can choose them to collide, and hashing them takes no secret: one multiplication.

use protocol::ConnectionId;
use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

/// The slots of connections by their ids.
pub(super) type Slots = HashMap<ConnectionId, usize, BuildHasherDefault<IdHasher>>;

/// 2^64 divided by the golden ratio: multiples of it spread evenly.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Hashes an id.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct IdHasher(u64);

impl Hasher for IdHasher {
    /// Ids come by [`IdHasher::write_u64`].
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|&byte| self.write_u64(u64::from(byte)));
    }

    /// The table takes both the lowest and the highest bits. The lowest of an id are the same for all connections of a
    /// worker, so the halves of the product are folded.
    #[inline]
    fn write_u64(&mut self, id: u64) {
        let product = u128::from(self.0 ^ id) * u128::from(SPREAD);
        self.0 = product as u64 ^ (product >> 64) as u64;
    }

    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::BuildHasher;

    #[test]
    fn ids_that_follow_each_other_spread_over_the_table() {
        for (worker, step) in [(0, 1), (5, 1), (0, 2), (1, 64), (1023, 1000)] {
            let hasher = BuildHasherDefault::<IdHasher>::default();
            let mut low = [0; 1024];
            let mut high = [0; 128];
            for serial in 1..=8192 {
                let hash = hasher.hash_one(ConnectionId::new(worker, serial * step));
                low[hash as usize % 1024] += 1;
                high[(hash >> 57) as usize] += 1;
            }
            // By chance alone 8 and 64 each, and hardly ever more than 24 and 110.
            let most = (low.iter().max(), high.iter().max());
            assert!(most.0 <= Some(&24) && most.1 <= Some(&110), "{worker} {step}: {most:?}");
        }
    }
}
