// SPDX-License-Identifier: Apache-2.0
//! [`RecvBuf`]: bytes that arrived and have not been parsed yet.

use crate::Pool;

/// A contiguous receive buffer.
///
/// Layout: `block[start..end]` holds the bytes that arrived and were not consumed, `block[end..]`
/// is free. The first block comes from the pool. It doubles when a request needs more, as the bytes
/// of the request arrive: a length that a client merely claims allocates nothing.
#[derive(Debug, Default)]
pub struct RecvBuf {
    block: Box<[u8]>,
    start: usize,
    end: usize,
}

impl RecvBuf {
    /// A buffer without a block.
    pub fn new() -> Self {
        Self::default()
    }

    /// The bytes that wait to be parsed.
    #[inline]
    pub fn filled(&self) -> &[u8] {
        &self.block[self.start..self.end]
    }

    /// Whether no byte waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.start == self.end
    }

    /// Drops the first `n` of [`RecvBuf::filled`].
    ///
    /// # Panics
    ///
    /// When fewer than `n` bytes wait.
    #[inline]
    pub fn consume(&mut self, n: usize) {
        assert!(n <= self.end - self.start, "consumed more than arrived");
        self.start += n;
        if self.start == self.end {
            self.start = 0;
            self.end = 0;
        }
    }

    /// Makes room for at least `n` more bytes by the cheapest way that suffices: borrows a block,
    /// moves the waiting bytes to the front, or doubles the block.
    pub fn reserve(&mut self, n: usize, pool: &mut Pool) {
        if self.block.is_empty() {
            self.block = pool.take_recv();
        }
        if self.block.len() - self.end >= n {
            return;
        }
        let waiting = self.end - self.start;
        let needed = waiting + n;
        if needed <= self.block.len() {
            self.block.copy_within(self.start..self.end, 0);
        } else {
            let size = needed.next_power_of_two().max(self.block.len() * 2);
            let mut larger = pool.make_recv(size);
            larger[..waiting].copy_from_slice(self.filled());
            pool.give_recv(std::mem::replace(&mut self.block, larger));
        }
        self.start = 0;
        self.end = waiting;
    }

    /// The free space behind the waiting bytes; empty until [`RecvBuf::reserve`] has made some.
    #[inline]
    pub fn spare(&mut self) -> &mut [u8] {
        &mut self.block[self.end..]
    }

    /// Bytes of [`RecvBuf::spare`].
    #[inline]
    pub fn room(&self) -> usize {
        self.block.len() - self.end
    }

    /// Declares that the first `n` bytes of [`RecvBuf::spare`] have arrived.
    ///
    /// # Panics
    ///
    /// When there are fewer than `n` spare bytes.
    #[inline]
    pub fn commit(&mut self, n: usize) {
        assert!(n <= self.block.len() - self.end, "committed more than there is room for");
        self.end += n;
    }

    /// Gives the block back if no byte waits in it.
    #[inline]
    pub fn release(&mut self, pool: &mut Pool) {
        if self.is_empty() && !self.block.is_empty() {
            pool.give_recv(std::mem::take(&mut self.block));
        }
    }

    /// Size of the block in bytes.
    pub fn capacity(&self) -> usize {
        self.block.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrive(recv: &mut RecvBuf, bytes: &[u8], pool: &mut Pool) {
        recv.reserve(bytes.len(), pool);
        recv.spare()[..bytes.len()].copy_from_slice(bytes);
        recv.commit(bytes.len());
    }

    #[test]
    fn what_waits_survives_moving_and_growing() {
        let mut pool = Pool::new(8, 8, 2);
        let mut recv = RecvBuf::new();
        arrive(&mut recv, b"abcdefgh", &mut pool);
        recv.consume(5);
        arrive(&mut recv, b"ijk", &mut pool);
        assert_eq!((recv.filled(), recv.capacity()), (&b"fghijk"[..], 8), "moved to the front");
        arrive(&mut recv, b"lmnop", &mut pool);
        assert_eq!((recv.filled(), recv.capacity()), (&b"fghijklmnop"[..], 16), "doubled");
    }

    #[test]
    fn an_empty_buffer_returns_its_block_and_a_larger_one_is_freed() {
        let mut pool = Pool::new(8, 8, 2);
        let mut recv = RecvBuf::new();
        arrive(&mut recv, b"abc", &mut pool);
        recv.release(&mut pool);
        assert_eq!(recv.capacity(), 8, "bytes wait, so the block stays");
        recv.consume(3);
        recv.release(&mut pool);
        assert_eq!((recv.capacity(), pool.idle_bytes()), (0, 8));
        arrive(&mut recv, &[7; 100], &mut pool);
        recv.consume(100);
        recv.release(&mut pool);
        assert_eq!((recv.capacity(), pool.idle_bytes()), (0, 8));
    }

    #[test]
    #[should_panic(expected = "consumed more than arrived")]
    fn consuming_too_much_is_a_bug() {
        RecvBuf::new().consume(1);
    }
}
