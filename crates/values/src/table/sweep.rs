// SPDX-License-Identifier: Apache-2.0
//! Taking out what is due.
//!
//! A pass goes from the last bucket to the first. The merges that follow from its own removals then
//! move elements ahead of it, never behind. Buckets that are added meanwhile are visited at the end
//! of the pass, and where a merge does move elements behind it, the pass goes back.

use crate::table::bucket::seconds;
use crate::table::chain::{Place, Walk};
use crate::table::{Keyed, Table, look_at};

/// No second at all: later than any.
const NEVER: u32 = u32::MAX;

/// How far the pass has come, and what is due first.
#[derive(Debug)]
pub(super) struct Sweep {
    /// The buckets from `floor` to before `next` are still ahead, the last of them first.
    next: usize,
    floor: usize,
    /// The buckets from here on were added in this pass, and are ahead too. 0 between passes.
    top: usize,
    /// No element is due before this second.
    earliest: u32,
    /// No element is due before this second, of those that this pass has seen and those that came
    /// meanwhile.
    earliest_seen: u32,
}

impl Sweep {
    pub(super) const IDLE: Sweep =
        Sweep { next: 0, floor: 0, top: 0, earliest: NEVER, earliest_seen: NEVER };

    /// The next bucket of `buckets`; `None` at the end of a pass, after which the next one begins.
    fn advance(&mut self, buckets: usize) -> Option<usize> {
        if self.top == 0 {
            *self = Sweep { next: buckets, top: buckets, earliest: self.earliest, ..Sweep::IDLE };
        }
        if self.next == self.floor {
            (self.next, self.floor, self.top) = (buckets, self.top, buckets);
        }
        if self.next == self.floor {
            self.end();
            return None;
        }
        self.next -= 1;
        Some(self.next)
    }

    /// The pass has seen every element that was there when it began: what it found is so.
    fn end(&mut self) {
        *self = Sweep { earliest: self.earliest_seen, ..Sweep::IDLE };
    }

    /// An element came that is due then, or has become due then.
    pub(super) fn note_due(&mut self, due_ms: Option<u64>) {
        if let Some(due_ms) = due_ms {
            self.earliest = self.earliest.min(seconds(due_ms));
            self.saw(seconds(due_ms));
        }
    }

    fn saw(&mut self, due: u32) {
        self.earliest_seen = self.earliest_seen.min(due);
    }

    /// The second before which no element is due; `None` if none ever is.
    pub(super) fn earliest(&self) -> Option<u32> {
        (self.earliest != NEVER).then_some(self.earliest)
    }

    /// Whether this is the end of a pass over `buckets`.
    fn is_at_end(&self, buckets: usize) -> bool {
        self.next == self.floor && self.top == buckets
    }

    /// The elements of the last bucket, which is gone, are with its twin.
    pub(super) fn merged(&mut self, last: usize, twin: usize) {
        if self.is_ahead(last) && !self.is_ahead(twin) {
            if twin < self.floor {
                self.floor = twin;
            } else {
                self.next = twin + 1;
            }
        }
        self.top = self.top.min(last);
        self.next = self.next.min(last);
        self.floor = self.floor.min(last);
    }

    fn is_ahead(&self, bucket: usize) -> bool {
        (self.floor..self.next).contains(&bucket) || bucket >= self.top
    }
}

impl<T: Keyed, A> Table<T, A> {
    /// Looks through the next `budget` buckets and takes out the elements that are
    /// [due](Keyed::due) at `now_ms` or before. True when a pass over all buckets has ended; the next
    /// call begins another.
    ///
    /// A pass finds all that is due when it begins, also if the table grows and shrinks meanwhile. Of
    /// buckets in which nothing is due it reads one cache line and no element.
    pub fn sweep(&mut self, now_ms: u64, budget: usize, mut gone: impl FnMut(T)) -> bool {
        for _ in 0..budget {
            let Some(home) = self.sweep.advance(self.heads.len()) else { return true };
            let due = self.bucket(Place::Head(home)).due();
            if due.is_some_and(|due| due <= seconds(now_ms)) {
                self.sweep_chain(home, now_ms, &mut gone);
            } else if let Some(due) = due {
                self.sweep.saw(due);
            }
        }
        if self.sweep.is_at_end(self.heads.len()) {
            self.sweep.end();
            return true;
        }
        false
    }

    /// A time in unix milliseconds before which no element is due; `None` if none ever is.
    ///
    /// Exact to the second at the end of a pass of [`Table::sweep`]; elements that leave or become
    /// due later do not change it until the next one.
    pub fn earliest_due(&self) -> Option<u64> {
        self.sweep.earliest().map(|seconds| u64::from(seconds) * 1000)
    }

    fn sweep_chain(&mut self, home: usize, now_ms: u64, gone: &mut impl FnMut(T)) {
        let mut earliest = None;
        let mut goes = |element: &T, volatile: bool| {
            let Some(due) = volatile.then(|| element.due()).flatten() else { return false };
            if due > now_ms {
                earliest = Some(earliest.map_or(due, |earliest: u64| earliest.min(due)));
            }
            due <= now_ms
        };
        let mut walk = Walk::new(home);
        let mut removed = 0;
        while let Some(item) = walk.take(self, &mut goes) {
            self.len -= 1;
            removed += 1;
            gone(item.element);
        }
        let earliest = earliest.map(seconds);
        self.sweep.saw(earliest.unwrap_or(NEVER));
        self.bucket_mut(Place::Head(home)).set_due(earliest);
        for _ in 0..removed {
            self.shrink(&look_at);
        }
    }
}
