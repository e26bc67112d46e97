// SPDX-License-Identifier: Apache-2.0
//! [`Ring`]: an io_uring, with operations pushed in and completions popped out.
//!
//! Invariants:
//!
//! * INV-OPEN: `open` counts the operations that were pushed and whose last completion was not popped. Until
//!   then the kernel may use the memory that an operation refers to: whoever pushes an operation keeps that
//!   memory in place until its last completion, or leaks it. [`Ring::end`] cancels all operations and waits
//!   until they have ended.
//! * INV-ISSUER: after [`Ring::enable`] only the thread that called it enters the ring. On another thread
//!   [`Ring::end`] fails.

use super::buffers::Piece;
use super::token::{Kind, Token};
use crate::patience::Patience;
use io_uring::squeue::Entry;
use io_uring::types::{CancelBuilder, Fd, SubmitArgs, Timespec};
use io_uring::{Builder, IoUring, Submitter, cqueue, opcode};
use rustix::event::PollFlags;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

/// How long [`Ring::end`] waits for cancelled operations.
const END: Duration = Duration::from_secs(1);

/// A kind of ring: its name, and the flags that tell the kernel how to do its part of the work. The
/// best kind comes first.
type Setup = (&'static str, fn(&mut Builder) -> &mut Builder);

const SETUPS: [Setup; 3] = [
    ("deferred task work", |ring| {
        ring.setup_single_issuer().setup_defer_taskrun().setup_taskrun_flag()
    }),
    ("cooperative task work", |ring| ring.setup_coop_taskrun().setup_taskrun_flag()),
    ("plain", |ring| ring),
];

/// An io_uring.
pub(super) struct Ring {
    ring: IoUring,
    /// Operations for which the submission queue had no room.
    backlog: VecDeque<Entry>,
    /// INV-OPEN
    open: usize,
    setup: &'static str,
}

impl std::fmt::Debug for Ring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ring").field("open", &self.open).finish_non_exhaustive()
    }
}

/// A completion: the result of an operation, or one of several.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completion {
    pub(super) token: Token,
    pub(super) result: i32,
    /// The place of the bytes that it brings, set by the [`Queue`](super::queue::Queue).
    pub(super) piece: Option<Piece>,
    flags: u32,
}

impl Completion {
    /// Whether more completions of this operation follow.
    pub(super) fn has_more(&self) -> bool {
        cqueue::more(self.flags)
    }

    /// The id of the buffer with its bytes, and whether more completions for the same buffer
    /// follow.
    pub(super) fn buffer(&self) -> Option<(u16, bool)> {
        cqueue::buffer_select(self.flags).map(|id| (id, cqueue::buffer_more(self.flags)))
    }

    /// The result as the system call would have returned it.
    pub(super) fn outcome(&self) -> io::Result<usize> {
        usize::try_from(self.result).map_err(|_| io::Error::from_raw_os_error(-self.result))
    }

    /// Whether it is a poll completion that reports that the peer has hung up.
    pub(super) fn tells_of_hanging_up(&self) -> bool {
        let gone = PollFlags::RDHUP | PollFlags::HUP;
        u32::try_from(self.result).is_ok_and(|told| told & u32::from(gone.bits()) != 0)
    }

    /// How many bytes it brings.
    pub(super) fn bytes(&self) -> usize {
        self.piece.map_or(0, Piece::len)
    }

    /// Whether the operation failed with this error.
    pub(super) fn is(&self, error: Errno) -> bool {
        self.result == -error.raw_os_error()
    }

    #[cfg(test)]
    pub(super) fn without_buffer(result: i32) -> Self {
        Completion { token: Token::BELL, result, piece: None, flags: 0 }
    }
}

impl Ring {
    /// A ring, not yet enabled, with the capacities of its two queues. When `submissions` operations wait to
    /// be submitted, more of them are kept in our backlog; when `completions` completions wait to be popped,
    /// the kernel keeps more of them.
    ///
    /// # Errors
    ///
    /// When the kernel has no io_uring, has one that is too old, or does not permit its use.
    pub(super) fn new(submissions: u32, completions: u32) -> io::Result<Self> {
        let mut refused = None;
        for (setup, prepare) in SETUPS {
            let mut builder = IoUring::builder();
            builder.setup_cqsize(completions).setup_clamp().setup_submit_all().setup_r_disabled();
            match prepare(&mut builder).build(submissions) {
                Ok(ring) => return Ok(Ring { ring, backlog: VecDeque::new(), open: 0, setup }),
                Err(error) => {
                    refused.get_or_insert(error);
                }
            }
        }
        Err(refused.unwrap_or_else(|| io::ErrorKind::Unsupported.into()))
    }

    /// What kind of ring it is, for a log line.
    pub(super) fn setup(&self) -> &'static str {
        self.setup
    }

    /// Gives access to registration, such as that of buffers.
    pub(super) fn submitter(&self) -> Submitter<'_> {
        self.ring.submitter()
    }

    /// Enables submission: from now on by this thread only.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub(super) fn enable(&mut self) -> io::Result<()> {
        self.ring.submitter().register_enable_rings()
    }

    /// Waits until the peer of `socket` hangs up.
    pub(super) fn watch(&mut self, socket: BorrowedFd<'_>, token: Token) {
        let flags = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
        let flags = u32::from(flags.bits());
        let operation = opcode::PollAdd::new(Fd(socket.as_raw_fd()), flags).build();
        // SAFETY: polling refers to no memory.
        unsafe { self.push(operation, token) }
    }

    /// Reports each arrival of bytes at `socket`, and that its peer hangs up.
    pub(super) fn await_input(&mut self, socket: BorrowedFd<'_>, token: Token) {
        self.poll_again_and_again(socket, PollFlags::IN | PollFlags::RDHUP, token);
    }

    /// Reports each time that `bell` becomes readable.
    pub(super) fn listen(&mut self, bell: BorrowedFd<'_>) {
        self.poll_again_and_again(bell, PollFlags::IN, Token::BELL);
    }

    fn poll_again_and_again(&mut self, file: BorrowedFd<'_>, what: PollFlags, token: Token) {
        let flags = u32::from(what.bits());
        let operation = opcode::PollAdd::new(Fd(file.as_raw_fd()), flags).multi(true).build();
        // SAFETY: polling refers to no memory.
        unsafe { self.push(operation, token) }
    }

    /// Cancels the operation with this token, if it is under way.
    pub(super) fn cancel(&mut self, operation: Token, token: Token) {
        // SAFETY: cancelling refers to no memory.
        unsafe { self.push(opcode::AsyncCancel::new(operation.to_bits()).build(), token) }
    }

    /// Adds an operation to the next submission.
    ///
    /// # Safety
    ///
    /// The memory that the operation refers to stays as it is until its last completion was popped:
    /// INV-OPEN.
    pub(super) unsafe fn push(&mut self, operation: Entry, token: Token) {
        self.open += 1;
        self.backlog_or_queue(operation.user_data(token.to_bits()));
    }

    fn backlog_or_queue(&mut self, operation: Entry) {
        if !self.backlog.is_empty() {
            self.backlog.push_back(operation);
            return;
        }
        // SAFETY: every operation comes from `push`, whose caller has promised that the memory it
        // refers to stays.
        let pushed = unsafe { self.ring.submission().push(&operation) };
        if pushed.is_err() {
            self.backlog.push_back(operation);
        }
    }

    /// Submits the pushed operations. A send to a socket with room has completed when this returns.
    ///
    /// # Errors
    ///
    /// When the ring fails for good.
    pub(super) fn submit(&mut self) -> io::Result<()> {
        loop {
            match self.ring.submit() {
                Err(error) if is_passing(&error) => return Ok(()),
                other => other?,
            };
            if self.backlog.is_empty() {
                return Ok(());
            }
            for operation in std::mem::take(&mut self.backlog) {
                self.backlog_or_queue(operation);
            }
        }
    }

    /// Submits the pushed operations and waits for a completion, for at most `most`. A wait that a signal
    /// interrupts is repeated.
    ///
    /// # Errors
    ///
    /// As [`Ring::submit`].
    pub(super) fn wait(&mut self, most: Duration) -> io::Result<()> {
        if most == Duration::ZERO || !self.backlog.is_empty() || !self.ring.completion().is_empty()
        {
            return self.submit();
        }
        let mut patience = Patience::new(most);
        loop {
            let left = patience.left();
            let left = Timespec::new().sec(left.as_secs()).nsec(left.subsec_nanos());
            let limit = SubmitArgs::new().timespec(&left);
            match self.ring.submitter().submit_with_args(1, &limit) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => patience.interrupt(),
                Err(error) if is_passing(&error) => return Ok(()),
                other => return other.map(|_| ()),
            }
        }
    }

    /// The next completion, if there is one.
    #[inline]
    pub(super) fn pop(&mut self) -> Option<Completion> {
        let entry = self.ring.completion().next()?;
        let token = Token::from_bits(entry.user_data());
        let (result, flags) = (entry.result(), entry.flags());
        let completion = Completion { token, result, piece: None, flags };
        if !completion.has_more() {
            self.open -= 1;
        }
        Some(completion)
    }

    /// Cancels all operations and waits until they have ended; calls `back` with each completion. Returns
    /// whether all have ended.
    pub(super) fn end(&mut self, mut back: impl FnMut(Completion)) -> bool {
        let begun = Instant::now();
        while self.open > 0 && begun.elapsed() < END {
            let all = opcode::AsyncCancel2::new(CancelBuilder::any().all()).build();
            // SAFETY: cancelling refers to no memory.
            unsafe { self.push(all, Token::new(Kind::Cancel, 0, u32::MAX)) };
            if self.wait(END / 10).is_err() {
                return false;
            }
            while let Some(completion) = self.pop() {
                back(completion);
            }
        }
        self.open == 0
    }
}

/// Whether the error only means that the call returned early: a signal, a timeout, or completions that must
/// be popped first.
fn is_passing(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::INTR | Errno::TIME | Errno::BUSY | Errno::AGAIN))
}
