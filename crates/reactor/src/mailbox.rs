// SPDX-License-Identifier: Apache-2.0
//! [`Mailbox`]: how other threads reach a worker.
//!
//! A mailbox has two queues behind one lock. The lock is held only while a batch is moved in or out, never
//! during a wait. The first queue holds new connections and orders: no more of them than there may be
//! connections. The second holds letters, the errands of workers for each other's connections. They can be
//! many, and a worker that is busy with a long request takes none. So the letters have a limit in bytes; see
//! `letters.rs` for what happens past it.
//!
//! One wake-up serves for all messages until the worker looks: only a sender that finds the mailbox empty
//! wakes it.

mod letters;

use crate::Seat;
use crate::waker::Waker;
use clock::Ticks;
use letters::Letters;
use protocol::{ConnectionId, Errand};
use session::{Stream, TlsAcceptor};
use std::collections::VecDeque;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// A connection that was just accepted.
#[derive(Debug)]
pub struct Newcomer {
    /// Its socket, non-blocking.
    pub stream: Stream,
    /// The client's address, if it was accepted over TCP.
    pub from: Option<SocketAddr>,
    /// Does the TLS handshake; `None` for a plain connection.
    pub tls: Option<TlsAcceptor>,
    /// The number of the connection in the process, from 1.
    pub serial: u64,
    /// The listener's address as shown to operators.
    pub local: Arc<str>,
    /// The listener's tag, from which the worker makes the protocol value.
    pub tag: u16,
    /// Its place in the census.
    pub seat: Seat,
}

/// A message to a worker.
#[derive(Debug)]
pub enum Message {
    /// Serve this connection.
    Connection(Box<Newcomer>),
    /// Serve the input that has arrived, flush and close each connection, then end.
    Drain {
        /// When the worker gives up connections that cannot be flushed, and ends.
        deadline: Ticks,
    },
}

/// An errand for a connection of another worker.
pub(crate) type Letter = (ConnectionId, Errand);

/// The sending end of a worker's mailbox.
#[derive(Clone, Debug)]
pub struct Mailbox {
    shared: Arc<Shared>,
}

/// The receiving end of a worker's mailbox. Dropping it closes the mailbox.
#[derive(Debug)]
pub(crate) struct Inbox {
    shared: Arc<Shared>,
}

/// Letters taken out of a mailbox at once.
#[derive(Debug, Default)]
pub(crate) struct Mail {
    /// Overrun connections: more was written to them than the mailbox holds. They must be removed before any
    /// letter is delivered.
    pub(crate) overrun: Vec<ConnectionId>,
    pub(crate) letters: VecDeque<Letter>,
}

impl Mail {
    pub(crate) fn is_empty(&self) -> bool {
        self.overrun.is_empty() && self.letters.is_empty()
    }
}

#[derive(Debug)]
struct Shared {
    queues: Mutex<Queues>,
    /// Whether the queues hold anything. Written under the lock; read without it, once per turn of
    /// the worker's loop.
    has_mail: AtomicBool,
    /// [`Letters::written`] and [`Letters::taken`], written and read in the same way.
    written: AtomicU64,
    taken: AtomicU64,
    waker: Waker,
}

#[derive(Debug)]
struct Queues {
    /// The worker has ended: messages are dropped.
    closed: bool,
    messages: VecDeque<Message>,
    letters: Letters,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queues> {
        // No code that holds the lock can leave the queues half changed.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds to the queues of a worker that has not ended, and wakes it unless it has been woken
    /// already.
    fn post(&self, add: impl FnOnce(&mut Queues)) -> io::Result<()> {
        let mut queues = self.lock();
        if queues.closed {
            return Ok(());
        }
        add(&mut queues);
        self.written.store(queues.letters.written(), Ordering::Release);
        let is_awake = self.has_mail.swap(true, Ordering::AcqRel);
        drop(queues);
        if is_awake { Ok(()) } else { self.waker.wake() }
    }
}

/// Both ends of a mailbox whose letters take up to about `most` bytes.
pub(crate) fn mailbox(waker: Waker, most: usize) -> (Mailbox, Inbox) {
    let letters = Letters::new(most);
    let queues = Queues { closed: false, messages: VecDeque::new(), letters };
    let shared = Arc::new(Shared {
        queues: Mutex::new(queues),
        has_mail: AtomicBool::new(false),
        written: AtomicU64::new(0),
        taken: AtomicU64::new(0),
        waker,
    });
    (Mailbox { shared: shared.clone() }, Inbox { shared })
}

impl Mailbox {
    /// Queues a message and wakes the worker. A message to a worker that has ended is dropped.
    ///
    /// # Errors
    ///
    /// When the worker cannot be woken. It finds the message at its next tick all the same.
    pub fn send(&self, message: Message) -> io::Result<()> {
        self.shared.post(|queues| queues.messages.push_back(message))
    }

    /// Whether messages or letters wait.
    #[cfg(test)]
    pub(crate) fn has_mail(&self) -> bool {
        self.shared.has_mail.load(Ordering::Acquire)
    }

    /// Queues all `letters`, in their order, and wakes the worker once.
    ///
    /// # Errors
    ///
    /// As for [`Mailbox::send`].
    pub(crate) fn deliver(&self, letters: &mut Vec<Letter>) -> io::Result<()> {
        let posted = self.shared.post(|queues| queues.letters.append(letters.drain(..)));
        letters.clear();
        posted
    }
}

impl Inbox {
    /// Whether messages or letters wait.
    #[inline]
    pub(crate) fn has_mail(&self) -> bool {
        self.shared.has_mail.load(Ordering::Acquire)
    }

    /// Takes up to `most` messages, and returns whether there are more. The worker is not woken again for these:
    /// [`Inbox::has_mail`] tells whether anything is left.
    pub(crate) fn take_messages(&self, most: usize, messages: &mut Vec<Message>) -> bool {
        let mut queues = self.shared.lock();
        let part = queues.messages.len().min(most);
        messages.extend(queues.messages.drain(..part));
        self.note_left(&queues);
        !queues.messages.is_empty()
    }

    /// Takes all overrun connections and up to `most` letters, in the same way.
    pub(crate) fn take_letters(&self, most: usize, mail: &mut Mail) -> bool {
        let mut queues = self.shared.lock();
        queues.letters.take(most, mail);
        self.shared.taken.store(queues.letters.taken(), Ordering::Release);
        self.note_left(&queues);
        !queues.letters.is_empty()
    }

    fn note_left(&self, queues: &Queues) {
        let is_empty = queues.messages.is_empty() && queues.letters.is_empty();
        self.shared.has_mail.store(!is_empty, Ordering::Release);
    }

    /// A mark behind the last letter that waits; see [`Inbox::has_read`].
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.shared.written.load(Ordering::Acquire)
    }

    /// Whether all letters in front of this mark have been taken.
    #[inline]
    pub(crate) fn has_read(&self, mark: u64) -> bool {
        // Letters that are dropped move the mark back.
        self.shared.taken.load(Ordering::Acquire) >= mark || !self.has_mail()
    }
}

impl Drop for Inbox {
    fn drop(&mut self) {
        let mut queues = self.shared.lock();
        queues.closed = true;
        // The messages are dropped outside of the lock, because that closes sockets.
        let messages = std::mem::take(&mut queues.messages);
        let letters = std::mem::replace(&mut queues.letters, Letters::new(0));
        drop(queues);
        drop((messages, letters));
    }
}

#[cfg(test)]
mod tests;
