// SPDX-License-Identifier: Apache-2.0
//! The invariants of a table, checked in full. For tests and fuzzers.

use crate::table::bucket::{Bucket, seconds, tag_of};
use crate::table::{Keyed, Look, Table, look_at, look_by};

impl<T, A> Table<T, A> {
    /// Checks the invariants of a table whose elements are found by closures.
    ///
    /// # Panics
    ///
    /// If one does not hold, with its name.
    pub fn check_integrity_by(&self, rehash: impl Fn(&T) -> u64) {
        self.check_with(&look_by(rehash));
    }

    fn check_with(&self, look: &impl Fn(&T) -> Look) {
        let (mut elements, mut behind) = (0, 0);
        for home in 0..self.heads.len() {
            let due = self.chain_buckets(home).next().and_then(Bucket::due);
            let mut buckets = self.chain_buckets(home).peekable();
            while let Some(bucket) = buckets.next() {
                elements += bucket.len();
                behind += usize::from(bucket.next().is_some());
                assert!(
                    buckets.peek().is_none() || bucket.is_full(),
                    "INV-CHAIN: all but the last"
                );
                self.check_bucket(home, bucket, due, look);
            }
        }
        assert_eq!(elements, self.len, "INV-LEN");
        let dues = self.iter().filter_map(|element| look(element).due).map(seconds);
        let earliest = self.sweep.earliest().unwrap_or(u32::MAX);
        assert!(dues.into_iter().all(|due| earliest <= due), "INV-DUE: the table's");
        assert!(self.heads.len() > 0 || self.sweep.is_nothing(), "INV-DUE: nothing is due");
        assert_eq!(
            behind + self.overflow.free(),
            self.overflow.len(),
            "INV-OVERFLOW: all are used"
        );
        self.overflow.check_integrity();
        let overflow = self.overflow.iter().filter(|bucket| bucket.free_links().is_none());
        assert!(overflow.into_iter().all(|bucket| !bucket.is_empty()), "INV-CHAIN: no empty ones");
    }

    fn check_bucket(
        &self,
        home: usize,
        bucket: &Bucket<T, A>,
        due: Option<u32>,
        look: &impl Fn(&T) -> Look,
    ) {
        assert!(bucket.free_links().is_none(), "INV-OVERFLOW: a free bucket is in no chain");
        assert_eq!(bucket.elements().count(), bucket.len(), "INV-TAG: filled slots have tags");
        for (slot, element) in bucket.elements().enumerate() {
            let look = look(element);
            assert_eq!(self.home(look.hash), home, "INV-HOME");
            assert_eq!(bucket.tag(slot), tag_of(look.hash), "INV-TAG");
            assert_eq!(bucket.is_volatile(slot), look.due.is_some(), "INV-DUE: the bit");
            let in_time = |element_due| due.is_some_and(|due| due <= seconds(element_due));
            assert!(look.due.is_none_or(in_time), "INV-DUE: the chain's");
        }
    }
}

impl<T: Keyed, A> Table<T, A> {
    /// Checks the invariants.
    ///
    /// # Panics
    ///
    /// If one does not hold, with its name.
    pub fn check_integrity(&self) {
        self.check_with(&look_at);
    }
}
