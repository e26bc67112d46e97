// SPDX-License-Identifier: Apache-2.0
//! The memory of values that arrive: when it is taken, how much there may be, and where the largest lie.

use super::{
    Arriving, MEMORY, NOW, SEGMENT, VALUE_MAX, assert_empty, build, builder, expire, name, put,
};
use storage::{Announced, Condition, Draft, Expiry, Item, Put, Receive, Store, StoreError};
use storage_seg::SegStore;

/// Memory is taken as the bytes arrive, whatever was announced.
#[test]
fn memory_is_taken_as_bytes_arrive() {
    let mut store = build(&builder());
    let length = VALUE_MAX;
    // Free memory of large values is not taken either.
    put(&mut store, 1, 1, length);
    assert!(store.delete(&name(1), NOW));
    expire(&mut store, 20);
    let before = store.stats().used_bytes;
    let mut drafts: Vec<_> =
        (0..20).map(|key| Arriving::begin(&mut store, key, 1, length)).collect();
    assert!(store.stats().used_bytes - before <= 20 * 6 * SEGMENT as u64, "{:?}", store.stats());
    drafts.truncate(1);
    let mut draft = drafts.remove(0);
    while draft.left() > 0 {
        draft.more(&mut store, 10_000);
        let taken = (store.stats().used_bytes - before) as usize;
        assert!(taken <= draft.there + 7 * SEGMENT, "{taken} bytes for {}", draft.there);
        assert_eq!(draft.draft.outside_bytes(), 0, "it arrives in its place");
    }
    draft.commit(&mut store);
    assert_empty(&mut store);
}

/// Drafts have no more than three quarters of the memory, and the rest goes on: also on the thread that serves them,
/// without waiting for them.
#[test]
fn drafts_leave_memory_for_others() {
    for eviction in ["scored", "fifo", "none"] {
        for workers in [1, 3] {
            let eviction = eviction.parse().expect("it is a policy");
            let builder = builder().value_max(MEMORY / 4).workers(workers).eviction(eviction);
            let first = build(&builder);
            let mut handles = vec![first];
            (1..workers).for_each(|_| handles.push(handles[0].clone()));
            let mut drafts: Vec<Arriving> = Vec::new();
            for length in [1 << 20, 100_000] {
                let refused = (0..200).find(|&key| {
                    let store = &mut handles[key as usize % workers];
                    let begun = Arriving::try_begin(store, key, 1, length, Expiry::NEVER);
                    let result = begun.and_then(|mut draft| {
                        draft.try_more(store, length - 1)?;
                        drafts.push(draft);
                        Ok(())
                    });
                    store.rest();
                    result == Err(StoreError::OutOfMemory)
                });
                assert!(refused.is_some(), "they have a bound");
            }
            let share =
                drafts.iter().map(|draft| draft.there).sum::<usize>() as f64 / MEMORY as f64;
            assert!((0.65..=0.75).contains(&share), "{share}");
            for stamp in 0..2_000 {
                let store = &mut handles[stamp as usize % workers];
                let (name, value) = (name(1_000 + stamp % 50), vec![1; 3_000]);
                store.put(Put::new(&name, &value), NOW).expect("a quarter of the memory is left");
                store.expire(NOW, 16);
                store.rest();
            }
            // More than what is left: refused, and not after a second.
            let large = vec![1; MEMORY as usize / 4];
            let large = handles[0].put(Put::new(b"large", &large), NOW);
            assert_eq!(large, Err(StoreError::OutOfMemory));
            handles[0].check_integrity();
            for draft in drafts {
                let store = &mut handles[draft.key as usize % workers];
                draft.all(store).commit(store);
                store.rest();
            }
            handles.truncate(1);
            assert_empty(&mut handles[0]);
        }
    }
}

/// Values that were admitted find memory until they are whole, also if connections' buffers take much meanwhile.
#[test]
fn values_that_are_admitted_become_whole() {
    for (length, workers) in [(1 << 20, 1), (VALUE_MAX, 2), (100_000, 1)] {
        let mut store = build(&builder().workers(workers));
        for key in 0..3_000 {
            put(&mut store, 1_000 + key, 1, 10_000);
        }
        let mut drafts: Vec<Arriving> = Vec::new();
        let with_another = |drafts: &[Arriving]| ((drafts.len() + 1) * length) as u64;
        while store.admits(with_another(&drafts)) {
            let mut draft = Arriving::begin(&mut store, drafts.len() as u64, 1, length);
            draft.more(&mut store, 5_000);
            drafts.push(draft);
        }
        let announced = drafts.len() * length;
        assert!((MEMORY as usize / 3..=MEMORY as usize / 2).contains(&announced), "{announced}");
        store.reserve(MEMORY);
        for at in [40_000, length / 3, length / 2, length] {
            for draft in &mut drafts {
                while draft.there < at {
                    draft.more(&mut store, 30_000.min(at - draft.there));
                }
            }
        }
        assert!(!store.admits(with_another(&drafts)));
        let first = drafts.remove(0);
        first.commit(&mut store);
        store.reserve(0);
        assert!(store.admits(with_another(&drafts)));
        drafts.into_iter().for_each(|draft| draft.commit(&mut store));
        assert_empty(&mut store);
    }
}

/// Many values that arrive at the same time do not leave much of their segments empty.
#[test]
fn values_that_arrive_together_lie_together() {
    for length in [10_000, 30_000, 70_000, 150_000] {
        let mut store = build(&builder());
        let count = MEMORY as usize / 2 / length;
        for round in 0..count / 20 {
            let keys = 20 * round as u64..20 * (round as u64 + 1);
            let drafts: Vec<_> =
                keys.map(|key| Arriving::begin(&mut store, key, 1, length)).collect();
            for draft in drafts {
                draft.all(&mut store).commit(&mut store);
            }
            expire(&mut store, 1);
        }
        expire(&mut store, 20);
        let stats = store.stats();
        let share = stats.item_bytes as f64 / (stats.used_bytes - stats.index_bytes) as f64;
        assert!(share >= 0.75, "{share} of {length} bytes each");
        assert_eq!(stats.evicted, 0);
        assert_empty(&mut store);
    }
}

/// The limit is lowered while values arrive.
#[test]
fn a_lower_limit_is_kept_with_drafts() {
    for workers in [1, 2] {
        let mut store = build(&builder().workers(workers));
        for key in 0..600 {
            put(&mut store, 100 + key, 1, 20_000);
        }
        let mut drafts = [1, 2, 3].map(|key| Arriving::begin(&mut store, key, 1, 1 << 20));
        drafts.iter_mut().for_each(|draft| draft.more(&mut store, 600_000));
        store.resize(MEMORY / 2).expect("it is possible");
        for _ in 0..500 {
            expire(&mut store, 1);
        }
        let stats = store.stats();
        assert!(stats.used_bytes <= MEMORY / 2, "{stats:?}");
        for mut draft in drafts {
            draft.more(&mut store, 1 << 20);
            draft.commit(&mut store);
            store.check_integrity();
        }
        assert_empty(&mut store);
    }
}

/// A value of a hundred megabytes goes to one place, in pieces or at once, in a store that is full of others.
#[test]
fn a_hundred_megabytes_arrive_in_half_a_gibibyte() {
    const LENGTH: usize = 100_000_000;
    for workers in [1, 2] {
        let builder = SegStore::builder().memory(512 << 20).value_max(128 << 20).seed(8);
        let mut store = build(&builder.workers(workers));
        let filler = vec![1; 900_000];
        for key in 0..600_u64 {
            store.put(Put::new(&name(key), &filler), NOW).expect("others can go");
        }
        let value: Vec<u8> = (0..LENGTH).map(|at| (at / 977) as u8).collect();
        for round in 0..4_u32 {
            let announced = Announced::new(b"large", LENGTH).flags(round);
            let mut draft = store.begin(announced, NOW).expect("it fits");
            for piece in value.chunks(16 << 10) {
                store.append(&mut draft, piece, NOW).expect("others can go");
            }
            assert_eq!(draft.outside_bytes(), 0);
            store.commit(draft, Condition::Always, NOW).expect("it is there");
            let item = store.get(b"large", NOW).expect("just written");
            assert!(item.value() == value && item.flags() == round);
            store.put(Put::new(b"other", &value), NOW).expect("it fits");
            assert!(store.get(b"other", NOW).expect("just written").value() == value);
            store.expire(NOW, 64);
            store.check_integrity();
        }
        store.reserve(512 << 20);
        for _ in 0..2_000 {
            store.expire(NOW, 64);
        }
        store.put(Put::new(b"other", &value), NOW).expect("it fits beside what is reserved");
        store.reserve(0);
        assert_empty(&mut store);
    }
}

/// The longest values of stores from small to large, as far as address space goes: only addresses are used.
#[test]
fn wide_segments_are_as_wide_as_the_longest_value() {
    for (memory, value_max) in
        [(512 << 20, 128 << 20), (2 << 30, 256 << 20), (8_u64 << 30, 1 << 30)]
    {
        let builder = SegStore::builder().memory(memory).value_max(value_max).workers(2);
        let mut store = build(&builder);
        let length = 200 << 20;
        let announced = Announced::new(b"key", length.min(value_max as usize));
        let mut draft = store.begin(announced, NOW).expect("it fits");
        store.append(&mut draft, &[1; 100_000], NOW).expect("it fits");
        assert_eq!(draft.outside_bytes(), 0, "{memory} bytes");
        drop(draft);
        assert_empty(&mut store);
    }
}

/// Page faults of this thread so far.
#[cfg(target_os = "linux")]
fn faults() -> u64 {
    let stat = std::fs::read_to_string("/proc/thread-self/stat").expect("Linux has it");
    let (_, fields) = stat.rsplit_once(')').expect("the name is in parentheses");
    fields.split_whitespace().nth(7).expect("minor faults").parse().expect("a number")
}

/// Several values at a time arrive in memory that was used before: none is given back and touched anew for them.
#[test]
#[cfg(target_os = "linux")]
fn values_that_share_segments_use_memory_again() {
    let mut store =
        build(&SegStore::builder().memory(32 << 20).segment_bytes(SEGMENT as u64).seed(8));
    let value = vec![1; 2 * SEGMENT + 5_000];
    let mut arrive = |rounds: u64| {
        for round in 0..rounds {
            let keys: Vec<_> = (0..5).map(|at| name((round * 5 + at) % 64)).collect();
            let announced = keys.iter().map(|key| Announced::new(key, value.len()));
            let mut drafts: Vec<_> =
                announced.map(|one| store.begin(one, NOW).expect("it fits")).collect();
            for piece in value.chunks(16 << 10) {
                for draft in &mut drafts {
                    store.append(draft, piece, NOW).expect("it fits");
                }
            }
            for draft in drafts {
                store.commit(draft, Condition::Always, NOW).expect("it is there");
            }
            store.expire(NOW, 64);
        }
    };
    arrive(200);
    let before = faults();
    arrive(40);
    let pages = faults() - before;
    assert!(pages < 400, "{pages} pages for 200 values of 33 pages");
}
