// SPDX-License-Identifier: Apache-2.0
//! `stats sizes`: how many items there are of which size, counted in a walk over all of them.

use super::STEP;
use clock::Now;
use std::collections::BTreeMap;
use std::io::Write;
use storage::{Cursor, Item, Scan};

/// Sizes are told in steps of so many bytes, as by memcached.
const WIDTH: usize = 32;

/// Up to here. Above, a size is told as the next power of two, so that there are at most some 33,000 counts.
const EXACT_MAX: usize = 1 << 20;

/// A walk that counts.
#[derive(Debug)]
pub(super) struct Sizes {
    cursor: Cursor,
    /// Items by their size, rounded up.
    counts: BTreeMap<usize, u64>,
}

impl Sizes {
    pub(super) fn new() -> Self {
        Sizes { cursor: Cursor::START, counts: BTreeMap::new() }
    }

    /// Goes on. Returns whether this was the end: then the counts are in `piece`.
    pub(super) fn step(&mut self, store: &mut impl Scan, now: Now, piece: &mut Vec<u8>) -> bool {
        let next = store.scan(self.cursor, STEP, now.ticks, |item| {
            *self.counts.entry(rounded(item.footprint())).or_default() += 1;
        });
        if let Some(cursor) = next {
            self.cursor = cursor;
            return false;
        }
        for (size, count) in &self.counts {
            // Writing to a vector cannot fail.
            let _ = write!(piece, "STAT {size} {count}\r\n");
        }
        true
    }
}

fn rounded(size: usize) -> usize {
    if size > EXACT_MAX { size.next_power_of_two() } else { size.next_multiple_of(WIDTH) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_up() {
        let cases = [
            (1, 32),
            (32, 32),
            (33, 64),
            (EXACT_MAX, EXACT_MAX),
            (EXACT_MAX + 1, 2 * EXACT_MAX),
            (1 << 30, 1 << 30),
        ];
        for (size, told) in cases {
            assert_eq!(rounded(size), told, "{size}");
        }
    }
}
