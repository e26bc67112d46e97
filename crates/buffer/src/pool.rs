// SPDX-License-Identifier: Apache-2.0
//! [`Pool`]: the blocks that the connections of one worker borrow.

/// A worker's stock of receive blocks and of send blocks, each of one size, lent last-in first-out.
///
/// It never refuses: when it is empty it allocates, and a block that comes back to a full pool is
/// freed. So `keep` bounds the memory of an idle worker, not that of a busy one, which is bounded
/// by the number of connections times their buffer limits.
///
/// It counts the bytes of all blocks, pooled and lent, including those that buffers have grown: a
/// block goes back to the pool it came from, and a buffer reports when it has grown.
#[derive(Debug)]
pub struct Pool {
    recv_bytes: usize,
    send_bytes: usize,
    keep: usize,
    recv: Vec<Vec<u8>>,
    send: Vec<Vec<u8>>,
    /// Bytes of all blocks that receive buffers hold.
    lent_recv: usize,
    /// Bytes of all blocks that send buffers hold.
    lent_send: usize,
}

impl Pool {
    /// A pool of receive blocks of `recv_bytes` and send blocks of `send_bytes`, which keeps at
    /// most `keep` unused blocks of each kind.
    ///
    /// # Panics
    ///
    /// When a size is zero.
    pub fn new(recv_bytes: usize, send_bytes: usize, keep: usize) -> Self {
        assert!(recv_bytes > 0 && send_bytes > 0, "a block holds at least a byte");
        Pool {
            recv_bytes,
            send_bytes,
            keep,
            recv: Vec::with_capacity(keep),
            send: Vec::with_capacity(keep),
            lent_recv: 0,
            lent_send: 0,
        }
    }

    /// Bytes of the unused blocks in the pool.
    pub fn idle_bytes(&self) -> usize {
        self.recv.len() * self.recv_bytes + self.send.len() * self.send_bytes
    }

    /// Bytes of all blocks that buffers hold, as [`Pool::bytes`] counts them.
    #[inline]
    pub fn lent_bytes(&self) -> usize {
        self.lent_recv + self.lent_send
    }

    /// The part of [`Pool::lent_bytes`] that send buffers hold, for bytes waiting to be sent.
    #[inline]
    pub fn lent_send_bytes(&self) -> usize {
        self.lent_send
    }

    /// Bytes of all blocks, unused and held by buffers. The growth of a send buffer counts from its
    /// next [`lend`](crate::SendBuf::lend) or [`release`](crate::SendBuf::release) on. Costs a few
    /// additions.
    pub fn bytes(&self) -> usize {
        self.lent_bytes() + self.idle_bytes()
    }

    /// An empty block to receive into. The caller still has to count it.
    pub(crate) fn take_recv(&mut self) -> Vec<u8> {
        self.recv.pop().unwrap_or_else(|| Vec::with_capacity(self.recv_bytes))
    }

    /// Records that a buffer which was counted with `counted` bytes to receive into holds `held` bytes.
    #[inline]
    pub(crate) fn recount_recv(&mut self, counted: usize, held: usize) {
        self.lent_recv = self.lent_recv - counted + held;
    }

    /// Takes back a receive block; one of another size is freed. The caller still has to count it.
    pub(crate) fn give_recv(&mut self, mut block: Vec<u8>) {
        if block.capacity() == self.recv_bytes && self.recv.len() < self.keep {
            block.clear();
            self.recv.push(block);
        }
    }

    /// An empty vector with a block's capacity. The caller still has to count it.
    pub(crate) fn take_send(&mut self) -> Vec<u8> {
        self.send.pop().unwrap_or_else(|| Vec::with_capacity(self.send_bytes))
    }

    /// Records that a buffer which was counted with `counted` bytes to be sent holds `held` bytes.
    #[inline]
    pub(crate) fn recount_send(&mut self, counted: usize, held: usize) {
        self.lent_send = self.lent_send - counted + held;
    }

    /// Takes back a send block that is no longer counted; one of another capacity is freed.
    pub(crate) fn give_send(&mut self, mut block: Vec<u8>) {
        if block.capacity() == self.send_bytes && self.send.len() < self.keep {
            block.clear();
            self.send.push(block);
        }
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
}
