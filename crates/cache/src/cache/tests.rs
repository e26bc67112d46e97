// SPDX-License-Identifier: Apache-2.0
use super::*;
use crate::{Clock, Dropped, Reason};
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

/// A small cache of text, whose clock stands still, without a thread in the background.
fn small() -> (Builder<str, str>, Clock) {
    let clock = Clock::manual(0);
    (Cache::builder().memory(1 << 20).seed(1).background(false).clock(clock.clone()), clock)
}

fn built(builder: Builder<str, str>) -> Cache<str, str> {
    builder.build().expect("the options are possible")
}

const fn is_for_all_threads<T: Send + Sync>() {}
const _: () = is_for_all_threads::<Cache<str, std::cell::Cell<u8>>>();

#[test]
fn what_was_inserted_is_read_until_it_is_removed() {
    let cache = built(small().0);
    assert_eq!(cache.get("a"), None);
    cache.insert("a", "1").expect("it fits");
    cache.insert("a", "2").expect("it fits");
    assert_eq!(cache.get("a").as_deref(), Some("2"));
    assert!(cache.contains("a") && !cache.contains("b"));
    assert!(cache.remove("a") && !cache.remove("a"));
    assert_eq!(cache.get("a"), None);
    let statistics = cache.statistics();
    assert_eq!((statistics.hits, statistics.misses, statistics.stored), (1, 2, 2));
    assert!((statistics.hit_ratio() - 1.0 / 3.0).abs() < 1e-9);
}

#[test]
fn a_value_lives_as_long_as_it_was_given_or_else_as_the_cache_says() {
    let (builder, clock) = small();
    let cache = built(builder.ttl(Duration::from_millis(100)));
    cache.insert("a", "1").expect("it fits");
    cache.insert_with_ttl("b", "2", Duration::from_millis(200)).expect("it fits");
    let computed = cache.get_or_insert_with_ttl("c", || ("3".into(), Duration::from_millis(300)));
    assert_eq!(computed, "3");
    cache.get_or_insert_with("d", || "4".into());
    let alive = || ["a", "b", "c", "d"].map(|key| cache.contains(key));
    clock.advance(Duration::from_millis(99));
    assert_eq!(alive(), [true; 4]);
    clock.advance(Duration::from_millis(1));
    assert_eq!(alive(), [false, true, true, false]);
    clock.advance(Duration::from_millis(100));
    assert_eq!(alive(), [false, false, true, false]);
    clock.advance(Duration::from_millis(100));
    assert_eq!(alive(), [false; 4]);
    cache.tend();
    assert_eq!((cache.statistics().items, cache.statistics().expired), (0, 4));
}

#[test]
fn a_full_cache_stays_within_its_limit_and_keeps_what_is_used() {
    let builder = Cache::<u64, [u8]>::builder().memory(4 << 20).seed(1).background(false);
    let cache = builder.build().expect("the options are possible");
    for key in 0..200_000_u64 {
        cache.insert(&key, &[7; 100]).expect("it fits");
        cache.get_or_insert_with(&(key % 100), || vec![8; 100]);
    }
    let statistics = cache.statistics();
    assert!(statistics.used_bytes <= 4 << 20, "{statistics:?}");
    assert!(statistics.items > 25_000 && statistics.evicted > 100_000, "{statistics:?}");
    assert!((0..100).all(|key| cache.contains(&key)), "{statistics:?}");
}

#[test]
fn values_of_any_size_are_the_same_when_read() {
    let builder = Cache::<u32, [u8]>::builder().memory(16 << 20).background(false);
    let cache = builder.build().expect("the options are possible");
    for len in [0, 1, 1000, 16 << 10, 100_000, 1 << 20] {
        let value: Vec<u8> = (0..len).map(|at| at as u8).collect();
        cache.insert(&0, &value).expect("it fits");
        let is_same = cache.get_with(&0, |bytes| {
            // It is as it was while the cache goes on.
            cache.insert(&0, b"another").expect("it fits");
            (0..30).for_each(|key| cache.insert(&key, &vec![9; 500_000]).expect("it fits"));
            bytes == value
        });
        assert_eq!(is_same, Some(true), "{len}");
    }
}

#[test]
fn what_is_too_large_is_refused_and_computed_all_the_same() {
    let cache = built(small().0.value_max(1000));
    let long = "x".repeat(1001);
    cache.insert("a", "1").expect("it fits");
    assert!(matches!(cache.insert("a", &long), Err(Error::TooLarge)));
    assert_eq!(cache.get("a").as_deref(), Some("1"));
    assert!(matches!(cache.insert(&"k".repeat(1 << 16), "1"), Err(Error::TooLarge)));
    assert_eq!(cache.get_or_insert_with("b", || long.clone()), long);
    assert!(!cache.contains("b"));
    assert_eq!(cache.statistics().unstored, 1);
}

#[test]
fn a_cache_that_evicts_nothing_says_that_there_is_no_room() {
    let builder = Cache::<u64, [u8]>::builder().memory(1 << 20).background(false);
    let cache = builder.eviction(crate::Eviction::None).build().expect("the options are possible");
    let refused = (0..10_000).find_map(|key| cache.insert(&key, &[0; 1000]).err());
    assert!(matches!(refused, Some(Error::NoRoom)), "{refused:?}");
}

#[test]
fn bytes_of_another_type_are_no_value() {
    let cache = built(small().0);
    cache.insert("a", "1").expect("it fits");
    let other: Cache<str, u64> =
        Cache { inner: Arc::clone(&cache.inner), keeper: None, types: PhantomData };
    assert_eq!(other.get("a"), None);
    assert_eq!(other.get_or_insert_with("a", || 5), 5);
    assert_eq!(other.get("a"), Some(5));
}

#[test]
fn clear_removes_everything() {
    let cache = built(small().0);
    (0..100).for_each(|key: u32| cache.insert(&key.to_string(), "1").expect("it fits"));
    cache.clear();
    assert!((0..100).all(|key: u32| !cache.contains(&key.to_string())));
    cache.tend();
    assert_eq!(cache.statistics().items, 0);
}

#[test]
fn another_limit_is_kept() {
    let builder = Cache::<u64, [u8]>::builder().memory(16 << 20).background(false);
    let cache = builder.value_max(1000).build().expect("the options are possible");
    let fill = || (0..200_000).for_each(|key| cache.insert(&key, &[7; 100]).expect("it fits"));
    fill();
    cache.resize(8 << 20).expect("it is possible");
    cache.tend();
    assert!(cache.statistics().used_bytes <= 8 << 20, "{cache:?}");
    cache.resize(24 << 20).expect("it is possible");
    fill();
    let used = cache.statistics().used_bytes;
    assert!((16 << 20..=24 << 20).contains(&used), "{cache:?}");
    assert!(matches!(cache.resize(1), Err(Error::LimitTooLow { least }) if least > 1));
    assert!(matches!(cache.resize(u64::MAX), Err(Error::LimitTooHigh { most }) if most > 1));
}

#[test]
fn options_that_are_not_possible_are_refused() {
    let tiny = Cache::<str, str>::builder().memory(1000).build();
    assert!(matches!(tiny, Err(Error::Build(_))), "{tiny:?}");
    let long = Cache::<str, str>::builder().memory(1 << 20).value_max(1 << 20).build();
    assert!(matches!(long, Err(Error::Build(_))), "{long:?}");
}

#[test]
fn the_listener_is_told_each_item_once_and_may_use_the_cache() {
    let told = Arc::new(Mutex::new(Vec::new()));
    let back = Arc::new(Mutex::new(None::<Cache<str, str>>));
    let (builder, clock) = small();
    let builder = builder.on_drop({
        let (told, back) = (Arc::clone(&told), Arc::clone(&back));
        move |dropped: Dropped<'_, str, str>| {
            let key = dropped.key().expect("it is text");
            let cache = back.lock().expect("nobody panics").clone().expect("it is there");
            assert!(!cache.contains(&key), "{dropped:?}");
            assert_eq!(dropped.value().as_deref(), Some("v".repeat(100).as_str()));
            told.lock().expect("nobody panics").push((key, dropped.reason()));
        }
    });
    let cache = built(builder);
    *back.lock().expect("nobody panics") = Some(cache.clone());
    let of = |reason| {
        let told = told.lock().expect("nobody panics");
        let keys = told.iter().filter(|(_, why)| *why == reason).map(|(key, _)| key.clone());
        keys.collect::<std::collections::HashSet<_>>().len() as u64
    };
    for key in 0..20_000_u32 {
        let ttl = Duration::from_secs(60);
        cache.insert_with_ttl(&key.to_string(), &"v".repeat(100), ttl).expect("it fits");
    }
    let evicted = cache.statistics().evicted;
    assert!(evicted > 0);
    assert_eq!((of(Reason::Evicted), of(Reason::Expired)), (evicted, 0));
    clock.advance(Duration::from_secs(60));
    cache.tend();
    assert_eq!((of(Reason::Evicted), of(Reason::Expired)), (evicted, 20_000 - evicted));
    assert_eq!(told.lock().expect("nobody panics").len(), 20_000);
    // Removed and overwritten ones are not told.
    cache.insert("a", "1").expect("it fits");
    cache.insert("a", "2").expect("it fits");
    cache.remove("a");
    assert_eq!(told.lock().expect("nobody panics").len(), 20_000);
    *back.lock().expect("nobody panics") = None;
}

#[test]
fn a_panic_of_the_listener_leaves_the_cache_as_it_is() {
    let panics = Arc::new(AtomicBool::new(true));
    let does = Arc::clone(&panics);
    let cache = built(small().0.on_drop(move |_| {
        assert!(!does.load(Ordering::Relaxed), "the listener panics");
    }));
    let insert = |key: u32| cache.insert(&key.to_string(), &"v".repeat(1000));
    let caught = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        (0..10_000).for_each(|key| insert(key).expect("it fits"));
    }));
    assert!(caught.is_err());
    panics.store(false, Ordering::Relaxed);
    (0..10_000).for_each(|key| insert(key).expect("it fits"));
    assert!(cache.contains("9999"));
}

#[test]
fn the_thread_in_the_background_ends_with_the_last_handle() {
    let cache: Cache<str, str> = Cache::builder().memory(1 << 20).build().expect("it is possible");
    let inner = Arc::downgrade(&cache.inner);
    let other = cache.clone();
    drop(cache);
    assert!(inner.upgrade().is_some());
    drop(other);
    assert!(inner.upgrade().is_none(), "the thread has ended, and holds nothing");
}

#[test]
fn the_thread_in_the_background_gives_memory_back() {
    let (builder, clock) = small();
    let cache = built(builder.background(true));
    cache.insert_with_ttl("a", "1", Duration::from_secs(1)).expect("it fits");
    clock.advance(Duration::from_secs(1));
    while cache.statistics().items > 0 {
        std::thread::yield_now();
    }
    assert_eq!(cache.statistics().expired, 1);
}

#[test]
fn a_listener_may_drop_the_last_handle_in_the_background() {
    let (builder, clock) = small();
    let kept = Arc::new(Mutex::new(None::<Cache<str, str>>));
    let has_ended = Arc::new(AtomicBool::new(false));
    let builder = builder.background(true).on_drop({
        let (kept, has_ended) = (Arc::clone(&kept), Arc::clone(&has_ended));
        move |_| {
            drop(kept.lock().expect("nobody panics").take());
            has_ended.store(true, Ordering::Release);
        }
    });
    let cache = built(builder);
    cache.insert_with_ttl("a", "1", Duration::from_secs(1)).expect("it fits");
    *kept.lock().expect("nobody panics") = Some(cache);
    clock.advance(Duration::from_secs(1));
    while !has_ended.load(Ordering::Acquire) {
        std::thread::yield_now();
    }
}
