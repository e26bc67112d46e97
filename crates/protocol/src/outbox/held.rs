// SPDX-License-Identifier: Apache-2.0
//! [`Held`]: counts the memory of messages that wait in many buffers at once, each once.

use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Memory of a message besides its bytes, approximately: a [`Counted`] with its number of holders (56 bytes), and the same
/// of the bytes that it holds (24), as the allocator rounds them.
const MESSAGE_BYTES: usize = 96;

/// The memory of the messages of one outbox; clones count together.
#[derive(Clone, Debug, Default)]
pub(super) struct Held {
    bytes: Arc<AtomicUsize>,
}

/// A message, which is counted until nobody holds it. The last holder may be on another thread.
#[derive(Debug)]
struct Counted {
    message: Bytes,
    bytes: Arc<AtomicUsize>,
}

impl AsRef<[u8]> for Counted {
    fn as_ref(&self) -> &[u8] {
        &self.message
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.bytes.fetch_sub(self.message.len() + MESSAGE_BYTES, Ordering::Relaxed);
    }
}

impl Held {
    #[inline]
    pub(super) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Counts a message. The result, at the same address, is what is to be held of it.
    pub(super) fn count(&self, message: Bytes) -> Bytes {
        self.bytes.fetch_add(message.len() + MESSAGE_BYTES, Ordering::Relaxed);
        Bytes::from_owner(Counted { message, bytes: Arc::clone(&self.bytes) })
    }
}
