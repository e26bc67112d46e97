// SPDX-License-Identifier: Apache-2.0
//! What counting allocates: a block for a thread, once, and nothing after that.
//!
//! The one test of this file has its process to itself, so that no other thread takes a block.

use std::thread;
use test_support::counting::{Counting, requested};

metrics::counters! {
    /// Bumped by every thread of the test.
    static BUMPED: "bumped";
}

metrics::gauges! {
    /// Moved by every thread of the test.
    static MOVED: "moved";
}

metrics::histograms! {
    /// Recorded by every thread of the test.
    static RECORDED: "recorded";
}

#[global_allocator]
static ALLOCATOR: Counting = Counting::new();

fn count_once() {
    BUMPED.increment();
    MOVED.decrement();
    RECORDED.record(1 << 30);
}

#[test]
fn a_thread_allocates_once_and_a_later_one_reuses_its_block() {
    let first = || (requested(count_once), requested(|| (0..1000).for_each(|_| count_once())));
    let (start, steady) = thread::spawn(first).join().unwrap();
    assert!((16 * 1024..32 * 1024).contains(&start), "{start} bytes for a block and buckets");
    assert_eq!(steady, 0);

    for _ in 0..50 {
        let (start, steady) = thread::spawn(first).join().unwrap();
        assert!(start < 1024, "{start} bytes, though a block is free");
        assert_eq!(steady, 0);
    }

    let held = thread::spawn(|| requested(count_once)).join().unwrap();
    let both = thread::scope(|scope| {
        let (ready, wait) = std::sync::mpsc::channel();
        let (release, hold) = std::sync::mpsc::channel::<()>();
        let holder = scope.spawn(move || {
            count_once();
            ready.send(()).unwrap();
            hold.recv().unwrap();
        });
        wait.recv().unwrap();
        let second = scope.spawn(|| requested(count_once)).join().unwrap();
        release.send(()).unwrap();
        holder.join().unwrap();
        second
    });
    assert!(held < 1024, "{held} bytes");
    assert!(both >= 16 * 1024, "{both} bytes: two threads at once need two blocks");
    assert_eq!(RECORDED.count(), 51 * 1001 + 3);
    assert_eq!(BUMPED.value(), 51 * 1001 + 3);
    assert_eq!(MOVED.value(), -(51 * 1001 + 3));
}
