// SPDX-License-Identifier: Apache-2.0
//! [`Lent`]: the owner of a value that is lent as [`bytes::Bytes`].

use super::Heap;
use crate::sync::Arc;

/// A value in the heap, and what keeps it there.
pub(super) struct Lent<G> {
    value: *const [u8],
    // In this order: the guard gives up its claim on memory that is still mapped.
    _guard: G,
    _heap: Arc<Heap>,
}

impl<G> Lent<G> {
    /// # Safety
    ///
    /// The value is in the heap, and its bytes stay as they are for as long as the guard lives.
    pub(super) unsafe fn new(value: &[u8], guard: G, heap: Arc<Heap>) -> Self {
        Lent { value, _guard: guard, _heap: heap }
    }
}

impl<G> AsRef<[u8]> for Lent<G> {
    fn as_ref(&self) -> &[u8] {
        // SAFETY: the promise given to `new`: guard and heap live as long as `self`.
        unsafe { &*self.value }
    }
}

// SAFETY: the value is memory that does not change, which any thread may read. Guard and heap can be
// sent by themselves.
unsafe impl<G: Send> Send for Lent<G> {}
