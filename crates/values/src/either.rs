// SPDX-License-Identifier: Apache-2.0
//! [`Either`]: an iterator over a collection that is in one of two forms.

/// One of two iterators over the same kind of item.
#[derive(Clone, Debug)]
pub(crate) enum Either<A, B> {
    /// The elements of a packed collection, say.
    Left(A),
    /// Those of a large one.
    Right(B),
}

impl<A: Iterator, B: Iterator<Item = A::Item>> Iterator for Either<A, B> {
    type Item = A::Item;

    #[inline]
    fn next(&mut self) -> Option<A::Item> {
        match self {
            Either::Left(iter) => iter.next(),
            Either::Right(iter) => iter.next(),
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Either::Left(iter) => iter.size_hint(),
            Either::Right(iter) => iter.size_hint(),
        }
    }

    /// Decides once for all items, where `next` decides at each.
    #[inline]
    fn fold<T, F: FnMut(T, A::Item) -> T>(self, init: T, f: F) -> T {
        match self {
            Either::Left(iter) => iter.fold(init, f),
            Either::Right(iter) => iter.fold(init, f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_forms_give_their_items() {
        let mut left: Either<_, std::ops::Range<i32>> = Either::Left(0..3);
        assert_eq!((left.next(), left.size_hint(), left.sum()), (Some(0), (2, Some(2)), 3));
        let right: Either<std::ops::Range<i32>, _> = Either::Right([7, 8].into_iter());
        assert_eq!(right.collect::<Vec<_>>(), [7, 8]);
    }
}
