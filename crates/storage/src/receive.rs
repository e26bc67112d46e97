// SPDX-License-Identifier: Apache-2.0
//! [`Receive`]: values that arrive in pieces, and [`Collected`], the draft of an engine that takes them whole.

use crate::{Condition, Expiry, Put, Store, StoreError, Version};
use clock::Ticks;

/// What is known of an item before its value arrives.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Announced<'a> {
    /// The key.
    pub key: &'a [u8],
    /// Bytes of the value. The client claims them: nothing is allocated for them before they arrive.
    pub value_len: usize,
    /// The client's opaque flags.
    pub flags: u32,
    /// When the item stops being readable.
    pub expiry: Expiry,
}

impl<'a> Announced<'a> {
    /// A value of so many bytes under `key`: no flags, no expiry.
    #[must_use]
    pub const fn new(key: &'a [u8], value_len: usize) -> Self {
        Announced { key, value_len, flags: 0, expiry: Expiry::NEVER }
    }

    /// Sets the client's flags.
    #[must_use]
    pub const fn flags(mut self, flags: u32) -> Self {
        self.flags = flags;
        self
    }

    /// Sets the expiry.
    #[must_use]
    pub const fn expiry(mut self, expiry: Expiry) -> Self {
        self.expiry = expiry;
        self
    }
}

/// An engine that takes large values in pieces, as they arrive: none is copied as a whole, and no call takes time
/// in proportion to the whole value.
///
/// A value that is arriving is a *draft*. It belongs to the handle that began it, and nobody can read it. Dropped, it
/// is given up, and its memory is free again. Any number may be under way, also for the same key.
///
/// A separate trait, since most values are small: a service that needs it requires it in its type. An engine without
/// better means implements [`Collects`].
///
/// ```
/// use clock::Ticks;
/// use storage::{Announced, Condition, Receive, StoreError, Version};
///
/// fn write(
///     store: &mut impl Receive,
///     key: &[u8],
///     pieces: &[&[u8]],
///     now: Ticks,
/// ) -> Result<Version, StoreError> {
///     let value_len = pieces.iter().map(|piece| piece.len()).sum();
///     let mut draft = store.begin(Announced::new(key, value_len), now)?;
///     for piece in pieces {
///         store.append(&mut draft, piece, now)?;
///     }
///     store.commit(draft, Condition::Always, now)
/// }
/// ```
pub trait Receive: Store {
    /// A value that is arriving.
    type Draft: Draft + std::fmt::Debug + Send;

    /// Whether values that come to so many bytes may be under way at the same time, and all of them find memory. If not, a
    /// further one should begin when another has ended: else one of them may find none in the middle.
    fn admits(&self, bytes: u64) -> bool {
        let _ = bytes;
        true
    }

    /// Begins a value.
    ///
    /// # Errors
    ///
    /// [`StoreError::TooLarge`] for one that can never fit, [`StoreError::OutOfMemory`].
    fn begin(&mut self, announced: Announced<'_>, now: Ticks) -> Result<Self::Draft, StoreError>;

    /// Adds the next bytes of the value. The work grows with these alone.
    ///
    /// # Errors
    ///
    /// [`StoreError::OutOfMemory`], also where drafts together have as much memory as they may. Then nothing was added,
    /// and the call may succeed once another draft was dropped.
    ///
    /// # Panics
    ///
    /// When these are more bytes than the announced ones that are left.
    fn append(
        &mut self,
        draft: &mut Self::Draft,
        piece: &[u8],
        now: Ticks,
    ) -> Result<(), StoreError>;

    /// The memory that the next bytes of the value go to, `most` of them at the most and at least one, so that they can
    /// be received there instead of appended. Its content is arbitrary. `None` if the value has no such memory, or there
    /// is no more of it: then [`Receive::append`] tells why.
    fn place<'a>(
        &'a mut self,
        draft: &'a mut Self::Draft,
        most: usize,
        now: Ticks,
    ) -> Option<&'a mut [u8]> {
        let _ = (draft, most, now);
        None
    }

    /// Adds the first `n` bytes of the [place](Receive::place) to the value. Nothing was done with the draft since then.
    ///
    /// # Panics
    ///
    /// When these are more bytes than the place has.
    fn placed(&mut self, draft: &mut Self::Draft, n: usize) {
        let _ = draft;
        assert_eq!(n, 0, "bytes without a place");
    }

    /// Makes the value readable if `condition` holds now, as [`Store::put`] does, in one atomic step.
    ///
    /// # Errors
    ///
    /// [`StoreError`]; the item under the key is then unchanged, and the draft given up.
    ///
    /// # Panics
    ///
    /// When bytes of the value are missing.
    fn commit(
        &mut self,
        draft: Self::Draft,
        condition: Condition,
        now: Ticks,
    ) -> Result<Version, StoreError>;
}

/// A value that is arriving.
pub trait Draft {
    /// Bytes that it holds outside of the memory that the store counts, for [`Store::reserve`].
    fn outside_bytes(&self) -> usize;
}

/// A draft outside of any store: the value is collected and then written at once.
#[derive(Clone, Debug)]
pub struct Collected {
    key: Box<[u8]>,
    value: Vec<u8>,
    value_len: usize,
    flags: u32,
    expiry: Expiry,
}

impl Collected {
    /// A value of which nothing has arrived.
    #[must_use]
    pub fn new(announced: Announced<'_>) -> Self {
        let Announced { key, value_len, flags, expiry } = announced;
        Collected { key: key.into(), value: Vec::new(), value_len, flags, expiry }
    }

    /// Adds the next bytes. The memory at least doubles when it grows, up to that of the whole value and no more.
    ///
    /// # Panics
    ///
    /// When these are more bytes than the announced ones that are left.
    pub fn append(&mut self, piece: &[u8]) {
        let len = self.value.len() + piece.len();
        assert!(len <= self.value_len, "{len} bytes of {} that were announced", self.value_len);
        if len > self.value.capacity() {
            let size = len.max(2 * self.value.capacity()).min(self.value_len);
            self.value.reserve_exact(size - self.value.len());
        }
        self.value.extend_from_slice(piece);
    }

    /// The write of the whole value.
    ///
    /// # Panics
    ///
    /// When bytes of the value are missing.
    pub fn put(&self, condition: Condition) -> Put<'_> {
        self.check_whole();
        Put::new(&self.key, &self.value).flags(self.flags).expiry(self.expiry).condition(condition)
    }

    /// The whole value.
    ///
    /// # Panics
    ///
    /// As [`Collected::put`].
    pub fn value(&self) -> &[u8] {
        self.check_whole();
        &self.value
    }

    /// The same with the value by itself, for an engine that takes it over.
    ///
    /// # Panics
    ///
    /// As [`Collected::put`].
    pub fn take_value(&mut self) -> Vec<u8> {
        self.check_whole();
        self.value_len = 0;
        std::mem::take(&mut self.value)
    }

    /// What was announced.
    pub fn announced(&self) -> Announced<'_> {
        let &Collected { ref key, value_len, flags, expiry, .. } = self;
        Announced { key, value_len, flags, expiry }
    }

    fn check_whole(&self) {
        let (len, whole) = (self.value.len(), self.value_len);
        assert_eq!(len, whole, "bytes of the value that have arrived, and that were announced");
    }
}

impl Draft for Collected {
    fn outside_bytes(&self) -> usize {
        self.value.capacity()
    }
}

/// An engine that takes values whole. It has [`Receive`] by this alone: what arrives in pieces is [`Collected`] and then
/// put.
///
/// ```
/// use storage::{Collects, Receive, Store};
///
/// fn takes_pieces(_: &impl Receive) {}
///
/// fn whatever_is_collected<S: Store + Collects>(store: &S) {
///     takes_pieces(store);
/// }
/// ```
pub trait Collects: Store {}

impl<S: Collects> Receive for S {
    type Draft = Collected;

    fn begin(&mut self, announced: Announced<'_>, _: Ticks) -> Result<Collected, StoreError> {
        Ok(Collected::new(announced))
    }

    fn append(&mut self, draft: &mut Collected, piece: &[u8], _: Ticks) -> Result<(), StoreError> {
        draft.append(piece);
        Ok(())
    }

    fn commit(
        &mut self,
        draft: Collected,
        condition: Condition,
        now: Ticks,
    ) -> Result<Version, StoreError> {
        self.put(draft.put(condition), now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_taken_as_bytes_arrive() {
        let mut draft = Collected::new(Announced::new(b"key", 1_000_000).flags(7));
        assert_eq!(draft.outside_bytes(), 0);
        for _ in 0..1_000 {
            draft.append(&[1; 1_000]);
            assert!(draft.outside_bytes() <= 2 * draft.value.len());
        }
        assert_eq!(draft.outside_bytes(), 1_000_000, "exactly, to be taken over");
        let put = draft.put(Condition::IfAbsent);
        assert_eq!((put.key, put.value.len(), put.flags), (&b"key"[..], 1_000_000, 7));
        assert_eq!(put.condition, Condition::IfAbsent);
    }

    #[test]
    #[should_panic(expected = "4 bytes of 3 that were announced")]
    fn more_than_announced_is_a_bug() {
        Collected::new(Announced::new(b"key", 3)).append(b"four");
    }

    #[test]
    #[should_panic(expected = "bytes of the value that have arrived")]
    fn less_than_announced_is_a_bug() {
        Collected::new(Announced::new(b"key", 3)).put(Condition::Always);
    }
}
