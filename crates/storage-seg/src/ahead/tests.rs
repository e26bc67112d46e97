// SPDX-License-Identifier: Apache-2.0
//! What is taken ahead, and when it ends. Whether pages are huge is the system's to decide.
#![cfg(target_os = "linux")]

use super::*;
use crate::store::SegStore;
use clock::Ticks;
use std::ops::Range;
use std::time::{Duration, Instant};
use storage::{Put, Store};
use test_support::memory::present;

const MIB: usize = 1 << 20;

/// A store whose thread is the test's to join.
fn with_thread(mebibytes: u64) -> (SegStore, JoinHandle<()>) {
    let builder = SegStore::builder().memory(mebibytes << 20).workers(2);
    let store = builder.build().expect("it is possible");
    let thread = start(&store.shared).expect("a thread");
    (store, thread)
}

/// Writes keys in a range, each with a value of 1,000 bytes.
fn fill(store: &mut SegStore, keys: Range<u32>) {
    for key in keys {
        store.put(Put::new(&key.to_ne_bytes(), &[7; 1000]), Ticks::ZERO).expect("there is room");
    }
}

/// Waits until the thread has taken all that it wants, up to which byte it returns.
fn settle(store: &SegStore) -> usize {
    let ahead = &store.shared.ahead;
    let begun = Instant::now();
    loop {
        let taken = ahead.taken.load(Ordering::Relaxed);
        if taken >= wanted(ahead.opened.load(Ordering::Relaxed)) {
            return taken;
        }
        assert!(begun.elapsed() < Duration::from_secs(50), "the thread does not take memory");
        thread::sleep(Duration::from_millis(1));
    }
}

/// Bytes of memory behind this byte of the heap.
fn present_from(store: &SegStore, byte: usize) -> usize {
    let heap = &store.shared.heap;
    let end = heap.segments() as usize * heap.segment_bytes();
    present(heap.start().wrapping_add(byte), end - byte)
}

#[test]
fn memory_behind_the_highest_segment_is_there_before_it_is_opened() {
    let (mut store, _thread) = with_thread(256);
    assert_eq!(present_from(&store, 0), 0, "nothing is taken for an empty store");
    for keys in [0..1, 1..10_000, 10_000..100_000] {
        fill(&mut store, keys);
        let taken = settle(&store);
        let opened = store.shared.ahead.opened.load(Ordering::Relaxed);
        let page = store.shared.heap.huge_page_from(opened);
        assert!(page.end <= taken && taken - opened <= opened / SHARE + 2 * HUGE_PAGE);
        // It may be at the last page still.
        let begun = Instant::now();
        while present_from(&store, page.start) < taken - page.start {
            assert!(begun.elapsed() < Duration::from_secs(50), "memory was not taken");
            thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(present_from(&store, page.start), taken - page.start);
    }
}

#[test]
fn a_full_store_has_no_more_memory_than_its_segments() {
    for mebibytes in [8, 64, 256] {
        let (mut store, _thread) = with_thread(mebibytes);
        fill(&mut store, 0..1_500 * mebibytes as u32);
        let shared = &store.shared;
        let limit = shared.pool.target() * shared.heap.grain_bytes();
        assert!(present_from(&store, 0) <= limit && limit < mebibytes as usize * MIB);
        assert!(store.stats().items > 700 * mebibytes);
        store.check_integrity();
    }
}

#[test]
fn segments_are_held_while_their_memory_is_taken_and_used_in_order() {
    let mut store = SegStore::builder().memory(64 << 20).build().expect("it is possible");
    fill(&mut store, 0..1);
    let pool = &store.shared.pool;
    let (free, segment) = (pool.free(), pool.grains());
    assert!(!pool.hold_free(16..32, free - 15 * segment), "others are to stay free");
    assert!(!pool.hold_free(0..16, 0), "one of them is open");
    assert!(pool.hold_free(16..32, free - 16 * segment));
    let held = (free - 16 * segment, true);
    assert_eq!((pool.free(), store.shared.has_claims()), held);
    assert!(!pool.hold_free(24..40, 0), "some are held");
    pool.give_back_all(16..32);
    assert_eq!((pool.free(), store.shared.has_claims()), (free, false));
    let next = || store.shared.take(0).expect("one is free");
    assert_eq!([next(), next()], [1, 2], "as if nothing had happened");
    assert!(pool.hold_free(3..16, 0));
    assert_eq!([next(), next()], [16, 17]);
    pool.give_back_all(3..16);
    assert_eq!([next(), next()], [3, 4]);
    assert_eq!(store.shared.ahead.opened.load(Ordering::Relaxed), 18 * (128 << 10));
    let last = (pool.in_service() / segment) as u32 - 1;
    assert!(pool.hold_free(last..last + 1, 0));
    pool.give_back_all(last..last + 1);
    while pool.free() > segment {
        assert_ne!(next(), last);
    }
    assert_eq!(next(), last);
}

/// Else `stats slabs` shows memory of a class that has none.
#[test]
fn held_segments_are_free_ones_of_no_class() {
    let mut store = SegStore::builder().memory(64 << 20).build().expect("it is possible");
    fill(&mut store, 0..1);
    let shared = &store.shared;
    let told = || {
        let mut pages = Vec::new();
        shared.classes(Ticks::ZERO, &mut |class| pages.push((class.number, class.pages)));
        let report = store.report(Ticks::ZERO);
        (pages, report.segments.free, report.segments.claimed, report.bytes)
    };
    let before = told();
    assert_eq!(before.0, [(1, 1)]);
    assert!(shared.pool.hold_free(16..32, 0));
    assert_eq!(told(), before);
    shared.pool.give_back_all(16..32);

    let row = shared.pool.claim_row(20, true, &shared.epochs).expect("most are free");
    assert_eq!(told(), before);
    shared.pool.dissolve_row(&row, &shared.epochs);
    assert_eq!(told(), before);
    store.check_integrity();
}

/// Else a large value is refused because another thread asks the system for memory.
#[test]
fn a_row_waits_for_segments_that_are_held() {
    let mut store = SegStore::builder().memory(8 << 20).build().expect("it is possible");
    fill(&mut store, 0..1);
    let shared = Arc::clone(&store.shared);
    let free = (shared.pool.free() / shared.pool.grains()) as u32;
    assert!(shared.pool.hold_free(1..1 + free, 0));
    thread::scope(|scope| {
        let other = scope.spawn(|| {
            let begun = Instant::now();
            while shared.stats().waited == 0 && begun.elapsed() < Duration::from_secs(50) {
                thread::sleep(Duration::from_millis(1));
            }
            shared.pool.give_back_all(1..1 + free);
        });
        // It gives up after a second, of which a busy machine may leave the other thread nothing.
        let len = 10 * shared.heap.segment_bytes();
        let spot = (0..50).find_map(|_| store.row(len, 0, Ticks::ZERO).ok());
        store.abandon(spot.expect("the segments are held for a while only"));
        other.join().expect("it ends well");
    });
    assert!(shared.stats().waited > 0);
    store.check_integrity();
}

#[test]
fn the_thread_ends_with_the_store() {
    let (store, thread) = with_thread(8);
    let other = store.clone();
    drop(store);
    assert!(!thread.is_finished());
    drop(other);
    thread.join().expect("it does not panic");
}
