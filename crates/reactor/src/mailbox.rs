// SPDX-License-Identifier: Apache-2.0
//! [`Mailbox`]: how other threads reach a worker.

use crate::Seat;
use bytes::Bytes;
use clock::Ticks;
use mio::Waker;
use protocol::ConnectionId;
use session::{Stream, TlsAcceptor};
use std::io;
use std::sync::Arc;
use std::sync::mpsc::Sender;

/// A connection that was just accepted.
#[derive(Debug)]
pub struct Newcomer {
    /// Its socket, non-blocking.
    pub stream: Stream,
    /// Who does the TLS handshake; `None` for a plain connection.
    pub tls: Option<TlsAcceptor>,
    /// Counts the process's connections, from 1.
    pub serial: u64,
    /// The listener's address as shown to operators.
    pub local: Arc<str>,
    /// Its place in the census.
    pub seat: Seat,
}

/// What a worker is told.
#[derive(Debug)]
pub enum Message {
    /// Serve this connection.
    Connection(Box<Newcomer>),
    /// Send bytes to a connection, if it is still there.
    Deliver(ConnectionId, Bytes),
    /// Serve what has arrived, flush, close each connection, end; at the latest at this time.
    Drain {
        /// When connections that cannot be flushed are given up.
        deadline: Ticks,
    },
}

/// The sending end of a worker's queue of messages.
#[derive(Clone, Debug)]
pub struct Mailbox {
    sender: Sender<Message>,
    waker: Arc<Waker>,
}

impl Mailbox {
    pub(crate) fn new(sender: Sender<Message>, waker: Arc<Waker>) -> Self {
        Mailbox { sender, waker }
    }

    /// Queues a message and wakes the worker. A message to a worker that has ended is dropped.
    ///
    /// # Errors
    ///
    /// When the worker cannot be woken.
    pub fn send(&self, message: Message) -> io::Result<()> {
        match self.sender.send(message) {
            Ok(()) => self.waker.wake(),
            Err(_) => Ok(()),
        }
    }
}
