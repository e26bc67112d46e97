// SPDX-License-Identifier: Apache-2.0
//! Returning memory to the system after a burst, and when a store was made smaller.
//!
//! Replies that clients do not read pile up in buffers, which are freed when the clients read or leave.
//! glibc's allocator never returns memory that is free in the middle of its heaps by itself. So after a
//! burst, or when a service [wishes](Wish) it, the admin thread tells it to (`malloc_trim`). A worker that allocates meanwhile waits until its
//! heap is done, a few milliseconds for each hundred megabytes.
//!
//! That leaves what is free at the end of the heaps of all threads but the first. glibc returns that when memory is freed, if it
//! is much; what is much grows with the blocks that it meets, up to 64 MiB for each worker. So it is [told](keep_little).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Free memory at the end of a heap that is kept for what comes next.
#[cfg(target_env = "gnu")]
const KEPT_BYTES: libc::c_int = 2 << 20;

/// Larger blocks come from the system and go back to it one by one: as much as glibc would come to by itself.
#[cfg(target_env = "gnu")]
const APART_BYTES: libc::c_int = 32 << 20;

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

/// Has the allocator of this process keep little that is free, whatever is allocated. For a program whose process it is.
#[cfg(target_env = "gnu")]
pub(crate) fn keep_little() {
    // SAFETY: they may be called at any time, on any thread, and take no memory of ours.
    let is_told = unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, APART_BYTES) == 1
            && libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT_BYTES) == 1
    };
    debug_assert!(is_told, "these are options of glibc");
}

#[cfg(not(target_env = "gnu"))]
pub(crate) fn keep_little() {}

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

    /// The resident bytes of the mapping in which this address lies.
    #[cfg(target_env = "gnu")]
    fn resident_around(address: usize) -> usize {
        let maps = std::fs::read_to_string("/proc/self/smaps").expect("Linux has it");
        let mut is_it = false;
        for line in maps.lines() {
            let mut words = line.split_ascii_whitespace();
            let first = words.next().expect("no line is empty");
            let number = |text: &str| usize::from_str_radix(text, 16);
            if let Some((Ok(from), Ok(to))) =
                first.split_once('-').map(|(a, b)| (number(a), number(b)))
            {
                is_it = (from..to).contains(&address);
            } else if is_it && first == "Rss:" {
                return words.next().and_then(|text| text.parse::<usize>().ok()).expect("a number")
                    << 10;
            }
        }
        panic!("nothing is mapped there");
    }

    #[cfg(target_env = "gnu")]
    #[test]
    fn what_is_free_at_the_end_of_a_workers_heap_goes_back() {
        keep_little();
        let worker = std::thread::spawn(|| {
            let mut kept = vec![1_u8; 4 << 10];
            let address = kept.as_mut_ptr() as usize;
            // The largest block that a value needs, and then many smaller ones.
            drop(std::hint::black_box(vec![1_u8; 20 << 20]));
            let blocks: Vec<Vec<u8>> = (0..24).map(|_| vec![1_u8; 1 << 20]).collect();
            drop(std::hint::black_box(blocks));
            (resident_around(address), kept)
        });
        let (resident, _kept) = worker.join().expect("it ends");
        assert!(resident < 8 << 20, "{resident} bytes");
    }

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
