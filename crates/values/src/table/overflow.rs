// SPDX-License-Identifier: Apache-2.0
//! [`Overflow`]: the buckets behind full buckets.
//!
//! Free ones are linked in both directions, so that the last one can be given back wherever it is in
//! the list.

use crate::table::bucket::{Bucket, FreeLinks};
use crate::table::chunks::Chunks;
use allocator::size_class;

/// Free buckets that are no reason to move others.
const FREE_MIN: usize = 8;

/// Buckets by number, in use or free. Most small tables have none.
#[derive(Debug)]
pub(super) struct Overflow<T, A>(Option<Box<Listed<T, A>>>);

/// Those of a table that has some.
#[derive(Debug)]
struct Listed<T, A> {
    buckets: Chunks<Bucket<T, A>>,
    first_free: Option<u32>,
    free: usize,
}

impl<T, A> Overflow<T, A> {
    pub(super) const fn new() -> Self {
        Overflow(None)
    }

    /// A copy, with copies of the elements.
    pub(super) fn copy_with(&self, copy: &mut impl FnMut(&T) -> T) -> Self {
        Overflow(self.0.as_ref().map(|listed| {
            let buckets = listed.buckets.copy_with(|bucket| bucket.copy_with(copy));
            Box::new(Listed { buckets, ..**listed })
        }))
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let own = size_class(size_of::<Listed<T, A>>());
        self.0.as_ref().map_or(0, |listed| own + listed.buckets.heap_bytes())
    }

    /// Buckets, in use and free.
    pub(super) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, |listed| listed.buckets.len())
    }

    /// Free buckets.
    pub(super) fn free(&self) -> usize {
        self.0.as_ref().map_or(0, |listed| listed.free)
    }

    /// All buckets; the free ones are empty.
    pub(super) fn iter(&self) -> impl Iterator<Item = &Bucket<T, A>> {
        self.0.iter().flat_map(|listed| listed.buckets.iter())
    }

    #[inline]
    pub(super) fn get(&self, index: u32) -> &Bucket<T, A> {
        self.0.as_ref().expect("INV-OVERFLOW: a link leads to a bucket").get(index)
    }

    #[inline]
    pub(super) fn get_mut(&mut self, index: u32) -> &mut Bucket<T, A> {
        self.0.as_mut().expect("INV-OVERFLOW: a link leads to a bucket").get_mut(index)
    }

    /// An empty bucket to be used.
    pub(super) fn acquire(&mut self) -> u32 {
        self.0.get_or_insert_with(|| Box::new(Listed::new())).acquire()
    }

    /// Makes an empty bucket free.
    pub(super) fn release(&mut self, index: u32) {
        self.0.as_mut().expect("INV-OVERFLOW: a bucket in use").release(index);
    }

    /// Gives the memory of the last bucket back if it is free. Returns false if it is in use.
    pub(super) fn trim(&mut self) -> bool {
        let Some(listed) = &mut self.0 else { return false };
        let is_trimmed = listed.trim();
        if listed.buckets.len() == 0 {
            self.0 = None;
        }
        is_trimmed
    }

    /// The last bucket.
    pub(super) fn last(&self) -> Option<u32> {
        self.0.as_ref()?.last()
    }

    /// Whether so many buckets are free that others should be moved, for the memory to be given back.
    pub(super) fn is_sparse(&self) -> bool {
        self.free() > FREE_MIN + self.len() / 4
    }

    /// Panics unless the list holds each free bucket once.
    pub(super) fn check_integrity(&self) {
        if let Some(listed) = &self.0 {
            listed.check_integrity();
        }
    }
}

impl<T, A> Listed<T, A> {
    const fn new() -> Self {
        Listed { buckets: Chunks::new(), first_free: None, free: 0 }
    }

    #[inline]
    fn get(&self, index: u32) -> &Bucket<T, A> {
        self.buckets.get(index as usize).expect("INV-OVERFLOW: a link leads to a bucket")
    }

    #[inline]
    fn get_mut(&mut self, index: u32) -> &mut Bucket<T, A> {
        self.buckets.get_mut(index as usize).expect("INV-OVERFLOW: a link leads to a bucket")
    }

    fn acquire(&mut self) -> u32 {
        if let Some(index) = self.first_free {
            self.take_from_list(index);
            *self.get_mut(index) = Bucket::EMPTY;
            return index;
        }
        let index = u32::try_from(self.buckets.len()).ok().filter(|&index| index < u32::MAX);
        let index = index.expect("four billion overflow buckets take 256 GiB");
        self.buckets.push(Bucket::EMPTY);
        index
    }

    fn release(&mut self, index: u32) {
        let next = self.first_free;
        self.get_mut(index).set_free(FreeLinks { next, before: None });
        if let Some(next) = next {
            let links = self.links(next);
            self.get_mut(next).set_free(FreeLinks { before: Some(index), ..links });
        }
        self.first_free = Some(index);
        self.free += 1;
    }

    fn trim(&mut self) -> bool {
        let Some(last) = self.last() else { return false };
        if self.get(last).free_links().is_none() {
            return false;
        }
        self.take_from_list(last);
        self.buckets.pop();
        true
    }

    fn last(&self) -> Option<u32> {
        self.buckets.len().checked_sub(1).map(|last| last as u32)
    }

    fn links(&self, free: u32) -> FreeLinks {
        self.get(free).free_links().expect("INV-OVERFLOW: the list links free buckets")
    }

    fn take_from_list(&mut self, index: u32) {
        let FreeLinks { next, before } = self.links(index);
        match before {
            Some(before) => {
                let links = self.links(before);
                self.get_mut(before).set_free(FreeLinks { next, ..links });
            }
            None => self.first_free = next,
        }
        if let Some(next) = next {
            let links = self.links(next);
            self.get_mut(next).set_free(FreeLinks { before, ..links });
        }
        self.free -= 1;
    }

    fn check_integrity(&self) {
        let (mut listed, mut before, mut at) = (0, None, self.first_free);
        while let Some(index) = at {
            assert_eq!(self.links(index).before, before, "INV-OVERFLOW: links in both directions");
            assert!(self.get(index).is_empty(), "INV-OVERFLOW: free buckets are empty");
            listed += 1;
            assert!(listed <= self.free, "INV-OVERFLOW: the list holds each free bucket once");
            (before, at) = (at, self.links(index).next);
        }
        let marked = self.buckets.iter().filter(|bucket| bucket.free_links().is_some()).count();
        assert_eq!((listed, marked), (self.free, self.free), "INV-OVERFLOW: all free are listed");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::CacheLine;

    #[test]
    fn free_buckets_are_used_again_and_given_back_from_the_end() {
        let mut overflow = Overflow::<Box<u8>, CacheLine>::new();
        let buckets: Vec<u32> = (0..10).map(|_| overflow.acquire()).collect();
        for index in [3, 9, 0, 8] {
            overflow.release(buckets[index]);
            overflow.check_integrity();
        }
        assert!(overflow.trim(), "bucket 9");
        overflow.check_integrity();
        assert!(overflow.trim(), "bucket 8");
        assert!(!overflow.trim(), "bucket 7 is in use");
        assert_eq!((overflow.len(), overflow.free()), (8, 2));
        let mut again = [overflow.acquire(), overflow.acquire()];
        again.sort_unstable();
        assert_eq!(again, [0, 3]);
        assert_eq!(overflow.acquire(), 8);
        overflow.check_integrity();
    }

    #[test]
    fn buckets_are_sparse_when_more_than_a_quarter_is_free() {
        let mut overflow = Overflow::<Box<u8>, CacheLine>::new();
        for _ in 0..100 {
            overflow.acquire();
        }
        let released = (0..100).find(|&index| {
            overflow.release(index);
            overflow.is_sparse()
        });
        assert_eq!(released, Some(33));
    }
}
