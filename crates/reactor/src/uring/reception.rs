// SPDX-License-Identifier: Apache-2.0
//! [`Reception`]: a ring that accepts connections: one operation per listening socket, until it ends.
//!
//! INV-ACCEPTED: the result of a completion of accepting that did not fail is a descriptor which nobody
//! else knows. It is made into an owned one when the completion is popped, and so once.

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

/// Operations that wait to be submitted: those of all doors and a few more.
const SUBMISSIONS: u32 = 64;

/// Connections that wait to be taken before the kernel accepts no more, or nearly.
const COMPLETIONS: u32 = 1024;

/// A ring that accepts connections, until it is dropped.
#[derive(Debug)]
pub(crate) struct Reception {
    ring: Ring,
    bell: Arc<Bell>,
}

/// What accepting has come to.
#[derive(Debug)]
pub(crate) struct Arrival {
    /// The number of the socket it was accepted on.
    pub(crate) door: usize,
    /// The connection, or why there is none.
    pub(crate) outcome: io::Result<OwnedFd>,
    /// Nothing is accepted there any more, until [`Reception::accept`] is called again.
    pub(crate) is_last: bool,
}

impl Reception {
    /// One that `bell` wakes.
    ///
    /// # Errors
    ///
    /// When the kernel refuses a ring.
    pub(crate) fn new(bell: Arc<Bell>) -> io::Result<Self> {
        Ok(Reception { ring: Ring::new(SUBMISSIONS, COMPLETIONS)?, bell })
    }

    /// Begins, on the thread that uses it from now on.
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

    /// Submits what was prepared, which accepts those who wait.
    ///
    /// # Errors
    ///
    /// When the ring fails.
    pub(crate) fn submit(&mut self) -> io::Result<()> {
        self.ring.submit()
    }

    /// As [`Reception::submit`], and waits for somebody to come, at most for as long as `most`.
    ///
    /// # Errors
    ///
    /// When the ring fails.
    pub(crate) fn wait(&mut self, most: Duration) -> io::Result<()> {
        self.ring.wait(most)
    }

    /// Who has come next.
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

    /// Ends all accepting, and returns those who have come meanwhile.
    pub(crate) fn end(&mut self) -> Vec<Arrival> {
        let mut last = Vec::new();
        self.ring.end(|completion| last.extend(arrival(&completion)));
        last
    }
}

impl Drop for Reception {
    fn drop(&mut self) {
        // Those who have come are closed.
        self.end();
    }
}

/// What a completion says, if it is one of accepting that was not cancelled.
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
