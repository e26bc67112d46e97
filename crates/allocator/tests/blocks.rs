// SPDX-License-Identifier: Apache-2.0
//! Blocks keep what is written to them, whoever frees them.
#![allow(unsafe_code)]

use allocator::{SMALL_MAX, SlabAllocator, SlabHeap, size_class};
use proptest::prelude::*;
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::mpsc;
use std::thread;

/// A heap that no other test uses.
fn heap() -> &'static SlabHeap<System> {
    Box::leak(Box::new(SlabHeap::new(System)))
}

fn used(heap: &SlabHeap<System>) -> u64 {
    let mut sum = 0;
    heap.each(|bin| sum += bin.used);
    sum
}

/// A block that is filled with one byte, and checks that it still is when it goes.
struct Filled {
    block: *mut u8,
    layout: Layout,
    byte: u8,
    from: SlabAllocator<System>,
}

// SAFETY: the block has one owner.
unsafe impl Send for Filled {}

impl Filled {
    fn new(heap: &'static SlabHeap<System>, size: usize, align: usize, byte: u8) -> Self {
        let layout = Layout::from_size_align(size, align).expect("a layout");
        let from = SlabAllocator::new(heap);
        // SAFETY: the size is not zero, and the block is that large.
        let block = unsafe {
            let block = from.alloc(layout);
            assert!(!block.is_null());
            block.write_bytes(byte, size);
            block
        };
        assert_eq!(block.addr() % align, 0);
        Filled { block, layout, byte, from }
    }

    fn resize(&mut self, size: usize) {
        let kept = size.min(self.layout.size());
        // SAFETY: the block is this allocator's, of this layout. As large as asked for afterwards.
        unsafe {
            self.block = self.from.realloc(self.block, self.layout, size);
            assert!(!self.block.is_null());
            self.check(kept);
            self.block.write_bytes(self.byte, size);
        }
        self.layout = Layout::from_size_align(size, self.layout.align()).expect("a layout");
    }

    fn check(&self, len: usize) {
        // SAFETY: so many bytes were written.
        let bytes = unsafe { std::slice::from_raw_parts(self.block, len) };
        assert!(bytes.iter().all(|&byte| byte == self.byte), "{:?}", self.layout);
    }
}

impl Drop for Filled {
    fn drop(&mut self) {
        self.check(self.layout.size());
        // SAFETY: as in `resize`.
        unsafe { self.from.dealloc(self.block, self.layout) };
    }
}

#[test]
fn blocks_that_other_threads_free_come_back() {
    let heap = heap();
    let (sender, receiver) = mpsc::channel::<Vec<Filled>>();
    let mut threads = vec![thread::spawn(move || receiver.iter().for_each(drop))];
    for thread in 0..3_usize {
        let sender = sender.clone();
        threads.push(thread::spawn(move || {
            let mut seed = thread * 7919 + 1;
            for round in 0..200 {
                let filled = |_| {
                    seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                    let size = 1 + (seed >> 33) % if round % 8 == 0 { 10_000 } else { 600 };
                    Filled::new(heap, size, 8, (seed >> 50) as u8)
                };
                let mut blocks: Vec<Filled> = (0..50).map(filled).collect();
                let kept = blocks.split_off(25);
                sender.send(blocks).expect("it is received");
                drop(kept);
            }
        }));
    }
    drop(sender);
    threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
    assert_eq!(used(heap), 0, "threads that have ended keep nothing");
}

#[test]
fn what_is_zeroed_is_zero() {
    let allocator = SlabAllocator::new(heap());
    for size in [1, 100, SMALL_MAX, SMALL_MAX + 1] {
        let layout = Layout::from_size_align(size, 1).expect("a layout");
        for _ in 0..3 {
            // SAFETY: the block is as large as its layout, with which it is given back.
            unsafe {
                let block = allocator.alloc_zeroed(layout);
                assert!(std::slice::from_raw_parts(block, size).iter().all(|&byte| byte == 0));
                block.write_bytes(1, size);
                allocator.dealloc(block, layout);
            }
        }
    }
}

#[test]
fn blocks_that_are_moved_directly_leave_no_gaps() {
    const SIZE: usize = 3000;
    let heap = heap();
    let mut blocks: Vec<Filled> = (0..8000).map(|_| Filled::new(heap, SIZE, 8, 1)).collect();
    let full = heap.unused();
    let mut number = 0;
    blocks.retain(|_| {
        number += 1;
        number % 4 == 0
    });
    let gaps = heap.unused() - full;
    assert!(gaps > 5000 * SIZE as u64, "{gaps} bytes");
    heap.directly(&mut || {
        assert_eq!(used(heap), (blocks.len() * size_class(SIZE)) as u64, "the thread keeps none");
        blocks.iter_mut().for_each(|block| *block = Filled::new(heap, SIZE, 8, 2));
    });
    let left = heap.unused().saturating_sub(full);
    assert!(left < gaps / 50, "{left} of {gaps} bytes");
}

#[test]
fn memory_that_is_not_there_is_no_block() {
    /// Refuses everything.
    struct Nothing;
    // SAFETY: it has no blocks.
    unsafe impl GlobalAlloc for Nothing {
        unsafe fn alloc(&self, _: Layout) -> *mut u8 {
            std::ptr::null_mut()
        }
        unsafe fn dealloc(&self, _: *mut u8, _: Layout) {}
    }
    static HEAP: SlabHeap<Nothing> = SlabHeap::new(Nothing);
    let allocator = SlabAllocator::new(&HEAP);
    let layout = Layout::new::<u64>();
    // SAFETY: the layout is not empty.
    let (block, zeroed) = unsafe { (allocator.alloc(layout), allocator.alloc_zeroed(layout)) };
    assert!(block.is_null() && zeroed.is_null());
}

proptest! {
    #[test]
    fn resized_blocks_keep_their_bytes(
        edits in proptest::collection::vec((0..40_usize, 1..12_000_usize, any::<u8>(), 0..5_u32), 1..200),
    ) {
        let heap = heap();
        let mut blocks: Vec<Option<Filled>> = Vec::new();
        blocks.resize_with(40, || None);
        for (slot, size, byte, align) in edits {
            match &mut blocks[slot] {
                Some(block) if byte % 3 > 0 => block.resize(size),
                slot => *slot = Some(Filled::new(heap, size, 1 << align, byte)),
            }
        }
        let small = |block: &Filled| block.layout.size() <= SMALL_MAX && block.layout.align() <= 8;
        let classes = blocks.iter().flatten().filter(|block| small(block));
        let bytes: usize = classes.map(|block| size_class(block.layout.size())).sum();
        heap.directly(&mut || {});
        prop_assert_eq!(used(heap), bytes as u64);
    }
}
