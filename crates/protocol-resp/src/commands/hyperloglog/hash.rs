// SPDX-License-Identifier: Apache-2.0
//! From an element to a register: MurmurHash64A, with Redis's seed.

use super::{INDEX_BITS, REGISTERS, RUN_MAX};

const SEED: u64 = 0xadc8_3b19;
const MULTIPLIER: u64 = 0xc6a4_a793_5bd1_e995;
const SHIFT: u32 = 47;

/// The register of an element, and the value that it has at least then: how many zeros the rest of the hash ends
/// with, and one.
pub(super) fn place(element: &[u8]) -> (usize, u8) {
    let hash = murmur64a(element);
    let index = hash as usize & (REGISTERS - 1);
    // A one behind the bits of the hash ends the run.
    let rest = (hash >> INDEX_BITS) | 1 << (u64::BITS - INDEX_BITS);
    let run = (rest.trailing_zeros() as u8).saturating_add(1);
    debug_assert!(run <= RUN_MAX, "bits that do not choose the register, and one");
    (index, run)
}

fn murmur64a(text: &[u8]) -> u64 {
    let mut hash = SEED ^ (text.len() as u64).wrapping_mul(MULTIPLIER);
    let (words, rest) = text.as_chunks::<8>();
    for word in words {
        let word = u64::from_le_bytes(*word).wrapping_mul(MULTIPLIER);
        let word = (word ^ (word >> SHIFT)).wrapping_mul(MULTIPLIER);
        hash = (hash ^ word).wrapping_mul(MULTIPLIER);
    }
    if !rest.is_empty() {
        let mut last = [0; 8];
        for (to, from) in last.iter_mut().zip(rest) {
            *to = *from;
        }
        hash = (hash ^ u64::from_le_bytes(last)).wrapping_mul(MULTIPLIER);
    }
    hash = (hash ^ (hash >> SHIFT)).wrapping_mul(MULTIPLIER);
    hash ^ (hash >> SHIFT)
}
