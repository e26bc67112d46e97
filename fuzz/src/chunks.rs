// SPDX-License-Identifier: Apache-2.0
//! Ways to cut an input into arrivals, and a small deterministic random generator that chooses them.

/// Inputs up to this length also arrive byte by byte: parsing them is quadratic in their length.
const SINGLE_MAX: usize = 512;

/// The approximate number of arrivals of longer inputs.
const PIECES: usize = 48;

/// The lengths of `len` bytes of input after each of its arrivals, for several ways to cut it: all
/// at once, byte by byte (long inputs: in many even pieces), and at places that `noise` chooses.
pub(crate) fn plans(len: usize, noise: &mut Noise) -> Vec<Vec<usize>> {
    let step = if len <= SINGLE_MAX { 1 } else { len.div_ceil(PIECES) };
    let mut even: Vec<usize> = (1..len).step_by(step).collect();
    even.push(len);
    let mut random = Vec::new();
    let mut end = 0;
    while end < len {
        // Mostly small pieces, and a large one now and then, but never thousands.
        let most = if noise.below(4) == 0 { len } else { len.div_ceil(PIECES).max(16) };
        end = len.min(end + 1 + noise.below(most));
        random.push(end);
    }
    vec![vec![len], even, random]
}

/// A small deterministic generator (xorshift64).
#[derive(Clone, Debug)]
pub(crate) struct Noise(u64);

impl Noise {
    /// A generator that depends on all of `seed`, so that mutating an input also mutates the choices
    /// made for it.
    pub(crate) fn new(seed: &[u8]) -> Self {
        let hash = seed.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, &byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Noise(hash | 1)
    }

    /// A number below `end`, which is not 0.
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 16) % end as u64) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_plan_ends_with_all_of_the_input() {
        for len in [0, 1, 2, 100, SINGLE_MAX + 1, 200_000] {
            for plan in plans(len, &mut Noise::new(b"seed")) {
                assert!(plan.is_sorted() && plan.len() <= SINGLE_MAX.max(len), "{len}: {plan:?}");
                assert_eq!(plan.last().copied().unwrap_or(0), len);
            }
        }
    }
}
