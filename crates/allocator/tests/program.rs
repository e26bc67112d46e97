// SPDX-License-Identifier: Apache-2.0
//! The allocator under all of a program.

use allocator::{SlabAllocator, SlabHeap};
use std::alloc::System;
use std::collections::BTreeMap;
use std::sync::mpsc;
use std::thread;

static HEAP: SlabHeap<System> = SlabHeap::new(System);
#[global_allocator]
static ALLOCATOR: SlabAllocator<System> = SlabAllocator::new(&HEAP);

/// Names of many lengths, each under its number.
fn names(numbers: impl Iterator<Item = usize>) -> BTreeMap<usize, String> {
    numbers.map(|number| (number, number.to_string().repeat(1 + number % 700))).collect()
}

#[test]
fn collections_go_from_thread_to_thread() {
    let (sender, receiver) = mpsc::channel();
    let makers = (0..4).map(|maker| {
        let sender = sender.clone();
        thread::spawn(move || {
            for first in (0..4000).step_by(100) {
                let names = names((first + maker..first + 100).step_by(4));
                sender.send(names).expect("it is received");
            }
        })
    });
    let makers: Vec<_> = makers.collect();
    drop(sender);
    let mut all = BTreeMap::new();
    for mut names in receiver {
        all.append(&mut names);
    }
    makers.into_iter().for_each(|maker| maker.join().expect("it ends"));
    assert_eq!(all, names(0..4000));
    let mut used = 0;
    HEAP.each(|bin| used += bin.used);
    let bytes: usize = all.values().map(String::len).sum();
    assert!(used > bytes as u64 / 2, "{used} bytes of blocks hold {bytes}");
}
