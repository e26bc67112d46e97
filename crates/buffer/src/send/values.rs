// SPDX-License-Identifier: Apache-2.0
//! Values and messages by reference, and as copies where too much of a store's memory would wait with them.

use super::{Piece, SendBuf};
use bytes::Bytes;

/// Number of waiting bytes past which a value is copied although it could be pinned. So the memory
/// that a store has lent to peers that do not read stays small, however much waits for them.
pub const PINNED_WITHIN: usize = 1 << 20;

/// Number of waiting pieces past which a value is copied, too: each may keep much more of a store's memory than its own.
pub(super) const PINNED_MOST: usize = 16;

/// The same for values of a store that counts itself what it has lent, of which only the place in this buffer takes memory.
pub(super) const LENT_MOST: usize = 64;

/// A value from this size on is never copied: it is a block of its own, of which a copy would be a second one while the store
/// has the first, and which the copy would take as much time as to send.
const NEVER_COPIED: usize = 16 << 10;

/// Number of waiting bytes past which a pinned value counts as memory of the buffer: the store may have removed it by the
/// time that the peer reads.
const UNCOUNTED: usize = 64 << 10;

impl SendBuf {
    /// Appends a `value` that a store has lent: by reference, or a small one as a copy if a megabyte or 16 values wait already.
    pub fn put_pinned(&mut self, value: Bytes) {
        let waiting = self.waiting();
        if waiting < UNCOUNTED && self.pieces.len() < PINNED_MOST {
            self.put_shared(value);
        } else if value.len() >= NEVER_COPIED {
            let held = value.len();
            self.put_shared(value);
            self.count_last(held);
        } else {
            self.put_counted(value, waiting);
        }
    }

    /// Appends a `value` that a store has lent which counts and bounds that itself: by reference, or as a copy if 64 values wait
    /// already.
    pub fn put_lent(&mut self, value: Bytes) {
        if self.pieces.len() < LENT_MOST {
            self.put_shared(value);
        } else {
            self.put_counted(value, self.waiting());
        }
    }

    /// Appends a lent value, or a copy of it, that counts as memory of this buffer.
    #[cold]
    fn put_counted(&mut self, value: Bytes, waiting: usize) {
        let held = value.len();
        if waiting < PINNED_WITHIN && self.pieces.len() < PINNED_MOST {
            self.put_shared(value);
        } else {
            // The copy is a piece of its own, of the size of the value. A block that grew for it would be
            // moved, and would have a size that is of no use to the pool.
            self.put_shared(Bytes::copy_from_slice(&value));
        }
        if held > 0 {
            self.count_last(held);
        }
    }

    /// Counts so many bytes of the last piece as memory of this buffer.
    fn count_last(&mut self, held: usize) {
        self.pieces.back_mut().expect("it was put").block = held;
        self.sealed += held;
    }

    /// Appends `message` by reference, however much waits. See [`SendBuf::put_shared_message`] for one that many peers share.
    pub fn put_shared(&mut self, message: Bytes) {
        if !message.is_empty() {
            self.piece_bytes += message.len();
            self.pieces.push_back(Piece { at: self.bytes.len(), bytes: message, block: 0 });
        }
    }
}
