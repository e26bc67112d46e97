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
mod tests {
    use super::*;

    fn sent(send: &mut SendBuf, most: usize) -> Vec<u8> {
        let mut out = Vec::new();
        while !send.is_empty() {
            let mut slices = [IoSlice::new(&[]); 3];
            let filled = send.slices(&mut slices);
            let all: Vec<u8> = slices[..filled].iter().flat_map(|s| s.to_vec()).collect();
            let n = all.len().min(most);
            out.extend_from_slice(&all[..n]);
            send.consume(n);
        }
        out
    }

    #[test]
    fn pieces_leave_in_order_however_they_are_cut() {
        for most in [1, 2, 3, 5, 7, 100] {
            let mut send = SendBuf::new();
            send.put(b"head ");
            send.put_pinned(Bytes::from_static(b"first"));
            send.put_pinned(Bytes::from_static(b"second"));
            send.put_pinned(Bytes::new());
            send.put(b" middle ");
            send.put_pinned(Bytes::from_static(b"last"));
            assert_eq!(send.pending(), 28);
            assert!(!send.is_contiguous());
            assert_eq!(sent(&mut send, most), b"head firstsecond middle last", "{most} at a time");
            assert_eq!((send.pending(), send.is_contiguous()), (0, true));
        }
    }

    #[test]
    fn an_insertion_lands_between_what_was_before_and_behind_its_mark() {
        let mut send = SendBuf::new();
        send.put(b"sent ");
        send.consume(3);
        send.put(b"before ");
        send.put_pinned(Bytes::from_static(b"pinned before "));
        let outer = send.mark();
        send.put_pinned(Bytes::from_static(b"first "));
        let inner = send.mark();
        send.insert(inner, b"inner ");
        send.put(b"second ");
        send.put_pinned(Bytes::from_static(b"third "));
        send.insert(outer, b"outer ");
        send.insert(send.mark(), b"end");
        let expected = b"t before pinned before outer first inner second third end";
        assert_eq!(send.pending(), expected.len());
        assert_eq!(sent(&mut send, 4), expected);
    }

    #[test]
    fn what_is_taken_back_is_as_if_it_had_never_been_written() {
        let mut send = SendBuf::new();
        send.put(b"kept ");
        send.put_pinned(Bytes::from_static(b"pinned "));
        let mark = send.mark();
        send.truncate(mark);
        send.put_pinned(Bytes::from_static(b"gone"));
        send.put(b"gone");
        send.put_pinned(Bytes::from_static(b"gone"));
        send.truncate(mark);
        assert_eq!(send.pending(), 12);
        send.put(b"more");
        assert_eq!(sent(&mut send, 100), b"kept pinned more");
    }

    #[test]
    fn a_sent_buffer_starts_again_at_the_front_of_its_block() {
        let mut pool = Pool::new(64, 64, 1);
        let mut send = SendBuf::new();
        send.lend(&mut pool);
        for _ in 0..100 {
            send.put(b"twenty bytes of data");
            assert_eq!(send.front().len(), 20);
            send.consume(20);
        }
        assert_eq!(send.capacity(), 64, "it never had to grow");
        send.release(&mut pool);
        assert_eq!((send.capacity(), pool.idle_bytes()), (0, 64));
    }

    #[test]
    fn a_buffer_that_never_drains_does_not_grow() {
        let mut send = SendBuf::new();
        send.put(b"0123456789");
        for _ in 0..10_000 {
            send.put(b"0123456789");
            send.put_pinned(Bytes::from_static(b"abc"));
            send.consume(13);
            assert!(send.pending() < 30 && send.capacity() <= 128, "{}", send.capacity());
        }
    }

    #[test]
    fn what_departs_stays_pending_until_it_lands() {
        let mut pool = Pool::new(64, 64, 2);
        let (mut send, mut flight) = (SendBuf::new(), SendBuf::new());
        send.lend(&mut pool);
        send.put(b"first ");
        send.put_pinned(Bytes::from_static(b"pinned"));
        send.depart(&mut flight);
        assert_eq!((send.pending(), send.waiting(), send.departed()), (12, 0, 12));
        assert!(!send.is_empty() && send.capacity() == 0, "its block has gone along");
        send.lend(&mut pool);
        send.put(b"second");
        assert_eq!((send.pending(), send.front()), (18, &b"second"[..]));
        assert_eq!(pool.bytes(), 128, "both blocks are counted");
        send.consume(6);
        send.release(&mut pool);
        assert_eq!(
            (send.capacity(), send.pending()),
            (0, 12),
            "an empty block goes back all the same"
        );

        assert_eq!(sent(&mut flight, 5), b"first pinned");
        send.landed(5);
        send.landed(7);
        flight.release(&mut pool);
        assert!(send.is_empty());
        assert_eq!((pool.bytes(), pool.idle_bytes()), (128, 128));
        send.put(b"third");
        send.depart(&mut flight);
        assert_eq!((flight.front(), send.departed()), (&b"third"[..], 5));
    }

    #[test]
    #[should_panic(expected = "one flight at a time")]
    fn a_second_flight_before_the_first_has_landed_is_a_bug() {
        let mut send = SendBuf::new();
        send.put(b"first");
        send.depart(&mut SendBuf::new());
        send.depart(&mut SendBuf::new());
    }

    #[test]
    fn a_buffer_with_replies_keeps_its_block() {
        let mut pool = Pool::new(64, 64, 1);
        let mut send = SendBuf::new();
        send.lend(&mut pool);
        send.put(b"x");
        send.release(&mut pool);
        assert_eq!((send.front(), send.capacity()), (&b"x"[..], 64));
    }
}
