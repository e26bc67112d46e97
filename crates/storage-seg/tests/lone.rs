// SPDX-License-Identifier: Apache-2.0
//! A large value has a segment for itself, with memory of its size: it is never copied, and its memory is free as soon as
//! it is dead.

mod support;

use clock::Ticks;
use std::time::Duration;
use storage::{Announced, Change, Condition, Expiry, Item, Put, Receive, Store};
use storage_seg::{Eviction, SegDraft, SegStore};
use support::{HEADER, Random, check, describe, flags, name};

const NOW: Ticks = Ticks::from_millis(1_000);
const MEMORY: u64 = 64 << 20;
const KIB: usize = 1 << 10;

fn store(memory: u64, eviction: Eviction) -> SegStore {
    let builder = SegStore::builder().memory(memory).value_max(1 << 20).eviction(eviction);
    builder.seed(3).build().expect("the options are possible")
}

fn value(key: u64, stamp: u64, length: usize) -> Vec<u8> {
    describe(key, stamp, length - HEADER)
}

#[track_caller]
fn write(store: &mut SegStore, key: u64, length: usize, expiry: Expiry, now: Ticks) {
    let value = value(key, 1, length);
    let name = name(key);
    let put = Put::new(&name, &value).flags(flags(key)).expiry(expiry);
    store.put(put, now).expect("others can go");
    let stats = store.stats();
    assert!(stats.used_bytes <= stats.limit_bytes, "{stats:?}");
}

fn used(store: &mut SegStore) -> u64 {
    // What was removed is free once the turn has ended.
    store.expire(NOW, 0);
    store.report(NOW).memory.segments
}

#[test]
fn what_is_overwritten_or_deleted_is_free_at_once() {
    let mut store = store(MEMORY, Eviction::default());
    for round in 0..200 {
        for key in 0..8 {
            write(&mut store, key, (100 + 5 * key as usize) * KIB, Expiry::NEVER, NOW);
        }
        let most = (8 * 140 * KIB) as u64;
        let used = used(&mut store);
        assert!(used <= most, "{used} bytes in round {round}");
    }
    (0..8).for_each(|key| assert!(store.delete(&name(key), NOW)));
    store.expire(NOW, 0);
    assert_eq!(used(&mut store), 0);
    store.check_integrity();
}

/// Whatever is evicted for it, and where nothing is.
#[test]
fn no_large_value_is_ever_copied() {
    for eviction in support::policies() {
        let mut store = store(MEMORY, eviction);
        let mut random = Random::new(11);
        let keys = if eviction == Eviction::None { 60 } else { 400 };
        for _ in 0..3_000 {
            let (key, length) = (random.below(keys), 64 * KIB + random.below(600_000) as usize);
            write(&mut store, key, length, Expiry::NEVER, NOW);
            store.expire(NOW, 16);
            let item = store.get(&name(key), NOW).expect("it was written");
            assert_eq!((check(&item, key), item.value().len()), (vec![1], length));
        }
        assert_eq!(store.report(NOW).writes.copies(), Some(0.0), "{eviction}");
        assert_eq!(store.stats().evicted > 0, eviction != Eviction::None, "{eviction}");
        store.check_integrity();
    }
}

#[test]
fn what_expires_is_swept_when_it_is_due_whatever_was_touched() {
    let mut store = store(MEMORY, Eviction::None);
    let second = |n: u64| Ticks::from_millis(1_000 + n * 1_000);
    // More than a group of them, in no order.
    for key in 0..300 {
        let expiry = Expiry::at(second(1 + key * 7 % 30));
        write(&mut store, key, 80 * KIB, expiry, NOW);
    }
    let touched: Vec<u64> = (0..300).filter(|key| key % 10 == 0).collect();
    for &key in &touched {
        let expiry = Expiry::at(second(60));
        let touched = store.update(&name(key), NOW, |_| (Change::Expire(expiry), ()));
        assert_eq!(touched, Ok(()));
    }
    for n in 1..=30 {
        let mut budget = 100;
        while budget > 0 {
            store.expire(second(n), 64);
            budget -= 1;
        }
        let left = (0..300).filter(|key| key % 10 == 0 || 1 + key * 7 % 30 > n).count() as u64;
        assert_eq!(store.stats().items, left, "after {n} s");
        store.check_integrity();
    }
    (0..100).for_each(|_| {
        store.expire(second(61), 64);
    });
    assert_eq!((store.stats().items, store.report(second(61)).memory.segments), (0, 0));
}

#[test]
fn a_clear_frees_all_of_them() {
    let mut store = store(MEMORY, Eviction::default());
    (0..400).for_each(|key| write(&mut store, key, 100 * KIB, Expiry::NEVER, NOW));
    let announced = Announced::new(b"arrives", 200 * KIB);
    let mut draft = store.begin(announced, NOW).expect("there is memory");
    store.append(&mut draft, &[1; 50 * KIB], NOW).expect("it fits");
    store.clear();
    (0..1_000).for_each(|_| {
        store.expire(NOW + Duration::from_secs(1), 64);
    });
    assert!(store.get(&name(399), NOW).is_none());
    assert!(store.report(NOW).memory.segments <= 400 * KIB as u64, "the draft's");
    store.append(&mut draft, &[1; 150 * KIB], NOW).expect("it fits");
    store.commit(draft, Condition::Always, NOW).expect("it is whole");
    assert_eq!(store.get(b"arrives", NOW).expect("it is there").value(), [1; 200 * KIB]);
    store.check_integrity();
}

/// Sizes that come one after the other each have address space of their own, until there is no more.
#[test]
fn sizes_may_change_until_address_space_is_used_up_and_beyond() {
    let mut store = store(4 << 20, Eviction::Fifo);
    let mut random = Random::new(5);
    for size in [70, 140, 280, 560, 900, 70, 300, 900, 90] {
        for key in 0..400 {
            let length = size * KIB + random.below(20_000) as usize;
            write(&mut store, key, length, Expiry::NEVER, NOW);
            let item = store.get(&name(key), NOW).expect("it was written");
            assert_eq!((check(&item, key), item.value().len()), (vec![1], length));
        }
        store.check_integrity();
        let held = store.stats().item_bytes;
        assert!(held * 2 > 4 << 20, "{held} bytes of {size} KiB each");
    }
}

/// In a full store a value that arrives is carried to a segment that has its memory, whatever happens to it and to others
/// by then.
#[test]
fn what_arrives_in_a_full_store_is_whole_wherever_it_was_carried() {
    for integrity in [false, true] {
        let builder = SegStore::builder().memory(MEMORY / 4).value_max(1 << 20);
        let mut store = builder.integrity(integrity).seed(3).build().expect("it is possible");
        let mut random = Random::new(17);
        let mut drafts: Vec<(u64, Vec<u8>, usize, SegDraft)> = Vec::new();
        let mut committed = 0;
        for step in 0..20_000_u64 {
            if drafts.len() < 6 {
                let value = value(step, 1, 200 * KIB + random.below(800 * 1024) as usize);
                let (name, expiry) = (name(step), Expiry::at(Ticks::from_millis(90_000 + step)));
                let announced = Announced::new(&name, value.len()).flags(flags(step));
                let draft = store.begin(announced.expiry(expiry), NOW).expect("others can go");
                drafts.push((step, value, 0, draft));
            }
            let at = random.below(drafts.len() as u64) as usize;
            let (key, value, there, mut draft) = drafts.swap_remove(at);
            let left = value.len() - there;
            let n = left.min(1 + random.below(100 * 1024) as usize);
            let next = &value[there..there + n];
            let n = match store.place(&mut draft, n, NOW).filter(|_| step % 3 > 0) {
                Some(place) => {
                    let n = place.len().min(n);
                    place[..n].copy_from_slice(&next[..n]);
                    store.placed(&mut draft, n);
                    n
                }
                None => store.append(&mut draft, next, NOW).map(|()| n).expect("others can go"),
            };
            let stats = store.stats();
            assert!(stats.used_bytes <= stats.limit_bytes, "{stats:?}");
            if there + n < value.len() {
                if random.below(200) > 0 {
                    drafts.push((key, value, there + n, draft));
                }
                continue;
            }
            store.commit(draft, Condition::Always, NOW).expect("it is whole");
            committed += 1;
            let item = store.get(&name(key), NOW).expect("it was written");
            assert_eq!((check(&item, key), item.value().len()), (vec![1], value.len()));
            assert_eq!(item.expiry(), Expiry::at(Ticks::from_millis(90_000 + key)));
            if random.below(100) == 0 {
                store.clear();
            }
            store.expire(NOW, 16);
        }
        assert!(committed > 1_000, "{committed} in all");
        assert!(store.stats().evicted > 500, "{:?}", store.stats());
        drop(drafts);
        store.check_integrity();
    }
}
