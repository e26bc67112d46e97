// SPDX-License-Identifier: Apache-2.0
//! [`Buffers`]: memory that the kernel receives into, lent to it by a ring that both sides know.
//!
//! Invariants:
//!
//! * INV-LENT: each buffer is lent to the kernel or taken by us, never both. It is lent when its entry
//!   is published in the ring, and taken when a completion that names it is popped; `is_lent` says
//!   which. Only a taken buffer is read, only for as long as [`Taken`] lives, and nobody but the kernel
//!   writes.
//! * INV-RING: the ring has as many entries as there are buffers, a power of two, so it never overflows:
//!   no more can be published than are lent.
//! * INV-STAY: both mappings stay where they are until no operation that may use them is under way, or
//!   for ever. [`Queue`](super::queue::Queue) sees to this; it owns the buffers and drops them last.
//!
//! Nothing refers to the mappings but through raw pointers, so the kernel's writes break no promise that
//! a reference would make. The tail is read by the kernel while we write it: an atomic.

use super::queue::Completion;
use io_uring::Submitter;
use io_uring::types::BufRingEntry;
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
    /// Where the next entry is published; wraps around.
    tail: u16,
    is_lent: Vec<bool>,
}

impl Buffers {
    /// `count` buffers of `size` bytes, all still ours.
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
        Ok(Buffers { ring, memory, size, count, tail: 0, is_lent: vec![false; count.into()] })
    }

    /// Makes the ring known to the kernel and lends all buffers.
    ///
    /// # Errors
    ///
    /// When the kernel refuses: it is older than 5.19, or may not.
    pub(super) fn register(&mut self, submitter: &Submitter<'_>) -> io::Result<()> {
        // SAFETY: the ring is page-aligned, has `count` entries, and by INV-STAY outlives its use.
        unsafe {
            let address = self.ring.as_mut_ptr() as u64;
            submitter.register_buf_ring_with_flags(address, self.count, GROUP, 0)?;
        }
        (0..self.count).for_each(|id| self.lend(id));
        Ok(())
    }

    /// Takes the buffer that a completion has brought, for as long as the result lives.
    ///
    /// # Panics
    ///
    /// When it is not lent, or shorter than the completion says.
    pub(super) fn take(&mut self, completion: &Completion) -> Option<Taken<'_>> {
        let id = completion.buffer()?;
        let len = usize::try_from(completion.result).unwrap_or(0);
        assert!(std::mem::take(&mut self.is_lent[usize::from(id)]), "INV-LENT: lent");
        assert!(len <= self.size, "INV-LENT: within its bounds");
        Some(Taken { buffers: self, id, len })
    }

    /// How many buffers the kernel has.
    #[cfg(test)]
    pub(super) fn lent(&self) -> usize {
        self.is_lent.iter().filter(|&&is_lent| is_lent).count()
    }

    fn lend(&mut self, id: u16) {
        assert!(!std::mem::replace(&mut self.is_lent[usize::from(id)], true), "INV-LENT: ours");
        let at = usize::from(self.tail & (self.count - 1));
        let address = self.memory.as_mut_ptr().wrapping_add(usize::from(id) * self.size) as u64;
        let base = self.ring.as_mut_ptr().cast::<BufRingEntry>();
        // SAFETY: `at` is below `count`, so the entry lies within the mapping. By INV-RING the kernel
        // has consumed what stood there, and it does not look at it before the tail has moved past it.
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

/// A buffer that has come back with bytes in it. Dropping it lends it again.
#[derive(Debug)]
pub(super) struct Taken<'a> {
    buffers: &'a mut Buffers,
    id: u16,
    len: usize,
}

impl Deref for Taken<'_> {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        let at = usize::from(self.id) * self.buffers.size;
        // SAFETY: the buffer lies within the mapping, which was zeroed, so its bytes are initialised. By
        // INV-LENT nobody writes to it while it is taken, and it is taken while `self` lives.
        unsafe {
            std::slice::from_raw_parts(self.buffers.memory.as_ptr().wrapping_add(at), self.len)
        }
    }
}

impl Drop for Taken<'_> {
    fn drop(&mut self) {
        self.buffers.lend(self.id);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completion(id: u16, len: i32) -> Completion {
        Completion::with_buffer(id, len)
    }

    #[test]
    fn each_buffer_is_lent_or_taken() {
        let mut buffers = Buffers::new(4, 100).unwrap();
        assert_eq!(buffers.lent(), 0);
        (0..4).for_each(|id| buffers.lend(id));
        for round in 0..100_000_u32 {
            let id = (round * 7 % 4) as u16;
            let taken = buffers.take(&completion(id, 60)).unwrap();
            assert_eq!(taken.len(), 60);
            assert_eq!(taken.buffers.lent(), 3);
            drop(taken);
            assert_eq!(buffers.lent(), 4, "it goes back as soon as it was read");
        }
        assert_eq!(buffers.tail, 100_004_u32 as u16, "the tail wraps around");
    }

    #[test]
    fn a_completion_without_a_buffer_takes_none() {
        let mut buffers = Buffers::new(1, 1).unwrap();
        assert!(buffers.take(&Completion::without_buffer(0)).is_none());
    }

    #[test]
    #[should_panic(expected = "INV-LENT")]
    fn a_buffer_that_comes_back_twice_is_a_bug() {
        let mut buffers = Buffers::new(2, 8).unwrap();
        buffers.lend(0);
        std::mem::forget(buffers.take(&completion(0, 8)));
        let _ = buffers.take(&completion(0, 8));
    }

    #[test]
    #[should_panic(expected = "within its bounds")]
    fn a_buffer_with_more_than_it_holds_is_a_bug() {
        let mut buffers = Buffers::new(1, 8).unwrap();
        buffers.lend(0);
        let _ = buffers.take(&completion(0, 9));
    }
}
