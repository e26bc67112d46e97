// SPDX-License-Identifier: Apache-2.0
//! [`HeavyHitters`]: the keys with the greatest sums, in bounded memory (Space-Saving).
//!
//! While there is room, each key has its sum. A key that comes when there is none takes the place of the one with the
//! least sum, and inherits that. So a sum is never too small; it is too large by at most the least sum, and no key whose
//! sum is greater than that is missing.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// Keys with sums.
#[derive(Debug)]
pub(crate) struct HeavyHitters {
    most: usize,
    sums: HashMap<Arc<[u8]>, u64>,
    order: BTreeSet<(u64, Arc<[u8]>)>,
}

impl HeavyHitters {
    /// Knows at most so many keys.
    pub(crate) fn new(most: usize) -> Self {
        HeavyHitters { most, sums: HashMap::new(), order: BTreeSet::new() }
    }

    /// Adds to the sum of a key.
    pub(crate) fn add(&mut self, key: &[u8], amount: u64) {
        let (key, before) = match self.sums.get_key_value(key) {
            Some((key, sum)) => {
                let known = (*sum, Arc::clone(key));
                self.order.remove(&known);
                (known.1, known.0)
            }
            None if self.sums.len() < self.most => (Arc::from(key), 0),
            None => {
                let least = self.order.pop_first();
                if let Some((_, gone)) = &least {
                    self.sums.remove(gone);
                }
                (Arc::from(key), least.map_or(0, |(sum, _)| sum))
            }
        };
        let sum = before.saturating_add(amount);
        self.sums.insert(Arc::clone(&key), sum);
        self.order.insert((sum, key));
    }

    /// Keys with their sums, the greatest first.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&[u8], u64)> {
        self.order.iter().rev().map(|(sum, key)| (&**key, *sum))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_greatest_are_found_among_many_and_no_sum_is_too_small() {
        let mut keys = HeavyHitters::new(50);
        let mut random = fastrand::Rng::with_seed(7);
        let mut exact: HashMap<usize, u64> = HashMap::new();
        for _ in 0..100_000 {
            // Ten keys have half of all.
            let number = if random.bool() { random.usize(..10) } else { random.usize(10..5_000) };
            let amount = random.u64(1..5);
            keys.add(number.to_string().as_bytes(), amount);
            *exact.entry(number).or_default() += amount;
        }
        let found: Vec<(usize, u64)> = keys
            .iter()
            .map(|(key, sum)| (std::str::from_utf8(key).unwrap().parse().unwrap(), sum))
            .collect();
        assert_eq!(found.len(), 50);
        let mut first: Vec<usize> = found[..10].iter().map(|(number, _)| *number).collect();
        first.sort_unstable();
        assert_eq!(first, (0..10).collect::<Vec<_>>());
        assert!(found.iter().all(|(number, sum)| sum >= &exact[number]));
        assert!(found.is_sorted_by(|one, next| one.1 >= next.1));
    }
}
