// SPDX-License-Identifier: Apache-2.0
//! [`Ring`]: one io_uring: operations in, completions out.
//!
//! Invariants:
//!
//! * INV-OPEN: `open` counts the operations that were pushed and whose last completion was not popped.
//!   While it is not zero the kernel may use what they refer to: whoever pushes an operation keeps that in
//!   place until then, or leaks it. [`Ring::end`] cancels all operations and waits for their ends.
//! * INV-ISSUER: after [`Ring::enable`] only the thread that called it enters the ring. On another one
//!   [`Ring::end`] fails.

use super::buffers::Piece;
use super::token::{Kind, Token};
use io_uring::squeue::Entry;
use io_uring::types::{CancelBuilder, Fd, SubmitArgs, Timespec};
use io_uring::{Builder, IoUring, Submitter, cqueue, opcode};
use rustix::event::PollFlags;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

/// How long the end waits for operations that were cancelled.
const END: Duration = Duration::from_secs(1);

/// A kind of ring, the best first: with how the kernel is asked to do its part of the work.
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
    /// Operations that the submission queue had no room for.
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

/// What became of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completion {
    pub(super) token: Token,
    pub(super) result: i32,
    /// The bytes that it brings, once its [`Queue`](super::queue::Queue) has looked.
    pub(super) piece: Option<Piece>,
    flags: u32,
}

impl Completion {
    /// Whether more completions of this operation follow.
    pub(super) fn has_more(&self) -> bool {
        cqueue::more(self.flags)
    }

    /// The buffer that it brings, and whether more completions bring the same one.
    pub(super) fn buffer(&self) -> Option<(u16, bool)> {
        cqueue::buffer_select(self.flags).map(|id| (id, cqueue::buffer_more(self.flags)))
    }

    /// The result as the system call would have returned it.
    pub(super) fn outcome(&self) -> io::Result<usize> {
        usize::try_from(self.result).map_err(|_| io::Error::from_raw_os_error(-self.result))
    }

    /// Whether it is one of polling that says that the peer has hung up.
    pub(super) fn tells_of_hanging_up(&self) -> bool {
        let gone = PollFlags::RDHUP | PollFlags::HUP;
        u32::try_from(self.result).is_ok_and(|told| told & u32::from(gone.bits()) != 0)
    }

    /// How many bytes it brings.
    pub(super) fn bytes(&self) -> usize {
        self.piece.map_or(0, Piece::len)
    }

    /// Whether it ended in this error.
    pub(super) fn is(&self, error: Errno) -> bool {
        self.result == -error.raw_os_error()
    }

    #[cfg(test)]
    pub(super) fn without_buffer(result: i32) -> Self {
        Completion { token: Token::BELL, result, piece: None, flags: 0 }
    }
}

impl Ring {
    /// A ring, not yet enabled. So many operations wait to be submitted before more of them are kept on
    /// our side, and so many completions to be popped before the kernel keeps more on its side.
    ///
    /// # Errors
    ///
    /// When the kernel has no io_uring, too old a one, or does not let us.
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

    /// For what is registered with the ring.
    pub(super) fn submitter(&self) -> Submitter<'_> {
        self.ring.submitter()
    }

    /// Lets operations be submitted: from now on by this thread only.
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

    /// Tells of each time that something comes to `socket`, or that its peer hangs up.
    pub(super) fn await_input(&mut self, socket: BorrowedFd<'_>, token: Token) {
        self.poll_again_and_again(socket, PollFlags::IN | PollFlags::RDHUP, token);
    }

    /// Tells of each time that there is something to read from `bell`.
    pub(super) fn listen(&mut self, bell: BorrowedFd<'_>) {
        self.poll_again_and_again(bell, PollFlags::IN, Token::BELL);
    }

    fn poll_again_and_again(&mut self, file: BorrowedFd<'_>, what: PollFlags, token: Token) {
        let flags = u32::from(what.bits());
        let operation = opcode::PollAdd::new(Fd(file.as_raw_fd()), flags).multi(true).build();
        // SAFETY: polling refers to no memory.
        unsafe { self.push(operation, token) }
    }

    /// Cancels the operation of this token, if it is under way.
    pub(super) fn cancel(&mut self, operation: Token, token: Token) {
        // SAFETY: cancelling refers to no memory.
        unsafe { self.push(opcode::AsyncCancel::new(operation.to_bits()).build(), token) }
    }

    /// Has an operation done with the next submission.
    ///
    /// # Safety
    ///
    /// What it refers to stays as it is until its last completion was popped: INV-OPEN.
    pub(super) unsafe fn push(&mut self, operation: Entry, token: Token) {
        self.open += 1;
        self.backlog_or_queue(operation.user_data(token.to_bits()));
    }

    fn backlog_or_queue(&mut self, operation: Entry) {
        if !self.backlog.is_empty() {
            self.backlog.push_back(operation);
            return;
        }
        // SAFETY: whoever pushed it has promised that what it refers to stays.
        let pushed = unsafe { self.ring.submission().push(&operation) };
        if pushed.is_err() {
            self.backlog.push_back(operation);
        }
    }

    /// Submits what was pushed. Sending to a socket that has room is over then.
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

    /// Submits what was pushed and waits for a completion, at most for as long as `most`; when a signal
    /// comes, once more.
    ///
    /// # Errors
    ///
    /// As [`Ring::submit`].
    pub(super) fn wait(&mut self, most: Duration) -> io::Result<()> {
        if most == Duration::ZERO || !self.backlog.is_empty() || !self.ring.completion().is_empty()
        {
            return self.submit();
        }
        let most = Timespec::new().sec(most.as_secs()).nsec(most.subsec_nanos());
        let limit = SubmitArgs::new().timespec(&most);
        loop {
            match self.ring.submitter().submit_with_args(1, &limit) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if is_passing(&error) => return Ok(()),
                other => return other.map(|_| ()),
            }
        }
    }

    /// The next completion that has come.
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

    /// Cancels all operations and waits until they have ended; `back` is told each completion. Whether
    /// they have.
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

/// Whether entering the ring merely came back early: a signal, nothing in time, or completions that have
/// to be popped first.
fn is_passing(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::INTR | Errno::TIME | Errno::BUSY | Errno::AGAIN))
}
