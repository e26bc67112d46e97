// SPDX-License-Identifier: Apache-2.0
//! [`Output`]: the destination of replies.

use buffer::{Mark, SendBuf};
use bytes::Bytes;

/// Something that replies are appended to: a connection's send buffer, or a plain vector whose
/// bytes go to other connections.
pub trait Output {
    /// A position in the output; valid until some of it is sent.
    type Mark: Copy + std::fmt::Debug;

    /// Makes room for `n` bytes.
    fn reserve(&mut self, n: usize);

    /// Appends a copy of `bytes`.
    fn put(&mut self, bytes: &[u8]);

    /// Appends the first `len` of the eight bytes of `word`, the lowest byte first.
    #[inline]
    fn put_word(&mut self, word: u64, len: usize) {
        self.put(&word.to_le_bytes()[..len]);
    }

    /// Appends `value`, by reference where that is possible.
    fn put_pinned(&mut self, value: Bytes);

    /// Appends `text`, by reference where that is possible and however much waits.
    fn put_shared(&mut self, text: Bytes);

    /// The current end.
    fn mark(&self) -> Self::Mark;

    /// Inserts `bytes` at `mark`. Moves what was written behind it once.
    fn insert(&mut self, mark: Self::Mark, bytes: &[u8]);

    /// Removes the bytes written since `mark`.
    fn truncate(&mut self, mark: Self::Mark);
}

impl Output for SendBuf {
    type Mark = Mark;

    #[inline]
    fn reserve(&mut self, n: usize) {
        SendBuf::reserve(self, n);
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        SendBuf::put(self, bytes);
    }

    #[inline]
    fn put_word(&mut self, word: u64, len: usize) {
        SendBuf::put_word(self, word, len);
    }

    #[inline]
    fn put_pinned(&mut self, value: Bytes) {
        SendBuf::put_pinned(self, value);
    }

    #[inline]
    fn put_shared(&mut self, text: Bytes) {
        SendBuf::put_shared(self, text);
    }

    #[inline]
    fn mark(&self) -> Mark {
        SendBuf::mark(self)
    }

    #[inline]
    fn insert(&mut self, mark: Mark, bytes: &[u8]) {
        SendBuf::insert(self, mark, bytes);
    }

    #[inline]
    fn truncate(&mut self, mark: Mark) {
        SendBuf::truncate(self, mark);
    }
}

impl Output for Vec<u8> {
    type Mark = usize;

    #[inline]
    fn reserve(&mut self, n: usize) {
        Vec::reserve(self, n);
    }

    #[inline]
    fn put(&mut self, bytes: &[u8]) {
        self.extend_from_slice(bytes);
    }

    #[inline]
    fn put_pinned(&mut self, value: Bytes) {
        self.extend_from_slice(&value);
    }

    #[inline]
    fn put_shared(&mut self, text: Bytes) {
        self.extend_from_slice(&text);
    }

    #[inline]
    fn mark(&self) -> usize {
        self.len()
    }

    #[inline]
    fn insert(&mut self, mark: usize, bytes: &[u8]) {
        let end = self.len();
        self.extend_from_slice(bytes);
        self.copy_within(mark..end, mark + bytes.len());
        self[mark..mark + bytes.len()].copy_from_slice(bytes);
    }

    #[inline]
    fn truncate(&mut self, mark: usize) {
        Vec::truncate(self, mark);
    }
}
