// SPDX-License-Identifier: Apache-2.0
//! A global allocator that counts.
//!
//! INV-PLAIN: it hands every call to the system's allocator with the arguments it got, and returns
//! what that returned. So it keeps the contract of `GlobalAlloc` exactly as far as the system's does.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicU64, Ordering};

static COUNT: AtomicU64 = AtomicU64::new(0);

/// Allocations and reallocations of this process so far.
pub(crate) fn count() -> u64 {
    COUNT.load(Ordering::Relaxed)
}

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

// SAFETY: INV-PLAIN.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: INV-PLAIN.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: INV-PLAIN.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        COUNT.fetch_add(1, Ordering::Relaxed);
        // SAFETY: INV-PLAIN.
        unsafe { System.realloc(at, layout, new_size) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: INV-PLAIN.
        unsafe { System.dealloc(at, layout) }
    }
}
