// SPDX-License-Identifier: Apache-2.0
//! The memory of copied bytes: blocks that are borrowed, sealed and given back, and no more than a message needs.

use super::{Piece, SendBuf};
use crate::Pool;
use bytes::Bytes;
use std::collections::VecDeque;

/// Capacity of the queue of pieces that a connection keeps while nothing waits: some 200 bytes.
const PIECES_KEPT: usize = 4;

/// Number of waiting copied bytes at which their block is sealed and a new one begun.
const SEALED_FROM: usize = 48 << 10;

/// Waiting copied bytes from which messages take an unused block of the pool, if it has one.
const SMALL: usize = 4 << 10;

/// [`SendBuf::give_way`] moves no more bytes than the size of their block divided by this.
const FEW: usize = 16;

impl SendBuf {
    /// Removes the bytes that have been sent from the block. It moves fewer bytes than it removes,
    /// so a peer that never lets the buffer run empty costs a constant per byte and no growing
    /// memory.
    pub(super) fn compact(&mut self) {
        self.bytes.drain(..self.head);
        for piece in &mut self.pieces {
            piece.at -= self.head;
        }
        self.head = 0;
    }

    /// Seals the block: the copied bytes wait unchanged, and a new block takes the bytes that follow. Moves
    /// no byte. Must not be called while a [`Mark`] is in use, because a mark is an offset into the block.
    #[cold]
    fn seal(&mut self) {
        if self.bytes.capacity() > self.bytes.len() / 2 * 3 {
            // The block has grown for a large reply.
            self.bytes.shrink_to_fit();
        }
        let held = self.bytes.capacity();
        let block = Bytes::from(std::mem::take(&mut self.bytes));
        let mut from = std::mem::take(&mut self.head);
        let among = self.pieces.partition_point(|piece| piece.at <= from);
        let behind = self.pieces.split_off(among);
        // These pieces come before all unsent bytes of the block.
        for piece in &mut self.pieces {
            piece.at = 0;
        }
        for piece in behind {
            self.push_sealed(block.slice(from..piece.at));
            from = piece.at;
            self.pieces.push_back(Piece { at: 0, ..piece });
        }
        self.push_sealed(block.slice(from..));
        self.sealed += held;
        self.pieces.back_mut().expect("it was not empty").block += held;
    }

    fn push_sealed(&mut self, bytes: Bytes) {
        if !bytes.is_empty() {
            self.piece_bytes += bytes.len();
            self.pieces.push_back(Piece { at: 0, bytes, block: 0 });
        }
    }

    /// Borrows a block from the pool, unless the buffer has one that is not sealed.
    #[inline]
    pub fn lend(&mut self, pool: &mut Pool) {
        if self.bytes.len() - self.head >= SEALED_FROM {
            self.seal();
        }
        if self.bytes.capacity() == 0 {
            self.bytes = pool.take_send();
        }
        self.count(pool);
    }

    /// Appends a copy of a message that came by itself, not as a reply: in memory of its size, or in a block that the pool
    /// has unused. One message may be for thousands of peers at the same time, and then a block for each would be far more
    /// memory than all of these bytes.
    pub fn put_message(&mut self, message: &[u8], pool: &mut Pool) {
        if self.bytes.len() - self.head >= SEALED_FROM {
            self.seal();
        }
        if self.bytes.len() + message.len() > self.bytes.capacity() {
            self.compact();
            let needed = self.bytes.len() + message.len();
            if needed > self.bytes.capacity().max(SMALL)
                && needed <= pool.send_block_bytes()
                && let Some(mut block) = pool.take_unused_send()
            {
                block.extend_from_slice(&self.bytes);
                self.bytes = block;
            }
        }
        self.put(message);
        self.count(pool);
    }

    /// Appends `message` by reference, however much waits, and reports at once what its place in the queue takes: a
    /// buffer of a peer that only gets messages may be neither lent a block nor released for long.
    pub fn put_shared_message(&mut self, message: Bytes, pool: &mut Pool) {
        self.put_shared(message);
        self.count(pool);
    }

    /// Gives the block back if nothing waits in it.
    #[inline]
    pub fn release(&mut self, pool: &mut Pool) {
        if self.waiting() == 0 {
            // The queue's memory is kept for the next large values, unless a burst has made it
            // large.
            if self.pieces.capacity() > PIECES_KEPT {
                self.pieces = VecDeque::new();
            }
            if self.bytes.capacity() != 0 {
                let block = std::mem::take(&mut self.bytes);
                self.count(pool);
                pool.give_send(block);
                return;
            }
        }
        self.count(pool);
    }

    /// Gives the block back if only few copied bytes wait, which move to memory of their size. For a peer that has not read what
    /// was sent.
    #[cold]
    pub fn give_way(&mut self, pool: &mut Pool) {
        if self.bytes.len() - self.head > self.bytes.capacity() / FEW {
            return;
        }
        self.compact();
        let few = self.bytes.as_slice().to_vec();
        let block = std::mem::replace(&mut self.bytes, few);
        self.count(pool);
        pool.give_send(block);
    }

    /// Reports the buffer's present capacity to the pool.
    #[inline]
    fn count(&mut self, pool: &mut Pool) {
        let held = self.capacity();
        pool.recount_send(self.counted, held);
        self.counted = held;
    }

    /// Bytes of memory that count as the buffer's, with those of its queue where more than a few pieces wait. Of values by
    /// reference, which belong to their store, these are the ones that have more than 64 KiB waiting before them.
    #[inline]
    pub fn capacity(&self) -> usize {
        self.bytes.capacity() + self.sealed + self.queue_bytes()
    }

    /// Bytes of memory of the queue of pieces: for small messages by reference not much less than their own, and not shared
    /// with other peers. The one that every connection may keep is part of the connection.
    #[inline]
    pub(super) fn queue_bytes(&self) -> usize {
        let places = self.pieces.capacity();
        if places > PIECES_KEPT { places * size_of::<Piece>() } else { 0 }
    }
}
