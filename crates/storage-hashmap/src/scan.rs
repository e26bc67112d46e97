// SPDX-License-Identifier: Apache-2.0
//! The walk over all items, shard by shard.
//!
//! Within a shard the walk visits places in ascending order, and an item's place is its tag with the
//! bits reversed. The tags of a bucket agree in their low bits, so their places are neighbours,
//! whatever the number of buckets: a bucket that is split or merged keeps its position in the walk.
//! A cursor is a shard and a place.

use crate::heads::Heads;
use crate::item::HashMapItem;
use crate::shard::Shard;
use crate::slab::NONE;
use crate::store::HashMapStore;
use clock::Ticks;
use storage::{Cursor, Scan};

/// Buckets and items visited before the lock of a shard is released for a moment.
const LOCKED_MAX: usize = 256;

/// Places of a shard.
const PLACES: u64 = 1 << 32;

impl Scan for HashMapStore {
    /// Locks a shard for 256 buckets at a time.
    fn scan(
        &mut self,
        cursor: Cursor,
        budget: usize,
        now: Ticks,
        mut see: impl FnMut(HashMapItem<'_>),
    ) -> Option<Cursor> {
        let budget = budget.max(1);
        let mut at = cursor.get();
        let mut looked = 0;
        while looked < budget {
            let (shard, place) = ((at / PLACES) as usize, at as u32);
            if shard >= self.shared.shards() {
                return None;
            }
            let most = (budget - looked).min(LOCKED_MAX);
            let (more, next) = self.shared.lock(shard).walk(place, most, now, &mut see);
            looked += more;
            at = (shard as u64 * PLACES).checked_add(next)?;
        }
        let is_end = (at / PLACES) as usize >= self.shared.shards();
        (!is_end).then_some(Cursor::new(at))
    }
}

impl Shard {
    /// Shows the live items of the buckets from `place` on, until `most` buckets and items have been
    /// looked at. Returns how many were, and where to go on; [`PLACES`] is the end.
    fn walk(
        &self,
        place: u32,
        most: usize,
        now: Ticks,
        see: &mut impl FnMut(HashMapItem<'_>),
    ) -> (usize, u64) {
        let mut place = u64::from(place);
        let mut looked = 0;
        while looked < most && place < PLACES {
            let (bucket, end) = self.heads.stretch(place as u32);
            let mut slot = *self.heads.head(bucket);
            looked += 1;
            while slot != NONE {
                let entry = self.slab.entry(slot);
                // Items of the bucket with an earlier place were shown before.
                let is_ahead = u64::from(entry.tag.reverse_bits()) >= place;
                if is_ahead && self.fate(slot, now).is_none() {
                    see(HashMapItem::borrowed(entry));
                }
                looked += 1;
                slot = entry.next();
            }
            place = end;
        }
        (looked, place)
    }
}

impl Heads {
    /// The bucket that a place of the walk is in, and the first place behind that bucket.
    fn stretch(&self, place: u32) -> (u32, u64) {
        let tag = place.reverse_bits();
        let bucket = self.bucket(tag);
        let width = PLACES >> self.bits(bucket);
        (bucket, (u64::from(place) / width + 1) * width)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slab::Slab;

    #[test]
    fn the_stretches_of_all_buckets_lie_end_to_end_however_many_there_are() {
        let mut slab = Slab::new(2, 2);
        let mut heads = Heads::new(1, 2);
        for buckets in 2..=70 {
            let (mut place, mut seen) = (0, Vec::new());
            while place < PLACES {
                let (bucket, end) = heads.stretch(place as u32);
                for inside in [place, (place + end) / 2, end - 1] {
                    let tag = (inside as u32).reverse_bits();
                    assert_eq!(heads.bucket(tag), bucket, "{buckets} buckets, place {inside}");
                    assert_eq!(heads.stretch(inside as u32), (bucket, end));
                }
                seen.push(bucket);
                place = end;
            }
            seen.sort_unstable();
            assert!(seen.into_iter().eq(0..buckets), "{buckets} buckets");
            if heads.is_full() {
                heads.grow();
            }
            heads.split(&mut slab);
        }
    }
}
