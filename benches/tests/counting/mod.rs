// SPDX-License-Identifier: Apache-2.0
//! A global allocator that counts, for threads that ask for it.
//!
//! INV-PLAIN: it hands every call to the system's allocator with the arguments it got, and returns
//! what that returned. So it keeps the contract of `GlobalAlloc` exactly as far as the system's does.
//! The counting allocates nothing: the thread-local is constant and needs no destructor.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    static TALLY: Cell<Option<&'static AtomicU64>> = const { Cell::new(None) };
}

/// Counts the allocations and reallocations of this thread in `tally`, from here on.
pub(crate) fn count_here(tally: &'static AtomicU64) {
    TALLY.set(Some(tally));
}

struct Counting;

#[global_allocator]
static COUNTING: Counting = Counting;

fn count() {
    if let Some(tally) = TALLY.get() {
        tally.fetch_add(1, Ordering::Relaxed);
    }
}

// SAFETY: INV-PLAIN.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: INV-PLAIN.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: INV-PLAIN.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
        // SAFETY: INV-PLAIN.
        unsafe { System.realloc(at, layout, new_size) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        // SAFETY: INV-PLAIN.
        unsafe { System.dealloc(at, layout) }
    }
}
