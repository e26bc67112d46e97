// SPDX-License-Identifier: Apache-2.0
//! Giving memory back to the system after a burst.
//!
//! What clients do not read piles up in buffers, which are freed when they do, or go. The allocator of
//! glibc keeps memory that is free in the middle of its heaps, for good. So after a burst it is told to
//! give it back, by the admin thread: a worker that allocates meanwhile waits for as long as that takes
//! with its heap, a few milliseconds for each hundred megabytes.

/// By how much buffers must have shrunk since they were largest: much against what a steady load's do.
const BURST_BYTES: i64 = 8 << 20;

/// The largest that buffers have been since memory was last given back.
#[derive(Debug, Default)]
struct Bursts {
    peak: i64,
}

impl Bursts {
    /// Whether a burst is over, when buffers took at most so many bytes lately. While a load goes on they
    /// come to about the same again and again, so nothing is given back that is about to be wanted.
    fn is_over(&mut self, lately: i64) -> bool {
        let is_over = lately + BURST_BYTES <= self.peak;
        self.peak = if is_over { lately } else { self.peak.max(lately) };
        is_over
    }
}

/// A task that is to be done each second.
pub(crate) fn give_back_after_bursts() -> impl FnMut() + Send + 'static {
    let mut bursts = Bursts::default();
    move || {
        if bursts.is_over(reactor::buffers_peak()) {
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
