// SPDX-License-Identifier: Apache-2.0
//! [`Intset`]: a small set of integers as one sorted array.
//!
//! ```text
//!  | width u8: 2, 4 or 8 | int, little-endian | int | …
//! ```
//!
//! All ints have the width that the widest needs. The width grows when a wider int is added and does
//! not shrink. An empty slice is an empty set too. Searches are binary. The owner of the bytes edits
//! the set: [`Intset::search`] finds the place, [`Intset::range`] its bytes, and [`Intset::encode`]
//! the bytes to put there; [`Intset::widened`] makes a set with an int too wide for this one.
//!
//! INV-INTSET: the width is 2, 4 or 8, the ints are whole, and each is greater than the one before.

use std::iter::FusedIterator;
use std::ops::Range;

/// Bytes before the ints.
const HEADER: usize = 1;

/// How many bytes each int of a set takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Width {
    Two = 2,
    Four = 4,
    Eight = 8,
}

impl Width {
    /// The least width that holds `int`.
    pub(crate) fn of(int: i64) -> Width {
        if i16::try_from(int).is_ok() {
            Width::Two
        } else if i32::try_from(int).is_ok() {
            Width::Four
        } else {
            Width::Eight
        }
    }

    const fn bytes(self) -> usize {
        self as usize
    }
}

/// A sorted array of ints.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Intset<'a> {
    width: Width,
    ints: &'a [u8],
}

/// An int as it stands in a set.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Encoded {
    bytes: [u8; 8],
    width: Width,
}

impl AsRef<[u8]> for Encoded {
    fn as_ref(&self) -> &[u8] {
        &self.bytes[..self.width.bytes()]
    }
}

impl<'a> Intset<'a> {
    /// Reads the bytes of a set.
    #[inline]
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        let Some((width, ints)) = bytes.split_first() else {
            return Intset { width: Width::Two, ints: &[] };
        };
        let width = match width {
            2 => Width::Two,
            4 => Width::Four,
            8 => Width::Eight,
            _ => panic!("INV-INTSET: the width is {width}"),
        };
        debug_assert!(ints.len().is_multiple_of(width.bytes()), "INV-INTSET: a part of an int");
        Intset { width, ints }
    }

    /// How many ints are in it.
    #[inline]
    pub(crate) fn len(self) -> usize {
        self.ints.len() / self.width.bytes()
    }

    /// The bytes that each int takes.
    #[inline]
    pub(crate) fn width(self) -> Width {
        self.width
    }

    /// The int with `index` others before it.
    #[inline]
    pub(crate) fn nth(self, index: usize) -> Option<i64> {
        (index < self.len()).then(|| self.int(index))
    }

    /// The index of `int`, or else the index at which it belongs.
    pub(crate) fn search(self, int: i64) -> Result<usize, usize> {
        let (mut low, mut high) = (0, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            match self.int(middle).cmp(&int) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Ok(middle),
            }
        }
        Err(low)
    }

    /// Whether `int` is in it.
    #[inline]
    pub(crate) fn contains(self, int: i64) -> bool {
        Width::of(int) <= self.width && self.search(int).is_ok()
    }

    /// The ints, in order.
    #[inline]
    pub(crate) fn iter(self) -> Ints<'a> {
        Ints { set: self, next: 0 }
    }

    /// The bytes of a set where the int at `index` stands.
    pub(crate) fn range(self, index: usize) -> Range<usize> {
        let start = HEADER + index * self.width.bytes();
        start..start + self.width.bytes()
    }

    /// The bytes of `int` in this set, which is wide enough for it.
    pub(crate) fn encode(self, int: i64) -> Encoded {
        debug_assert!(Width::of(int) <= self.width, "the set is wide enough");
        Encoded { bytes: int.to_le_bytes(), width: self.width }
    }

    /// The bytes of this set with `int` added, which is too wide for the set, or its first int.
    pub(crate) fn widened(self, int: i64) -> Vec<u8> {
        debug_assert!(Width::of(int) > self.width || self.ints.is_empty(), "it is too wide");
        let width = Width::of(int).max(self.width);
        let mut bytes = Vec::with_capacity(HEADER + (self.len() + 1) * width.bytes());
        bytes.push(width.bytes() as u8);
        let mut push = |int: i64| bytes.extend_from_slice(&int.to_le_bytes()[..width.bytes()]);
        // An int that is too wide is below or above all the others.
        if int < 0 {
            push(int);
        }
        self.iter().for_each(&mut push);
        if int >= 0 {
            push(int);
        }
        bytes
    }

    #[inline]
    fn int(self, index: usize) -> i64 {
        let at = index * self.width.bytes();
        match self.width {
            Width::Two => i64::from(i16::from_le_bytes(self.array(at))),
            Width::Four => i64::from(i32::from_le_bytes(self.array(at))),
            Width::Eight => i64::from_le_bytes(self.array(at)),
        }
    }

    #[inline]
    fn array<const N: usize>(self, at: usize) -> [u8; N] {
        let mut array = [0; N];
        array.copy_from_slice(&self.ints[at..at + N]);
        array
    }

    /// # Panics
    ///
    /// When INV-INTSET does not hold.
    pub(crate) fn check(self) {
        assert!(self.ints.len().is_multiple_of(self.width.bytes()), "INV-INTSET: a part of an int");
        assert!(self.iter().is_sorted_by(|a, b| a < b), "INV-INTSET: the ints are not in order");
    }
}

/// The ints of an [`Intset`] in order.
#[derive(Clone, Debug)]
pub(crate) struct Ints<'a> {
    set: Intset<'a>,
    next: usize,
}

impl Iterator for Ints<'_> {
    type Item = i64;

    #[inline]
    fn next(&mut self) -> Option<i64> {
        let int = self.set.nth(self.next)?;
        self.next += 1;
        Some(int)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.set.len() - self.next;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Ints<'_> {}
impl FusedIterator for Ints<'_> {}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    /// Puts `int` into the set of `bytes` as a set in an entry does it.
    fn insert(bytes: &mut Vec<u8>, int: i64) -> bool {
        let set = Intset::new(bytes);
        if Width::of(int) > set.width() || set.len() == 0 {
            *bytes = set.widened(int);
            return true;
        }
        let Err(index) = set.search(int) else { return false };
        let (start, encoded) = (set.range(index).start, set.encode(int));
        bytes.splice(start..start, encoded.as_ref().iter().copied());
        true
    }

    fn remove(bytes: &mut Vec<u8>, int: i64) -> bool {
        let set = Intset::new(bytes);
        let Ok(index) = set.search(int) else { return false };
        let range = set.range(index);
        bytes.drain(range);
        true
    }

    #[test]
    fn no_bytes_are_an_empty_set() {
        let set = Intset::new(&[]);
        assert_eq!((set.len(), set.nth(0), set.contains(0)), (0, None, false));
        assert_eq!(set.search(7), Err(0));
    }

    #[test]
    fn the_width_grows_with_the_widest_int_and_stays() {
        let mut bytes = Intset::new(&[]).widened(5);
        assert_eq!(bytes, [2, 5, 0]);
        assert!(insert(&mut bytes, -40_000));
        assert_eq!(bytes.len(), HEADER + 2 * 4, "below all others, with four bytes each");
        assert!(insert(&mut bytes, i64::MAX));
        assert_eq!(bytes.len(), HEADER + 3 * 8);
        assert_eq!(Intset::new(&bytes).iter().collect::<Vec<_>>(), [-40_000, 5, i64::MAX]);
        assert!(remove(&mut bytes, i64::MAX) && remove(&mut bytes, -40_000));
        assert_eq!(bytes.len(), HEADER + 8);
        assert!(!Intset::new(&bytes).contains(5 + (1 << 32)), "all eight bytes count");
    }

    #[test]
    #[should_panic(expected = "INV-INTSET: the ints are not in order")]
    fn a_check_finds_ints_out_of_order() {
        Intset::new(&[2, 5, 0, 4, 0]).check();
    }

    fn ints() -> impl Strategy<Value = i64> {
        prop_oneof![
            4 => -5..5_i64,
            2 => prop_oneof![i64::from(i16::MIN) - 2..i64::from(i16::MIN) + 2,
                             i64::from(i16::MAX) - 2..i64::from(i16::MAX) + 2],
            2 => prop_oneof![i64::from(i32::MIN) - 2..i64::from(i32::MIN) + 2,
                             i64::from(i32::MAX) - 2..i64::from(i32::MAX) + 2],
            1 => prop_oneof![Just(i64::MIN), Just(i64::MAX), any::<i64>()],
        ]
    }

    proptest! {
        #[test]
        fn an_intset_is_a_sorted_set(edits in prop::collection::vec((ints(), any::<bool>()), 0..60)) {
            let (mut bytes, mut model) = (Vec::new(), BTreeSet::new());
            for (int, add) in edits {
                if add {
                    prop_assert_eq!(insert(&mut bytes, int), model.insert(int));
                } else {
                    prop_assert_eq!(remove(&mut bytes, int), model.remove(&int));
                }
                let set = Intset::new(&bytes);
                set.check();
                prop_assert_eq!(set.len(), model.len());
                prop_assert_eq!(set.contains(int), model.contains(&int));
                prop_assert!(set.iter().eq(model.iter().copied()));
                prop_assert!((0..=model.len()).all(|at| set.nth(at) == model.iter().nth(at).copied()));
            }
        }
    }
}
