// SPDX-License-Identifier: Apache-2.0
//! [`Pool`]: the blocks that the connections of one worker borrow.

/// A worker's stock of receive blocks and of send blocks, each of one size, lent last-in first-out.
///
/// It never refuses: when it is empty it allocates, and a block that comes back to a full pool is
/// freed. So `keep` bounds the memory of an idle worker, not that of a busy one, which is bounded
/// by the number of connections times their buffer limits. What a burst has left goes with
/// [`trim`](Pool::trim).
///
/// It counts the bytes of all blocks, pooled and lent, including those that buffers have grown: a
/// block goes back to the pool it came from, and a buffer reports when it has grown.
#[derive(Debug)]
pub struct Pool {
    recv: Stock,
    send: Stock,
}

/// Blocks of one size.
#[derive(Debug)]
struct Stock {
    block_bytes: usize,
    idle: Vec<Vec<u8>>,
    /// The most that are kept.
    keep: usize,
    /// The fewest that were idle since the pool was trimmed.
    unused: usize,
    /// Bytes of all blocks that buffers hold.
    lent: usize,
}

impl Stock {
    fn new(block_bytes: usize, keep: usize) -> Self {
        assert!(block_bytes > 0, "a block holds at least a byte");
        Stock { block_bytes, idle: Vec::with_capacity(keep), keep, unused: 0, lent: 0 }
    }

    fn idle_bytes(&self) -> usize {
        self.idle.len() * self.block_bytes
    }

    #[inline]
    fn take_idle(&mut self) -> Option<Vec<u8>> {
        let block = self.idle.pop();
        self.unused = self.unused.min(self.idle.len());
        block
    }

    #[inline]
    fn take(&mut self) -> Vec<u8> {
        self.take_idle().unwrap_or_else(|| Vec::with_capacity(self.block_bytes))
    }

    #[inline]
    fn give(&mut self, mut block: Vec<u8>) {
        if block.capacity() == self.block_bytes && self.idle.len() < self.keep {
            block.clear();
            self.idle.push(block);
        }
    }

    fn trim(&mut self) {
        let left = self.idle.len() - self.unused.div_ceil(2);
        self.idle.truncate(left);
        self.unused = left;
    }

    #[inline]
    fn recount(&mut self, counted: usize, held: usize) {
        self.lent = self.lent - counted + held;
    }
}

impl Pool {
    /// A pool of receive blocks of `recv_bytes` and send blocks of `send_bytes`, which keeps at
    /// most `keep` unused blocks of each kind.
    ///
    /// # Panics
    ///
    /// When a size is zero.
    pub fn new(recv_bytes: usize, send_bytes: usize, keep: usize) -> Self {
        let (recv, send) = (Stock::new(recv_bytes, keep), Stock::new(send_bytes, keep));
        Pool { recv, send }
    }

    /// Bytes of the unused blocks in the pool.
    pub fn idle_bytes(&self) -> usize {
        self.recv.idle_bytes() + self.send.idle_bytes()
    }

    /// Bytes of all blocks that buffers hold, as [`Pool::bytes`] counts them.
    #[inline]
    pub fn lent_bytes(&self) -> usize {
        self.recv.lent + self.send.lent
    }

    /// The part of [`Pool::lent_bytes`] that send buffers hold, for bytes waiting to be sent.
    #[inline]
    pub fn lent_send_bytes(&self) -> usize {
        self.send.lent
    }

    /// Bytes of all blocks, unused and held by buffers. The growth of a send buffer counts from its next
    /// [`lend`](crate::SendBuf::lend) or [`release`](crate::SendBuf::release) on. Costs a few additions.
    pub fn bytes(&self) -> usize {
        self.lent_bytes() + self.idle_bytes()
    }

    /// Frees half of the blocks that have not been used since the last call, of each kind. Called from time to time, it leaves
    /// as many as are in use at the same time, and of a burst soon none.
    ///
    /// ```
    /// use buffer::{Pool, RecvBuf};
    ///
    /// let mut pool = Pool::new(16 << 10, 64 << 10, 64);
    /// let mut burst: Vec<RecvBuf> = (0..8).map(|_| RecvBuf::new()).collect();
    /// burst.iter_mut().for_each(|buffer| buffer.reserve(1, &mut pool));
    /// burst.iter_mut().for_each(|buffer| buffer.release(&mut pool));
    /// pool.trim();
    /// assert_eq!(pool.idle_bytes(), 8 * (16 << 10), "they were in use since");
    /// pool.trim();
    /// assert_eq!(pool.idle_bytes(), 4 * (16 << 10));
    /// (0..3).for_each(|_| pool.trim());
    /// assert_eq!(pool.bytes(), 0);
    /// ```
    pub fn trim(&mut self) {
        self.recv.trim();
        self.send.trim();
    }

    /// An empty block to receive into. The caller still has to count it.
    pub(crate) fn take_recv(&mut self) -> Vec<u8> {
        self.recv.take()
    }

    /// Records that a buffer which was counted with `counted` bytes to receive into holds `held` bytes.
    #[inline]
    pub(crate) fn recount_recv(&mut self, counted: usize, held: usize) {
        self.recv.recount(counted, held);
    }

    /// Takes back a receive block; one of another size is freed. The caller still has to count it.
    pub(crate) fn give_recv(&mut self, block: Vec<u8>) {
        self.recv.give(block);
    }

    /// The capacity of a block to send.
    #[inline]
    pub(crate) fn send_block_bytes(&self) -> usize {
        self.send.block_bytes
    }

    /// An empty vector with a block's capacity. The caller still has to count it.
    pub(crate) fn take_send(&mut self) -> Vec<u8> {
        self.send.take()
    }

    /// As [`Pool::take_send`], but only a block that is there.
    pub(crate) fn take_unused_send(&mut self) -> Option<Vec<u8>> {
        self.send.take_idle()
    }

    /// Records that a buffer which was counted with `counted` bytes to be sent holds `held` bytes.
    #[inline]
    pub(crate) fn recount_send(&mut self, counted: usize, held: usize) {
        self.send.recount(counted, held);
    }

    /// Takes back a send block that is no longer counted; one of another capacity is freed.
    pub(crate) fn give_send(&mut self, block: Vec<u8>) {
        self.send.give(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RecvBuf, SendBuf};

    #[test]
    fn all_bytes_are_counted_wherever_they_are() {
        let mut pool = Pool::new(100, 1_000, 1);
        assert_eq!(pool.bytes(), 0);
        let (mut one, mut two) = (RecvBuf::new(), RecvBuf::new());
        one.reserve(1, &mut pool);
        two.reserve(1, &mut pool);
        assert_eq!((pool.bytes(), pool.idle_bytes()), (200, 0));
        two.reserve(150, &mut pool);
        assert_eq!(pool.bytes(), 100 + 150 + 100, "the block it had grown out of waits");
        two.release(&mut pool);
        one.release(&mut pool);
        assert_eq!((pool.bytes(), pool.idle_bytes()), (100, 100), "one is kept");

        let mut send = SendBuf::new();
        send.lend(&mut pool);
        assert_eq!(pool.bytes(), 1_100);
        send.put(&[1; 5_000]);
        send.lend(&mut pool);
        assert_eq!(pool.bytes(), 100 + send.capacity(), "what it has grown by");
        send.put(&[1; 50_000]);
        send.release(&mut pool);
        assert_eq!(pool.bytes(), 100 + send.capacity(), "and again, though it keeps its block");
        send.consume(55_000);
        send.release(&mut pool);
        assert_eq!(pool.bytes(), 100, "freed, for it is too large to keep");
        send.lend(&mut pool);
        send.release(&mut pool);
        assert_eq!((pool.bytes(), pool.idle_bytes()), (1_100, 1_100));
    }

    #[test]
    fn what_is_in_use_again_and_again_stays() {
        let mut pool = Pool::new(100, 1_000, 64);
        let lend = |pool: &mut Pool, count| {
            let mut buffers: Vec<SendBuf> = (0..count).map(|_| SendBuf::new()).collect();
            buffers.iter_mut().for_each(|buffer| buffer.lend(pool));
            buffers.iter_mut().for_each(|buffer| buffer.release(pool));
        };
        lend(&mut pool, 40);
        for _ in 0..10 {
            lend(&mut pool, 3);
            lend(&mut pool, 1);
            pool.trim();
        }
        assert_eq!(pool.idle_bytes(), 3 * 1_000);
    }
}
