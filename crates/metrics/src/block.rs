// SPDX-License-Identifier: Apache-2.0
//! The memory one thread counts in, and who owns it.
//!
//! INV-OWNER: a block has at most one owner, and only its owner stores to its cells. That is why a
//! relaxed load followed by a relaxed store loses nothing. Ownership passes through the lock of
//! `FREE`, so the next owner sees every store of the one before.
//!
//! Blocks are leaked on purpose: a reader may hold any of them at any time. There are never more
//! than the largest number of threads that counted at the same time.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use crate::bucket::Buckets;

/// Counters and gauges a block has room for. A static beyond it counts in its own shared atomic.
pub(crate) const CELLS: usize = 1024;

/// Histograms a block has room for. A static beyond it counts in its own shared buckets.
pub(crate) const HISTOGRAMS: usize = 64;

/// One thread's cells. Aligned to two cache lines, because processors prefetch lines in pairs.
#[repr(align(128))]
pub(crate) struct Block {
    cells: [AtomicU64; CELLS],
    histograms: [OnceLock<Box<Buckets>>; HISTOGRAMS],
    next: OnceLock<&'static Block>,
}

/// All blocks, as a list that only grows, so that readers need no lock.
static FIRST: OnceLock<&'static Block> = OnceLock::new();

/// Blocks whose thread has ended, and the end of the list.
static FREE: Mutex<Free> = Mutex::new(Free { blocks: Vec::new(), last: None });

struct Free {
    blocks: Vec<&'static Block>,
    last: Option<&'static Block>,
}

thread_local! {
    // Separate from `GUARD`, because a thread-local without a destructor is read without checking
    // whether it is still alive.
    static BLOCK: Cell<Option<&'static Block>> = const { Cell::new(None) };
    static GUARD: Guard = const { Guard };
}

/// Gives the thread's block back when the thread ends.
struct Guard;

impl Drop for Guard {
    fn drop(&mut self) {
        if let Some(block) = BLOCK.take() {
            lock().blocks.push(block);
        }
    }
}

impl Block {
    fn new() -> Self {
        Self {
            cells: [const { AtomicU64::new(0) }; CELLS],
            histograms: [const { OnceLock::new() }; HISTOGRAMS],
            next: OnceLock::new(),
        }
    }

    /// The block of the calling thread, if it has one.
    #[inline]
    pub(crate) fn current() -> Option<&'static Block> {
        BLOCK.get()
    }

    /// The block of the calling thread, given to it if it has none. `None` while the thread is
    /// being torn down and has already given its block back.
    pub(crate) fn attach() -> Option<&'static Block> {
        if let Some(block) = BLOCK.get() {
            return Some(block);
        }
        // Touching the guard makes it run when the thread ends.
        GUARD.try_with(|_| ()).ok()?;
        let block = take();
        BLOCK.set(Some(block));
        Some(block)
    }

    #[inline]
    pub(crate) fn cell(&self, index: usize) -> Option<&AtomicU64> {
        self.cells.get(index)
    }

    /// The buckets of a histogram, if this thread has recorded in it before.
    #[inline]
    pub(crate) fn buckets(&self, index: usize) -> Option<&Buckets> {
        self.histograms.get(index)?.get().map(Box::as_ref)
    }

    /// As [`buckets`](Self::buckets), allocating them on the first use.
    pub(crate) fn buckets_or_new(&self, index: usize) -> Option<&Buckets> {
        let buckets = self.histograms.get(index)?.get_or_init(|| Box::new(Buckets::new()));
        Some(buckets)
    }

    /// Every block there is, owned or free.
    pub(crate) fn all() -> impl Iterator<Item = &'static Block> {
        std::iter::successors(FIRST.get().copied(), |block| block.next.get().copied())
    }
}

/// Adds to a cell that only the calling thread stores to.
#[inline]
pub(crate) fn add_owned(cell: &AtomicU64, n: u64) {
    cell.store(cell.load(Relaxed).wrapping_add(n), Relaxed);
}

fn lock() -> MutexGuard<'static, Free> {
    FREE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A free block, or else a fresh one.
fn take() -> &'static Block {
    let mut free = lock();
    if let Some(block) = free.blocks.pop() {
        return block;
    }
    let block: &'static Block = Box::leak(Box::new(Block::new()));
    let link = free.last.map_or(&FIRST, |last| &last.next);
    // The lock is held and `last` is the end of the list, so the link is still empty.
    link.get_or_init(|| block);
    free.last = Some(block);
    block
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    fn address(block: &Block) -> usize {
        std::ptr::from_ref(block).addr()
    }

    #[test]
    fn blocks_share_no_cache_line() {
        assert_eq!(size_of::<Block>() % 128, 0);
        assert_eq!(address(Block::attach().unwrap()) % 128, 0);
    }

    #[test]
    fn a_thread_keeps_its_block_and_threads_that_live_together_have_different_ones() {
        let mine = Block::attach().unwrap();
        assert!(std::ptr::eq(mine, Block::attach().unwrap()));
        assert!(std::ptr::eq(mine, Block::current().unwrap()));
        let other = thread::spawn(|| address(Block::attach().unwrap())).join().unwrap();
        assert_ne!(address(mine), other);
        assert_eq!(Block::all().filter(|block| std::ptr::eq(*block, mine)).count(), 1);
        assert_eq!(Block::all().filter(|block| address(block) == other).count(), 1);
    }
}
