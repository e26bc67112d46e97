// SPDX-License-Identifier: Apache-2.0
//! [`SendBuf`]: replies that wait to be written; [`Mark`]: a place in them.
//!
//! * `send/block.rs`: the memory of copied bytes. `send/values.rs`: values and messages by reference.

mod block;
mod values;

pub use values::PINNED_WITHIN;

use bytes::Bytes;
use std::collections::VecDeque;
use std::io::IoSlice;

/// Replies in order: copied bytes, with large values among them by reference.
///
/// Small pieces are copied into one block. A large value is held by reference, as [`Bytes`], at its place
/// between them, and [`SendBuf::slices`] gathers it from there, so it is never copied.
///
/// When replies pile up because the peer does not read, full blocks are *sealed*: they wait unchanged, and a
/// new block takes the bytes that follow. So no byte is moved again, however many wait.
#[derive(Debug, Default)]
pub struct SendBuf {
    /// Copied bytes; those before `head` have been sent.
    bytes: Vec<u8>,
    head: usize,
    /// Bytes that are sent from outside of `bytes`, in order.
    pieces: VecDeque<Piece>,
    /// Bytes of all pieces.
    piece_bytes: usize,
    /// Bytes of memory of the pieces that count as this buffer's: sealed blocks, copies, and many values by reference.
    sealed: usize,
    /// Bytes that left with [`SendBuf::depart`] and have not landed.
    departed: usize,
    /// The capacity that the pool counts for this buffer.
    counted: usize,
}

/// A value or message by reference, the copy of a large value, or a part of a sealed block.
#[derive(Debug)]
struct Piece {
    /// The offset in the copied bytes before which the piece is sent.
    at: usize,
    bytes: Bytes,
    /// Memory counted as the buffer's until this piece is gone: the block's capacity for the last piece of a
    /// sealed block; the length of a copy, or of a value that has others before it; else 0.
    block: usize,
}

/// A position in a [`SendBuf`], for bytes such as a length that are known only after the bytes
/// behind them have been written.
///
/// Valid until some of the buffer is consumed, and only for the buffer that made it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Copied bytes before it.
    bytes: usize,
    /// Pieces before it.
    pieces: usize,
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

    /// Appends the first `len` of the eight bytes of `word`, the lowest byte first.
    ///
    /// It writes all eight: a copy whose length the compiler knows takes a fraction of the instructions.
    ///
    /// ```
    /// # let mut out = buffer::SendBuf::new();
    /// out.put_word(u64::from_le_bytes(*b"$12\r\n\0\0\0"), 5);
    /// assert_eq!(out.front(), b"$12\r\n");
    /// ```
    ///
    /// # Panics
    ///
    /// With a `len` of more than 8.
    #[inline]
    pub fn put_word(&mut self, word: u64, len: usize) {
        assert!(len <= 8, "a word has eight bytes");
        let end = self.bytes.len() + len;
        self.bytes.extend_from_slice(&word.to_le_bytes());
        self.bytes.truncate(end);
    }

    /// Makes room for a copy of `n` bytes.
    #[inline]
    pub fn reserve(&mut self, n: usize) {
        self.bytes.reserve(n);
    }

    /// Lets `write` append to the vector of copied bytes: for formatting in place.
    #[inline]
    pub fn put_with(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        let before = self.bytes.len();
        write(&mut self.bytes);
        debug_assert!(self.bytes.len() >= before, "a reply may only grow");
    }

    /// The vector of copied bytes, to append to: as [`SendBuf::put_with`], which checks that nothing is removed.
    #[inline]
    pub fn tail(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }

    /// The current end, as a position.
    #[inline]
    pub fn mark(&self) -> Mark {
        Mark { bytes: self.bytes.len(), pieces: self.pieces.len() }
    }

    /// Inserts a copy of `bytes` at `mark`; moves the copied bytes behind it once.
    ///
    /// # Panics
    ///
    /// When `mark` lies past the end.
    pub fn insert(&mut self, mark: Mark, bytes: &[u8]) {
        let end = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.bytes.copy_within(mark.bytes..end, mark.bytes + bytes.len());
        self.bytes[mark.bytes..mark.bytes + bytes.len()].copy_from_slice(bytes);
        for piece in self.pieces.range_mut(mark.pieces..) {
            piece.at += bytes.len();
        }
    }

    /// Removes the bytes appended since `mark`.
    pub fn truncate(&mut self, mark: Mark) {
        self.bytes.truncate(mark.bytes);
        while self.pieces.len() > mark.pieces
            && let Some(piece) = self.pieces.pop_back()
        {
            self.piece_bytes -= piece.bytes.len();
            self.sealed -= piece.block;
        }
    }

    /// How many bytes were written since `mark`, copied and by reference, none of which has been sent.
    ///
    /// ```
    /// let mut out = buffer::SendBuf::new();
    /// out.put(b"one");
    /// let mark = out.mark();
    /// out.put(b"seven");
    /// assert_eq!(out.since(mark), 5);
    /// ```
    pub fn since(&self, mark: Mark) -> usize {
        let pieces = self.pieces.iter().skip(mark.pieces).map(|piece| piece.bytes.len());
        self.bytes.len().saturating_sub(mark.bytes) + pieces.sum::<usize>()
    }

    /// Whether what was written since some mark may have so many bytes. A cheap test, which may be wrong if it
    /// is true.
    #[inline]
    pub fn may_have_grown_by(&self, bytes: usize) -> bool {
        self.bytes.len() >= bytes || !self.pieces.is_empty()
    }

    /// Bytes that wait, copied and by reference, and those that have departed and not landed.
    #[inline]
    pub fn pending(&self) -> usize {
        self.waiting() + self.departed
    }

    /// Bytes that wait in this buffer, copied and by reference.
    #[inline]
    pub fn waiting(&self) -> usize {
        self.bytes.len() - self.head + self.piece_bytes
    }

    /// Those of the [pending](SendBuf::pending) bytes that are in memory of this buffer, or have departed: values by
    /// reference are not among them.
    #[inline]
    pub fn copied(&self) -> usize {
        self.pending() - self.piece_bytes
    }

    /// Whether nothing waits and nothing is on its way.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.pending() == 0
    }

    /// Whether everything that waits is one slice of copied bytes, see [`SendBuf::front`].
    #[inline]
    pub fn is_contiguous(&self) -> bool {
        self.pieces.is_empty()
    }

    /// The copied bytes before the first piece.
    #[inline]
    pub fn front(&self) -> &[u8] {
        let end = self.pieces.front().map_or(self.bytes.len(), |piece| piece.at);
        &self.bytes[self.head..end]
    }

    /// Fills `slices` with the waiting bytes, in order, for one gathering write; returns how many
    /// slices it filled. What does not fit is left for the next call.
    pub fn slices<'a>(&'a self, slices: &mut [IoSlice<'a>]) -> usize {
        self.slices_within(slices, usize::MAX)
    }

    /// As [`SendBuf::slices`], with no more than `most` bytes in all.
    pub fn slices_within<'a>(&'a self, slices: &mut [IoSlice<'a>], most: usize) -> usize {
        let (mut filled, mut left) = (0, most);
        let mut from = self.head;
        let mut push = |piece: &'a [u8]| {
            if piece.is_empty() {
                return true;
            }
            if filled == slices.len() || left == 0 {
                return false;
            }
            let piece = &piece[..piece.len().min(left)];
            slices[filled] = IoSlice::new(piece);
            filled += 1;
            left -= piece.len();
            true
        };
        for piece in &self.pieces {
            if !push(&self.bytes[from..piece.at]) || !push(&piece.bytes) {
                return filled;
            }
            from = piece.at;
        }
        push(&self.bytes[from..]);
        filled
    }

    /// How many of the waiting bytes to send together, where some `most` may be: all if they are not much more than twice as
    /// many, and otherwise these and the rest of the last value among them. Only a value that is more than twice as long is cut.
    ///
    /// ```
    /// let mut out = buffer::SendBuf::new();
    /// out.put(b"$200\r\n");
    /// out.put_shared(vec![b'v'; 200].into());
    /// out.put(b"\r\n");
    /// assert_eq!(out.portion(100), 208, "all");
    /// out.put_shared(vec![b'v'; 500].into());
    /// assert_eq!(out.portion(100), 206, "the first value");
    /// out.consume(206);
    /// assert_eq!(out.portion(100), 100, "a part of the second");
    /// ```
    #[inline]
    pub fn portion(&self, most: usize) -> usize {
        let waiting = self.waiting();
        if waiting <= 2 * most + most / 8 { waiting } else { self.portion_of_many(most) }
    }

    #[cold]
    fn portion_of_many(&self, most: usize) -> usize {
        let (mut end, mut from) = (0, self.head);
        for piece in &self.pieces {
            let begin = end + piece.at - from;
            (end, from) = (begin + piece.bytes.len(), piece.at);
            if end >= most {
                let is_whole = begin < most && piece.bytes.len() <= 2 * most;
                return if is_whole { end } else { most };
            }
        }
        most
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
            let piece = self.pieces.front_mut().expect("waiting() counted it");
            let step = n.min(piece.bytes.len());
            bytes::Buf::advance(&mut piece.bytes, step);
            self.piece_bytes -= step;
            n -= step;
            if piece.bytes.is_empty() {
                self.sealed -= piece.block;
                self.pieces.pop_front();
            }
        }
        if self.waiting() == 0 {
            debug_assert!(self.pieces.is_empty() && self.sealed == 0, "pieces go with their bytes");
            self.bytes.clear();
            self.head = 0;
        } else if self.head > self.bytes.len() / 2 {
            self.compact();
        }
    }

    /// Moves all waiting bytes, with their block, into `flight`, for a driver that sends them while more is
    /// written here. Departed bytes stay [`pending`](SendBuf::pending) until they have
    /// [`landed`](SendBuf::landed), so the bounds of this buffer hold for both. Copies no bytes.
    ///
    /// # Panics
    ///
    /// When earlier bytes have not landed, or `flight` is not empty.
    pub fn depart(&mut self, flight: &mut SendBuf) {
        assert!(self.departed == 0, "one flight at a time");
        assert!(flight.is_empty() && flight.capacity() == 0, "the flight is not empty");
        std::mem::swap(self, flight);
        self.departed = flight.pending();
    }

    /// Declares that `n` departed bytes have been sent, or given up.
    ///
    /// # Panics
    ///
    /// When fewer than `n` bytes are on their way.
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
}

#[cfg(test)]
mod tests;
