// SPDX-License-Identifier: Apache-2.0
//! [`SendBuf`]: replies that wait to be written; [`Mark`]: a place in them.

use crate::Pool;
use bytes::Bytes;
use std::collections::VecDeque;
use std::io::IoSlice;

/// Places for values by reference that a connection keeps when nothing waits: 160 bytes.
const PINNED_KEPT: usize = 4;

/// Replies in order: copied bytes, with large values among them by reference.
///
/// Small pieces are copied into one block. A large value enters as [`Bytes`] at the place it belongs
/// to and is gathered from where it lies by [`SendBuf::slices`], so it is never copied.
#[derive(Debug, Default)]
pub struct SendBuf {
    /// Copied bytes; those before `head` have been sent.
    bytes: Vec<u8>,
    head: usize,
    /// Values by reference, each with the offset into `bytes` before which it is sent.
    pinned: VecDeque<(usize, Bytes)>,
    pinned_bytes: usize,
    /// Bytes that left with [`SendBuf::depart`] and have not landed.
    departed: usize,
    /// The capacity that the pool has counted.
    counted: usize,
}

/// A place in a [`SendBuf`], for what is known only when the bytes behind it have been written.
///
/// Holds until some of the buffer is consumed, and only for the buffer it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Copied bytes before it.
    bytes: usize,
    /// Values by reference before it.
    pinned: usize,
}

impl SendBuf {
    /// A buffer without a block.
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a copy of `bytes`.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Makes room for a copy of `n` bytes.
    #[inline]
    pub fn reserve(&mut self, n: usize) {
        self.bytes.reserve(n);
    }

    /// Appends `value` by reference.
    pub fn put_pinned(&mut self, value: Bytes) {
        if !value.is_empty() {
            self.pinned_bytes += value.len();
            self.pinned.push_back((self.bytes.len(), value));
        }
    }

    /// Appends what `write` appends to a plain vector: for formatting in place.
    #[inline]
    pub fn put_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let before = self.bytes.len();
        write(&mut self.bytes);
        debug_assert!(self.bytes.len() >= before, "a reply may only grow");
    }

    /// The present end.
    #[inline]
    pub fn mark(&self) -> Mark {
        Mark { bytes: self.bytes.len(), pinned: self.pinned.len() }
    }

    /// Inserts a copy of `bytes` at `mark`; moves the copied bytes behind it once.
    ///
    /// # Panics
    ///
    /// When `mark` lies behind the end.
    pub fn insert(&mut self, mark: Mark, bytes: &[u8]) {
        let end = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.bytes.copy_within(mark.bytes..end, mark.bytes + bytes.len());
        self.bytes[mark.bytes..mark.bytes + bytes.len()].copy_from_slice(bytes);
        for (at, _) in self.pinned.range_mut(mark.pinned..) {
            *at += bytes.len();
        }
    }

    /// Takes back what was appended since `mark`.
    pub fn truncate(&mut self, mark: Mark) {
        self.bytes.truncate(mark.bytes);
        for (_, value) in self.pinned.drain(mark.pinned.min(self.pinned.len())..) {
            self.pinned_bytes -= value.len();
        }
    }

    /// Bytes that wait, by copy and by reference, and those that have departed and not landed.
    #[inline]
    pub fn pending(&self) -> usize {
        self.waiting() + self.departed
    }

    /// Bytes that wait in this buffer, by copy and by reference.
    #[inline]
    pub fn waiting(&self) -> usize {
        self.bytes.len() - self.head + self.pinned_bytes
    }

    /// Whether nothing waits and nothing is on its way.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pending() == 0
    }

    /// Whether everything that waits is one slice of copied bytes, see [`SendBuf::front`].
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        self.pinned.is_empty()
    }

    /// The copied bytes up to the first value by reference.
    #[inline]
    pub fn front(&self) -> &[u8] {
        let end = self.pinned.front().map_or(self.bytes.len(), |(at, _)| *at);
        &self.bytes[self.head..end]
    }

    /// Fills `slices` with what waits, in order, for one gathering write; returns how many it
    /// filled. What does not fit is left for the next call.
    pub fn slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        let mut filled = 0;
        let mut from = self.head;
        let mut push = |piece: &'a [u8]| {
            if piece.is_empty() {
                return true;
            }
            if filled == slices.len() {
                return false;
            }
            slices[filled] = IoSlice::new(piece);
            filled += 1;
            true
        };
        for (at, value) in &self.pinned {
            if !push(&self.bytes[from..*at]) || !push(value) {
                return filled;
            }
            from = *at;
        }
        push(&self.bytes[from..]);
        filled
    }

    /// Declares that the first `n` waiting bytes have been sent.
    ///
    /// # Panics
    ///
    /// When fewer than `n` bytes wait.
    pub fn consume(&mut self, mut n: usize) {
        assert!(n <= self.waiting(), "sent more than there was");
        while n > 0 {
            let copied = self.front().len();
            let step = n.min(copied);
            self.head += step;
            n -= step;
            if n == 0 {
                break;
            }
            let (_, value) = self.pinned.front_mut().expect("waiting() counted it");
            let step = n.min(value.len());
            bytes::Buf::advance(value, step);
            self.pinned_bytes -= step;
            n -= step;
            if value.is_empty() {
                self.pinned.pop_front();
            }
        }
        if self.waiting() == 0 {
            self.bytes.clear();
            self.head = 0;
        } else if self.head > self.bytes.len() / 2 {
            self.compact();
        }
    }

    /// Moves all that waits, with its block, into `flight`, for a driver that sends it while more is
    /// written here. What has departed stays [`pending`](SendBuf::pending) until it has
    /// [`landed`](SendBuf::landed), so the bounds of this buffer hold for both. Moves no bytes.
    ///
    /// # Panics
    ///
    /// When an earlier flight has not landed, or `flight` holds something.
    pub fn depart(&mut self, flight: &mut SendBuf) {
        assert!(self.departed == 0, "one flight at a time");
        assert!(flight.is_empty() && flight.capacity() == 0, "the flight is not empty");
        std::mem::swap(self, flight);
        self.departed = flight.pending();
    }

    /// Declares that `n` bytes of what has departed have been sent, or given up.
    ///
    /// # Panics
    ///
    /// When fewer are on their way.
    #[inline]
    pub fn landed(&mut self, n: usize) {
        assert!(n <= self.departed, "more has landed than departed");
        self.departed -= n;
    }

    /// Bytes that have departed and not landed.
    #[inline]
    pub fn departed(&self) -> usize {
        self.departed
    }

    /// Forgets what has been sent. Moves fewer bytes than it forgets, so a peer that never lets the
    /// buffer drain costs a constant per byte and no growing memory.
    fn compact(&mut self) {
        self.bytes.drain(..self.head);
        for (at, _) in &mut self.pinned {
            *at -= self.head;
        }
        self.head = 0;
    }

    /// Borrows a block from the pool, if it has none.
    #[inline]
    pub fn lend(&mut self, pool: &mut Pool) {
        if self.bytes.capacity() == 0 {
            self.bytes = pool.take_send();
        }
        self.count(pool);
    }

    /// Gives the block back if nothing waits in it.
    #[inline]
    pub fn release(&mut self, pool: &mut Pool) {
        if self.waiting() == 0 && self.bytes.capacity() != 0 {
            let block = std::mem::take(&mut self.bytes);
            self.count(pool);
            pool.give_send(block);
            // The queue stays for the next large values, unless a burst has made it large.
            if self.pinned.capacity() > PINNED_KEPT {
                self.pinned = VecDeque::new();
            }
        } else {
            self.count(pool);
        }
    }

    /// Tells the pool what it holds now.
    #[inline]
    fn count(&mut self, pool: &mut Pool) {
        let held = self.bytes.capacity();
        pool.recount(self.counted, held);
        self.counted = held;
    }

    /// Bytes of memory it holds by itself now; values by reference are their store's.
    pub fn capacity(&self) -> usize {
        self.bytes.capacity()
    }
}

#[cfg(test)]
mod tests;
