// SPDX-License-Identifier: Apache-2.0
//! [`Directory`]: the list of present connections.

use crate::ConnectionId;
use clock::Ticks;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// One connection as an operator wants to see it.
#[derive(Debug)]
#[non_exhaustive]
pub struct Peer {
    /// Its id.
    pub id: ConnectionId,
    /// The client's address: `tcp:127.0.0.1:40112`, `tcp6:[::1]:40112` or `unix:/path`.
    pub remote: String,
    /// The address of the listener that accepted it, in the same form. All connections of the listener share
    /// the string.
    pub local: Arc<str>,
    /// When it was accepted.
    pub since: Ticks,
    last_request_ms: AtomicU64,
    input: AtomicUsize,
    output: AtomicUsize,
    output_memory: AtomicUsize,
    /// In milliseconds; [`NEVER`] if nothing waits.
    unread_since_ms: AtomicU64,
    is_reader: AtomicBool,
    is_ending: AtomicBool,
}

/// No moment.
const NEVER: u64 = u64::MAX;

impl Peer {
    /// A connection accepted at `since`.
    pub fn new(id: ConnectionId, remote: String, local: impl Into<Arc<str>>, since: Ticks) -> Self {
        let local = local.into();
        let last_request_ms = AtomicU64::new(since.as_millis());
        let [input, output, output_memory] = [0; 3].map(AtomicUsize::new);
        let unread_since_ms = AtomicU64::new(NEVER);
        let (is_reader, is_ending) = (AtomicBool::new(false), AtomicBool::new(false));
        Peer {
            id,
            remote,
            local,
            since,
            last_request_ms,
            input,
            output,
            output_memory,
            unread_since_ms,
            is_reader,
            is_ending,
        }
    }

    /// Records that it ends: its worker removes it, or has been told to close it. It stays in the directory until that
    /// is done.
    pub fn end(&self) {
        self.is_ending.store(true, Ordering::Relaxed);
    }

    /// Whether it ends: whoever counts connections or closes them passes over it. Who finds under a lock what its worker
    /// has done since, such as what [`Execute::closed`](crate::Execute::closed) removes, sees this, too.
    pub fn is_ending(&self) -> bool {
        self.is_ending.load(Ordering::Relaxed)
    }

    /// Records what its buffers hold: `input` bytes of memory for its requests, `output` bytes of replies and
    /// messages that it has not read, and `output_memory` bytes of memory for these. Writes only what has changed.
    #[inline]
    pub fn hold(&self, input: usize, output: usize, output_memory: usize) {
        let tell = |cell: &AtomicUsize, bytes| {
            if cell.load(Ordering::Relaxed) != bytes {
                cell.store(bytes, Ordering::Relaxed);
            }
        };
        tell(&self.input, input);
        tell(&self.output, output);
        tell(&self.output_memory, output_memory);
    }

    /// Records since when it has taken nothing of what waits for it. Writes only what has changed.
    #[inline]
    pub fn leave_unread(&self, since: Option<Ticks>) {
        let since_ms = since.map_or(NEVER, Ticks::as_millis);
        if self.unread_since_ms.load(Ordering::Relaxed) != since_ms {
            self.unread_since_ms.store(since_ms, Ordering::Relaxed);
        }
    }

    /// Since when it has taken nothing of the replies and messages that wait for it; `None` if nothing waits.
    pub fn unread_since(&self) -> Option<Ticks> {
        let since_ms = self.unread_since_ms.load(Ordering::Relaxed);
        (since_ms != NEVER).then(|| Ticks::from_millis(since_ms))
    }

    /// Records that it has taken what the buffers of the system could not hold.
    pub fn prove_reader(&self) {
        if !self.is_reader() {
            self.is_reader.store(true, Ordering::Relaxed);
        }
    }

    /// Whether it has done so before, and so probably reads.
    pub fn is_reader(&self) -> bool {
        self.is_reader.load(Ordering::Relaxed)
    }

    /// Bytes of memory for its requests, after its last turn; 0 while it is idle.
    #[inline]
    pub fn input_bytes(&self) -> usize {
        self.input.load(Ordering::Relaxed)
    }

    /// Bytes of replies and messages that it has not read, after its last turn. Values sent by reference
    /// count in full, even if others hold them too.
    #[inline]
    pub fn output_bytes(&self) -> usize {
        self.output.load(Ordering::Relaxed)
    }

    /// Bytes of memory for those: what is sent by reference takes none, or takes it once for all who hold it.
    #[inline]
    pub fn output_memory(&self) -> usize {
        self.output_memory.load(Ordering::Relaxed)
    }

    /// Records that it sent something at `now`.
    #[inline]
    pub fn touch(&self, now: Ticks) {
        self.last_request_ms.store(now.as_millis(), Ordering::Relaxed);
    }

    /// When it last sent something.
    #[inline]
    pub fn last_request(&self) -> Ticks {
        Ticks::from_millis(self.last_request_ms.load(Ordering::Relaxed))
    }
}

/// All connections of a process, over all its workers.
///
/// Locked when a connection comes or goes and while they are listed; never by a cache operation.
#[derive(Debug, Default)]
pub struct Directory {
    peers: Mutex<BTreeMap<ConnectionId, Arc<Peer>>>,
}

impl Directory {
    /// An empty directory.
    pub fn new() -> Self {
        Self::default()
    }

    /// Enters a connection.
    pub fn enter(&self, peer: Arc<Peer>) {
        self.lock().insert(peer.id, peer);
    }

    /// Removes a connection.
    pub fn leave(&self, id: ConnectionId) {
        self.lock().remove(&id);
    }

    /// The connection with this id, if it is still there.
    pub fn get(&self, id: ConnectionId) -> Option<Arc<Peer>> {
        self.lock().get(&id).cloned()
    }

    /// The present connections, oldest first.
    pub fn list(&self) -> Vec<Arc<Peer>> {
        self.lock().values().cloned().collect()
    }

    /// How many connections there are.
    pub fn len(&self) -> usize {
        self.lock().len()
    }

    /// Whether there are no connections.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<ConnectionId, Arc<Peer>>> {
        // No code that holds the lock can leave the map half changed.
        self.peers.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_listed_in_the_order_they_came() {
        let directory = Directory::new();
        for (worker, serial) in [(1, 3), (0, 1), (2, 2)] {
            let id = ConnectionId::new(worker, serial);
            let peer = Peer::new(id, format!("tcp:{serial}"), "tcp:0", Ticks::ZERO);
            directory.enter(Arc::new(peer));
        }
        directory.leave(ConnectionId::new(2, 2));
        let serials: Vec<u64> = directory.list().iter().map(|peer| peer.id.serial()).collect();
        assert_eq!(serials, [1, 3]);
        assert_eq!(directory.len(), 2);
        assert!(directory.get(ConnectionId::new(2, 2)).is_none());
        assert!(directory.get(ConnectionId::new(1, 3)).is_some());
        assert!(directory.get(ConnectionId::new(2, 2)).is_none());
        let first = directory.get(ConnectionId::new(0, 1)).expect("it is there");
        first.touch(Ticks::from_millis(9));
        assert_eq!(directory.list()[0].last_request(), Ticks::from_millis(9));
        first.hold(16, 5, 3);
        let same = &directory.list()[0];
        let held = (same.input_bytes(), same.output_bytes(), same.output_memory());
        assert_eq!(held, (16, 5, 3));
        assert_eq!(same.unread_since(), None);
        first.leave_unread(Some(Ticks::from_millis(7)));
        assert_eq!(same.unread_since(), Some(Ticks::from_millis(7)));
        first.leave_unread(None);
        assert_eq!((same.unread_since(), same.is_reader()), (None, false));
        first.prove_reader();
        assert!(same.is_reader());
        assert!(!same.is_ending());
        first.end();
        assert!(same.is_ending());
    }
}
