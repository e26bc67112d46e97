// SPDX-License-Identifier: Apache-2.0
//! Threads that use one cache at the same time. What they wait for is a condition, never a time.

use cache::{Cache, Clock};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{scope, yield_now};

fn cache(threads: usize) -> Cache<u64, u64> {
    let builder = Cache::builder().memory(4 << 20).threads(threads).clock(Clock::manual(0));
    builder.background(false).build().expect("the options are possible")
}

/// Waits until so many threads have waited for a computation.
fn await_waits<V: ?Sized>(cache: &Cache<u64, V>, count: u64) {
    while cache.statistics().waited < count {
        yield_now();
    }
}

#[test]
fn one_computes_and_the_others_get_the_same() {
    let (cache, computed, start) = (cache(2), AtomicU64::new(0), Barrier::new(8));
    let ask = || {
        start.wait();
        cache.get_or_insert_with(&1, || {
            await_waits(&cache, 7);
            computed.fetch_add(1, Ordering::Relaxed) + 100
        })
    };
    scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(ask)).collect();
        for thread in threads {
            assert_eq!(thread.join().expect("it does not panic"), 100);
        }
    });
    assert_eq!(computed.load(Ordering::Relaxed), 1);
    let statistics = cache.statistics();
    assert_eq!((statistics.hits, statistics.misses, statistics.stored), (0, 8, 1));
}

#[test]
fn an_error_frees_those_that_wait_and_each_has_its_own() {
    let (cache, failures) = (cache(2), AtomicU64::new(0));
    let ask = |caller: u64| {
        cache.try_get_or_insert_with(&1, || {
            // The first waits for the others to wait for it.
            await_waits(&cache, 3);
            match failures.fetch_add(1, Ordering::Relaxed) {
                0 | 1 => Err(caller),
                _ => Ok(7),
            }
        })
    };
    let mut results = scope(|scope| {
        let threads: Vec<_> =
            (0..4).map(|caller| scope.spawn(move || (caller, ask(caller)))).collect();
        let results = threads.into_iter().map(|thread| thread.join().expect("it does not panic"));
        results.collect::<Vec<_>>()
    });
    results.sort_by_key(|(_, result)| result.is_ok());
    let (failed, computed) = results.split_at(2);
    assert!(failed.iter().all(|(caller, result)| *result == Err(*caller)), "{failed:?}");
    assert!(computed.iter().all(|(_, result)| *result == Ok(7)), "{computed:?}");
    assert_eq!(failures.load(Ordering::Relaxed), 3);
}

#[test]
fn a_panic_frees_those_that_wait() {
    let (cache, computed) = (cache(2), AtomicU64::new(0));
    let ask = || {
        cache.get_or_insert_with(&1, || {
            await_waits(&cache, 3);
            assert_ne!(computed.fetch_add(1, Ordering::Relaxed), 0, "the first panics");
            9
        })
    };
    scope(|scope| {
        let ask = || catch_unwind(AssertUnwindSafe(ask));
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(ask)).collect();
        let results: Vec<_> = threads
            .into_iter()
            .filter_map(|thread| thread.join().expect("it is caught").ok())
            .collect();
        assert_eq!(results, [9; 3]);
    });
    assert_eq!((computed.load(Ordering::Relaxed), cache.get(&1)), (2, Some(9)));
}

#[test]
fn a_change_of_the_key_is_not_undone_by_a_computation() {
    let cache = cache(2);
    assert_eq!(cache.get_or_insert_with(&1, || u64::from(cache.remove(&1)) + 5), 5);
    assert_eq!(cache.get(&1), None, "it was computed before the removal");
    let computed = cache.get_or_insert_with(&1, || {
        cache.insert(&1, &6).expect("it fits");
        5
    });
    assert_eq!((computed, cache.get(&1)), (5, Some(6)));
    let computed = cache.get_or_insert_with(&2, || {
        cache.clear();
        5
    });
    assert_eq!((computed, cache.get(&2)), (5, None));
    assert_eq!(cache.statistics().unstored, 3);
}

#[test]
fn who_asks_after_a_removal_does_not_get_what_was_computed_before() {
    let (cache, begun) = (cache(2), Barrier::new(2));
    scope(|scope| {
        let old = scope.spawn(|| {
            cache.get_or_insert_with(&1, || {
                begun.wait();
                begun.wait();
                1
            })
        });
        begun.wait();
        cache.remove(&1);
        assert_eq!(cache.get_or_insert_with(&1, || 2), 2);
        begun.wait();
        assert_eq!(old.join().expect("it does not panic"), 1);
    });
    assert_eq!(cache.get(&1), Some(2));
}

#[test]
fn computations_may_use_other_keys_of_the_cache() {
    let cache = cache(1);
    fn fibonacci(cache: &Cache<u64, u64>, n: u64) -> u64 {
        cache.get_or_insert_with(&n, || match n {
            0 | 1 => n,
            _ => fibonacci(cache, n - 1) + fibonacci(cache, n - 2),
        })
    }
    assert_eq!(fibonacci(&cache, 80), 23_416_728_348_467_685);
}

#[test]
fn more_threads_than_handles_come_and_go() {
    for threads in [1, 2] {
        let cache: Cache<u64, [u8]> =
            Cache::builder().memory(4 << 20).threads(threads).build().expect("it is possible");
        let run = |thread: u64| {
            for step in 0..2_000 {
                let key = (thread * 7919 + step * 31) % 50_000;
                let value = cache.get_or_insert_with(&key, || key.to_le_bytes().repeat(20));
                assert_eq!(value, key.to_le_bytes().repeat(20));
                if step % 10 == 0 {
                    cache.remove(&key);
                }
            }
        };
        for round in 0..4 {
            scope(|scope| {
                (0..16).for_each(|thread| drop(scope.spawn(move || run(round * 16 + thread))));
            });
        }
        let statistics = cache.statistics();
        assert_eq!(statistics.hits + statistics.misses, 4 * 16 * 2_000);
        assert!(statistics.evicted > 0 && statistics.used_bytes <= 4 << 20, "{statistics:?}");
    }
}

#[test]
fn a_writer_is_seen_by_readers_in_order() {
    let cache = cache(4);
    cache.insert(&1, &0).expect("it fits");
    scope(|scope| {
        let writer =
            scope.spawn(|| (1..=20_000).for_each(|n| cache.insert(&1, &n).expect("it fits")));
        let mut last = 0;
        while !writer.is_finished() {
            let seen = cache.get(&1).expect("nothing is evicted");
            assert!(seen >= last, "{seen} after {last}");
            last = seen;
        }
        writer.join().expect("it does not panic");
        assert_eq!(cache.get(&1), Some(20_000));
    });
}
