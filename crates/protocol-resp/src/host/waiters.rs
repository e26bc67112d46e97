// SPDX-License-Identifier: Apache-2.0
//! [`Waiters`]: the clients that wait for keys, in the order in which they came.
//!
//! A client enters under the locks of all its keys, having seen that none has what it wants. A writer
//! that changes a key looks here before it gives the lock of the key's shard back. So no change is
//! overlooked, and who came first is served first, whichever worker serves it.
//!
//! A waiter leaves the table exactly once: with what it waited for, when its time is up, when it is
//! told to by CLIENT UNBLOCK, or with its connection. Whoever takes it out answers it; nobody else
//! does.

use super::counting_filter::CountingFilter;
use super::interest::Interest;
use super::stats::WorkerCounts;
use crate::host::Host;
use crate::session::blocked_command::BlockedCommand;
use crate::session::memory::trim;
use crate::session::waiting::{Waiter, Waiting};
use clock::Now;
use parking_lot::Mutex;
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;

/// All clients of a process that wait.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    queues: Mutex<Queues>,
    /// The keys that are waited for, in whatever database.
    filter: CountingFilter,
    /// How many clients want to move an element to another key, whose shard the writer that serves
    /// them must have locked too.
    movers: AtomicUsize,
}

#[derive(Debug, Default)]
struct Queues {
    /// Who waits for each key of each database, in the order of their turns.
    by_key: HashMap<usize, HashMap<Box<[u8]>, VecDeque<Waiting>>>,
    clients: usize,
    turns: u64,
}

impl Queues {
    /// Takes a client out of the queue of a key; whether it was there.
    fn take(&mut self, waiter: &Waiter, key: &[u8]) -> bool {
        let Some(keys) = self.by_key.get_mut(&waiter.db) else { return false };
        let Some(queue) = keys.get_mut(key) else { return false };
        let found = queue.binary_search_by_key(&waiter.turn, |other| other.turn);
        let was_there = found.is_ok_and(|at| queue.remove(at).is_some());
        if queue.is_empty() {
            keys.remove(key);
            trim(keys);
        }
        was_there
    }
}

impl Waiters {
    /// Lets a client wait. The caller holds the locks of all its keys.
    pub(crate) fn enter(&self, interest: &Interest, mut waiter: Waiter) -> Waiting {
        let mut queues = self.queues.lock();
        queues.turns += 1;
        waiter.turn = queues.turns;
        let waiter = Arc::new(waiter);
        let keys = queues.by_key.entry(waiter.db).or_default();
        for key in &waiter.keys {
            let queue = keys.entry(key.clone()).or_default();
            // A key that is named twice is waited for once.
            if queue.back().is_none_or(|last| last.turn != waiter.turn) {
                queue.push_back(Arc::clone(&waiter));
                self.filter.add(key);
            }
        }
        queues.clients += 1;
        if waiter.is_mover() {
            self.movers.fetch_add(1, Relaxed);
        }
        interest.set_awaited(true);
        waiter
    }

    /// Takes a client out; whether it was still there. Only who took it out may answer it.
    pub(crate) fn take(&self, interest: &Interest, waiter: &Waiter) -> bool {
        let mut queues = self.queues.lock();
        let mut was_there = false;
        for key in &waiter.keys {
            if queues.take(waiter, key) {
                self.filter.remove(key);
                was_there = true;
            }
        }
        if was_there {
            queues.clients -= 1;
            if waiter.is_mover() {
                self.movers.fetch_sub(1, Relaxed);
            }
        }
        // Under the lock, so that no wait that begins now is overlooked.
        interest.set_awaited(queues.clients > 0);
        was_there
    }

    /// Whether anybody may wait for a key; if not, nobody does. The caller holds the lock of the
    /// key's shard.
    #[inline]
    pub(crate) fn may_await(&self, key: &[u8]) -> bool {
        self.filter.may_hold(key)
    }

    /// The first client behind this turn that waits for a key.
    pub(crate) fn next(&self, db: usize, key: &[u8], behind: u64) -> Option<Waiting> {
        let queues = self.queues.lock();
        let queue = queues.by_key.get(&db)?.get(key)?;
        let at = queue.partition_point(|waiter| waiter.turn <= behind);
        queue.get(at).cloned()
    }

    /// The keys of a database that somebody waits for.
    pub(crate) fn keys_of(&self, db: usize) -> Vec<Box<[u8]>> {
        let queues = self.queues.lock();
        queues.by_key.get(&db).map_or_else(Vec::new, |keys| keys.keys().cloned().collect())
    }

    /// How many clients wait.
    pub(crate) fn len(&self) -> usize {
        self.queues.lock().clients
    }

    /// Lets writers believe that nobody wants to move an element, as one does who looked before
    /// somebody wanted to.
    #[cfg(test)]
    pub(crate) fn hide_movers(&self) {
        self.movers.store(0, Relaxed);
    }

    /// Whether any of them wants to move an element to another key.
    #[inline]
    pub(crate) fn has_movers(&self) -> bool {
        self.movers.load(Relaxed) > 0
    }
}

impl Host {
    /// Counts the command of a client that is answered now, its wait being over; it took so many
    /// nanoseconds `longer` to answer it, and may have `failed`. One whose connection has ended is not
    /// counted.
    pub(crate) fn end_wait(
        &self,
        waiter: &Waiter,
        counts: &WorkerCounts,
        longer: u64,
        failed: bool,
        now: Now,
    ) {
        let Some(command) = waiter.command.lock().take() else { return };
        let BlockedCommand { id, args, client, nanos } = command;
        let counts = counts.of(id.index());
        counts.calls.add(1);
        if failed {
            counts.failed.add(1);
        }
        if let Some(nanos) = nanos {
            let nanos = nanos.saturating_add(longer);
            counts.time(nanos, self.latency.is_tracking());
            self.latency.note_command(id.spec(), nanos, now.unix_seconds());
            self.slowlog.note(nanos, client.as_deref(), now, || args);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::waiting::Wants;
    use crate::wire::reply::Version;
    use keyspace::Scope;
    use protocol::{ConnectionId, Ticket};
    use values::{End, Type};

    fn waiter(db: usize, keys: &[&str], wants: Wants) -> Waiter {
        Waiter {
            turn: 0,
            id: ConnectionId::new(0, 1),
            ticket: Ticket::default(),
            version: Version::Resp2,
            db,
            keys: keys.iter().map(|key| key.as_bytes().into()).collect(),
            of: Type::List,
            wants,
            scope: Scope::NONE,
            until: None,
            command: Mutex::default(),
        }
    }

    fn pop() -> Wants {
        Wants::Pop { from: End::Front }
    }

    fn turns(waiters: &Waiters, db: usize, key: &str) -> Vec<u64> {
        let mut turns = vec![0];
        while let Some(next) = waiters.next(db, key.as_bytes(), turns[turns.len() - 1]) {
            turns.push(next.turn);
        }
        turns.split_off(1)
    }

    #[test]
    fn clients_wait_in_the_order_in_which_they_came() {
        let (waiters, interest) = (Waiters::default(), Interest::default());
        let first = waiters.enter(&interest, waiter(0, &["a", "b", "a"], pop()));
        let second = waiters.enter(&interest, waiter(0, &["b"], pop()));
        let third = waiters.enter(&interest, waiter(0, &["b", "a"], pop()));
        let elsewhere = waiters.enter(&interest, waiter(1, &["b"], pop()));
        assert_eq!(turns(&waiters, 0, "a"), [1, 3], "a key named twice is waited for once");
        assert_eq!(turns(&waiters, 0, "b"), [1, 2, 3]);
        assert_eq!(turns(&waiters, 1, "b"), [4]);
        assert_eq!(turns(&waiters, 1, "a"), []);
        assert!(waiters.take(&interest, &second) && !waiters.take(&interest, &second));
        assert_eq!(turns(&waiters, 0, "b"), [1, 3]);
        assert!(waiters.take(&interest, &first) && waiters.take(&interest, &third));
        assert!(interest.is_awaited() && waiters.len() == 1);
        assert_eq!(waiters.keys_of(1), [Box::from(*b"b")]);
        assert!(waiters.take(&interest, &elsewhere));
        assert!(!interest.any() && waiters.len() == 0);
    }

    #[test]
    fn nobody_is_looked_for_where_nobody_waits() {
        let (waiters, interest) = (Waiters::default(), Interest::default());
        let wants = Wants::Move { from: End::Front, to: End::Back, destination: (*b"b").into() };
        let mover = waiters.enter(&interest, waiter(0, &["a"], wants));
        let other = waiters.enter(&interest, waiter(0, &["a", "c"], pop()));
        assert!(waiters.has_movers() && waiters.may_await(b"a") && waiters.may_await(b"c"));
        waiters.take(&interest, &mover);
        assert!(!waiters.has_movers() && waiters.may_await(b"a"));
        waiters.take(&interest, &other);
        assert!(!waiters.may_await(b"a") && !waiters.may_await(b"c"));
    }
}
