// SPDX-License-Identifier: Apache-2.0
//! [`Shared`]: counts the memory of messages that wait in many buffers at once, each once.

use bytes::Bytes;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The messages of one worker, which its connections hold by reference.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Bytes of all that are held.
    bytes: Arc<AtomicUsize>,
    /// The latest, as it came and as it is counted: a message is for many peers, one after the other.
    latest: Option<(Bytes, Bytes)>,
}

/// A message, which is counted until nobody holds it.
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
        self.bytes.fetch_sub(self.message.len(), Ordering::Relaxed);
    }
}

impl Shared {
    pub(crate) fn bytes(&self) -> usize {
        self.bytes.load(Ordering::Relaxed)
    }

    /// Counts a message, if it is another one than the latest.
    pub(crate) fn count(&mut self, message: Bytes) -> Bytes {
        if let Some((came, counted)) = &self.latest
            && came.as_ptr() == message.as_ptr()
            && came.len() == message.len()
        {
            return counted.clone();
        }
        self.bytes.fetch_add(message.len(), Ordering::Relaxed);
        let bytes = Arc::clone(&self.bytes);
        let counted = Bytes::from_owner(Counted { message: message.clone(), bytes });
        self.latest = Some((message, counted.clone()));
        counted
    }

    /// Forgets the latest message, so that it is held by those alone who have yet to send it.
    pub(crate) fn forget(&mut self) {
        self.latest = None;
    }
}
