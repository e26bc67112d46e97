// SPDX-License-Identifier: Apache-2.0
//! [`Reception`]: a ring that accepts connections, with one multishot operation per listening socket.
//!
//! INV-ACCEPTED: the result of a successful accept completion is a descriptor that nothing else owns. It is
//! made into an owned one when the completion is popped, and so once.

use super::ring::{Completion, Ring};
use super::token::{Kind, Token};
use crate::bell::Bell;
use io_uring::opcode;
use io_uring::types::Fd;
use rustix::net::SocketFlags;
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::sync::Arc;
use std::time::Duration;

/// Capacity of the submission queue: the operations of all doors and a few more.
const SUBMISSIONS: u32 = 64;

/// Capacity of the completion queue: about how many accepted connections may wait before the kernel
/// stops accepting.
const COMPLETIONS: u32 = 1024;

/// A ring that accepts connections, until it is dropped.
#[derive(Debug)]
pub(crate) struct Reception {
    ring: Ring,
    bell: Arc<Bell>,
}

/// The outcome of an accept operation.
#[derive(Debug)]
pub(crate) struct Arrival {
    /// The number of the listening socket.
    pub(crate) door: usize,
    /// The connection, or why there is none.
    pub(crate) outcome: io::Result<OwnedFd>,
    /// Accepting has ended at this door, until [`Reception::accept`] is called again.
    pub(crate) is_last: bool,
}

impl Reception {
    /// A ring that is woken by `bell`.
    ///
    /// # Errors
    ///
    /// When the kernel refuses a ring.
    pub(crate) fn new(bell: Arc<Bell>) -> io::Result<Self> {
        Ok(Reception { ring: Ring::new(SUBMISSIONS, COMPLETIONS)?, bell })
    }

    /// Starts the ring, on the thread that uses it from now on.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub(crate) fn begin(&mut self) -> io::Result<()> {
        self.ring.enable()?;
        self.ring.listen(self.bell.as_fd());
        Ok(())
    }

    /// Accepts on `socket`, the `door`-th, from the next submission on.
    pub(crate) fn accept(&mut self, socket: BorrowedFd<'_>, door: usize) {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let operation =
            opcode::AcceptMulti::new(Fd(socket.as_raw_fd())).flags(flags.bits() as i32).build();
        let token = Token::new(Kind::Accept, 0, door as u32);
        // SAFETY: it refers to no memory: nobody asks for the address.
        unsafe { self.ring.push(operation, token) }
    }

    /// Submits the prepared operations, which accepts the waiting connections.
    ///
    /// # Errors
    ///
    /// When the ring fails.
    pub(crate) fn submit(&mut self) -> io::Result<()> {
        self.ring.submit()
    }

    /// As [`Reception::submit`], and waits for a connection, for at most `most`.
    ///
    /// # Errors
    ///
    /// When the ring fails.
    pub(crate) fn wait(&mut self, most: Duration) -> io::Result<()> {
        self.ring.wait(most)
    }

    /// The next arrival.
    pub(crate) fn pop(&mut self) -> Option<Arrival> {
        loop {
            let completion = self.ring.pop()?;
            if completion.token.kind == Kind::Bell {
                self.bell.quieten();
                if !completion.has_more() {
                    self.ring.listen(self.bell.as_fd());
                }
            } else if let Some(arrival) = arrival(&completion) {
                return Some(arrival);
            }
        }
    }

    /// Ends all accepting, and returns the connections that came meanwhile.
    pub(crate) fn end(&mut self) -> Vec<Arrival> {
        let mut last = Vec::new();
        self.ring.end(|completion| last.extend(arrival(&completion)));
        last
    }
}

impl Drop for Reception {
    fn drop(&mut self) {
        // Connections that came meanwhile are closed.
        self.end();
    }
}

/// The arrival that a completion reports; `None` if it is not from an accept operation, or that was
/// cancelled.
fn arrival(completion: &Completion) -> Option<Arrival> {
    if completion.token.kind != Kind::Accept || completion.is(rustix::io::Errno::CANCELED) {
        return None;
    }
    let outcome = completion.outcome().map(|descriptor| {
        // SAFETY: INV-ACCEPTED.
        unsafe { OwnedFd::from_raw_fd(descriptor as i32) }
    });
    let door = completion.token.link as usize;
    Some(Arrival { door, outcome, is_last: !completion.has_more() })
}
