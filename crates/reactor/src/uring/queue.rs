// SPDX-License-Identifier: Apache-2.0
//! [`Queue`]: one io_uring: operations in, completions out.
//!
//! Invariants, besides those of [`Buffers`] and [`Parcel`]:
//!
//! * INV-OPEN: `open` counts the operations that were pushed and whose last completion was not popped.
//!   While it is not zero the kernel may read parcels and write to buffers. Dropping the queue cancels
//!   all operations and waits for their ends; should one not end in time, or should this be another
//!   thread than the one that may enter the ring, the buffers are leaked, as parcels that are away leak
//!   what they hold.
//! * INV-ISSUER: after [`Queue::enable`] only the thread that called it enters the ring.

use super::buffers::{Buffers, GROUP, Taken};
use super::parcel::Parcel;
use super::token::Token;
use io_uring::squeue::Entry;
use io_uring::types::{CancelBuilder, Fd, SubmitArgs, Timespec};
use io_uring::{Builder, IoUring, cqueue, opcode};
use rustix::event::PollFlags;
use rustix::io::Errno;
use std::collections::VecDeque;
use std::io;
use std::mem::ManuallyDrop;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::time::{Duration, Instant};

/// Operations that wait to be submitted before more of them are kept on our side.
const SUBMISSIONS: u32 = 1024;

/// Completions that wait to be popped before the kernel keeps more of them on its side.
const COMPLETIONS: u32 = 8192;

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

/// An io_uring with buffers to receive into.
pub(super) struct Queue {
    ring: IoUring,
    buffers: ManuallyDrop<Buffers>,
    /// Operations that the submission queue had no room for.
    backlog: VecDeque<Entry>,
    /// INV-OPEN
    open: usize,
    setup: &'static str,
}

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Queue").field("open", &self.open).finish_non_exhaustive()
    }
}

/// What became of an operation.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Completion {
    pub(super) token: Token,
    pub(super) result: i32,
    flags: u32,
}

impl Completion {
    /// Whether more completions of this operation follow.
    pub(super) fn has_more(&self) -> bool {
        cqueue::more(self.flags)
    }

    /// The buffer that it brings.
    pub(super) fn buffer(&self) -> Option<u16> {
        cqueue::buffer_select(self.flags)
    }

    /// The result as the system call would have returned it.
    pub(super) fn outcome(&self) -> io::Result<usize> {
        usize::try_from(self.result).map_err(|_| io::Error::from_raw_os_error(-self.result))
    }

    /// Whether it ended in this error.
    pub(super) fn is(&self, error: Errno) -> bool {
        self.result == -error.raw_os_error()
    }

    #[cfg(test)]
    pub(super) fn with_buffer(id: u16, result: i32) -> Self {
        Completion { token: Token::BELL, result, flags: u32::from(id) << 16 | 1 }
    }

    #[cfg(test)]
    pub(super) fn without_buffer(result: i32) -> Self {
        Completion { token: Token::BELL, result, flags: 0 }
    }
}

impl Queue {
    /// A queue, not yet enabled, with `count` buffers of `size` bytes.
    ///
    /// # Errors
    ///
    /// When the kernel has no io_uring, too old a one, or does not let us.
    pub(super) fn new(count: u16, size: usize) -> io::Result<Self> {
        let (ring, setup) = build()?;
        let mut buffers = Buffers::new(count, size)?;
        buffers.register(&ring.submitter())?;
        let buffers = ManuallyDrop::new(buffers);
        Ok(Queue { ring, buffers, backlog: VecDeque::new(), open: 0, setup })
    }

    /// What kind of ring it is, for a log line.
    pub(super) fn setup(&self) -> &'static str {
        self.setup
    }

    /// Lets operations be submitted: from now on by this thread only.
    ///
    /// # Errors
    ///
    /// When the kernel refuses.
    pub(super) fn enable(&mut self) -> io::Result<()> {
        self.ring.submitter().register_enable_rings()
    }

    /// Receives from `socket` until that is cancelled, fails or ends: one completion for each buffer.
    pub(super) fn receive(&mut self, socket: BorrowedFd<'_>, token: Token) {
        self.push(opcode::RecvMulti::new(Fd(socket.as_raw_fd()), GROUP).build(), token);
    }

    /// Sends what is in the parcel, or a part of it.
    pub(super) fn send(&mut self, socket: BorrowedFd<'_>, parcel: &mut Parcel, token: Token) {
        self.push(parcel.dispatch(Fd(socket.as_raw_fd())), token);
    }

    /// Waits until the peer of `socket` hangs up.
    pub(super) fn watch(&mut self, socket: BorrowedFd<'_>, token: Token) {
        let flags = PollFlags::RDHUP | PollFlags::HUP | PollFlags::ERR;
        let flags = u32::from(flags.bits());
        self.push(opcode::PollAdd::new(Fd(socket.as_raw_fd()), flags).build(), token);
    }

    /// Tells of each time that there is something to read from `bell`.
    pub(super) fn listen(&mut self, bell: BorrowedFd<'_>, token: Token) {
        let flags = u32::from(PollFlags::IN.bits());
        self.push(opcode::PollAdd::new(Fd(bell.as_raw_fd()), flags).multi(true).build(), token);
    }

    /// Cancels the operation of this token, if it is under way.
    pub(super) fn cancel(&mut self, operation: Token, token: Token) {
        self.push(opcode::AsyncCancel::new(operation.to_bits()).build(), token);
    }

    fn push(&mut self, operation: Entry, token: Token) {
        self.open += 1;
        self.backlog_or_queue(operation.user_data(token.to_bits()));
    }

    fn backlog_or_queue(&mut self, operation: Entry) {
        if !self.backlog.is_empty() {
            self.backlog.push_back(operation);
            return;
        }
        // SAFETY: receiving and polling refer to no memory of ours but the buffers, which stay by
        // INV-STAY; what sending refers to stays by INV-AWAY, for all sending is a parcel's.
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
    /// As [`Queue::submit`].
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
        let completion = Completion { token, result: entry.result(), flags: entry.flags() };
        if !completion.has_more() {
            self.open -= 1;
        }
        Some(completion)
    }

    /// Takes the buffer that a completion brings; it goes back when the result is dropped.
    #[inline]
    pub(super) fn take(&mut self, completion: &Completion) -> Option<Taken<'_>> {
        self.buffers.take(completion)
    }

    #[cfg(test)]
    pub(super) fn buffers_lent(&self) -> usize {
        self.buffers.lent()
    }

    /// Cancels all operations and waits until they have ended, each of which `back` is told; whether
    /// they have.
    pub(super) fn end(&mut self, mut back: impl FnMut(&Completion)) -> bool {
        let begun = Instant::now();
        while self.open > 0 && begun.elapsed() < END {
            let all = opcode::AsyncCancel2::new(CancelBuilder::any().all()).build();
            self.push(all, Token::BELL);
            if self.wait(END / 10).is_err() {
                return false;
            }
            while let Some(completion) = self.pop() {
                drop(self.take(&completion));
                back(&completion);
            }
        }
        self.open == 0
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

/// The best ring that the kernel makes, disabled.
fn build() -> io::Result<(IoUring, &'static str)> {
    let mut refused = None;
    for (name, setup) in SETUPS {
        let mut builder = IoUring::builder();
        builder.setup_cqsize(COMPLETIONS).setup_clamp().setup_submit_all().setup_r_disabled();
        match setup(&mut builder).build(SUBMISSIONS) {
            Ok(ring) => return Ok((ring, name)),
            Err(error) => {
                refused.get_or_insert(error);
            }
        }
    }
    Err(refused.unwrap_or_else(|| io::ErrorKind::Unsupported.into()))
}

/// Whether entering the ring merely came back early: a signal, nothing in time, or completions that have
/// to be popped first.
fn is_passing(error: &io::Error) -> bool {
    let errno = Errno::from_io_error(error);
    matches!(errno, Some(Errno::INTR | Errno::TIME | Errno::BUSY | Errno::AGAIN))
}
