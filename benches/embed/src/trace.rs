// SPDX-License-Identifier: Apache-2.0
//! [`Trace`]: the keys that are read, the same in every run.

/// How many keys there are.
const KEYS: usize = 1_000_000;

/// The exponent of Zipf's law: the n-th key is read in proportion to `n.powf(-EXPONENT)`.
const EXPONENT: f64 = 0.9;

/// In a moving trace, the reads after which the most popular keys make way for others, and how many.
const READS_PER_MOVE: usize = 100_000;
const MOVED: usize = 2_000;

/// Which keys are popular.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trace {
    /// Always the same.
    Zipf,
    /// Others after a while.
    Moving,
}

impl Trace {
    pub fn named(name: &str) -> Result<Self, String> {
        match name {
            "zipf" => Ok(Trace::Zipf),
            "moving" => Ok(Trace::Moving),
            _ => Err(format!("no trace {name}: zipf, moving")),
        }
    }

    /// The keys of each thread, `reads` in all.
    pub fn keys(self, reads: usize, threads: usize) -> Vec<Vec<u32>> {
        let mut sum = 0.0;
        let sums: Vec<f64> = (1..=KEYS)
            .map(|rank| {
                sum += (rank as f64).powf(-EXPONENT);
                sum
            })
            .collect();
        let of_thread = |thread: usize| {
            let mut random = thread as u64 + 1;
            let key = |read: usize| {
                let point = next(&mut random) * sum;
                let rank = sums.partition_point(|&sum| sum < point);
                let moved = match self {
                    Trace::Zipf => 0,
                    Trace::Moving => read * threads / READS_PER_MOVE * MOVED,
                };
                scattered((rank + moved) % KEYS)
            };
            (0..reads / threads).map(key).collect()
        };
        (0..threads).map(of_thread).collect()
    }
}

/// A number from 0 to 1, by splitmix64.
fn next(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut bits = *state;
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((bits ^ (bits >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
}

/// Keys of neighbouring ranks are no neighbours.
fn scattered(rank: usize) -> u32 {
    (rank as u32).wrapping_mul(0x9e37_79b1)
}
