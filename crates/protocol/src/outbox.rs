// SPDX-License-Identifier: Apache-2.0
//! [`Outbox`]: bytes that a request sends to other connections.

use bytes::Bytes;

/// A connection of this process, never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ConnectionId(u64);

/// Bits of a [`ConnectionId`] that name the worker.
const WORKER_BITS: u32 = 10;

impl ConnectionId {
    /// The `serial`-th connection, served by `worker`.
    ///
    /// # Panics
    ///
    /// When `worker` is 1024 or more.
    pub fn new(worker: usize, serial: u64) -> Self {
        assert!(worker < 1 << WORKER_BITS, "worker {worker} of at most 1024");
        ConnectionId(serial << WORKER_BITS | worker as u64)
    }

    /// The worker that serves it.
    pub fn worker(self) -> usize {
        (self.0 & ((1 << WORKER_BITS) - 1)) as usize
    }

    /// The number to show to a person: counts up from the first connection of the process.
    pub fn serial(self) -> u64 {
        self.0 >> WORKER_BITS
    }
}

/// Bytes on their way to other connections, on this worker or another: published messages,
/// invalidations, wake-ups of blocked clients.
///
/// The worker delivers what is in it after the turn that put it there, behind the replies the receiver
/// is already owed. A message for a connection that is gone is dropped.
#[derive(Debug, Default)]
pub struct Outbox {
    messages: Vec<(ConnectionId, Bytes)>,
}

impl Outbox {
    /// An empty outbox.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends `bytes` to the connection `to`.
    pub fn push(&mut self, to: ConnectionId, bytes: Bytes) {
        self.messages.push((to, bytes));
    }

    /// Whether there is nothing to deliver.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Takes everything out, in the order it was pushed.
    pub fn drain(&mut self) -> impl Iterator<Item = (ConnectionId, Bytes)> + '_ {
        self.messages.drain(..)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_names_its_worker_and_its_serial() {
        let id = ConnectionId::new(1023, 77);
        assert_eq!((id.worker(), id.serial()), (1023, 77));
        assert_ne!(id, ConnectionId::new(0, 77));
    }

    #[test]
    fn messages_keep_their_order() {
        let mut outbox = Outbox::new();
        let (a, b) = (ConnectionId::new(0, 1), ConnectionId::new(1, 2));
        outbox.push(a, Bytes::from_static(b"1"));
        outbox.push(b, Bytes::from_static(b"2"));
        outbox.push(a, Bytes::from_static(b"3"));
        let drained: Vec<_> = outbox.drain().map(|(to, bytes)| (to, bytes[0])).collect();
        assert_eq!(drained, [(a, b'1'), (b, b'2'), (a, b'3')]);
        assert!(outbox.is_empty());
    }
}
