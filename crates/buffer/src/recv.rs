// SPDX-License-Identifier: Apache-2.0
//! [`RecvBuf`]: bytes that arrived and have not been parsed yet; [`Lent`]: a block of them that may be kept.

use crate::Pool;
use bytes::Bytes;

/// How many times as large as what has arrived of a request a block may be that is sized for the rest of it.
const TRUST: usize = 8;

/// Room that a block has beyond the request that it is sized for: a read that leaves room has drained the socket, so
/// none is needed to find out.
const SLACK: usize = 64;

/// Bytes from which on a block is lent: more than a block of the pool has.
const LENT_MIN: usize = 20 << 10;

/// A lent block may have an eighth of its memory that is not the part which is kept of it.
const WASTE: usize = 8;

/// A block by reference count, see [`RecvBuf::lend`].
#[derive(Clone, Debug)]
pub struct Lent {
    bytes: Bytes,
    capacity: usize,
}

impl Lent {
    /// What waits in it.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Bytes of its memory.
    pub fn capacity(&self) -> usize {
        self.capacity
    }

    /// A part of the block, to be kept without a copy. `None` if it is too little of it, or lies elsewhere.
    pub fn share(&self, part: &[u8]) -> Option<Bytes> {
        let (block, place) = (self.bytes.as_ptr_range(), part.as_ptr_range());
        let is_within = block.start <= place.start && place.end <= block.end;
        let is_most = part.len() >= self.capacity - self.capacity / WASTE;
        (is_within && is_most).then(|| self.bytes.slice_ref(part))
    }
}

/// A contiguous receive buffer.
///
/// Layout: `block[start..]` holds the bytes that arrived and were not consumed, and the capacity behind them is free.
/// The first block comes from the pool. When a request needs more, it is moved to a block of the size that its length
/// claims, but of no more than eight times what has arrived of it: a length alone allocates nothing. No memory is
/// zeroed for bytes to come. So a large request is alone in its block, and who executes it can keep the block.
#[derive(Debug, Default)]
pub struct RecvBuf {
    block: Vec<u8>,
    start: usize,
    /// Bytes of the request that the block was sized for, if it has room for all of it; 0 for none.
    whole: usize,
    /// The capacity that the pool counts for this buffer.
    counted: usize,
}

impl RecvBuf {
    /// A buffer without a block.
    pub fn new() -> Self {
        Self::default()
    }

    /// The bytes that wait to be parsed.
    #[inline]
    pub fn filled(&self) -> &[u8] {
        &self.block[self.start..]
    }

    /// Whether no byte waits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.start == self.block.len()
    }

    /// Drops the first `n` of [`RecvBuf::filled`].
    ///
    /// # Panics
    ///
    /// When fewer than `n` bytes wait.
    #[inline]
    pub fn consume(&mut self, n: usize) {
        assert!(n <= self.block.len() - self.start, "consumed more than arrived");
        self.start += n;
        if n > 0 {
            self.whole = 0;
        }
        if self.start == self.block.len() {
            self.start = 0;
            self.block.clear();
        }
    }

    /// Makes room for at least `n` more bytes by the cheapest way that suffices: borrows a block, moves the waiting
    /// bytes to the front, or to a larger block.
    #[inline]
    pub fn reserve(&mut self, n: usize, pool: &mut Pool) {
        if self.room() < n {
            self.make_room(n, 0, pool);
        }
    }

    /// Makes room for at least a byte, and for the `n` that a request claims to miss. If these are far more than what
    /// has arrived, for a part of them, once there is no more room for its bytes.
    #[inline]
    pub fn reserve_claimed(&mut self, n: usize, pool: &mut Pool) {
        if self.room() < n {
            self.size_for(n, pool);
        }
    }

    fn size_for(&mut self, n: usize, pool: &mut Pool) {
        let waiting = self.filled().len();
        let trusted = waiting.saturating_mul(TRUST - 1);
        if n <= trusted {
            self.make_room(n, SLACK, pool);
            self.whole = waiting + n;
        } else if self.room() == 0 || self.start > 0 {
            self.make_room(trusted.max(1), SLACK, pool);
        }
    }

    /// A larger block has `slack` bytes more. It is twice as large where less than a quarter of what waits is to come:
    /// so bytes are moved a few times each at the most, however they arrive.
    fn make_room(&mut self, n: usize, slack: usize, pool: &mut Pool) {
        if self.block.capacity() == 0 {
            self.block = pool.take_recv();
        }
        if self.room() >= n {
            return self.count(pool);
        }
        let waiting = self.filled().len();
        self.whole = 0;
        if self.block.capacity() - waiting >= n {
            self.block.copy_within(self.start.., 0);
            self.block.truncate(waiting);
        } else {
            let doubled = if n < waiting / 4 { 2 * self.block.capacity() } else { 0 };
            let mut larger = Vec::with_capacity(doubled.max(waiting + n + slack));
            larger.extend_from_slice(self.filled());
            pool.give_recv(std::mem::replace(&mut self.block, larger));
        }
        self.start = 0;
        self.count(pool);
    }

    /// The vector to append to, no more than there is [room](RecvBuf::room) for.
    #[inline]
    pub fn tail(&mut self) -> &mut Vec<u8> {
        &mut self.block
    }

    /// Bytes that can be appended; none until [`RecvBuf::reserve`] has made room.
    #[inline]
    pub fn room(&self) -> usize {
        self.block.capacity() - self.block.len()
    }

    /// Appends as many of `bytes` as there is room for; returns how many.
    #[inline]
    pub fn put(&mut self, bytes: &[u8]) -> usize {
        let taken = bytes.len().min(self.room());
        self.block.extend_from_slice(&bytes[..taken]);
        taken
    }

    /// Whether what waits can be [lent](RecvBuf::lend): it is a large request, whole, and fills a block that was sized
    /// for it.
    #[inline]
    pub fn is_lendable(&self) -> bool {
        self.whole >= LENT_MIN && self.block.len() >= self.whole && self.room() <= SLACK
    }

    /// Lends what waits by reference count, so that the value of a request can be kept without a copy. Nothing waits
    /// until it is [taken back](RecvBuf::take_back).
    ///
    /// # Panics
    ///
    /// When some of the block has been consumed: then it is not [lendable](RecvBuf::is_lendable).
    pub fn lend(&mut self) -> Lent {
        assert!(self.start == 0, "lent after a part of it was consumed");
        self.whole = 0;
        let block = std::mem::take(&mut self.block);
        Lent { capacity: block.capacity(), bytes: Bytes::from(block) }
    }

    /// Takes back what was lent: the block, if nobody keeps a part of it, and without its first `n` bytes. Call it once
    /// the last other reference that is not to be kept is gone.
    ///
    /// # Panics
    ///
    /// When fewer than `n` bytes were lent.
    pub fn take_back(&mut self, lent: Lent, n: usize) {
        match lent.bytes.try_into_mut() {
            Ok(open) => {
                self.block = Vec::from(open);
                self.consume(n);
            }
            Err(kept) => self.block = kept[n..].to_vec(),
        }
    }

    /// Gives the block back if no byte waits in it.
    #[inline]
    pub fn release(&mut self, pool: &mut Pool) {
        if self.is_empty() && self.block.capacity() != 0 {
            (self.start, self.whole) = (0, 0);
            pool.give_recv(std::mem::take(&mut self.block));
        }
        self.count(pool);
    }

    /// Reports the block's size to the pool.
    #[inline]
    fn count(&mut self, pool: &mut Pool) {
        let held = self.block.capacity();
        pool.recount_recv(self.counted, held);
        self.counted = held;
    }

    /// Size of the block in bytes.
    pub fn capacity(&self) -> usize {
        self.block.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrive(recv: &mut RecvBuf, bytes: &[u8], pool: &mut Pool) {
        recv.reserve(bytes.len(), pool);
        assert_eq!(recv.put(bytes), bytes.len());
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
        assert_eq!((recv.filled(), recv.capacity()), (&b"fghijklmnop"[..], 11), "just enough");
        arrive(&mut recv, b"q", &mut pool);
        assert_eq!((recv.filled(), recv.capacity()), (&b"fghijklmnopq"[..], 22), "doubled");
        assert_eq!(recv.put(&[b'r'; 11]), 10, "what there is room for");
    }

    #[test]
    fn a_claimed_length_gets_its_block_once_enough_of_it_has_arrived() {
        let mut pool = Pool::new(1_000, 8, 2);
        let mut recv = RecvBuf::new();
        recv.reserve_claimed(1 << 30, &mut pool);
        assert_eq!((recv.capacity(), pool.bytes()), (1_000, 1_000), "nothing has arrived");
        arrive(&mut recv, &[1; 1_000], &mut pool);
        recv.reserve_claimed(7_000, &mut pool);
        assert_eq!(recv.capacity(), 8_000 + SLACK, "sized once");
        assert_eq!(recv.filled(), &[1; 1_000]);
        recv.reserve_claimed(1 << 30, &mut pool);
        assert_eq!(recv.capacity(), 8_000 + SLACK, "as much as is trusted, still");
        arrive(&mut recv, &[1; 7_000 + SLACK], &mut pool);
        recv.reserve_claimed(1 << 30, &mut pool);
        assert_eq!(recv.capacity(), TRUST * (8_000 + SLACK) + SLACK, "so many times what is there");
    }

    #[test]
    fn many_small_claims_move_each_byte_a_few_times() {
        let mut pool = Pool::new(1_000, 8, 2);
        let mut recv = RecvBuf::new();
        let mut moves = 0;
        for _ in 0..100_000 {
            let before = recv.capacity();
            recv.reserve_claimed(10, &mut pool);
            moves += usize::from(recv.capacity() != before);
            recv.put(&[1; 10]);
        }
        assert!(moves < 30, "{moves}");
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

    /// A buffer with a large request, in a block sized for it.
    fn large(pool: &mut Pool) -> RecvBuf {
        let mut recv = RecvBuf::new();
        arrive(&mut recv, &[1; 10_000], pool);
        recv.reserve_claimed(20_000, pool);
        arrive(&mut recv, &[2; 20_000], pool);
        recv
    }

    #[test]
    fn a_large_request_is_kept_without_a_copy() {
        let mut pool = Pool::new(8_000, 8, 2);
        let mut recv = large(&mut pool);
        assert!(recv.is_lendable());
        let held = recv.capacity();
        recv.put(b"next");
        let lent = recv.lend();
        assert!(recv.is_empty());
        assert_eq!((lent.as_bytes().len(), lent.capacity()), (30_004, held));
        let value = &lent.as_bytes()[100..30_000];
        let at = value.as_ptr();
        let kept = lent.share(value).expect("it is nearly all of it");
        recv.take_back(lent, 30_000);
        assert_eq!((recv.filled(), kept.as_ptr()), (&b"next"[..], at));
        assert_eq!(pool.lent_bytes(), held);
        recv.consume(4);
        recv.release(&mut pool);
        assert_eq!(pool.lent_bytes(), 0, "who keeps it counts it");
    }

    #[test]
    fn a_block_that_nobody_keeps_comes_back() {
        let mut pool = Pool::new(8_000, 8, 2);
        let mut recv = large(&mut pool);
        let held = recv.capacity();
        let lent = recv.lend();
        assert_eq!(lent.share(&lent.as_bytes()[..20_000]), None, "too much would be lost");
        assert_eq!(lent.share(&[1; 30_000]), None, "no part of it");
        recv.take_back(lent, 29_000);
        assert_eq!((recv.filled(), recv.capacity()), (&[2; 1_000][..], held));
        recv.consume(1_000);
        recv.release(&mut pool);
        assert_eq!(pool.lent_bytes(), 0);
        arrive(&mut recv, &[1; 8_000], &mut pool);
        assert!(!recv.is_lendable(), "it is small");
        recv.reserve_claimed(1 << 20, &mut pool);
        assert_eq!(recv.capacity(), TRUST * 8_000 + SLACK);
        arrive(&mut recv, &[1; 30_000], &mut pool);
        recv.reserve_claimed(1 << 20, &mut pool);
        assert_eq!(recv.capacity(), TRUST * 8_000 + SLACK, "it is filled first");
        arrive(&mut recv, &[1; 26_000 + SLACK], &mut pool);
        assert_eq!(recv.room(), 0);
        assert!(!recv.is_lendable(), "a part of a request");
    }

    #[test]
    #[should_panic(expected = "consumed more than arrived")]
    fn consuming_too_much_is_a_bug() {
        RecvBuf::new().consume(1);
    }
}
