// SPDX-License-Identifier: Apache-2.0
//! [`Pool`]: blocks that one worker's connections borrow in turn.

/// A worker's stock of receive blocks and of send blocks, each of one size, lent last-in first-out.
///
/// It never refuses: past its stock it allocates, and blocks that come back to a full stock are
/// freed. So `keep` bounds what an idle worker holds, not what a busy one may use; that bound is
/// the number of connections times their buffer limits.
#[derive(Debug)]
pub struct Pool {
    recv_bytes: usize,
    send_bytes: usize,
    keep: usize,
    recv: Vec<Box<[u8]>>,
    send: Vec<Vec<u8>>,
}

impl Pool {
    /// A pool of receive blocks of `recv_bytes` and send blocks of `send_bytes`, of which at most
    /// `keep` of each kind wait for use.
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
        }
    }

    /// Bytes that wait in the pool.
    pub fn idle_bytes(&self) -> usize {
        self.recv.len() * self.recv_bytes + self.send.len() * self.send_bytes
    }

    /// An initialised block to receive into; its content is arbitrary.
    pub(crate) fn take_recv(&mut self) -> Box<[u8]> {
        self.recv.pop().unwrap_or_else(|| vec![0; self.recv_bytes].into_boxed_slice())
    }

    /// Takes a receive block back; one of another size is freed.
    pub(crate) fn give_recv(&mut self, block: Box<[u8]>) {
        if block.len() == self.recv_bytes && self.recv.len() < self.keep {
            self.recv.push(block);
        }
    }

    /// An empty vector with a block's capacity.
    pub(crate) fn take_send(&mut self) -> Vec<u8> {
        self.send.pop().unwrap_or_else(|| Vec::with_capacity(self.send_bytes))
    }

    /// Takes a send block back; one of another capacity is freed.
    pub(crate) fn give_send(&mut self, mut block: Vec<u8>) {
        if block.capacity() == self.send_bytes && self.send.len() < self.keep {
            block.clear();
            self.send.push(block);
        }
    }
}
