// SPDX-License-Identifier: Apache-2.0
//! The sweep: removes elements that are due.
//!
//! A pass goes from the last bucket to the first. So merges caused by its own removals move
//! elements to buckets that it has yet to visit. Buckets that are added meanwhile are visited at
//! the end of the pass, and if a merge moves elements to a bucket that was already visited, the
//! pass goes back.
//!
//! Most tables have no element that is ever due. Those store nothing of a pass, which would find nothing and ends at once.

use crate::table::bucket::seconds;
use crate::table::chain::Place;
use crate::table::{Keyed, Table, look_at};
use allocator::size_class;

/// The pass of a table that may have elements with a due time; nothing in others.
#[derive(Clone, Debug)]
pub(super) struct Sweep(Option<Box<Pass>>);

/// How far the pass has come, and what it has found.
#[derive(Clone, Copy, Debug)]
struct Pass {
    /// The buckets from `floor` to before `next` are still ahead, the last of them first.
    next: usize,
    floor: usize,
    /// The buckets from here on were added in this pass, and are ahead too. 0 between passes.
    top: usize,
    /// The second before which nothing in the table is due.
    earliest: Option<u32>,
    /// The same for buckets that the pass has visited, and for elements added since it began.
    passed: Option<u32>,
}

/// What becomes of an element that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes.
    Remove,
    /// It stays. It may be due at another time now, or not at all.
    Keep,
    /// It stays and is still due: the sweep ends here, and the next one resumes with its bucket.
    Pause,
}

/// What [`Table::sweep_with`] has found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// Whether a pass over all buckets has ended. The next call begins another.
    pub ended: bool,
    /// A time in unix milliseconds before which no remaining element of the visited buckets is due;
    /// `None` if none ever is.
    pub due_ms: Option<u64>,
}

impl Sweep {
    pub(super) const NOTHING: Sweep = Sweep(None);

    pub(super) fn heap_bytes(&self) -> usize {
        self.0.as_ref().map_or(0, |_| size_class(size_of::<Pass>()))
    }

    /// Whether nothing is ever due.
    pub(super) fn is_nothing(&self) -> bool {
        self.0.is_none()
    }

    /// The second before which nothing is due.
    pub(super) fn earliest(&self) -> Option<u32> {
        self.0.as_ref()?.earliest
    }

    /// Lowers the earliest due second to one at which something is due.
    pub(super) fn note(&mut self, due: u32) {
        let pass = self.0.get_or_insert_with(|| Box::new(Pass::IDLE));
        pass.earliest = earlier(pass.earliest, Some(due));
        pass.passed = earlier(pass.passed, Some(due));
    }

    /// The next bucket of `buckets`; `None` if there is nothing to find.
    fn advance(&mut self, buckets: usize) -> Option<usize> {
        self.0.as_mut()?.advance(buckets)
    }

    /// Notes when something in a bucket that the pass has visited is due.
    fn has_visited(&mut self, due: Option<u32>) {
        if let Some(pass) = &mut self.0 {
            pass.passed = earlier(pass.passed, due);
        }
    }

    /// Goes back to the bucket that was the last one.
    fn repeat(&mut self, bucket: usize) {
        if let Some(pass) = &mut self.0 {
            pass.next = bucket + 1;
        }
    }

    /// Ends the pass if no bucket is left. Returns whether it does.
    fn end(&mut self, buckets: usize) -> bool {
        let ends = self.0.as_mut().is_none_or(|pass| pass.end(buckets));
        if ends && self.earliest().is_none() {
            self.0 = None;
        }
        ends
    }

    /// The elements of the last bucket, which is gone, are with its twin.
    pub(super) fn merged(&mut self, last: usize, twin: usize) {
        if last == 0 {
            self.0 = None;
        } else if let Some(pass) = &mut self.0 {
            pass.merged(last, twin);
        }
    }
}

impl Pass {
    const IDLE: Pass = Pass { next: 0, floor: 0, top: 0, earliest: None, passed: None };

    /// The next bucket of `buckets`; `None` if there are none.
    fn advance(&mut self, buckets: usize) -> Option<usize> {
        if self.top == 0 {
            (self.next, self.floor, self.top) = (buckets, 0, buckets);
            self.passed = None;
        }
        if self.next == self.floor {
            (self.next, self.floor, self.top) = (buckets, self.top, buckets);
        }
        debug_assert!(self.floor < self.next || buckets == 0, "a pass ends when nothing is ahead");
        self.next = self.next.checked_sub(1)?;
        Some(self.next)
    }

    /// Ends it if no bucket is left. Returns whether it does.
    fn end(&mut self, buckets: usize) -> bool {
        let ends = self.next == self.floor && self.top == buckets;
        if ends {
            self.top = 0;
            self.earliest = self.passed;
        }
        ends
    }

    /// The elements of the last bucket, which is gone, are with its twin.
    fn merged(&mut self, last: usize, twin: usize) {
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

/// The earlier of two times, of which `None` is the latest.
pub(super) fn earlier<N: Ord>(one: Option<N>, other: Option<N>) -> Option<N> {
    one.into_iter().chain(other).min()
}

impl<T: Keyed, A> Table<T, A> {
    /// Visits the next `budget` buckets and removes the elements that are [due](Keyed::due) at
    /// `now_ms` or before. Returns true when a pass over all buckets has ended; the next call begins
    /// another.
    ///
    /// A pass finds all elements that are due when it begins, even if the table grows and shrinks
    /// meanwhile. Of buckets in which nothing is due it reads one cache line and no element.
    pub fn sweep(&mut self, now_ms: u64, budget: usize, gone: impl FnMut(T)) -> bool {
        self.sweep_with(now_ms, budget, |_| Verdict::Remove, gone).ended
    }

    /// Like [`Table::sweep`], for elements of which only a part may be due: `look` is called with
    /// each due element, may change it except for its key, and decides what becomes of it.
    pub fn sweep_with(
        &mut self,
        now_ms: u64,
        budget: usize,
        mut look: impl FnMut(&mut T) -> Verdict,
        mut gone: impl FnMut(T),
    ) -> Swept {
        let mut swept = Swept::default();
        for _ in 0..budget {
            let Some(home) = self.sweep.advance(self.heads.len()) else { break };
            let due = self.bucket(Place::Head(home)).due();
            if due.is_some_and(|due| due <= seconds(now_ms)) {
                let left = self.sweep_chain(home, now_ms, &mut look, &mut gone);
                swept.due_ms = earlier(swept.due_ms, left.due_ms);
                if left.is_paused {
                    return swept;
                }
            } else {
                self.sweep.has_visited(due);
                swept.due_ms = earlier(swept.due_ms, due.map(|due| u64::from(due) * 1000));
            }
            if self.sweep.end(self.heads.len()) {
                swept.ended = true;
                return swept;
            }
        }
        swept.ended = self.sweep.is_nothing();
        swept
    }

    fn sweep_chain(
        &mut self,
        home: usize,
        now_ms: u64,
        look: &mut impl FnMut(&mut T) -> Verdict,
        gone: &mut impl FnMut(T),
    ) -> Left {
        let (mut place, mut slot) = (Place::Head(home), 0);
        let mut left = Left { due_ms: None, is_paused: false };
        let mut removed = 0;
        loop {
            let bucket = self.bucket_mut(place);
            let volatile = bucket.is_volatile(slot);
            let Some(element) = bucket.get_mut(slot) else {
                let Some(next) = bucket.next() else { break };
                (place, slot) = (Place::Overflow(next), 0);
                continue;
            };
            let mut due = if volatile { element.due() } else { None };
            if !left.is_paused && due.is_some_and(|due| due <= now_ms) {
                let verdict = look(element);
                if verdict == Verdict::Remove {
                    let taken = self.take(home, place, slot);
                    self.len -= 1;
                    removed += 1;
                    gone(taken.item.element);
                    if taken.place_is_gone {
                        break;
                    }
                    // The last element of the chain is in this slot now.
                    continue;
                }
                left.is_paused = verdict == Verdict::Pause;
                due = element.due();
                bucket.set_volatile(slot, due.is_some());
            }
            left.due_ms = earlier(left.due_ms, due);
            slot += 1;
        }
        let due = left.due_ms.map(seconds);
        self.bucket_mut(Place::Head(home)).set_due(due);
        self.sweep.has_visited(due);
        if left.is_paused {
            self.sweep.repeat(home);
        }
        for _ in 0..removed {
            self.shrink(&look_at);
        }
        left
    }
}

/// What is left of a chain after the sweep.
struct Left {
    due_ms: Option<u64>,
    is_paused: bool,
}
