// SPDX-License-Identifier: Apache-2.0
//! Random choices of different elements, and scans: shared by hashes and sets.

use std::collections::HashSet;

/// Drawing is faster than walking if at most one in this many elements is wanted.
const SPARSE: usize = 3;

/// Visits `count` of the `len` elements that come from `items`, or all of them when there are no
/// more, in the order they come. Every choice is equally likely.
pub(crate) fn select<T>(
    items: impl Iterator<Item = T>,
    len: usize,
    count: usize,
    mut random: impl FnMut() -> u64,
    mut visit: impl FnMut(T),
) {
    let (mut left, mut wanted) = (len as u64, count as u64);
    for item in items {
        if wanted == 0 || left == 0 {
            return;
        }
        // Each element is taken with probability `wanted` / `left` (selection sampling).
        if random() % left < wanted {
            visit(item);
            wanted -= 1;
        }
        left -= 1;
    }
}

/// Draws `count` different elements of about `len`. Returns `None` if so many are wanted, or so few
/// found, that walking over all with [`select`] is better. `draw` takes a random number and returns
/// an element, or `None` if that one does not count; elements are distinguished by their addresses.
pub(crate) fn draw<'a, T: ?Sized>(
    len: usize,
    count: usize,
    mut random: impl FnMut() -> u64,
    draw: impl Fn(u64) -> Option<&'a T>,
) -> Option<Vec<&'a T>> {
    if count > len / SPARSE {
        return None;
    }
    let mut drawn = Vec::new();
    let mut seen = HashSet::new();
    // Two of three draws find a new one, unless much of what is there does not count.
    for _ in 0..16 + SPARSE * count {
        if drawn.len() == count {
            return Some(drawn);
        }
        if let Some(item) = draw(random())
            && seen.insert(std::ptr::from_ref(item).cast::<u8>())
        {
            drawn.push(item);
        }
    }
    (drawn.len() == count).then_some(drawn)
}

/// Continues the scan of a table until it has met `count` elements, or the scan ends. Returns the
/// next cursor. `step` does one step from a cursor, counts what it meets and gives the next cursor.
pub(crate) fn scan(
    mut cursor: u64,
    count: usize,
    mut step: impl FnMut(u64, &mut usize) -> u64,
) -> u64 {
    let mut met = 0;
    // A step that meets nothing counts for a little, so that a scan of empty buckets ends too.
    for _ in 0..count.saturating_mul(10).max(1) {
        cursor = step(cursor, &mut met);
        if cursor == 0 || met >= count {
            break;
        }
    }
    cursor
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// A generator of numbers that are random enough (splitmix64).
    pub(crate) fn numbers(mut seed: u64) -> impl FnMut() -> u64 {
        move || {
            seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        }
    }

    #[test]
    fn a_selection_has_the_wanted_number_in_order() {
        for count in 0..12 {
            let mut chosen = Vec::new();
            select(0..10, 10, count, numbers(count as u64), |item| chosen.push(item));
            assert_eq!(chosen.len(), count.min(10));
            assert!(chosen.is_sorted_by(|a, b| a < b));
        }
    }

    #[test]
    fn a_selection_prefers_nobody() {
        let (mut random, mut chosen) = (numbers(1), [0_u32; 10]);
        for _ in 0..10_000 {
            select(0..10, 10, 3, &mut random, |item| chosen[item] += 1);
        }
        assert!(chosen.iter().all(|times| (2_700..3_300).contains(times)), "{chosen:?}");
    }

    #[test]
    fn a_draw_finds_different_ones_or_gives_up() {
        let items: Vec<u32> = (0..1_000).collect();
        let among = |counts: fn(u32) -> bool| {
            let items = &items;
            move |random| Some(&items[random as usize % 1_000]).filter(|item| counts(**item))
        };
        let drawn = draw(1_000, 300, numbers(2), among(|_| true)).expect("a third is few");
        assert_eq!(drawn.iter().collect::<HashSet<_>>().len(), 300);
        assert_eq!(draw(1_000, 334, numbers(2), among(|_| true)), None, "too many to draw");
        assert_eq!(draw(1_000, 300, numbers(2), among(|item| item < 100)), None, "too few count");
        assert_eq!(draw(0, 0, numbers(2), among(|_| true)), Some(Vec::new()));
    }
}
