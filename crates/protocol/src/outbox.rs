// SPDX-License-Identifier: Apache-2.0
//! [`Outbox`]: errands, the effects of a request on other connections.
//!
//! * `outbox/held.rs`: the memory of the messages in them.

mod held;

use bytes::Bytes;
use held::Held;

/// The smallest message or reply that a connection sends by reference; a smaller one costs less to copy than to keep.
pub const SHARED_MIN: usize = 512;

/// How many errands back a message is looked for that was pushed before: one to many is pushed to one after the other, in no
/// more than two forms.
const LOOKED_BACK: usize = 16;

/// Identifies a connection of this process. Ids are never reused.
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

    /// The worker that serves the connection.
    pub fn worker(self) -> usize {
        (self.0 & ((1 << WORKER_BITS) - 1)) as usize
    }

    /// The number to show to people: it counts the connections of the process.
    pub fn serial(self) -> u64 {
        self.0 >> WORKER_BITS
    }
}

/// The number of a block of one connection: its first, its second and so on.
///
/// A blocked connection may be resumed from several sides: by the request that brings what it waits for, by
/// its timeout, by the operator. Each of them holds the ticket of the block it means, so one that comes too
/// late cannot end a later block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Ticket(u64);

impl Ticket {
    /// The ticket of the block after this one.
    #[must_use]
    pub fn next(self) -> Self {
        Ticket(self.0 + 1)
    }
}

/// One thing that an [`Outbox`] does for a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Errand {
    /// See [`Outbox::push`].
    Push(Bytes),
    /// See [`Outbox::resume`].
    Resume(Ticket, Bytes),
    /// See [`Outbox::close`].
    Close,
    /// See [`Outbox::cut`].
    Cut,
}

/// Errands for other connections, on this worker or another: published messages, invalidations, replies of
/// blocked clients, orders to close a client.
///
/// The worker carries out the errands after the turn that added them. Those for one connection are carried
/// out in the order in which they were added, behind the replies already written to it. An errand for a
/// connection that is gone is dropped.
///
/// Messages and replies of [`SHARED_MIN`] bytes and more are shared by all who get them, on whichever worker, and count as
/// memory here, where they are made, until the last one has sent or dropped them: [`Outbox::shared_bytes`].
#[derive(Debug, Default)]
pub struct Outbox {
    errands: Vec<(ConnectionId, Errand)>,
    held: Held,
}

impl Outbox {
    /// An empty outbox.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sends `bytes` to the connection `to`. A client that lets such messages pile up is closed, so no
    /// message is lost while its connection lives.
    ///
    /// Clones of a message that are pushed one after the other count as memory once.
    ///
    /// ```
    /// # use protocol::{ConnectionId, Outbox};
    /// let (mut outbox, message) = (Outbox::new(), bytes::Bytes::from(vec![b'm'; 100_000]));
    /// for serial in 0..1_000 {
    ///     outbox.push(ConnectionId::new(0, serial), message.clone());
    /// }
    /// assert!((100_000..101_000).contains(&outbox.shared_bytes()));
    /// ```
    #[inline]
    pub fn push(&mut self, to: ConnectionId, bytes: Bytes) {
        let bytes = if bytes.len() < SHARED_MIN { bytes } else { self.counted(bytes) };
        self.errands.push((to, Errand::Push(bytes)));
    }

    /// A message as it is counted: as one of the last errands has it, or as a new one.
    fn counted(&self, bytes: Bytes) -> Bytes {
        let same =
            self.errands.iter().rev().take(LOOKED_BACK).find_map(|(_, errand)| match errand {
                Errand::Push(other) => {
                    let is_same = (other.as_ptr(), other.len()) == (bytes.as_ptr(), bytes.len());
                    is_same.then_some(other)
                }
                Errand::Resume(..) | Errand::Close | Errand::Cut => None,
            });
        same.map_or_else(|| self.held.count(bytes), Bytes::clone)
    }

    /// Bytes of memory of the messages and replies from this outbox that somebody holds, each once.
    #[inline]
    pub fn shared_bytes(&self) -> usize {
        self.held.bytes()
    }

    /// Sends `reply`, which may be empty, to the connection `to` and resumes it, if it is blocked with
    /// `ticket`; otherwise does nothing and drops `reply`.
    ///
    /// The caller does not learn which of the two happened. So if the reply carries something that must not
    /// be lost, such as an element popped from a list, first remove the client from the shared list of
    /// waiting clients. Every side that might resume the client looks there, and only the one that removes it
    /// resumes it.
    ///
    /// A resume cannot come too early: the ticket is known only from the `execute` call that returns
    /// [`Control::Block`](crate::Control::Block), and no errand reaches a connection while one of its
    /// requests is being executed.
    #[inline]
    pub fn resume(&mut self, to: ConnectionId, ticket: Ticket, reply: Bytes) {
        let reply = if reply.len() < SHARED_MIN { reply } else { self.held.count(reply) };
        self.errands.push((to, Errand::Resume(ticket, reply)));
    }

    /// Closes the connection `to`, which may be the sender's own, once everything written to it has been
    /// sent. No further request of it is executed, and later errands for it are dropped. A client that does
    /// not read its last bytes is cut off by the write timeout.
    #[inline]
    pub fn close(&mut self, to: ConnectionId) {
        self.errands.push((to, Errand::Close));
    }

    /// Ends the connection `to` at once, even if it is already being closed: its unsent replies are
    /// dropped and its memory is freed. For clients that hold too much memory.
    #[inline]
    pub fn cut(&mut self, to: ConnectionId) {
        self.errands.push((to, Errand::Cut));
    }

    /// Whether the outbox is empty.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.errands.is_empty()
    }

    /// How many errands wait.
    #[inline]
    pub fn len(&self) -> usize {
        self.errands.len()
    }

    /// Takes back, in order, what was pushed to the connection `to` after the first `since` errands: for a
    /// service that writes a connection's messages to itself together with its replies.
    pub fn recall(&mut self, since: usize, to: ConnectionId, mut each: impl FnMut(Bytes)) {
        let since = since.min(self.errands.len());
        let is_meant = |errand: &mut (ConnectionId, Errand)| {
            errand.0 == to && matches!(errand.1, Errand::Push(_))
        };
        for (_, errand) in self.errands.extract_if(since.., is_meant) {
            if let Errand::Push(bytes) = errand {
                each(bytes);
            }
        }
    }

    /// Takes all errands, into an outbox that counts memory together with this one.
    #[must_use]
    pub fn take(&mut self) -> Outbox {
        Outbox { errands: std::mem::take(&mut self.errands), held: self.held.clone() }
    }

    /// Removes the errands for connections of other workers than `worker`, in the order in which they were added.
    pub fn drain_foreign(
        &mut self,
        worker: usize,
    ) -> impl Iterator<Item = (ConnectionId, Errand)> + '_ {
        self.errands.extract_if(.., move |(to, _)| to.worker() != worker)
    }

    /// Removes all errands, in the order in which they were added.
    pub fn drain(&mut self) -> impl Iterator<Item = (ConnectionId, Errand)> + '_ {
        self.errands.drain(..)
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
    fn errands_keep_their_order() {
        let mut outbox = Outbox::new();
        let (a, b) = (ConnectionId::new(0, 1), ConnectionId::new(1, 2));
        let (first, reply) = (Ticket::default(), Bytes::from_static(b"reply"));
        outbox.push(a, Bytes::from_static(b"1"));
        outbox.resume(b, first.next(), reply.clone());
        outbox.close(b);
        outbox.push(a, Bytes::from_static(b"2"));
        assert_eq!(outbox.len(), 4);
        let drained: Vec<_> = outbox.drain().collect();
        let expected = [
            (a, Errand::Push(Bytes::from_static(b"1"))),
            (b, Errand::Resume(first.next(), reply)),
            (b, Errand::Close),
            (a, Errand::Push(Bytes::from_static(b"2"))),
        ];
        assert_eq!(drained, expected);
        assert!(outbox.is_empty() && first < first.next());
    }

    #[test]
    fn errands_for_other_workers_leave_before_the_others() {
        let mut outbox = Outbox::new();
        let (near, far) = (ConnectionId::new(0, 1), ConnectionId::new(1, 2));
        for (to, message) in [(far, "1"), (near, "2"), (far, "3")] {
            outbox.push(to, Bytes::from_static(message.as_bytes()));
        }
        let push = |message: &'static str| Errand::Push(Bytes::from_static(message.as_bytes()));
        let foreign: Vec<_> = outbox.drain_foreign(0).collect();
        assert_eq!(foreign, [(far, push("1")), (far, push("3"))]);
        assert_eq!(outbox.drain().collect::<Vec<_>>(), [(near, push("2"))]);
    }

    #[test]
    fn messages_to_oneself_are_taken_back() {
        let mut outbox = Outbox::new();
        let (me, other) = (ConnectionId::new(0, 1), ConnectionId::new(1, 2));
        for (to, message) in [(me, "0"), (other, "1"), (me, "2"), (other, "3"), (me, "4")] {
            outbox.push(to, Bytes::from_static(message.as_bytes()));
        }
        outbox.close(me);
        let mut recalled = Vec::new();
        outbox.recall(1, me, |bytes| recalled.push(bytes));
        assert_eq!(recalled, [Bytes::from_static(b"2"), Bytes::from_static(b"4")]);
        assert_eq!(outbox.len(), 4, "the first, the other's two, and the close");
        outbox.recall(9, me, |_| panic!("there are not so many"));
    }

    /// Whatever becomes of the errands, and whoever pushes two forms of a message by turns.
    #[test]
    fn a_message_to_many_counts_once_until_the_last_has_dropped_it() {
        let mut outbox = Outbox::new();
        let forms = [vec![1; 1 << 20], vec![2; 1 << 20]].map(Bytes::from);
        for serial in 0..2_000 {
            let form = &forms[serial as usize % 2];
            outbox.push(ConnectionId::new(serial as usize % 4, serial), form.clone());
        }
        let both = outbox.shared_bytes();
        assert!((2 << 20..(2 << 20) + 1_000).contains(&both), "{both} bytes");
        let mut taken = outbox.take();
        assert!(outbox.is_empty() && taken.len() == 2_000);
        let mut errands: Vec<_> = taken.drain().collect();
        drop(taken);
        assert_eq!(outbox.shared_bytes(), both, "they are on their way");
        errands.truncate(1);
        assert_eq!(outbox.shared_bytes(), both / 2);
        assert_eq!(errands, [(ConnectionId::new(0, 0), Errand::Push(forms[0].clone()))]);
        errands.clear();
        assert_eq!(outbox.shared_bytes(), 0);
    }

    #[test]
    fn replies_count_and_what_is_small_does_not() {
        let (mut outbox, to) = (Outbox::new(), ConnectionId::new(0, 1));
        outbox.push(to, vec![1; SHARED_MIN - 1].into());
        outbox.resume(to, Ticket::default(), vec![1; SHARED_MIN - 1].into());
        assert_eq!(outbox.shared_bytes(), 0);
        outbox.resume(to, Ticket::default(), vec![1; SHARED_MIN].into());
        assert!(outbox.shared_bytes() > SHARED_MIN, "with what it takes to count it");
        drop(outbox.drain());
        assert_eq!(outbox.shared_bytes(), 0);
    }
}
