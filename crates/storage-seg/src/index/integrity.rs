// SPDX-License-Identifier: Apache-2.0
//! The check of the invariants, at whatever cost.
//!
//! Those of `index.rs`, and:
//!
//! * INV-TAG: the tag of an entry is that of its item's key.
//! * INV-HOME: the home of an entry is that of its item's key.
//! * INV-ONE: no two entries have the same location.

use super::Index;
use super::bucket::Bucket;
use super::slot::{Location, Pattern, Slot, distance, reach_level};
use super::table::Table;
use crate::sync::atomic::Ordering::Acquire;
use std::collections::HashSet;

impl Index {
    /// Checks all tables in use. Returns the number of entries. Growth may be under way, but no
    /// other thread may be using the index.
    ///
    /// # Panics
    ///
    /// When an invariant does not hold, with its name.
    pub(crate) fn check_integrity(&self, mut hash_of: impl FnMut(Location) -> u64) -> usize {
        let mut locations = HashSet::new();
        // Hashes from here on are not in the table.
        let mut limit = 1_u128 << u64::BITS;
        for table in self.tables[self.current.load(Acquire)..].iter().map_while(|table| table.get())
        {
            let mut furthest = vec![0; table.homes()];
            for (number, bucket) in table.buckets().iter().enumerate() {
                check_meta(table, number, bucket);
                for slot in slots(bucket) {
                    let Some(location) = slot.location() else { continue };
                    let home = number.checked_sub(distance(slot.displacement()));
                    let home = home.expect("INV-HOME: before the first");
                    if home < table.moved() {
                        continue;
                    }
                    let hash = hash_of(location);
                    let pattern = Pattern::home(hash).displaced(slot.displacement());
                    assert!(slot.matches(pattern), "INV-TAG: {location:?} in bucket {number}");
                    assert_eq!(table.home(hash), home, "INV-HOME: {location:?}");
                    assert!(u128::from(hash) < limit, "INV-WATERMARK: {location:?} is early");
                    assert!(locations.insert(location), "INV-ONE: {location:?} is there twice");
                    furthest[home] = slot.displacement().max(furthest[home]);
                }
            }
            for (home, &furthest) in furthest.iter().enumerate().skip(table.moved()) {
                let level = slots(&table.buckets()[home]).next().map(Slot::reach_level);
                assert_eq!(level, Some(reach_level(furthest)), "INV-REACH: of home {home}");
            }
            limit = limit.min(table.first_hash(table.moved()));
        }
        locations.len()
    }
}

fn slots(bucket: &Bucket) -> impl Iterator<Item = Slot> {
    bucket.slots().iter().map(|slot| Slot(slot.load(Acquire)))
}

fn check_meta(table: &Table, number: usize, bucket: &Bucket) {
    let others = slots(bucket).skip(1).all(|slot| slot.meta() == 0);
    assert!(others, "INV-META: not in the first slot of bucket {number}");
    let first = slots(bucket).next().expect("a bucket has slots");
    assert!(!first.is_locked(), "INV-LOCK: bucket {number} is locked");
    if number >= table.homes() {
        assert_eq!(first.meta(), 0, "INV-META: bucket {number} is no home");
    }
}
