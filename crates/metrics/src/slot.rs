// SPDX-License-Identifier: Apache-2.0
//! How a static finds its cell in the calling thread's block.
//!
//! A slot draws its index on its first bump, so the metrics a process really uses lie close
//! together in every block. A bump takes the slow path in three cases: before the index is drawn, when all
//! indices are used up, and while the thread is torn down. The fast path detects all three by one bounds
//! check and one null check.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::block::{Block, CELLS, add_owned};

/// Not drawn yet. Beyond every block, so the bounds check sends it to the slow path.
const NO_INDEX: u32 = u32::MAX;

/// Draws each index once.
#[derive(Debug)]
pub(crate) struct Indices {
    next: AtomicU32,
}

impl Indices {
    pub(crate) const fn new() -> Self {
        Self { next: AtomicU32::new(0) }
    }
}

/// The index of one static, drawn from `Indices` on first use.
#[derive(Debug)]
pub(crate) struct Index(AtomicU32);

impl Index {
    pub(crate) const fn new() -> Self {
        Self(AtomicU32::new(NO_INDEX))
    }

    /// The index, or a number beyond every block.
    #[inline]
    pub(crate) fn get(&self) -> usize {
        self.0.load(Relaxed) as usize
    }

    /// The index, drawn if it has not been. Two threads may draw at once: the first to publish its
    /// number wins and the other number stays unused.
    pub(crate) fn get_or_draw(&self, indices: &Indices) -> usize {
        let index = self.get();
        if index != NO_INDEX as usize {
            return index;
        }
        let drawn = indices.next.fetch_add(1, Relaxed);
        match self.0.compare_exchange(NO_INDEX, drawn, Relaxed, Relaxed) {
            Ok(_) => drawn as usize,
            Err(published) => published as usize,
        }
    }
}

static INDICES: Indices = Indices::new();

/// A number every thread adds to in its own cell.
#[derive(Debug)]
pub(crate) struct Slot {
    index: Index,
    /// What could not go to a thread's cell: bumps of a slot beyond the blocks' size, and bumps
    /// from destructors that run after the thread has given its block back.
    shared: AtomicU64,
}

impl Slot {
    pub(crate) const fn new() -> Self {
        Self { index: Index::new(), shared: AtomicU64::new(0) }
    }

    #[inline(always)]
    pub(crate) fn add(&self, n: u64) {
        if let Some(block) = Block::current()
            && let Some(cell) = block.cell(self.index.get())
        {
            add_owned(cell, n);
        } else {
            self.add_slow(n);
        }
    }

    #[cold]
    #[inline(never)]
    fn add_slow(&self, n: u64) {
        let index = self.index.get_or_draw(&INDICES);
        match Block::attach().and_then(|block| block.cell(index)) {
            Some(cell) => add_owned(cell, n),
            None => {
                self.shared.fetch_add(n, Relaxed);
            }
        }
    }

    /// The sum over all threads, wrapping.
    pub(crate) fn sum(&self) -> u64 {
        let shared = self.shared.load(Relaxed);
        let index = self.index.get();
        if index >= CELLS {
            return shared;
        }
        Block::all()
            .filter_map(|block| block.cell(index))
            .fold(shared, |sum, cell| sum.wrapping_add(cell.load(Relaxed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_drawn_once_and_no_other_slot_gets_it() {
        let indices = Indices::new();
        let (first, second) = (Index::new(), Index::new());
        assert!(first.get() >= CELLS);
        assert_eq!(first.get_or_draw(&indices), 0);
        assert_eq!(second.get_or_draw(&indices), 1);
        assert_eq!(first.get_or_draw(&indices), 0);
        assert_eq!(first.get(), 0);
    }

    #[test]
    fn a_slot_beyond_the_blocks_counts_in_its_shared_atomic() {
        let slot = Slot { index: Index(AtomicU32::new(CELLS as u32)), shared: AtomicU64::new(0) };
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| (0..1000).for_each(|_| slot.add(1)));
            }
        });
        assert_eq!(slot.shared.load(Relaxed), 4000);
        assert_eq!(slot.sum(), 4000);
    }
}
