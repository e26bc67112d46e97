// SPDX-License-Identifier: Apache-2.0
//! [`Counting`]: a global allocator that counts, to test what is promised about allocations.
//!
//! A test installs it:
//!
//! ```
//! use test_support::counting::{Counting, allocations};
//!
//! #[global_allocator]
//! static ALLOCATOR: Counting = Counting::new();
//!
//! assert_eq!(allocations(|| drop(Box::new(7))), 1);
//! ```
//!
//! INV-PLAIN: it hands every call to the system's allocator with the arguments it got, and returns
//! what that returned. So it keeps the contract of `GlobalAlloc` exactly as far as the system's does.
//! The counting allocates nothing: thread-locals are constant and need no destructor.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
    static REQUESTED: Cell<usize> = const { Cell::new(0) };
    static HELD: Cell<usize> = const { Cell::new(0) };
    static COUNTER: Cell<Option<&'static AtomicU64>> = const { Cell::new(None) };
}

static OF_PROCESS: AtomicU64 = AtomicU64::new(0);

/// Allocations and reallocations of this thread so far.
#[must_use]
pub fn so_far() -> u64 {
    ALLOCATIONS.get()
}

/// The allocations and reallocations that this thread makes in `work`.
pub fn allocations(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

/// The allocations and reallocations that `work` makes when it has been run before.
pub fn allocations_again(mut work: impl FnMut()) -> u64 {
    work();
    allocations(work)
}

/// The bytes that this thread asks for in `work`, whether or not it gives them back.
pub fn requested(work: impl FnOnce()) -> usize {
    let before = REQUESTED.get();
    work();
    REQUESTED.get() - before
}

/// Bytes that this thread has allocated and not freed. Wraps when a thread frees what another
/// allocated.
#[must_use]
pub fn held() -> usize {
    HELD.get()
}

/// The result of `work`, and the bytes that it holds.
pub fn held_by<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = held();
    let result = work();
    (result, held().wrapping_sub(before))
}

/// Allocations and reallocations of all threads so far.
#[must_use]
pub fn of_process() -> u64 {
    OF_PROCESS.load(Ordering::Relaxed)
}

/// Adds the allocations and reallocations of this thread to `counter`, too, from here on.
pub fn count_here(counter: &'static AtomicU64) {
    COUNTER.set(Some(counter));
}

/// The system's allocator, which counts.
#[derive(Debug)]
pub struct Counting {
    size: fn(usize) -> usize,
}

impl Counting {
    /// Counts bytes as they are asked for.
    #[must_use]
    pub const fn new() -> Self {
        Counting::sized_by(|bytes| bytes)
    }

    /// Counts the bytes held as `size` rounds them.
    #[must_use]
    pub const fn sized_by(size: fn(usize) -> usize) -> Self {
        Counting { size }
    }

    fn count(&self, bytes: usize) {
        ALLOCATIONS.set(ALLOCATIONS.get() + 1);
        REQUESTED.set(REQUESTED.get() + bytes);
        HELD.set(HELD.get().wrapping_add((self.size)(bytes)));
        OF_PROCESS.fetch_add(1, Ordering::Relaxed);
        if let Some(counter) = COUNTER.get() {
            counter.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn release(&self, bytes: usize) {
        HELD.set(HELD.get().wrapping_sub((self.size)(bytes)));
    }
}

impl Default for Counting {
    fn default() -> Self {
        Counting::new()
    }
}

// SAFETY: INV-PLAIN.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.count(layout.size());
        // SAFETY: INV-PLAIN.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        self.count(layout.size());
        // SAFETY: INV-PLAIN.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        self.count(new_size);
        self.release(layout.size());
        // SAFETY: INV-PLAIN.
        unsafe { System.realloc(at, layout, new_size) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        self.release(layout.size());
        // SAFETY: INV-PLAIN.
        unsafe { System.dealloc(at, layout) }
    }
}
