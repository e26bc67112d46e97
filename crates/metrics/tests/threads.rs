// SPDX-License-Identifier: Apache-2.0
//! Nothing is lost, however many threads count and however they end.

#![forbid(unsafe_code)]

use std::cell::RefCell;
use std::sync::Barrier;
use std::thread;

metrics::counters! {
    /// Bumped by threads that live at the same time.
    static TOGETHER: "together";
    /// Bumped by threads that follow one another.
    static IN_TURN: "in_turn";
    /// Bumped while its thread is torn down.
    static TEARDOWN: "teardown";
    /// Not bumped by anybody.
    static IDLE: "idle";
}

metrics::gauges! {
    /// Raised by some threads and lowered by others.
    static BALANCE: "balance";
}

metrics::histograms! {
    /// Recorded by threads that live at the same time.
    static VALUES: "values";
    /// Recorded while its thread is torn down.
    static TEARDOWN_VALUES: "teardown_values";
}

const THREADS: u64 = 8;
const ROUNDS: u64 = 10_000;

#[test]
fn sums_over_threads_are_exact() {
    let start = Barrier::new(THREADS as usize);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                for round in 0..ROUNDS {
                    TOGETHER.increment();
                    TOGETHER.add(2);
                    VALUES.record(round);
                    if thread % 2 == 0 {
                        BALANCE.add(5);
                    } else {
                        BALANCE.sub(3);
                    }
                }
            });
        }
    });
    assert_eq!(TOGETHER.value(), THREADS * ROUNDS * 3);
    assert_eq!(VALUES.count(), THREADS * ROUNDS);
    assert_eq!(VALUES.sum(), THREADS * (ROUNDS * (ROUNDS - 1) / 2));
    assert_eq!(BALANCE.value(), (THREADS / 2 * ROUNDS) as i64 * (5 - 3));
    assert_eq!(metrics::value("together"), Some((THREADS * ROUNDS * 3).into()));
    assert_eq!(IDLE.value(), 0);
}

#[test]
fn a_reader_beside_the_writers_never_sees_a_counter_go_down() {
    metrics::counters! {
        /// Read while it is bumped.
        static WATCHED: "watched";
    }
    thread::scope(|scope| {
        let writers: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| (0..100_000).for_each(|_| WATCHED.increment())))
            .collect();
        let mut last = 0;
        while !writers.iter().all(thread::ScopedJoinHandle::is_finished) {
            let value = WATCHED.value();
            assert!(value >= last, "{value} after {last}");
            last = value;
        }
    });
    assert_eq!(WATCHED.value(), 300_000);
}

#[test]
fn a_thread_that_ended_stays_in_the_sum() {
    for done in 1..=100 {
        thread::spawn(|| IN_TURN.increment()).join().unwrap();
        assert_eq!(IN_TURN.value(), done);
    }
}

/// Counts in its destructor, before or after the thread has given its block back.
struct CountsOnDrop;

impl Drop for CountsOnDrop {
    fn drop(&mut self) {
        TEARDOWN.increment();
        TEARDOWN_VALUES.record(9);
    }
}

#[test]
fn bumps_from_thread_local_destructors_count() {
    thread_local! {
        static EARLY: RefCell<Option<CountsOnDrop>> = const { RefCell::new(None) };
        static LATE: RefCell<Option<CountsOnDrop>> = const { RefCell::new(None) };
    }
    let run = || {
        // Destructors run in some order; the thread's block goes back between these two.
        EARLY.with_borrow_mut(|slot| *slot = Some(CountsOnDrop));
        TEARDOWN.increment();
        TEARDOWN_VALUES.record(9);
        LATE.with_borrow_mut(|slot| *slot = Some(CountsOnDrop));
    };
    for done in 1..=10 {
        thread::spawn(run).join().unwrap();
        assert_eq!(TEARDOWN.value(), done * 3);
        assert_eq!(TEARDOWN_VALUES.count(), done * 3);
        assert_eq!(TEARDOWN_VALUES.sum(), done * 27);
    }
}
