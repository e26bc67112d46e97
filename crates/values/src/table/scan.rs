// SPDX-License-Identifier: Apache-2.0
//! Scans with a cursor, random samples, and walks over ranges of buckets.
//!
//! A cursor counts through the low bits of the hashes from the highest of them to the lowest, as in
//! Redis. So a cursor stands for a set of visited hashes that does not depend on the number of
//! buckets: when buckets are split or merged, no element moves into or out of that set.

use crate::Keyed;
use crate::table::bucket::{Bucket, SLOTS};
use crate::table::chain::Place;
use crate::table::{Table, hash_of};
use prefetch::Hint;

/// Places among which [`Table::sample`] draws in one bucket's chain. Longer chains are rare.
const PLACES: u64 = 12;
/// Draws before it takes the next element it finds.
const DRAWS: usize = 128;

/// Buckets ahead of the one that a walk is at, whose elements are prefetched.
const AHEAD: usize = 2;

impl<T: Keyed, A> Table<T, A> {
    /// All elements, in no order, each of them prefetched a few ahead.
    pub fn iter_ahead(&self) -> impl Iterator<Item = &T> {
        self.iter_ahead_by(Keyed::hint)
    }

    /// For a scan that is to go on: prefetches the elements of the call after the one with this cursor, and the bucket of the
    /// call after that.
    pub fn prefetch_scan(&self, cursor: u64) {
        let Some(low_buckets) = self.low_buckets() else { return };
        let next = after(cursor, low_buckets);
        let homes = |cursor: u64| {
            let home = cursor & (low_buckets - 1);
            [home, home + low_buckets].into_iter().filter_map(|home| self.heads.get(home as usize))
        };
        if next != 0 {
            let elements = homes(next).flat_map(Bucket::elements);
            elements.for_each(|element| element.hint().fetch());
            homes(after(next, low_buckets)).for_each(prefetch::read);
        }
    }

    /// Visits a few elements and returns the cursor of the next call. A full scan begins and ends with
    /// cursor 0.
    ///
    /// An element that is in the table from the start of a full scan to its end is visited exactly
    /// once, however the table grows and shrinks meanwhile. Others may be visited or not. Any number
    /// is a valid cursor.
    ///
    /// Hashes the elements of a bucket again if the table has shrunk so far that the cursor stands within that bucket.
    pub fn scan<'a>(&'a self, cursor: u64, visit: impl FnMut(&'a T)) -> u64 {
        self.scan_by(cursor, |element| hash_of(element.key()), visit)
    }
}

/// The cursor that follows: one more, counted from the highest of the bits below `low_buckets` downwards.
fn after(cursor: u64, low_buckets: u64) -> u64 {
    (cursor | !(low_buckets - 1)).reverse_bits().wrapping_add(1).reverse_bits()
}

/// Whether a scan that is at `cursor` has visited the elements with this hash.
fn is_passed(hash: u64, cursor: u64) -> bool {
    hash.reverse_bits() < cursor.reverse_bits()
}

impl<T, A> Table<T, A> {
    /// [`Table::iter_ahead`], where `hint` tells the memory of an element to be prefetched.
    pub fn iter_ahead_by(&self, hint: impl Fn(&T) -> Hint) -> impl Iterator<Item = &T> {
        let mut ahead = self.heads.iter().skip(AHEAD);
        let heads = self.heads.iter().inspect(move |_| {
            let elements = ahead.next().into_iter().flat_map(Bucket::elements);
            elements.for_each(|element| hint(element).fetch());
        });
        heads.chain(self.overflow.iter()).flat_map(Bucket::elements)
    }

    /// [`Table::scan`] of elements that are only the number of something stored elsewhere: `rehash` gives the hash that
    /// an element was inserted with.
    pub fn scan_by<'a>(
        &'a self,
        cursor: u64,
        rehash: impl Fn(&T) -> u64,
        mut visit: impl FnMut(&'a T),
    ) -> u64 {
        let Some(low_buckets) = self.low_buckets() else { return 0 };
        let home = cursor & (low_buckets - 1);
        // A cursor of when there were more buckets may stand within one of the present: what the scan has passed in it was
        // visited in a bucket that has been merged since.
        let is_within = cursor != home;
        for home in [home, home + low_buckets] {
            let chain = self.chain(home as usize);
            chain
                .filter(|element| !is_within || !is_passed(rehash(element), cursor))
                .for_each(&mut visit);
        }
        after(cursor, low_buckets)
    }

    /// The buckets among which a cursor counts, a power of two: a bucket and its twin, if that has been added, are
    /// visited together.
    fn low_buckets(&self) -> Option<u64> {
        self.heads.len().checked_ilog2().map(|low_bits| 1 << low_bits)
    }

    /// Calls `see` with elements, from bucket `from` on, until `see` returns false or `budget` buckets
    /// have been visited. Returns the bucket to go on from; any number is valid.
    ///
    /// With `volatile_only` it shows only elements with a [due time](crate::Keyed::due), and reads
    /// one cache line of a bucket without any.
    pub fn look_from(
        &self,
        from: usize,
        budget: usize,
        volatile_only: bool,
        mut see: impl FnMut(&T) -> bool,
    ) -> usize {
        let buckets = self.heads.len();
        let mut home = from.checked_rem(buckets).unwrap_or(0);
        for _ in 0..budget.min(buckets) {
            let goes_on = self.show(home, volatile_only, &mut see);
            home = if home + 1 < buckets { home + 1 } else { 0 };
            if !goes_on {
                break;
            }
        }
        home
    }

    /// Shows the elements of a chain until `see` returns false. Returns whether it never did.
    fn show(&self, home: usize, volatile_only: bool, see: &mut impl FnMut(&T) -> bool) -> bool {
        self.chain_buckets(home).all(|bucket| {
            let mut elements = bucket.elements().enumerate();
            let is_hidden = |slot| volatile_only && !bucket.is_volatile(slot);
            elements.all(|(slot, element)| is_hidden(slot) || see(element))
        })
    }

    /// The element of bucket `home` for which `is_it` holds.
    pub fn find_in(&self, home: usize, is_it: impl Fn(&T) -> bool) -> Option<&T> {
        self.chain(home).find(|element| is_it(element))
    }

    /// Calls `change` with each element of bucket `home`. It must not change what the table knows of an element: its
    /// key and its due time.
    pub fn change_in(&mut self, home: usize, mut change: impl FnMut(&mut T)) {
        let mut next = (home < self.heads.len()).then_some(Place::Head(home));
        while let Some(place) = next {
            let bucket = self.bucket_mut(place);
            (0..SLOTS).map_while(|slot| bucket.get_mut(slot).map(&mut change)).for_each(drop);
            next = bucket.next().map(Place::Overflow);
        }
    }

    /// An element by a random number; all are about equally likely.
    ///
    /// Looks at two or three buckets, and at no element.
    pub fn sample(&self, mut random: u64) -> Option<&T> {
        if self.len == 0 {
            return None;
        }
        let buckets = self.heads.len() as u64;
        // Bucket and place are drawn together: a draw that hits no element is repeated. So an element
        // of a full bucket is as likely as a lonely one.
        let hit = (0..DRAWS).find_map(|_| {
            random = mix(random);
            self.sample_at(scale(random, buckets) as usize, random.rotate_left(32))
        });
        hit.or_else(|| self.iter().next())
    }

    /// An element of a chain, or one of the [`PLACES`] that it does not fill.
    fn sample_at(&self, home: usize, random: u64) -> Option<&T> {
        let head = self.heads.get(home)?;
        if head.next().is_none() {
            return head.get(scale(random, PLACES) as usize);
        }
        let len: usize = self.chain_buckets(home).map(Bucket::len).sum();
        self.chain(home).nth(scale(random, PLACES.max(len as u64)) as usize)
    }
}

impl<T: Keyed, A> Table<T, A> {
    /// Prefetches the elements that [`Table::look_from`] will show of bucket `home`, those in the overflow of the bucket
    /// before it, and the line of the bucket after the next. Called for one bucket after the other it reads only lines
    /// that it has asked for.
    #[inline]
    pub fn prefetch_look(&self, home: usize, volatile_only: bool) {
        let ahead = self.heads.get(home + 2).or_else(|| self.heads.get(0));
        ahead.into_iter().for_each(prefetch::read);
        let before = home.checked_sub(1).and_then(|before| self.heads.get(before));
        if let Some(overflow) = before.and_then(Bucket::next) {
            prefetch_elements(self.overflow.get(overflow), volatile_only);
        }
        let Some(bucket) = self.heads.get(home) else { return };
        prefetch_elements(bucket, volatile_only);
        if let Some(overflow) = bucket.next() {
            prefetch::read(self.overflow.get(overflow));
        }
    }
}

/// Prefetches the elements of a bucket, unless it has none that are wanted.
#[inline]
fn prefetch_elements<T: Keyed, A>(bucket: &Bucket<T, A>, volatile_only: bool) {
    if !volatile_only || bucket.has_volatile() {
        bucket.elements().for_each(|element| element.hint().fetch_first());
    }
}

/// A random number below `limit`, from the high bits of `random`.
fn scale(random: u64, limit: u64) -> u64 {
    ((u128::from(random) * u128::from(limit)) >> 64) as u64
}

/// The next of a sequence of random numbers (splitmix64).
fn mix(number: u64) -> u64 {
    let mut mixed = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}
