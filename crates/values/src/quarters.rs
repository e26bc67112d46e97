// SPDX-License-Identifier: Apache-2.0
//! [`Quarters`]: the sizes of the chunks of a growing sequence whose elements never move.
//!
//! ```text
//!  Quarters<0, 10>:  1 1 1 1  2 2 2 2  4 4 4 4  …  512 512 512 512  1,024 1,024 …
//! ```
//!
//! There are four chunks of a size before the size doubles, up to a largest one. So a chunk that has
//! just been begun is a quarter of the sequence, or less.

/// Chunks of `1 << FIRST` to `1 << LAST` elements.
#[derive(Debug)]
pub(crate) struct Quarters<const FIRST: u32, const LAST: u32>;

impl<const FIRST: u32, const LAST: u32> Quarters<FIRST, LAST> {
    /// Chunks before the largest ones.
    pub(crate) const SMALLER: usize = 4 * (LAST - FIRST) as usize;

    /// The chunk of an element and its place in there.
    #[inline]
    pub(crate) const fn locate(index: usize) -> (usize, usize) {
        // With four times the first size added, the highest bit tells the size of the chunk and the
        // two bits below tell which one of that size it is.
        let number = index + (4 << FIRST);
        // The branch, which goes the same way for all elements but the first of a large sequence,
        // makes the rest of the work for these two shifts by a constant.
        let shift = if number >> LAST >= 4 { LAST } else { number.ilog2() - 2 };
        let chunk = (number >> shift) - 4 + 4 * (shift - FIRST) as usize;
        (chunk, number & ((1 << shift) - 1))
    }

    /// Elements of a chunk.
    pub(crate) const fn len(chunk: usize) -> usize {
        let smaller = if chunk < Self::SMALLER { chunk } else { Self::SMALLER };
        1 << (FIRST + (smaller / 4) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn follow_each_other<const FIRST: u32, const LAST: u32>() {
        let (mut chunk, mut at) = (0, 0);
        for index in 0..200_000 {
            assert_eq!(Quarters::<FIRST, LAST>::locate(index), (chunk, at), "{index}");
            at += 1;
            if at == Quarters::<FIRST, LAST>::len(chunk) {
                (chunk, at) = (chunk + 1, 0);
            }
        }
        let (chunk, at) = Quarters::<FIRST, LAST>::locate(u32::MAX as usize - 1);
        assert!(at < Quarters::<FIRST, LAST>::len(chunk));
    }

    #[test]
    fn elements_follow_each_other_through_the_chunks() {
        follow_each_other::<0, 10>();
        follow_each_other::<3, 12>();
        follow_each_other::<5, 5>();
    }

    #[test]
    fn a_size_comes_four_times_and_the_last_one_for_ever() {
        let lens = [0, 3, 4, 7, 8, 39, 40, 41, 1000].map(Quarters::<0, 10>::len);
        assert_eq!(lens, [1, 1, 2, 2, 4, 512, 1024, 1024, 1024]);
        let lens = [0, 3, 4, 35, 36, 46].map(Quarters::<3, 12>::len);
        assert_eq!(lens, [8, 8, 16, 2048, 4096, 4096]);
    }
}
