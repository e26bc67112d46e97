// SPDX-License-Identifier: Apache-2.0
//! [`Pause`]: CLIENT PAUSE, during which commands wait.
//!
//! A client whose command is held enters a queue. The client that ends the pause, or the first worker that
//! sees its time is up, resumes the whole queue. Both happen under one lock, so no client enters a queue that
//! is never looked at again. The client that ends the pause gets its reply when the workers have run what was held:
//! what it asks next, such as CLIENT UNBLOCK, finds the others where they are in Redis then.
//!
//! During a pause of whatever kind no entry expires away nor is evicted, so that what one reads stays the same.

use crate::session::waiting::Held;
use bytes::Bytes;
use clock::{Now, Ticks};
use keyspace::Settings;
use parking_lot::Mutex;
use protocol::{ConnectionId, Outbox, Ticket};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Until when and which commands wait, and the clients that sent them.
#[derive(Debug, Default)]
pub(crate) struct Pause {
    /// In milliseconds of the monotonic clock; 0: no pause. Changed under the lock of the queue.
    until_ms: AtomicU64,
    /// Only commands that write wait.
    writes_only: AtomicBool,
    queue: Mutex<Queue>,
}

/// The clients whose commands wait, in the order in which they came.
#[derive(Debug, Default)]
struct Queue {
    next: u64,
    held: BTreeMap<u64, (ConnectionId, Ticket)>,
    /// Those that were resumed and have not run yet.
    resumed: BTreeSet<u64>,
    /// Clients that wait until those have run.
    awaiting: Vec<(ConnectionId, Ticket)>,
}

impl Pause {
    /// Whether there is a pause, possibly one that is over but not ended yet.
    #[inline]
    pub(crate) fn is_set(&self) -> bool {
        self.until_ms.load(Relaxed) != 0
    }

    /// When the pause ends, if there is one.
    #[inline]
    pub(crate) fn until(&self) -> Option<Ticks> {
        let until_ms = self.until_ms.load(Relaxed);
        (until_ms != 0).then(|| Ticks::from_millis(until_ms))
    }

    /// Whether commands wait now.
    fn is_on(&self, now: Now) -> bool {
        now.ticks.as_millis() < self.until_ms.load(Relaxed)
    }

    /// Makes commands wait for a time. It makes a present pause neither shorter nor hold fewer
    /// commands.
    pub(crate) fn begin(&self, now: Now, time: Duration, writes_only: bool, settings: &Settings) {
        let _queue = self.queue.lock();
        let stays_wide = self.is_on(now) && !self.writes_only.load(Relaxed);
        self.writes_only.store(writes_only && !stays_wide, Relaxed);
        let until = now.after(time);
        self.until_ms.fetch_max(until.as_millis(), Relaxed);
        settings.set_keeps_entries(true);
    }

    /// Ends the pause, and resumes the waiting clients.
    pub(crate) fn end(&self, settings: &Settings, outbox: &mut Outbox) {
        let mut queue = self.queue.lock();
        self.until_ms.store(0, Relaxed);
        settings.set_keeps_entries(false);
        for (place, (id, ticket)) in std::mem::take(&mut queue.held) {
            outbox.resume(id, ticket, Bytes::new());
            queue.resumed.insert(place);
        }
    }

    /// Lets a client wait until all that were resumed have run, for the reply OK; `false` if they have.
    pub(crate) fn await_resumed(&self, id: ConnectionId, ticket: Ticket) -> bool {
        let mut queue = self.queue.lock();
        let must_wait = !queue.resumed.is_empty();
        if must_wait {
            queue.awaiting.push((id, ticket));
        }
        must_wait
    }

    /// Ends the pause if its time is up.
    #[inline]
    pub(crate) fn end_if_over(&self, now: Now, settings: &Settings, outbox: &mut Outbox) {
        if self.is_set() && !self.is_on(now) {
            self.end(settings, outbox);
        }
    }

    /// Whether a command has to wait; `writes`: it changes data, or tells others of something.
    pub(crate) fn holds(&self, writes: bool, now: Now) -> bool {
        self.is_on(now) && (writes || !self.writes_only.load(Relaxed))
    }

    /// What a pause holds now, if there is one: whether only commands that write wait.
    pub(crate) fn holding(&self, now: Now) -> Option<bool> {
        self.is_on(now).then(|| self.writes_only.load(Relaxed))
    }

    /// How long it still takes, in whole milliseconds: the one that has begun does not count.
    pub(crate) fn left(&self, now: Now) -> Duration {
        let left = self.until_ms.load(Relaxed).saturating_sub(now.ticks.as_millis());
        Duration::from_millis(left.saturating_sub(1))
    }

    /// Enters a client whose command the pause holds; `None` if the pause has ended meanwhile.
    #[expect(clippy::arithmetic_side_effects, reason = "counts what is in memory")]
    pub(crate) fn hold(&self, id: ConnectionId, ticket: Ticket, now: Now) -> Option<Held> {
        let mut queue = self.queue.lock();
        if !self.is_on(now) {
            return None;
        }
        let place = queue.next;
        queue.next += 1;
        queue.held.insert(place, (id, ticket));
        Some(Held(place))
    }

    /// How many clients wait.
    pub(crate) fn len(&self) -> usize {
        self.queue.lock().held.len()
    }

    /// Removes a connection whose held command has run, or that has ended.
    pub(crate) fn forget(&self, held: Held, outbox: &mut Outbox) {
        let mut queue = self.queue.lock();
        queue.held.remove(&held.0);
        if queue.resumed.remove(&held.0) && queue.resumed.is_empty() {
            for (id, ticket) in std::mem::take(&mut queue.awaiting) {
                outbox.resume(id, ticket, Bytes::from_static(b"+OK\r\n"));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clock::Clock;
    use protocol::Errand;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn a_pause_is_made_longer_and_wider_but_not_the_reverse() {
        let (pause, clock) = (Pause::default(), Clock::manual(0));
        let settings = Settings::default();
        clock.advance(MS);
        pause.begin(clock.now(), 10 * MS, true, &settings);
        assert!(pause.holds(true, clock.now()) && !pause.holds(false, clock.now()));
        pause.begin(clock.now(), 5 * MS, false, &settings);
        assert!(pause.holds(false, clock.now()));
        pause.begin(clock.now(), 8 * MS, true, &settings);
        assert!(pause.holds(false, clock.now()), "still all");
        // The clock may have been up to a millisecond behind when it began.
        clock.advance(10 * MS);
        assert!(pause.holds(false, clock.now()), "still the ten milliseconds");
        clock.advance(MS);
        assert!(!pause.holds(true, clock.now()));
        pause.begin(clock.now(), 5 * MS, true, &settings);
        assert!(!pause.holds(false, clock.now()), "a new one");
        clock.advance(6 * MS);
        pause.begin(clock.now(), Duration::ZERO, true, &settings);
        assert!(!pause.holds(true, clock.now()), "none");
    }

    #[test]
    fn who_is_held_goes_on_at_the_end_in_the_order_they_came() {
        let (pause, clock) = (Pause::default(), Clock::manual(0));
        let (mut outbox, ticket) = (Outbox::new(), Ticket::default());
        let settings = Settings::default();
        let id = |serial| ConnectionId::new(0, serial);
        clock.advance(MS);
        assert_eq!(pause.hold(id(1), ticket, clock.now()), None, "nobody waits for nothing");
        pause.begin(clock.now(), MS, false, &settings);
        for serial in [3, 2, 1] {
            let held = pause.hold(id(serial), ticket, clock.now()).expect("a pause");
            if serial == 2 {
                pause.forget(held, &mut outbox);
            }
        }
        pause.end_if_over(clock.now(), &settings, &mut outbox);
        assert!(outbox.is_empty() && pause.is_set() && settings.keeps_entries());
        clock.advance(2 * MS);
        pause.end_if_over(clock.now(), &settings, &mut outbox);
        let resume = |serial| (id(serial), Errand::Resume(ticket, Bytes::new()));
        assert_eq!(outbox.drain().collect::<Vec<_>>(), [resume(3), resume(1)]);
        assert!(!pause.is_set() && !settings.keeps_entries());
    }

    #[test]
    fn who_ends_a_pause_waits_until_those_that_it_held_have_run() {
        let (pause, clock) = (Pause::default(), Clock::manual(0));
        let (mut outbox, ticket) = (Outbox::new(), Ticket::default());
        let settings = Settings::default();
        let id = |serial| ConnectionId::new(0, serial);
        pause.end(&settings, &mut outbox);
        assert!(!pause.await_resumed(id(9), ticket), "nobody was held");
        pause.begin(clock.now(), MS, false, &settings);
        let held = [1, 2].map(|serial| pause.hold(id(serial), ticket, clock.now()).expect("held"));
        pause.end(&settings, &mut outbox);
        assert!(pause.await_resumed(id(9), ticket) && outbox.len() == 2);
        // The first one is held again, by another pause.
        pause.begin(clock.now(), MS, false, &settings);
        let again = pause.hold(id(1), ticket, clock.now()).expect("held");
        pause.forget(held[0], &mut outbox);
        assert_eq!(outbox.len(), 2, "the other has not run");
        pause.forget(held[1], &mut outbox);
        let ok = (id(9), Errand::Resume(ticket, Bytes::from_static(b"+OK\r\n")));
        assert_eq!(outbox.drain().last(), Some(ok));
        pause.forget(again, &mut outbox);
        assert!(outbox.is_empty() && pause.len() == 0, "it is told once");
    }
}
