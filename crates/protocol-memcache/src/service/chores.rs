// SPDX-License-Identifier: Apache-2.0
//! What is seldom to be done between requests: answers of reloads, pieces of lists, lines for watchers, values that wait for
//! memory, memory that is given back. That there is nothing of it costs a turn of the worker's loop one test.

use super::MemcacheService;
use clock::Now;
use protocol::Outbox;
use storage::{Receive, Scan};

impl<S: Scan + Receive> MemcacheService<S> {
    /// Whether anything of it may be to be done.
    #[inline]
    pub(super) fn has_chores(&self) -> bool {
        debug_assert!(self.chores_wait || !self.are_chores_left(), "what waits has been announced");
        self.chores_wait | self.shared.observers.are_watching() | self.store.is_shrinking()
    }

    /// Does it, or a piece of it. Returns whether there is more to do at once.
    #[cold]
    #[inline(never)]
    pub(super) fn do_chores(&mut self, now: Now, outbox: &mut Outbox) -> bool {
        if !self.rereads.is_empty() {
            self.answer_rereads(now, outbox);
        }
        if !self.uploads.is_empty() {
            self.tend_uploads(now, outbox);
        }
        if self.shared.observers.are_watching() || self.own_watch.is_busy() {
            self.watch_on(now, outbox);
        }
        let is_shrinking = self.store.is_shrinking();
        if is_shrinking {
            self.shrinks();
        }
        let has_listed = !self.dumps.is_empty() && self.dump_on(now, outbox);
        self.chores_wait = self.are_chores_left();
        is_shrinking | has_listed
    }

    fn are_chores_left(&self) -> bool {
        !self.rereads.is_empty()
            || !self.dumps.is_empty()
            || self.own_watch.is_busy()
            || !self.uploads.is_empty()
    }
}
