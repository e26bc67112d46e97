// SPDX-License-Identifier: Apache-2.0
//! Returning memory to the system after a burst, and when a store was made smaller.
//!
//! Replies that clients do not read pile up in buffers, which are freed when the clients read or leave.
//! glibc's allocator never returns memory that is free in the middle of its heaps by itself. So after a
//! burst, or when a service [wishes](Wish) it, the admin thread tells it to (`malloc_trim`). A worker that allocates meanwhile waits until its
//! heap is done, a few milliseconds for each hundred megabytes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// How much buffers must have shrunk since their peak: much more than under a steady load.
const BURST_BYTES: i64 = 8 << 20;

/// The peak of the buffers' bytes since memory was last returned.
#[derive(Debug, Default)]
struct Bursts {
    peak: i64,
}

impl Bursts {
    /// Whether a burst is over, given the most bytes that buffers have lately taken. Under a steady load
    /// buffers reach about the same peak again and again, so memory that will be needed soon is kept.
    fn is_over(&mut self, lately: i64) -> bool {
        let is_over = lately + BURST_BYTES <= self.peak;
        self.peak = if is_over { lately } else { self.peak.max(lately) };
        is_over
    }
}

/// Set by whoever has freed much memory.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wish(Arc<AtomicBool>);

impl Wish {
    pub(crate) fn make(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    fn take(&self) -> bool {
        self.0.swap(false, Ordering::Relaxed)
    }
}

/// A task to run once a second.
pub(crate) fn give_back_as_needed(wish: Wish) -> impl FnMut() + Send + 'static {
    let mut bursts = Bursts::default();
    move || {
        // Both are asked, each of which remembers.
        if bursts.is_over(reactor::buffers_peak()) | wish.take() {
            give_back();
        }
    }
}

#[cfg(target_env = "gnu")]
fn give_back() {
    // SAFETY: it may be called at any time, on any thread; it takes the locks of the heaps.
    unsafe {
        libc::malloc_trim(0);
    }
}

#[cfg(not(target_env = "gnu"))]
fn give_back() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_is_over_once() {
        let mut bursts = Bursts::default();
        assert!(!bursts.is_over(BURST_BYTES - 1));
        assert!(!bursts.is_over(0), "too small a one");
        assert!(!bursts.is_over(5 * BURST_BYTES));
        assert!(bursts.is_over(4 * BURST_BYTES));
        assert!(!bursts.is_over(4 * BURST_BYTES));
        assert!(bursts.is_over(0));
        assert!(!bursts.is_over(0));
    }
}
