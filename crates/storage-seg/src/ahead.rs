// SPDX-License-Identifier: Apache-2.0
//! [`Ahead`]: takes memory from the system before it is written to, on a thread of its own.
//!
//! Memory in huge pages costs a worker fewer misses of the TLB, but taking a huge page means clearing 2 MiB of it,
//! which in the middle of a request is a pause that its client and those behind it notice. So a thread takes the next
//! memory while workers fill what they have. A worker never waits for it: what it needs earlier, it takes itself, in
//! small pages. And it never meets it: the thread holds the segments of a page before it takes their memory.
//!
//! * The index is taken at once, since the first writes touch all of it.
//! * Segments are used in the order of their numbers ([`Pool`](crate::pool::Pool)), so the memory behind the highest
//!   that was ever opened is next. How much of it is taken follows what is in use: a store that is nearly empty has
//!   little more memory than its items.
//!
//! Where the system maps memory at no boundary of huge pages (before Linux 6.7), those of large segments share segments
//! with their neighbours, and every other one is left out.

use crate::shared::Shared;
use crate::sync::Arc;
use pages::HUGE_PAGE;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{OnceLock, Weak};
use std::thread::{self, JoinHandle, Thread};

/// The part of the memory in use, as a divisor, that is taken ahead.
const SHARE: usize = 64;

/// The most bytes that are taken ahead.
const MOST: usize = 16 << 20;

/// How far memory is in use, and how far it was taken.
#[derive(Debug, Default)]
pub(crate) struct Ahead {
    /// Where the highest segment ends that was opened so far; 0 when none was.
    opened: AtomicUsize,
    /// Where the memory ends that was taken, or that was left to those who write to it.
    taken: AtomicUsize,
    thread: OnceLock<Thread>,
}

impl Ahead {
    /// Records that the segment that ends at this byte of the heap was opened.
    #[inline]
    pub(crate) fn note_open(&self, end: usize) {
        if end > self.opened.load(Ordering::Relaxed) {
            self.opened.fetch_max(end, Ordering::Relaxed);
            if self.taken.load(Ordering::Relaxed) < wanted(end) {
                self.wake();
            }
        }
    }

    /// Records that all memory was taken at once.
    pub(crate) fn note_taken(&self) {
        self.taken.store(usize::MAX, Ordering::Relaxed);
    }

    /// Has the thread look for what is to be taken, if there is one.
    pub(crate) fn wake(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }
}

impl Drop for Ahead {
    fn drop(&mut self) {
        // It finds the store gone.
        self.wake();
    }
}

/// How far memory is to be taken when segments up to this byte are in use.
fn wanted(opened: usize) -> usize {
    opened + (opened / SHARE).clamp(HUGE_PAGE, MOST)
}

/// Starts the thread, which ends with the store.
///
/// # Errors
///
/// When the system gives no thread.
pub(crate) fn start(shared: &Arc<Shared>) -> io::Result<JoinHandle<()>> {
    let store = Arc::downgrade(shared);
    let thread = thread::Builder::new().name("seg-ahead".into()).spawn(move || run(&store))?;
    shared.ahead.thread.get_or_init(|| thread.thread().clone());
    Ok(thread)
}

fn run(store: &Weak<Shared>) {
    let mut index = Some(0);
    loop {
        let Some(shared) = store.upgrade() else { return };
        let taken = shared.take_ahead(&mut index);
        drop(shared);
        match taken {
            Ok(true) => {}
            Ok(false) => thread::park(),
            Err(error) => {
                log::info!("no memory is taken ahead of writes: {error}");
                return;
            }
        }
    }
}

impl Shared {
    /// Takes the next huge page of the index, of which the pages before `index` are taken, or those of the next segment
    /// of the heap, or of several that share a page. Returns whether there may be more to take.
    fn take_ahead(&self, index: &mut Option<usize>) -> io::Result<bool> {
        if let Some(taken) = *index {
            *index = self.index.take_ahead(taken)?;
            return Ok(true);
        }
        let opened = self.ahead.opened.load(Ordering::Relaxed);
        let from = self.ahead.taken.load(Ordering::Relaxed).max(opened);
        if opened == 0 || from >= wanted(opened) {
            return Ok(false);
        }
        let page = self.heap.huge_page_from(from);
        // Those that are kept free, for items that move, may never be used.
        let stay = self.pool.surplus() + self.reserve() as usize;
        let segment_bytes = self.heap.segment_bytes();
        let numbers = page.start / segment_bytes..page.end.div_ceil(segment_bytes);
        if self.pool.free() <= stay || numbers.end > self.heap.segments() as usize {
            return Ok(false);
        }
        // All whole pages in these segments.
        let pages = (numbers.end * segment_bytes - page.start) / HUGE_PAGE;
        let end = page.start + pages * HUGE_PAGE;
        self.ahead.taken.store(end, Ordering::Relaxed);
        let numbers = numbers.start as u32..numbers.end as u32;
        // Workers have as many others meanwhile.
        let others = stay + numbers.len() * self.pool.grains();
        if !self.pool.hold_free(numbers.clone(), others) {
            return Ok(true);
        }
        let taken = self.heap.take(page.start..end);
        self.pool.give_back_all(numbers);
        taken.map(|()| true)
    }
}

#[cfg(test)]
mod tests;
