// SPDX-License-Identifier: Apache-2.0
//! [`Watchers`]: who watches, on all workers, and what waits for them.

use super::super::observe::Observers;
use super::BACKLOG_BYTES;
use super::ring::Ring;
use crate::metrics;
use crate::topics::Topics;
use bytes::Bytes;
use protocol::{ConnectionId, Outbox, Peer};
use std::io::Write;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};

/// The most clients that may watch at a time, as in memcached.
pub const WATCHERS_MAX: usize = 20;

/// The bit that says that somebody watches, if only what there is nothing to show of.
pub(in crate::service) const SOMEBODY: u32 = 1 << 30;

/// Room for the line that tells how many were missed.
const SKIPPED_BYTES: usize = 32;

#[derive(Debug, Default)]
pub(in crate::service) struct Watchers {
    list: Mutex<Vec<Watcher>>,
    /// How many lines were written.
    lines: AtomicU64,
}

#[derive(Debug)]
struct Watcher {
    connection: ConnectionId,
    topics: Topics,
    /// Tells what its client has not read.
    peer: Option<Arc<Peer>>,
    /// The number of the last line before it came.
    since: u64,
    backlog: Vec<u8>,
    /// Lines that were dropped after the last that was not.
    skipped: u64,
}

impl Watchers {
    /// The number of a line that is about to be written.
    pub(super) fn next_line(&self) -> u64 {
        self.lines.fetch_add(1, Relaxed) + 1
    }

    /// Adds a watcher; returns whether there was room for it.
    pub(super) fn add(
        &self,
        connection: ConnectionId,
        topics: Topics,
        peer: Option<Arc<Peer>>,
        observers: &Observers,
    ) -> bool {
        let mut list = self.lock();
        if list.len() == WATCHERS_MAX {
            return false;
        }
        let since = self.lines.load(Relaxed);
        let (backlog, skipped) = (Vec::new(), 0);
        list.push(Watcher { connection, topics, peer, since, backlog, skipped });
        metrics::LOG_WATCHERS.increment();
        observers.set_watched(topics_of(&list));
        true
    }

    /// Removes the watcher of a connection that has ended.
    pub(super) fn remove(&self, connection: ConnectionId, observers: &Observers) {
        let mut list = self.lock();
        let before = list.len();
        list.retain(|watcher| watcher.connection != connection);
        if list.len() < before {
            metrics::LOG_WATCHERS.decrement();
        }
        observers.set_watched(topics_of(&list));
    }

    /// Takes the lines of a worker. Returns whether it could: not while another worker is at it.
    pub(super) fn take(&self, ring: &Ring) -> bool {
        let Some(mut list) = self.try_lock() else { return false };
        for (topics, number, line) in ring.iter() {
            let wants =
                |watcher: &&mut Watcher| watcher.topics.have(topics) && number > watcher.since;
            list.iter_mut().filter(wants).for_each(|watcher| watcher.take(line));
        }
        true
    }

    /// Sends those of these watchers that have read everything what waits for them.
    pub(super) fn send(&self, here: &[ConnectionId], outbox: &mut Outbox) {
        let Some(mut list) = self.try_lock() else { return };
        let ready =
            |watcher: &&mut Watcher| here.contains(&watcher.connection) && watcher.is_ready();
        for watcher in list.iter_mut().filter(ready) {
            outbox.push(watcher.connection, Bytes::from(mem::take(&mut watcher.backlog)));
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Watcher>> {
        // No code that holds the lock can leave the list half changed.
        self.list.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn try_lock(&self) -> Option<MutexGuard<'_, Vec<Watcher>>> {
        match self.list.try_lock() {
            Ok(list) => Some(list),
            Err(TryLockError::Poisoned(poisoned)) => Some(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => None,
        }
    }
}

/// Everything that is watched; `None` if nobody watches.
fn topics_of(list: &[Watcher]) -> Option<Topics> {
    list.iter().map(|watcher| watcher.topics).reduce(|all, topics| all | topics)
}

impl Watcher {
    fn take(&mut self, line: &[u8]) {
        if self.backlog.len() + line.len() + SKIPPED_BYTES > BACKLOG_BYTES {
            self.skipped += 1;
            metrics::LOG_WATCHER_SKIPPED.increment();
            return;
        }
        if self.skipped > 0 {
            // Writing to a vector cannot fail.
            let _ = writeln!(self.backlog, "skipped={}", self.skipped);
            self.skipped = 0;
        }
        self.backlog.extend_from_slice(line);
        metrics::LOG_WATCHER_SENT.increment();
    }

    /// Whether something waits, and its client has taken everything before.
    fn is_ready(&self) -> bool {
        let is_read = self.peer.as_ref().is_none_or(|peer| peer.output_bytes() == 0);
        is_read && !self.backlog.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clock::Ticks;

    fn fill(ring: &mut Ring, watchers: &Watchers, topics: Topics, lines: usize) {
        for _ in 0..lines {
            ring.push(topics, watchers.next_line(), |bytes| bytes.extend_from_slice(b"a line\n"));
        }
    }

    fn sent(watchers: &Watchers, here: &[ConnectionId]) -> Vec<String> {
        let mut outbox = Outbox::new();
        watchers.send(here, &mut outbox);
        let text = |errand| match errand {
            protocol::Errand::Push(bytes) => String::from_utf8(bytes.to_vec()).expect("it is text"),
            other => panic!("{other:?}"),
        };
        outbox.drain().map(|(_, errand)| text(errand)).collect()
    }

    #[test]
    fn each_gets_what_it_watches_from_when_it_came() {
        let (watchers, observers) = (Watchers::default(), Observers::new(false));
        let (one, two) = (ConnectionId::new(0, 1), ConnectionId::new(1, 2));
        let mut ring = Ring::default();
        fill(&mut ring, &watchers, Topics::FETCHERS, 1);
        assert!(watchers.add(one, Topics::FETCHERS, None, &observers));
        fill(&mut ring, &watchers, Topics::FETCHERS, 2);
        assert!(watchers.add(two, Topics::FETCHERS | Topics::DELETIONS, None, &observers));
        fill(&mut ring, &watchers, Topics::DELETIONS, 3);
        assert!(watchers.take(&ring));
        assert_eq!(sent(&watchers, &[one]), ["a line\n".repeat(2)]);
        assert_eq!(sent(&watchers, &[one, two]), ["a line\n".repeat(3)]);
        assert!(observers.watch(Topics::DELETIONS) && !observers.watch(Topics::MUTATIONS));
        watchers.remove(two, &observers);
        assert!(observers.watch(Topics::FETCHERS) && !observers.watch(Topics::DELETIONS));
        watchers.remove(one, &observers);
        assert!(!observers.are_watching());
    }

    #[test]
    fn one_that_does_not_read_misses_lines_and_is_told_how_many() {
        let (watchers, observers) = (Watchers::default(), Observers::new(false));
        let id = ConnectionId::new(0, 1);
        let peer = Arc::new(Peer::new(id, "tcp:127.0.0.1:1".to_owned(), "tcp:0", Ticks::ZERO));
        peer.hold(0, 1, 1);
        assert!(watchers.add(id, Topics::FETCHERS, Some(Arc::clone(&peer)), &observers));
        let (mut ring, fits) = (Ring::default(), (BACKLOG_BYTES - SKIPPED_BYTES) / 7);
        for lines in [fits, 5] {
            ring.clear();
            fill(&mut ring, &watchers, Topics::FETCHERS, lines);
            assert!(watchers.take(&ring));
        }
        assert!(sent(&watchers, &[id]).is_empty(), "it has not read what it was sent");
        peer.hold(0, 0, 0);
        assert_eq!(sent(&watchers, &[id]), ["a line\n".repeat(fits)]);
        ring.clear();
        fill(&mut ring, &watchers, Topics::FETCHERS, 1);
        assert!(watchers.take(&ring));
        assert_eq!(sent(&watchers, &[id]), ["skipped=5\na line\n"]);
    }

    #[test]
    fn there_is_room_for_twenty() {
        let (watchers, observers) = (Watchers::default(), Observers::new(false));
        let added = |n| watchers.add(ConnectionId::new(0, n), Topics::NONE, None, &observers);
        assert!((0..20).all(added));
        assert!(!added(20));
        assert!(observers.are_watching(), "if only nothing");
    }
}
