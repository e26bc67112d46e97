// SPDX-License-Identifier: Apache-2.0
//! [`Parcel`]: bytes that are being sent. They belong to the kernel until it reports how many it
//! has sent.
//!
//! Invariants:
//!
//! * INV-AWAY: from [`Parcel::dispatch`] until [`Parcel::return_with`] the parcel is away: its bytes, and the
//!   list of pieces that the kernel reads, are neither changed, moved nor freed. Each method that would do so
//!   asserts that the parcel is not away, and a parcel that is dropped while it is away leaks the memory that
//!   the kernel may still read. Moving the parcel itself moves none of that memory.
//! * INV-BACK: `return_with` is called with the completion of the operation that `dispatch` made, which has
//!   only one. [`Link`](super::link::Link) ensures this, by its token.

use super::ring::Completion;
use crate::connection::SEND_MAX;
use buffer::SendBuf;
use io_uring::opcode;
use io_uring::squeue::Entry;
use io_uring::types::Fd;
use libc::{iovec, msghdr};
use rustix::net::SendFlags;
use std::io::{self, IoSlice};
use std::{mem, ptr};

/// The most pieces that one operation gathers.
const PIECES: usize = 64;

/// Bytes that are sent by one operation after the other until none are left.
#[derive(Debug, Default)]
pub(super) struct Parcel {
    content: SendBuf,
    is_away: bool,
    /// The next operation sends only the first piece, because it must wait for room in the socket.
    waits: bool,
    /// The list for content in pieces; allocated when it is first needed, and kept.
    gather: Option<Box<Gather>>,
}

/// A list of pieces in the form that the kernel reads.
#[derive(Debug)]
struct Gather {
    pieces: [iovec; PIECES],
    header: msghdr,
}

// SAFETY: the pointers in it are read by the kernel only, and set before each use.
unsafe impl Send for Gather {}

impl Parcel {
    /// The content, to fill it or to give its block back.
    ///
    /// # Panics
    ///
    /// When the parcel is away: INV-AWAY.
    pub(super) fn content(&mut self) -> &mut SendBuf {
        assert!(!self.is_away, "INV-AWAY");
        &mut self.content
    }

    /// Whether the kernel has it.
    pub(super) fn is_away(&self) -> bool {
        self.is_away
    }

    /// Makes the operation that sends the content, or its first pieces. From now on the parcel is
    /// away.
    ///
    /// # Panics
    ///
    /// When it is away already, or empty.
    pub(super) fn dispatch(&mut self, socket: Fd) -> Entry {
        assert!(!self.is_away && !self.content.is_empty(), "INV-AWAY");
        self.is_away = true;
        let flags = SendFlags::NOSIGNAL.bits();
        if mem::take(&mut self.waits) || self.content.is_contiguous() {
            let mut first = [IoSlice::new(&[])];
            self.content.slices(&mut first);
            let [bytes] = first;
            let len = bytes.len().min(SEND_MAX) as u32;
            return opcode::Send::new(socket, bytes.as_ptr(), len).flags(flags as i32).build();
        }
        let gather = self.gather.get_or_insert_with(Gather::empty);
        gather.list(&self.content);
        opcode::SendMsg::new(socket, &raw const gather.header).flags(flags).build()
    }

    /// Takes the parcel back with the completion of its operation; returns how many bytes were sent. To send
    /// the rest, dispatch it again.
    ///
    /// # Errors
    ///
    /// Those of the system.
    pub(super) fn return_with(&mut self, completion: &Completion) -> io::Result<usize> {
        assert!(self.is_away, "INV-BACK");
        self.is_away = false;
        match completion.outcome() {
            Ok(0) => Err(io::ErrorKind::WriteZero.into()),
            Ok(sent) => {
                self.content.consume(sent);
                Ok(sent)
            }
            // Interrupted by a signal, before anything was sent.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(0),
            // With `sendmsg` the kernel does not always wait for room on a non-blocking socket, which is the
            // mode for sessions that read the socket themselves. With `send` it does.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.waits = true;
                Ok(0)
            }
            Err(error) => Err(error),
        }
    }
}

impl Drop for Parcel {
    fn drop(&mut self) {
        if self.is_away {
            mem::forget((mem::take(&mut self.content), self.gather.take()));
        }
    }
}

impl Gather {
    fn empty() -> Box<Self> {
        let nothing = iovec { iov_base: ptr::null_mut(), iov_len: 0 };
        // SAFETY: a message header is plain data, for which all zeros mean that there is nothing.
        let header = unsafe { mem::zeroed() };
        Box::new(Gather { pieces: [nothing; PIECES], header })
    }

    /// Lists the first pieces of `content`.
    fn list(&mut self, content: &SendBuf) {
        let mut slices = [IoSlice::new(&[]); PIECES];
        let filled = content.slices_within(&mut slices, content.portion(SEND_MAX));
        for (piece, slice) in self.pieces.iter_mut().zip(&slices[..filled]) {
            *piece = iovec { iov_base: slice.as_ptr().cast_mut().cast(), iov_len: slice.len() };
        }
        self.header.msg_iov = self.pieces.as_mut_ptr();
        self.header.msg_iovlen = filled as _;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;

    #[test]
    fn a_short_send_leaves_the_rest() {
        let mut parcel = Parcel::default();
        parcel.content().put(b"head ");
        parcel.content().put_pinned(Bytes::from_static(b"pinned "));
        parcel.content().put(b"tail");
        for (sent, left) in [(7, 9), (5, 4)] {
            let _ = parcel.dispatch(Fd(0));
            assert!(parcel.is_away());
            assert_eq!(
                parcel.return_with(&Completion::without_buffer(sent)).unwrap(),
                sent as usize
            );
            assert_eq!(parcel.content().waiting(), left);
        }
        assert_eq!(parcel.content().front(), b"tail");
    }

    #[test]
    fn a_send_that_comes_to_nothing_is_sent_again() {
        let mut parcel = Parcel::default();
        parcel.content().put(b"reply");
        let _ = parcel.dispatch(Fd(0));
        for error in [libc::EINTR, libc::EAGAIN] {
            assert_eq!(parcel.return_with(&Completion::without_buffer(-error)).unwrap(), 0);
            assert_eq!(parcel.waits, error == libc::EAGAIN);
            let _ = parcel.dispatch(Fd(0));
        }
        assert!(!parcel.waits, "once");
        assert_eq!(parcel.return_with(&Completion::without_buffer(5)).unwrap(), 5);
        assert!(parcel.content().is_empty());
    }

    #[test]
    fn a_parcel_that_is_dropped_while_it_is_away_keeps_its_bytes() {
        let owner = Bytes::from(vec![1; 1000]);
        let mut parcel = Parcel::default();
        parcel.content().put_pinned(owner.clone());
        let _ = parcel.dispatch(Fd(0));
        drop(parcel);
        assert!(!owner.is_unique(), "the kernel may still read it");

        let owner = Bytes::from(vec![1; 1000]);
        let mut parcel = Parcel::default();
        parcel.content().put_pinned(owner.clone());
        let _ = parcel.dispatch(Fd(0));
        parcel.return_with(&Completion::without_buffer(-32)).unwrap_err();
        drop(parcel);
        assert!(owner.is_unique(), "it has come back");
    }

    #[test]
    #[should_panic(expected = "INV-AWAY")]
    fn what_is_away_cannot_be_changed() {
        let mut parcel = Parcel::default();
        parcel.content().put(b"x");
        let _ = parcel.dispatch(Fd(0));
        parcel.content().put(b"y");
    }
}
