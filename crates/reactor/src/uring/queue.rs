// SPDX-License-Identifier: Apache-2.0
//! [`Queue`]: a worker's ring and its receive buffers.
//!
//! By INV-OPEN the kernel may read parcels and write to buffers while an operation is under way. Dropping the
//! queue ends all operations. If one does not end in time, or if the dropping thread is not the one that may
//! enter the ring, the buffers are leaked, just as parcels that are away leak their content.

use super::buffers::{Buffers, Filling, GROUP, Taken};
use super::parcel::Parcel;
use super::ring::{Completion, Ring};
use super::token::Token;
use io_uring::opcode;
use io_uring::types::Fd;
use rustix::io::Errno;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::Duration;

/// Capacity of the submission queue, see [`Ring::new`].
const SUBMISSIONS: u32 = 1024;

/// Capacity of the completion queue.
const COMPLETIONS: u32 = 8192;

/// How many times as many buffers there are if each input takes one for itself.
const UNSHARED: u16 = 4;

/// An io_uring with receive buffers.
#[derive(Debug)]
pub(super) struct Queue {
    ring: Ring,
    buffers: ManuallyDrop<Buffers>,
    filling: Filling,
}

impl Queue {
    /// A queue, not yet enabled, with `count` buffers of `size` bytes, which are filled piece by piece; with more of them,
    /// which are filled once, if the kernel cannot do that.
    ///
    /// # Errors
    ///
    /// When the kernel has no io_uring, has one that is too old, or does not permit its use.
    pub(super) fn new(count: u16, size: usize) -> io::Result<Self> {
        match Queue::filled(count, size, Filling::InPieces) {
            Err(error) if Errno::from_io_error(&error) == Some(Errno::INVAL) => {
                Queue::filled(count.saturating_mul(UNSHARED), size, Filling::AtOnce)
            }
            made => made,
        }
    }

    fn filled(count: u16, size: usize, filling: Filling) -> io::Result<Self> {
        let ring = Ring::new(SUBMISSIONS, COMPLETIONS)?;
        let mut buffers = Buffers::new(count, size)?;
        buffers.register(&ring.submitter(), filling)?;
        Ok(Queue { ring, buffers: ManuallyDrop::new(buffers), filling })
    }

    /// What kind of ring it is, for a log line.
    pub(super) fn setup(&self) -> &'static str {
        self.ring.setup()
    }

    /// Whether connections share buffers.
    pub(super) fn shares_buffers(&self) -> bool {
        self.filling == Filling::InPieces
    }

    /// Enables submission: from now on by this thread only.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub(super) fn enable(&mut self) -> io::Result<()> {
        self.ring.enable()
    }

    /// Receives from `socket` until the operation is cancelled, or the stream fails or ends: one completion
    /// for each piece.
    pub(super) fn receive(&mut self, socket: BorrowedFd<'_>, token: Token) {
        let operation = opcode::RecvMulti::new(Fd(socket.as_raw_fd()), GROUP).build();
        // SAFETY: it refers to no memory of ours but the buffers, which stay by INV-STAY.
        unsafe { self.ring.push(operation, token) }
    }

    /// Sends the parcel, or a part of it.
    pub(super) fn send(&mut self, socket: BorrowedFd<'_>, parcel: &mut Parcel, token: Token) {
        // SAFETY: what is sent stays by INV-AWAY.
        unsafe { self.ring.push(parcel.dispatch(Fd(socket.as_raw_fd())), token) }
    }

    /// As [`Ring::watch`].
    pub(super) fn watch(&mut self, socket: BorrowedFd<'_>, token: Token) {
        self.ring.watch(socket, token);
    }

    /// As [`Ring::await_input`].
    pub(super) fn await_input(&mut self, socket: BorrowedFd<'_>, token: Token) {
        self.ring.await_input(socket, token);
    }

    /// As [`Ring::listen`].
    pub(super) fn listen(&mut self, bell: BorrowedFd<'_>) {
        self.ring.listen(bell);
    }

    /// As [`Ring::cancel`].
    pub(super) fn cancel(&mut self, operation: Token, token: Token) {
        self.ring.cancel(operation, token);
    }

    /// As [`Ring::submit`].
    ///
    /// # Errors
    ///
    /// When the ring fails for good.
    pub(super) fn submit(&mut self) -> io::Result<()> {
        self.ring.submit()
    }

    /// As [`Ring::wait`].
    ///
    /// # Errors
    ///
    /// When the ring fails for good.
    pub(super) fn wait(&mut self, most: Duration) -> io::Result<()> {
        self.ring.wait(most)
    }

    /// The next completion. If it brings a piece, the caller must take it.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Completion> {
        let completion = self.ring.pop()?;
        Some(note(&mut self.buffers, completion))
    }

    /// Borrows the bytes that a completion brings; their buffer may be lent again once the result is dropped.
    #[inline]
    pub(super) fn take(&mut self, completion: &Completion) -> Option<Taken<'_>> {
        completion.piece.map(|piece| self.buffers.take(piece))
    }

    #[cfg(test)]
    pub(super) fn buffers_lent(&self) -> usize {
        self.buffers.lent()
    }

    /// As [`Ring::end`]. Bytes received meanwhile are dropped.
    pub(super) fn end(&mut self, mut back: impl FnMut(&Completion)) -> bool {
        self.ring.end(|completion| {
            let completion = note(&mut self.buffers, completion);
            drop(completion.piece.map(|piece| self.buffers.take(piece)));
            back(&completion);
        })
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        if self.end(|_| {}) {
            // SAFETY: INV-OPEN: no operation is left that could write to the buffers; they are dropped
            // here and nowhere else.
            unsafe { ManuallyDrop::drop(&mut self.buffers) };
        }
    }
}

/// Adds to a completion the place of the bytes that it brings.
#[inline]
fn note(buffers: &mut Buffers, mut completion: Completion) -> Completion {
    let len = usize::try_from(completion.result).unwrap_or(0);
    completion.piece = completion.buffer().map(|(id, more)| buffers.note(id, len, more));
    completion
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::uring::token::Kind;
    use std::io::Write;
    use std::os::fd::AsFd;
    use std::os::unix::net::UnixStream;

    /// What comes of five bytes, two bytes and an end, with two buffers of four bytes.
    fn received(filling: Filling) -> Option<Vec<Vec<u8>>> {
        let mut queue = Queue::filled(2, 4, filling).ok()?;
        queue.enable().unwrap();
        let (near, mut far) = UnixStream::pair().unwrap();
        let token = Token::new(Kind::Receive, 0, 0);
        queue.receive(near.as_fd(), token);
        let mut all = Vec::new();
        for bytes in [&b"abcde"[..], b"fg"] {
            far.write_all(bytes).unwrap();
            let mut left = bytes.len();
            while left > 0 {
                queue.wait(Duration::from_secs(1)).unwrap();
                let completion = queue.pop().expect("in time");
                let piece = queue.take(&completion).expect("a piece").to_vec();
                left -= piece.len();
                all.push(piece);
                if !completion.has_more() {
                    queue.receive(near.as_fd(), token);
                }
            }
        }
        drop(far);
        queue.wait(Duration::from_secs(1)).unwrap();
        assert_eq!(queue.pop().expect("in time").outcome().unwrap(), 0);
        Some(all)
    }

    #[test]
    fn bytes_are_the_same_however_buffers_are_filled() {
        if let Some(pieces) = received(Filling::AtOnce) {
            assert_eq!(pieces, [&b"abcd"[..], b"e", b"fg"]);
        }
        if let Some(pieces) = received(Filling::InPieces) {
            // Two more fit behind the fifth.
            assert_eq!(pieces, [&b"abcd"[..], b"e", b"fg"]);
        }
    }
}
