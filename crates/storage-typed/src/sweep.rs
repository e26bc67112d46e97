// SPDX-License-Identifier: Apache-2.0
//! The sweep: removes expired entries and fields that no command accesses, a few at a time.
//!
//! A pass visits a database's buckets one after the other. A bucket stores a moment before which
//! nothing in it is due, so entries are read only in buckets with something to remove. The table
//! stores the earliest of these moments (exact to the second after each pass), and no pass begins
//! before it. A database in which nothing is due costs nothing.
//!
//! The pace: a pass takes at most [`PASS_MS`], however large the database; in a small one it takes
//! less. Where a stretch of buckets has much to remove, the sweep continues at once with the next,
//! as far as the caller's budget allows. So expired entries that are not yet removed stay a small
//! part of the whole.

use super::database::{Database, is_past};
use super::shard::{Counts, Shard};
use super::shared::Shared;
use keyspace::{Gone, Reason};
use storage::metrics::ITEM_EXPIRE;
use values::{Entry, Keyed, Limits, Verdict};

/// The time for a pass where little is due.
const PASS_MS: u64 = 4000;
/// The least pace, in buckets per millisecond. At this pace a pass takes less than a thousandth of
/// a CPU.
const PACE_MIN: u64 = 16;
/// Time without sweeps is made up for, up to this many milliseconds.
const ARREARS_MS: u64 = 1000;
/// The most buckets between two decisions on how to go on.
const STRETCH_MAX: usize = 32;
/// Each removal allows visiting this many more buckets.
const BUCKETS_PER_REMOVAL: u64 = 8;
/// The most buckets that removals allow visiting: how far the sweep continues after the last
/// removal.
const BONUS_MAX: u64 = 256;
/// About the most entries of a bucket, all of which may have expired.
const BUCKET_LEN: usize = 5;
/// Buckets without anything due that count as one step of the budget.
const BUCKETS_PER_STEP: usize = 8;
/// The least steps for which a hash is worth visiting.
const FIELDS_MIN: usize = 16;

/// How far the sweep of a database may go; the table stores its position.
#[derive(Debug, Default)]
pub(crate) struct Sweep {
    /// When the pace was last computed.
    paced_ms: u64,
    /// Buckets that the pace allows visiting.
    allowed: u64,
    /// Buckets that removals allow visiting.
    bonus: u64,
}

impl Sweep {
    /// Adds what the time since the last call allows.
    fn allow(&mut self, unix_ms: u64, buckets: usize) {
        let pace = (buckets as u64 / PASS_MS).max(PACE_MIN);
        // A clock that was set back makes this 0, once.
        let passed_ms = unix_ms.saturating_sub(self.paced_ms);
        self.paced_ms = unix_ms;
        let most = ARREARS_MS * pace;
        self.allowed = self.allowed.saturating_add(passed_ms.saturating_mul(pace)).min(most);
    }

    /// Whether another bucket may be visited now.
    fn may_look(&self) -> bool {
        self.allowed > 0 || self.bonus > 0
    }

    /// Counts buckets that were visited and the removals from them.
    fn has_looked(&mut self, buckets: u64, removed: u64) {
        let paid = buckets.saturating_sub(self.bonus);
        self.bonus = self.bonus.saturating_sub(buckets);
        self.allowed = self.allowed.saturating_sub(paid);
        self.bonus = (self.bonus + removed * BUCKETS_PER_REMOVAL).min(BONUS_MAX);
    }
}

/// The work that one call of a sweep has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Work {
    /// Steps of the budget.
    pub(crate) steps: usize,
    /// Whether there was more to do than the budget allowed.
    pub(crate) more: bool,
}

/// The parameters of a sweep.
struct Errand<'a> {
    shared: &'a Shared,
    counts: &'a mut Counts,
    db: usize,
    unix_ms: u64,
    gone: &'a mut dyn FnMut(Gone<'_>),
}

impl Shard {
    /// Continues the sweeps of all databases.
    pub(crate) fn sweep(
        &mut self,
        shared: &Shared,
        unix_ms: u64,
        budget: usize,
        gone: &mut dyn FnMut(Gone<'_>),
    ) -> Work {
        let mut work = Work::default();
        for db in 0..self.databases.len() {
            if self.databases[db].due() > unix_ms {
                continue;
            }
            if work.steps >= budget {
                work.more = true;
                break;
            }
            let mut counts = *self.counts;
            let errand = Errand { shared, counts: &mut counts, db, unix_ms, gone: &mut *gone };
            let left = budget - work.steps;
            let more = self.change(shared, &mut 0, db, |database| database.sweep(errand, left));
            *self.counts = counts;
            work.steps += more.steps;
            work.more |= more.more;
        }
        let dues = self.databases.iter().map(Database::due);
        let due = dues.min().unwrap_or(u64::MAX);
        if due != self.due_published {
            self.publish_due(shared, due);
        }
        work
    }
}

impl Database {
    fn sweep(&mut self, mut errand: Errand<'_>, budget: usize) -> Work {
        let unix_ms = errand.unix_ms;
        self.sweep.allow(unix_ms, self.table.buckets());
        let mut work = Work::default();
        while self.due() <= unix_ms && self.sweep.may_look() {
            let Some(left) = budget.checked_sub(work.steps).filter(|&left| left > 0) else {
                work.more = true;
                break;
            };
            let stretch = left.div_ceil(BUCKET_LEN).min(STRETCH_MAX);
            let (removed, has_ended) = self.sweep_stretch(&mut errand, stretch, left);
            work.steps += removed + stretch.div_ceil(BUCKETS_PER_STEP);
            self.sweep.has_looked(stretch as u64, removed as u64);
            if has_ended {
                // Due times are exact to the second: the rest will be due in a moment.
                break;
            }
        }
        work
    }

    /// Visits some buckets. Returns how many entries and fields it has removed, or visited in vain,
    /// and whether a pass has ended.
    fn sweep_stretch(
        &mut self,
        errand: &mut Errand<'_>,
        stretch: usize,
        budget: usize,
    ) -> (usize, bool) {
        let (shared, books, unix_ms) = (errand.shared, &mut self.books, errand.unix_ms);
        let mut removed = 0;
        let swept = self.table.sweep_with(
            unix_ms,
            stretch,
            |entry| {
                let bytes = entry.heap_bytes();
                let left = budget.saturating_sub(removed);
                let verdict = errand.look_at(entry, left, &mut removed);
                books.resized(bytes, entry.heap_bytes());
                if verdict == Verdict::Remove {
                    books.subtract(entry);
                }
                verdict
            },
            |entry| shared.discard(entry),
        );
        (removed, swept.ended)
    }
}

/// Removes expired fields, in `budget` steps. Returns how many; `gone` is told their names.
fn remove_fields(entry: &mut Entry, unix_ms: u64, budget: usize, gone: impl FnMut(&[u8])) -> usize {
    // A removal makes nothing larger, so it keeps to any limits.
    let limits = Limits::default();
    let hash = entry.hash_mut(&limits);
    hash.map_or(0, |mut hash| hash.remove_expired(unix_ms, budget, gone))
}

impl Errand<'_> {
    /// Decides on an entry that is due or has fields that are due, and removes these fields.
    fn look_at(&mut self, entry: &mut Entry, budget: usize, removed: &mut usize) -> Verdict {
        if is_past(entry, self.unix_ms) {
            self.counts.expired += 1;
            ITEM_EXPIRE.increment();
            *removed += 1;
            self.tell(entry, Reason::Expired, &[]);
            return Verdict::Remove;
        }
        let budget = budget.max(FIELDS_MIN);
        let (is_heard, mut names) = (self.shared.settings.has_listeners(), Vec::new());
        let fields = remove_fields(entry, self.unix_ms, budget, |field| {
            if is_heard {
                names.push(Box::from(field));
            }
        });
        if fields > 0 {
            self.counts.expired_fields += fields as u64;
            self.tell(entry, Reason::FieldExpired, &names);
        }
        if entry.is_empty() {
            *removed += fields + 1;
            self.tell(entry, Reason::Emptied, &[]);
            return Verdict::Remove;
        }
        let is_unfinished = entry.due().is_some_and(|due_ms| due_ms <= self.unix_ms);
        // A large hash may visit many fields to remove a few.
        *removed += if is_unfinished { budget } else { fields };
        if is_unfinished { Verdict::Pause } else { Verdict::Keep }
    }

    fn tell(&mut self, entry: &Entry, reason: Reason, fields: &[Box<[u8]>]) {
        (self.gone)(Gone { db: self.db, key: entry.key(), reason, fields });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TypedStore;
    use keyspace::{Keyspace, Scope, View};

    #[test]
    fn the_pace_of_a_large_table_takes_it_round_in_four_seconds() {
        let mut sweep = Sweep::default();
        let buckets = 4_000_000;
        sweep.allow(1_000_000, buckets);
        assert_eq!(sweep.allowed, 1_000_000, "no more than a second's arrears");
        sweep.allowed = 0;
        for step in 1..=4000 {
            sweep.allow(1_000_000 + step, buckets);
        }
        assert_eq!(sweep.allowed, 1_000_000, "nor later on");
        sweep.allowed = 0;
        sweep.allow(1_004_250, buckets);
        assert_eq!(sweep.allowed, buckets as u64 / 16, "a quarter of a second");
    }

    #[test]
    fn a_small_table_is_through_in_no_time() {
        let mut sweep = Sweep { paced_ms: 5000, allowed: 0, bonus: 0 };
        sweep.allow(5002, 20);
        assert_eq!(sweep.allowed, 2 * PACE_MIN);
    }

    #[test]
    fn where_much_is_due_the_sweep_goes_on_as_far_as_its_budget() {
        let mut store = TypedStore::builder().shards(1).build();
        for number in 0..2000_u32 {
            let mut entry = Entry::string(&number.to_le_bytes(), b"value");
            entry.set_expiry(Some(1000));
            store.view(Scope::ALL, 0).put(entry, 0);
        }
        let mut shard = store.shared.lock(0);
        shard.databases[0].sweep = Sweep { paced_ms: 5000, allowed: 1, bonus: 0 };
        let mut gone = 0;
        let work = shard.sweep(&store.shared, 5000, 500, &mut |_| gone += 1);
        assert!(work.more && (400..700).contains(&gone), "{work:?}, {gone} gone");
        let work = shard.sweep(&store.shared, 5000, 10_000, &mut |_| gone += 1);
        assert!(!work.more && gone == 2000, "{work:?}, {gone} gone");
    }

    #[test]
    fn where_little_is_due_the_sweep_keeps_to_its_pace() {
        let mut store = TypedStore::builder().shards(1).build();
        for number in 0..20_000_u32 {
            let mut entry = Entry::string(&number.to_le_bytes(), b"value");
            entry.set_expiry(Some(if number == 7 { 1000 } else { 1_000_000 }));
            store.view(Scope::ALL, 0).put(entry, 0);
        }
        let mut shard = store.shared.lock(0);
        shard.databases[0].sweep = Sweep { paced_ms: 5000, allowed: 1, bonus: 0 };
        let mut calls = 0;
        while shard.counts.expired == 0 || shard.databases[0].due() == 0 {
            let work = shard.sweep(&store.shared, 5000 + calls, 1_000_000, &mut |_| ());
            assert!(work.steps <= 60, "{work:?}");
            calls += 1;
            assert!(calls < 1000, "a pass of 4000 buckets takes 250 ms");
        }
    }

    #[test]
    fn a_clock_that_is_set_back_stops_nothing() {
        let mut sweep = Sweep { paced_ms: 9_000_000, allowed: 0, bonus: 0 };
        sweep.allow(5000, 100);
        assert_eq!(sweep.allowed, 0);
        sweep.allow(5001, 100);
        assert_eq!(sweep.allowed, PACE_MIN);
    }
}
