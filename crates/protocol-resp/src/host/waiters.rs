// SPDX-License-Identifier: Apache-2.0
//! [`Waiters`]: the clients that wait for keys, in the order in which they came.
//!
//! A client is added under the locks of all its keys, after a check that none of them has what it wants. A
//! writer that changes a key looks here before it releases the lock of the key's shard. So no change is
//! missed, and clients are served first come, first served, whichever worker serves them.
//!
//! A waiter leaves the table exactly once: when it is served, when its time is up, by CLIENT
//! UNBLOCK, or with its connection. Only the side that removes it replies to the client.

use super::commandlog;
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

/// How many keys clients wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AwaitedKeys {
    pub(crate) all: usize,
    /// Those of them whose clients are told when the key is gone.
    pub(crate) told_when_gone: usize,
}

/// All waiting clients of the process.
#[derive(Debug, Default)]
pub(crate) struct Waiters {
    queues: Mutex<Queues>,
    /// The keys that clients wait for, in any database.
    filter: CountingFilter,
    /// How many clients want to move an element to another key. A writer that serves them must also
    /// have locked that key's shard.
    movers: AtomicUsize,
    /// The keys that these wait for.
    keys_of_movers: CountingFilter,
    /// How many clients wait for items of a consumer group. They are told when their key is gone.
    group_readers: AtomicUsize,
}

#[derive(Debug, Default)]
struct Queues {
    /// The clients that wait for each key of each database.
    by_key: HashMap<usize, HashMap<Box<[u8]>, Queue>>,
    clients: usize,
    turns: u64,
}

/// The clients that wait for a key.
#[derive(Debug, Default)]
struct Queue {
    /// In the order of their turns.
    clients: VecDeque<Waiting>,
    /// How many of them wait for items of a consumer group.
    group_readers: usize,
}

impl Queue {
    /// Adds a client whose turn is the last; returns whether it is new.
    fn add(&mut self, waiter: &Waiting) -> bool {
        let is_new = self.clients.back().is_none_or(|last| last.turn != waiter.turn);
        if is_new {
            self.clients.push_back(Arc::clone(waiter));
            self.group_readers += usize::from(waiter.is_group_reader());
        }
        is_new
    }

    /// Removes a client; returns whether it was there.
    fn take(&mut self, waiter: &Waiter) -> bool {
        let found = self.clients.binary_search_by_key(&waiter.turn, |other| other.turn);
        let was_there = found.is_ok_and(|at| self.clients.remove(at).is_some());
        self.group_readers -= usize::from(was_there && waiter.is_group_reader());
        was_there
    }
}

impl Queues {
    /// Removes a client from the queue of a key; returns whether it was there.
    fn take(&mut self, waiter: &Waiter, key: &[u8]) -> bool {
        let Some(keys) = self.by_key.get_mut(&waiter.db) else { return false };
        let Some(queue) = keys.get_mut(key) else { return false };
        let was_there = queue.take(waiter);
        if queue.clients.is_empty() {
            keys.remove(key);
            trim(keys);
        }
        was_there
    }
}

impl Waiters {
    /// Makes a client wait. The caller holds the locks of all its keys.
    pub(crate) fn enter(&self, interest: &Interest, mut waiter: Waiter) -> Waiting {
        let mut queues = self.queues.lock();
        queues.turns += 1;
        waiter.turn = queues.turns;
        let waiter = Arc::new(waiter);
        let keys = queues.by_key.entry(waiter.db).or_default();
        for key in &waiter.keys {
            // A key that is named twice is entered once.
            if keys.entry(key.clone()).or_default().add(&waiter) {
                self.filter.add(key);
                if waiter.is_mover() {
                    self.keys_of_movers.add(key);
                }
            }
        }
        queues.clients += 1;
        if waiter.is_mover() {
            self.movers.fetch_add(1, Relaxed);
        }
        if waiter.is_group_reader() {
            self.group_readers.fetch_add(1, Relaxed);
        }
        interest.set_awaited(true);
        waiter
    }

    /// Removes a client; returns whether it was still there. Only the caller that removed it may
    /// reply to it.
    pub(crate) fn take(&self, interest: &Interest, waiter: &Waiter) -> bool {
        let mut queues = self.queues.lock();
        let mut was_there = false;
        for key in &waiter.keys {
            if queues.take(waiter, key) {
                self.filter.remove(key);
                if waiter.is_mover() {
                    self.keys_of_movers.remove(key);
                }
                was_there = true;
            }
        }
        if was_there {
            queues.clients -= 1;
            if waiter.is_mover() {
                self.movers.fetch_sub(1, Relaxed);
            }
            if waiter.is_group_reader() {
                self.group_readers.fetch_sub(1, Relaxed);
            }
        }
        // Under the lock, so that no wait that begins now is missed.
        interest.set_awaited(queues.clients > 0);
        was_there
    }

    /// Whether a client may be waiting for a key; if false, none is. The caller holds the lock of
    /// the key's shard.
    #[inline]
    pub(crate) fn may_await(&self, key: &[u8]) -> bool {
        self.filter.may_hold(key)
    }

    /// Whether a client may be waiting to move an element of a key to another; if false, none is. The caller need
    /// not hold a lock: see `blocking.rs` for those that begin just now.
    #[inline]
    pub(crate) fn may_move(&self, key: &[u8]) -> bool {
        self.keys_of_movers.may_hold(key)
    }

    /// The first client after this turn that waits for a key.
    pub(crate) fn next(&self, db: usize, key: &[u8], behind: u64) -> Option<Waiting> {
        let queues = self.queues.lock();
        let queue = queues.by_key.get(&db)?.get(key)?;
        let at = queue.clients.partition_point(|waiter| waiter.turn <= behind);
        queue.clients.get(at).cloned()
    }

    /// The keys of a database for which clients wait.
    pub(crate) fn keys_of(&self, db: usize) -> Vec<Box<[u8]>> {
        let queues = self.queues.lock();
        queues.by_key.get(&db).map_or_else(Vec::new, |keys| keys.keys().cloned().collect())
    }

    /// How many clients wait.
    pub(crate) fn len(&self) -> usize {
        self.queues.lock().clients
    }

    /// How many keys they wait for.
    pub(crate) fn keys(&self) -> AwaitedKeys {
        let queues = self.queues.lock();
        let all = queues.by_key.values().flat_map(HashMap::values);
        let told = all.clone().filter(|queue| queue.group_readers > 0);
        AwaitedKeys { told_when_gone: told.count(), all: all.count() }
    }

    /// Makes writers see no client that wants to move an element, as a writer does that looked
    /// before there was one.
    #[cfg(test)]
    pub(crate) fn hide_movers(&self) {
        self.movers.store(0, Relaxed);
    }

    /// Whether any of them waits for items of a consumer group.
    pub(crate) fn has_group_readers(&self) -> bool {
        self.group_readers.load(Relaxed) > 0
    }

    /// Whether any of those that wait for a key waits for items of a consumer group.
    pub(crate) fn has_group_readers_of(&self, db: usize, key: &[u8]) -> bool {
        self.has_group_readers() && {
            let queues = self.queues.lock();
            let queue = queues.by_key.get(&db).and_then(|keys| keys.get(key));
            queue.is_some_and(|queue| queue.group_readers > 0)
        }
    }

    /// Whether any of them wants to move an element to another key.
    #[inline]
    pub(crate) fn has_movers(&self) -> bool {
        self.movers.load(Relaxed) > 0
    }
}

impl Host {
    /// Counts the blocked command of a client whose wait is over. Serving it took `longer` more nanoseconds,
    /// and it may have `failed`. A command whose connection has ended is not counted.
    pub(crate) fn end_wait(
        &self,
        waiter: &Waiter,
        counts: &WorkerCounts,
        longer: u64,
        failed: bool,
        now: Now,
    ) {
        let Some(command) = waiter.command.lock().take() else { return };
        let BlockedCommand { id, args, client, nanos, user: _ } = command;
        let counts = counts.of(id.index());
        counts.calls.add(1);
        if failed {
            counts.failed.add(1);
        }
        if let Some(nanos) = nanos {
            let nanos = nanos.saturating_add(longer);
            counts.time(nanos, self.latency.is_tracking());
            self.latency.note_command(id.spec(), nanos, now.unix_seconds());
            self.latency.note("command-unblocking", longer, now.unix_seconds());
            self.slowlog.note_time(nanos, client.as_deref(), now, || {
                commandlog::shortened(args.iter().map(Box::as_ref))
            });
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
        let (from, to, destination) = (End::Front, End::Back, (*b"b").into());
        let wants = Wants::Move { from, to, destination, many: None };
        let mover = waiters.enter(&interest, waiter(0, &["a"], wants));
        let other = waiters.enter(&interest, waiter(0, &["a", "c"], pop()));
        assert!(waiters.has_movers() && waiters.may_await(b"a") && waiters.may_await(b"c"));
        assert!(waiters.may_move(b"a") && !waiters.may_move(b"c"), "nothing of it is moved");
        waiters.take(&interest, &mover);
        assert!(!waiters.has_movers() && !waiters.may_move(b"a") && waiters.may_await(b"a"));
        waiters.take(&interest, &other);
        assert!(!waiters.may_await(b"a") && !waiters.may_await(b"c"));
    }

    #[test]
    fn group_readers_are_those_of_one_key() {
        use crate::session::waiting::{GroupWait, ReadLimits};
        let (waiters, interest) = (Waiters::default(), Interest::default());
        let of_group = Wants::ReadGroup(Box::new(GroupWait {
            group: (*b"g").into(),
            consumer: (*b"c").into(),
            limits: ReadLimits { items: 1, items_in_all: 1, bytes: 1 },
            no_ack: false,
            claim_ms: None,
        }));
        let reader = waiters.enter(&interest, waiter(0, &["s"], of_group));
        let other = waiters.enter(&interest, waiter(0, &["l"], pop()));
        assert!(waiters.has_group_readers_of(0, b"s"));
        assert!(!waiters.has_group_readers_of(0, b"l") && !waiters.has_group_readers_of(1, b"s"));
        assert_eq!(waiters.keys(), AwaitedKeys { all: 2, told_when_gone: 1 });
        assert!(waiters.take(&interest, &reader) && waiters.take(&interest, &other));
        assert!(!waiters.has_group_readers_of(0, b"s"));
    }

    #[test]
    fn serving_a_blocked_client_that_takes_long_is_an_event_of_its_own() {
        use crate::session::user::User;
        use crate::table;
        let host = Host::new(1);
        let counts = host.stats().enter();
        let waiter = waiter(0, &["a"], pop());
        let end = |longer| {
            let id = table::find(b"blpop").expect("it is in the table");
            let (args, user) = (Vec::new(), User::new(true));
            let command = BlockedCommand { id, args, client: None, user, nanos: Some(9_000_000) };
            *waiter.command.lock() = Some(command);
            host.end_wait(&waiter, &counts, longer, false, clock::Clock::manual(1).now());
        };
        host.latency().threshold_ms.store(5, Relaxed);
        end(4_999_999);
        assert!(host.latency().event(b"command-unblocking").is_none());
        end(7_000_000);
        let of = |event: &[u8]| host.latency().event(event).map(|history| history.max_ms);
        assert_eq!((of(b"command-unblocking"), of(b"command")), (Some(7), Some(16)));
    }
}
