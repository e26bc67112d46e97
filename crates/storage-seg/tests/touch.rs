// SPDX-License-Identifier: Apache-2.0
//! Changes of an expiry: beside other handles' changes, and in memory that is full.

use clock::Ticks;
use std::time::Duration;
use storage::StoreError;
use storage::{Change, Expiry, Item, Put, Store};
use storage_seg::SegStore;

const NOW: Ticks = Ticks::from_millis(1_000);

fn after(seconds: u64) -> Expiry {
    Expiry::after(Duration::from_secs(seconds), NOW)
}

/// A handle changes the expiry in place while another's update looks at the item: the update asks
/// again, whatever it is about to do.
#[test]
fn an_update_sees_a_touch_that_comes_in_between() {
    let changes = [Change::Delete, Change::Expire(Expiry::at(NOW))];
    for change in changes {
        let builder = SegStore::builder().memory(1 << 20).workers(2);
        let mut store = builder.build().expect("the options are possible");
        let mut other = store.clone();
        store.put(Put::new(b"key", b"value").expiry(after(20)), NOW).expect("it fits");
        let mut seen = Vec::new();
        let result = store.update(b"key", NOW, |item| {
            seen.push(item.map(|item| item.expiry()));
            if seen.len() == 1 {
                let touched = other.update(b"key", NOW, |_| (Change::Expire(after(10)), ()));
                assert_eq!(touched, Ok(()));
            }
            (change, ())
        });
        assert_eq!(result, Ok(()));
        assert_eq!(seen, [Some(after(20)), Some(after(10))], "{change:?}");
        assert!(store.get(b"key", NOW).is_none());
    }
}

const DAY: u64 = 24 * 3_600;

fn touch(store: &mut SegStore, key: &[u8], now: Ticks, expiry: Expiry) -> Result<bool, StoreError> {
    store.update(key, now, |item| match item {
        Some(_) => (Change::Expire(expiry), true),
        None => (Change::Keep, false),
    })
}

/// A store that drops nothing, with segments enough to keep times to live apart.
fn lasting(workers: usize) -> SegStore {
    let builder = SegStore::builder().memory(4 << 20).value_max(256 << 10).segment_bytes(64 << 10);
    let eviction = "none".parse().expect("it is a policy");
    builder.eviction(eviction).workers(workers).build().expect("the options are possible")
}

/// Writes items until not even the smallest fits. Every third has no expiry.
fn fill(store: &mut SegStore) -> Vec<(u32, Expiry)> {
    let (mut items, mut key) = (Vec::new(), 0_u32);
    for len in [4_000, 400, 40, 0] {
        let value = vec![b'v'; len];
        loop {
            let expiry = if key.is_multiple_of(3) { Expiry::NEVER } else { after(20) };
            match store.put(Put::new(&key.to_be_bytes(), &value).expiry(expiry), NOW) {
                Ok(_) => items.push((key, expiry)),
                Err(error) => break assert_eq!(error, StoreError::OutOfMemory),
            }
            key += 1;
        }
    }
    items
}

#[test]
fn in_full_memory_without_eviction_an_expiry_changes_in_place() {
    for workers in [1, 2] {
        let mut store = lasting(workers);
        let mut items = fill(&mut store);
        assert!(items.len() > 300, "{} items", items.len());
        for expiry in [after(DAY), after(30), after(10), after(49 * DAY)] {
            for (key, before) in &mut items {
                let key = key.to_be_bytes();
                let touched = touch(&mut store, &key, NOW, expiry);
                // An item without an expiry has no field for one, and there may be no room for a copy.
                let must_move = *before == Expiry::NEVER;
                if touched == Ok(true) {
                    *before = expiry;
                } else {
                    assert_eq!(touched, Err(StoreError::OutOfMemory), "to {expiry:?}");
                    assert!(must_move, "from {before:?} to {expiry:?}");
                }
                let item = store.get(&key, NOW).expect("it keeps its place");
                assert_eq!((item.expiry(), item.key()), (*before, &key[..]));
            }
        }
        store.check_integrity();
    }
}

#[test]
fn in_full_memory_without_eviction_a_touch_that_needs_room_changes_nothing() {
    let mut store = lasting(1);
    let (mut moved, mut refused) = (0, 0);
    for (key, mut before) in fill(&mut store) {
        let key = key.to_be_bytes();
        for expiry in [Expiry::NEVER, after(60 * DAY)] {
            match touch(&mut store, &key, NOW, expiry) {
                // What moved has left room for others.
                Ok(true) => (before, moved) = (expiry, moved + 1),
                touched => {
                    assert_eq!(touched, Err(StoreError::OutOfMemory), "from {before:?}");
                    refused += 1;
                }
            }
            assert_eq!(store.get(&key, NOW).expect("it is there").expiry(), before);
        }
    }
    assert!(refused > 100, "{refused} refused, {moved} moved");
    store.check_integrity();
}

#[test]
fn what_was_touched_in_place_lives_as_long_and_its_memory_comes_back() {
    let mut store = lasting(1);
    let items = fill(&mut store);
    let (mut lasting, mut short): (Vec<_>, Vec<_>) = (Vec::new(), Vec::new());
    for (key, _) in items.into_iter().filter(|&(_, expiry)| expiry != Expiry::NEVER) {
        if key.is_multiple_of(10) { lasting.push(key) } else { short.push(key) }
    }
    for key in &lasting {
        assert_eq!(touch(&mut store, &key.to_be_bytes(), NOW, after(100)), Ok(true));
    }
    for (seconds, is_there) in [(21, true), (99, true), (101, false)] {
        let now = NOW + Duration::from_secs(seconds);
        (0..1_000).for_each(|_| assert!(store.expire(now, 64) <= 64));
        for key in &lasting {
            assert_eq!(store.get(&key.to_be_bytes(), now).is_some(), is_there, "{seconds} s");
        }
        assert!(short.iter().all(|key| store.get(&key.to_be_bytes(), now).is_none()));
        store.check_integrity();
    }
    let (gone, items) = (short.len() + lasting.len(), store.stats().items);
    assert!(store.stats().expired as usize >= gone, "{items} items left, {gone} have expired");
}

/// A session that is to live for ten minutes from its last use, and is used each second.
#[test]
fn touches_that_follow_each_other_closely_seldom_copy() {
    const TTL: u64 = 640;
    let mut store = lasting(1);
    for key in [b"used", b"left"] {
        store.put(Put::new(key, b"value").expiry(after(TTL)), NOW).expect("it fits");
    }
    let mut now = NOW;
    let pass_second = |store: &mut SegStore, now: &mut Ticks| {
        *now = *now + Duration::from_secs(1);
        let expiry = Expiry::after(Duration::from_secs(TTL), *now);
        assert_eq!(touch(store, b"used", *now, expiry), Ok(true));
        assert_eq!(store.get(b"used", *now).map(|item| item.expiry()), Some(expiry));
        store.expire(*now, 64);
    };
    (1..TTL).for_each(|_| pass_second(&mut store, &mut now));
    let copies: u64 = store.report(now).classes.iter().map(|class| class.dead_items).sum();
    assert!((1..=64).contains(&copies), "{copies} copies");

    // The item beside it, which nobody has touched, gives its memory back not much later than at its expiry: it waits
    // for what was written until their segment was closed, an eighth of that time after it was opened.
    assert_eq!(store.stats().items, 2);
    (0..TTL / 8 + TTL / 32 + 2).for_each(|_| pass_second(&mut store, &mut now));
    assert_eq!(store.stats().items, 1);
    store.check_integrity();
}

/// The sweeping worker's clock is ahead of that of the touching one.
#[test]
fn a_sweep_spares_what_is_touched_meanwhile() {
    let mut sweeper = lasting(2);
    let mut other = sweeper.clone();
    let soon = after(20);
    let key = |number: u32| number.to_le_bytes();
    for number in 0..100 {
        sweeper.put(Put::new(&key(number), &[b'v'; 600]).expiry(soon), NOW).expect("it fits");
    }
    sweeper.put(Put::new(b"last", b"value").expiry(soon), NOW).expect("it fits");
    let value = [b'v'; 600];
    while sweeper.put(Put::new(&sweeper.stats().stored.to_be_bytes(), &value), NOW).is_ok() {}
    let (before, at) = (NOW + Duration::from_millis(19_999), NOW + Duration::from_secs(20));
    assert_eq!(sweeper.expire(at, 1), 1, "it is in the middle of the segment");
    assert_eq!(touch(&mut other, b"last", before, after(DAY)), Ok(true));
    other.rest();
    for _ in 0..300 {
        sweeper.expire(at, 1);
    }
    assert!(sweeper.get(b"last", at).is_some(), "it was touched");
    assert_eq!(sweeper.stats().expired, 100);
    assert_eq!(sweeper.stats().evicted, 0);
    drop(other);
    sweeper.check_integrity();
}

#[test]
fn where_items_are_evicted_a_touch_finds_what_a_get_finds() {
    for policy in ["scored", "merge", "s3fifo", "fifo", "random", "random-fifo", "cte", "util"] {
        let builder = SegStore::builder().memory(1 << 20).segment_bytes(64 << 10);
        let builder = builder.value_max(256 << 10).eviction(policy.parse().expect("a policy"));
        let mut store = builder.seed(1).build().expect("the options are possible");
        let (mut touched, mut evicted) = (0, 0);
        for key in 0..40_000_u32 {
            let expiry = if key.is_multiple_of(3) { Expiry::NEVER } else { after(20) };
            let value = vec![b'v'; if key % 500 == 7 { 90_000 } else { key as usize % 1_500 }];
            let name = key.to_le_bytes();
            store.put(Put::new(&name, &value).expiry(expiry), NOW).expect("others can go");
            let old = key.saturating_sub(key * 31 % 2_000).to_le_bytes();
            let then = [after(10), after(30), after(60 * DAY), Expiry::NEVER][key as usize / 7 % 4];
            if store.get(&old, NOW).is_none() {
                evicted += 1;
                continue;
            }
            assert_eq!(touch(&mut store, &old, NOW, then), Ok(true), "{policy}: key {key}");
            assert_eq!(store.get(&old, NOW).map(|item| item.expiry()), Some(then), "{policy}");
            touched += 1;
        }
        assert!(touched > 4_000 && evicted > 1_000, "{policy}: {touched} touched, {evicted} gone");
        store.check_integrity();
    }
}

/// Many touches among few other writes, most of which need a copy: the handle makes room for them in
/// steps of some items, in segments of some hundreds.
#[test]
fn a_touch_does_not_evict_what_it_touches() {
    for policy in ["scored", "merge", "s3fifo", "fifo", "random"] {
        let builder = SegStore::builder().memory(1 << 20).segment_bytes(64 << 10);
        let builder = builder.eviction(policy.parse().expect("it is a policy"));
        let mut store = builder.seed(1).build().expect("the options are possible");
        let mut written = 0_u32;
        while store.stats().evicted == 0 {
            store.put(Put::new(&written.to_be_bytes(), &[b'v'; 80]), NOW).expect("others can go");
            written += 1;
        }
        let mut touched = 0;
        for turn in 0..20 * written {
            if turn % 4 == 0 {
                let key = (written + turn).to_be_bytes();
                store.put(Put::new(&key, &[b'v'; 80]), NOW).expect("others can go");
            }
            let oldest = turn.saturating_sub(written);
            let key = (oldest + turn.wrapping_mul(2_654_435_761) % (2 * written)).to_be_bytes();
            let Some(before) = store.get(&key, NOW).map(|item| item.expiry()) else { continue };
            let then = if before == Expiry::NEVER { after(20) } else { Expiry::NEVER };
            assert_eq!(touch(&mut store, &key, NOW, then), Ok(true), "{policy}: {touched} touched");
            touched += 1;
        }
        assert!(touched > 10_000, "{policy}: {touched} touched");
        store.check_integrity();
    }
}

#[test]
fn a_touch_of_a_large_item_costs_no_other() {
    for policy in ["none", "scored"] {
        let builder = SegStore::builder().memory(1 << 20).segment_bytes(64 << 10);
        let builder = builder.value_max(256 << 10).eviction(policy.parse().expect("a policy"));
        let mut store = builder.build().expect("the options are possible");
        let large = vec![b'v'; 200_000];
        store.put(Put::new(b"large", &large).expiry(after(20)), NOW).expect("it fits");
        fill_up(&mut store);
        let evicted = store.stats().evicted;
        for expiry in [after(10), after(DAY), after(30)] {
            if store.get(b"large", NOW).is_none() {
                break;
            }
            assert_eq!(touch(&mut store, b"large", NOW, expiry), Ok(true), "{policy}");
            let item = store.get(b"large", NOW).expect("it keeps its place");
            assert!(item.value() == large && item.expiry() == expiry, "{policy}");
        }
        assert!(policy == "scored" || store.get(b"large", NOW).is_some());
        assert_eq!(store.stats().evicted, evicted, "{policy}");
        store.check_integrity();
    }
}

/// Writes about as much as there is room for beside a large item.
fn fill_up(store: &mut SegStore) {
    for key in 0..2_000_u32 {
        if store.stats().evicted > 0 {
            break;
        }
        store.get(b"large", NOW);
        if store.put(Put::new(&key.to_le_bytes(), &[b'f'; 1_000]), NOW).is_err() {
            break;
        }
    }
}
