// SPDX-License-Identifier: Apache-2.0
//! [`Buffers`]: memory that the kernel receives into, lent to it through a ring buffer that both
//! sides share.
//!
//! The kernel fills a buffer from its beginning to its end, piece by piece, and reports each piece by a
//! completion. So one buffer takes small inputs of many connections. A kernel older than 6.12 supports only
//! whole buffers: there each piece is the last of its buffer.
//!
//! Invariants:
//!
//! * INV-LENT: the bytes of a buffer before `filled` are ours. Those behind it are the kernel's until a
//!   completion reports that the kernel is done with the buffer; then all of it is ours. `filled` moves when
//!   a completion is popped. Completions are popped in the order in which the kernel posted them, which is
//!   the order in which it filled the buffer. A buffer is lent again, from its beginning, when the kernel is
//!   done with it and each popped piece has been taken and dropped. Only a taken piece is read, and only as
//!   long as its [`Taken`] lives.
//! * INV-RING: the ring has as many entries as there are buffers, a power of two, so it never overflows: no
//!   more entries can be published than buffers are lent.
//! * INV-STAY: both mappings stay in place until no operation that may use them is under way, or for ever.
//!   [`Queue`](super::queue::Queue) ensures this; it owns the buffers and drops them last.
//!
//! The mappings are accessed only through raw pointers, because references would promise that the kernel does
//! not write to them. The tail is an atomic, because the kernel reads it while we write it.

use io_uring::Submitter;
use io_uring::types::{BufRingEntry, IOU_PBUF_RING_INC};
use memmap2::MmapRaw;
use std::io;
use std::ops::Deref;
use std::sync::atomic::{AtomicU16, Ordering};

/// The group that all buffers are in.
pub(super) const GROUP: u16 = 1;

/// Buffers of equal size, lent to the kernel in the order in which they come back.
#[derive(Debug)]
pub(super) struct Buffers {
    ring: MmapRaw,
    memory: MmapRaw,
    /// Bytes of one buffer.
    size: usize,
    /// How many there are, a power of two.
    count: u16,
    /// The position at which the next entry is published; wraps around.
    tail: u16,
    /// The state of each buffer.
    loans: Vec<Loan>,
}

/// How the kernel fills buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filling {
    /// Piece by piece (Linux 6.12).
    InPieces,
    /// Once, with as many bytes as there are (Linux 5.19).
    AtOnce,
}

/// The state of a buffer: INV-LENT.
#[derive(Clone, Debug, Default)]
struct Loan {
    /// The kernel may write behind `filled`.
    is_lent: bool,
    /// Number of bytes that completions have reported.
    filled: usize,
    /// Number of pieces that were popped and not dropped.
    pieces: usize,
}

/// The place of a completion's bytes in the buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    id: u16,
    at: usize,
    len: usize,
}

impl Piece {
    /// Bytes of it.
    #[inline]
    pub(super) fn len(self) -> usize {
        self.len
    }
}

impl Buffers {
    /// `count` buffers of `size` bytes, none of them lent.
    ///
    /// # Errors
    ///
    /// When there is no memory.
    ///
    /// # Panics
    ///
    /// When `count` is not a power of two.
    pub(super) fn new(count: u16, size: usize) -> io::Result<Self> {
        assert!(count.is_power_of_two() && size > 0, "INV-RING");
        let ring = MmapRaw::from(memmap2::MmapMut::map_anon(
            usize::from(count) * size_of::<BufRingEntry>(),
        )?);
        let memory = MmapRaw::from(memmap2::MmapMut::map_anon(usize::from(count) * size)?);
        let loans = vec![Loan::default(); count.into()];
        Ok(Buffers { ring, memory, size, count, tail: 0, loans })
    }

    /// Registers the ring with the kernel and lends all buffers.
    ///
    /// # Errors
    ///
    /// Those of the system; `EINVAL` when the kernel is too old for this kind of filling.
    pub(super) fn register(
        &mut self,
        submitter: &Submitter<'_>,
        filling: Filling,
    ) -> io::Result<()> {
        let flags = match filling {
            Filling::InPieces => IOU_PBUF_RING_INC as u16,
            Filling::AtOnce => 0,
        };
        // SAFETY: the ring is page-aligned, has `count` entries, and by INV-STAY outlives its use.
        unsafe {
            let address = self.ring.as_mut_ptr() as u64;
            submitter.register_buf_ring_with_flags(address, self.count, GROUP, flags)?;
        }
        (0..self.count).for_each(|id| self.lend(id));
        Ok(())
    }

    /// Records a popped completion that reports `len` bytes in buffer `id`; with `more`, further bytes may
    /// follow in the same buffer.
    ///
    /// # Panics
    ///
    /// When the buffer is not lent, or has no room for `len` bytes.
    pub(super) fn note(&mut self, id: u16, len: usize, more: bool) -> Piece {
        let loan = &mut self.loans[usize::from(id)];
        assert!(loan.is_lent, "INV-LENT: lent");
        let at = loan.filled;
        assert!(len <= self.size - at, "INV-LENT: within its bounds");
        loan.filled += len;
        loan.pieces += 1;
        loan.is_lent = more;
        Piece { id, at, len }
    }

    /// Borrows a piece that was recorded, for as long as the result lives. Each piece is taken
    /// once.
    pub(super) fn take(&mut self, piece: Piece) -> Taken<'_> {
        let loan = &self.loans[usize::from(piece.id)];
        assert!(loan.pieces > 0 && piece.at + piece.len <= loan.filled, "INV-LENT: ours");
        Taken { buffers: self, piece }
    }

    /// How many buffers are lent to the kernel, in whole or in part.
    #[cfg(test)]
    pub(super) fn lent(&self) -> usize {
        self.loans.iter().filter(|loan| loan.is_lent).count()
    }

    /// Called when a piece was read: after its last piece, the buffer is lent again.
    fn drop_piece(&mut self, id: u16) {
        let loan = &mut self.loans[usize::from(id)];
        loan.pieces -= 1;
        if !loan.is_lent && loan.pieces == 0 {
            self.lend(id);
        }
    }

    fn lend(&mut self, id: u16) {
        let lent = Loan { is_lent: true, ..Loan::default() };
        let before = std::mem::replace(&mut self.loans[usize::from(id)], lent);
        assert!(!before.is_lent && before.pieces == 0, "INV-LENT: ours");
        let at = usize::from(self.tail & (self.count - 1));
        let address = self.memory.as_mut_ptr().wrapping_add(usize::from(id) * self.size) as u64;
        let base = self.ring.as_mut_ptr().cast::<BufRingEntry>();
        // SAFETY: `at` is below `count`, so the entry lies within the mapping. By INV-RING the kernel
        // is done with what stood there, and it does not look at it before the tail has moved past it.
        // The mapping was zeroed, which is a valid entry. The tail lies in the first entry, in a field
        // that none of these sets, and is aligned.
        unsafe {
            let entry = &mut *base.add(at);
            entry.set_addr(address);
            entry.set_len(self.size as u32);
            entry.set_bid(id);
            self.tail = self.tail.wrapping_add(1);
            let tail = BufRingEntry::tail(base).cast_mut();
            AtomicU16::from_ptr(tail).store(self.tail, Ordering::Release);
        }
    }
}

/// A piece of a buffer, with bytes in it. Dropping it lets the buffer be lent again.
#[derive(Debug)]
pub(super) struct Taken<'a> {
    buffers: &'a mut Buffers,
    piece: Piece,
}

impl Deref for Taken<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let Piece { id, at, len } = self.piece;
        let at = usize::from(id) * self.buffers.size + at;
        // SAFETY: the piece lies within its buffer, as was checked when it was noted, and the buffer
        // within the mapping, which was zeroed, so its bytes are initialised. By INV-LENT nobody writes
        // to it while it is taken, and it is taken while `self` lives.
        unsafe { std::slice::from_raw_parts(self.buffers.memory.as_ptr().wrapping_add(at), len) }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.buffers.drop_piece(self.piece.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_buffer_is_lent_or_taken() {
        let mut buffers = Buffers::new(4, 100).unwrap();
        assert_eq!(buffers.lent(), 0);
        (0..4).for_each(|id| buffers.lend(id));
        for round in 0..100_000_u32 {
            let id = (round * 7 % 4) as u16;
            let piece = buffers.note(id, 60, false);
            let taken = buffers.take(piece);
            assert_eq!(taken.len(), 60);
            assert_eq!(taken.buffers.lent(), 3);
            drop(taken);
            assert_eq!(buffers.lent(), 4, "it goes back as soon as it was read");
        }
        assert_eq!(buffers.tail, 100_004_u32 as u16, "the tail wraps around");
    }

    #[test]
    fn a_buffer_that_is_filled_in_pieces_goes_back_after_the_last() {
        let mut buffers = Buffers::new(1, 100).unwrap();
        buffers.lend(0);
        let first = buffers.note(0, 30, true);
        drop(buffers.take(first));
        assert_eq!(buffers.lent(), 1, "the kernel goes on behind it");
        let (second, end) = (buffers.note(0, 50, true), buffers.note(0, 20, false));
        assert_eq!((second.at, end.at), (30, 80));
        drop(buffers.take(end));
        assert_eq!((buffers.lent(), buffers.tail), (0, 1), "a piece in it was not read");
        drop(buffers.take(second));
        assert_eq!((buffers.lent(), buffers.tail), (1, 2));
        assert_eq!(buffers.note(0, 1, true).at, 0, "it begins anew");
    }

    #[test]
    #[should_panic(expected = "INV-LENT")]
    fn a_buffer_that_comes_back_twice_is_a_bug() {
        let mut buffers = Buffers::new(2, 8).unwrap();
        buffers.lend(0);
        let _ = buffers.note(0, 8, false);
        let _ = buffers.note(0, 8, false);
    }

    #[test]
    #[should_panic(expected = "INV-LENT")]
    fn a_piece_that_is_read_twice_is_a_bug() {
        let mut buffers = Buffers::new(2, 8).unwrap();
        buffers.lend(0);
        let piece = buffers.note(0, 4, true);
        drop(buffers.take(piece));
        let _ = buffers.take(piece);
    }

    #[test]
    #[should_panic(expected = "within its bounds")]
    fn a_buffer_with_more_than_it_holds_is_a_bug() {
        let mut buffers = Buffers::new(1, 8).unwrap();
        buffers.lend(0);
        let _ = buffers.note(0, 5, true);
        let _ = buffers.note(0, 4, true);
    }
}
