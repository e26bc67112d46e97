// SPDX-License-Identifier: Apache-2.0
//! Values about as large as a segment and larger: they take the memory of several.

mod support;

use clock::Ticks;
use std::collections::HashMap;
use std::time::Duration;
use storage::{Change, Expiry, Item, Put, Store, StoreError};
use storage_seg::{Builder, Eviction, PIN_MIN, SegStore};
use support::{HEADER, Random, check, describe, flags, name, stamps};

const SEGMENT: usize = 64 << 10;
const NOW: Ticks = Ticks::from_millis(1_000);

fn builder(memory: u64, value_max: usize) -> Builder {
    let builder = SegStore::builder().memory(memory).value_max(value_max as u64);
    builder.segment_bytes(SEGMENT as u64).seed(6)
}

/// Writes a value of `length` bytes in all.
fn write(store: &mut SegStore, key: u64, stamp: u64, length: usize) -> Result<(), StoreError> {
    let (name, value) = (name(key), describe(key, stamp, length - HEADER));
    let result = store.put(Put::new(&name, &value).flags(flags(key)), NOW);
    let stats = store.stats();
    assert!(stats.used_bytes <= stats.limit_bytes, "{stats:?}");
    result.map(|_| ())
}

#[track_caller]
fn assert_reads(store: &mut SegStore, key: u64, stamp: u64, length: usize) {
    let item = store.get(&name(key), NOW).expect("it was just written");
    assert_eq!((check(&item, key), item.value().len()), (vec![stamp], length), "key {key}");
}

/// All lengths around one, two and three segments, written by a put, by an update, and grown to.
#[test]
fn every_length_around_a_segment_fits() {
    for workers in [1, 3] {
        for integrity in [false, true] {
            let builder = builder(4 << 20, 4 * SEGMENT).workers(workers).integrity(integrity);
            let mut store = builder.build().expect("the options are possible");
            for segments in 1..=3 {
                for length in segments * SEGMENT - 64..segments * SEGMENT + 8 {
                    let key = length as u64;
                    write(&mut store, key, 1, length).expect("it fits");
                    assert_reads(&mut store, key, 1, length);
                    let value = describe(key, 2, length - HEADER);
                    let put =
                        Change::Put { value: &value, flags: flags(key), expiry: Expiry::NEVER };
                    store.update(&name(key), NOW, |_| (put, ())).expect("it fits");
                    assert_reads(&mut store, key, 2, length);
                    if length.is_multiple_of(9) {
                        store.expire(NOW, 100);
                        store.check_integrity();
                    }
                }
            }
        }
    }
}

/// An item grows by appends from one segment into several, and shrinks again.
#[test]
fn an_item_grows_beyond_its_segment_and_shrinks() {
    for workers in [1, 3] {
        let mut store = builder(8 << 20, 8 * SEGMENT)
            .workers(workers)
            .build()
            .expect("the options are possible");
        // Neighbours that must stay what they are.
        for key in 100..600 {
            write(&mut store, key, 1, 2_000).expect("it fits");
        }
        for round in 0..5 {
            let key = round;
            write(&mut store, key, 0, 5_000).expect("it fits");
            for stamp in 1..40 {
                let piece = describe(key, stamp, 10_000 - HEADER);
                let change = Change::Extend { before: b"", after: &piece };
                store.update(&name(key), NOW, |_| (change, ())).expect("it fits");
                let item = store.get(&name(key), NOW).expect("it was just written");
                assert_eq!(check(&item, key), (0..=stamp).collect::<Vec<_>>());
                store.check_integrity();
            }
            write(&mut store, key, 50, 100).expect("it fits");
            assert_reads(&mut store, key, 50, 100);
        }
        for key in 100..600 {
            assert_reads(&mut store, key, 1, 2_000);
        }
        assert_eq!(store.stats().evicted, 0, "most of the memory is free");
    }
}

/// A store full of large values goes on taking values of any size, whatever was there before.
#[test]
fn rows_are_evicted_and_formed_anew() {
    for eviction in support::policies().filter(|&policy| policy != Eviction::None) {
        let builder = builder(8 << 20, 4 * SEGMENT).eviction(eviction);
        let mut store = builder.build().expect("the options are possible");
        let mut random = Random::new(8);
        let mut written = HashMap::new();
        for stamp in 0..1_500 {
            let key = random.below(100);
            let length = match random.below(4) {
                0 => HEADER + random.below(300) as usize,
                1 => HEADER + random.below(SEGMENT as u64) as usize,
                _ => SEGMENT + random.below(3 * SEGMENT as u64) as usize,
            };
            let result = write(&mut store, key, stamp, length);
            assert_eq!(result, Ok(()), "{eviction}: {length} bytes: {:?}", store.stats());
            written.insert(key, (stamp, length));
            assert_reads(&mut store, key, stamp, length);
            let other = random.below(100);
            if let Some(item) = store.get(&name(other), NOW) {
                let (stamp, length) = written[&other];
                assert_eq!((check(&item, other), item.value().len()), (vec![stamp], length));
            }
            store.expire(NOW, 16);
            if stamp % 10 == 0 {
                store.check_integrity();
            }
        }
        assert!(store.stats().evicted > 0, "{eviction}");
    }
}

/// Values of a mebibyte, in stores from the smallest that takes them.
#[test]
fn a_mebibyte_fits_four_mebibytes() {
    const LENGTH: usize = 1 << 20;
    for (memory, segment_bytes) in
        [(4 << 20, 64 << 10), (5 << 20, 128 << 10), (8 << 20, 1 << 20), (64 << 20, 128 << 10)]
    {
        let builder = builder(memory, LENGTH).segment_bytes(segment_bytes);
        let mut store = builder.build().expect("the options are possible");
        for stamp in 0..100 {
            let key = stamp % 7;
            let result = write(&mut store, key, stamp, LENGTH - stamp as usize);
            assert_eq!(result, Ok(()), "in {memory} bytes: {:?}", store.stats());
            assert_reads(&mut store, key, stamp, LENGTH - stamp as usize);
            for other in 0..10 {
                write(&mut store, 100 + other, stamp, 3_000).expect("it fits");
            }
            store.expire(NOW, 16);
            store.check_integrity();
        }
        let kept = (0..7).filter(|&key| store.get(&name(key), NOW).is_some()).count() as u64;
        assert!(
            kept == 7 || (kept + 2) * (LENGTH as u64) >= memory / 2,
            "{kept} are left in {memory}: {:?}",
            store.report(NOW).segments
        );
    }
}

/// Memory that went to the index, in the middle of the heap as it may be, does not keep large values
/// out for ever.
#[test]
fn large_values_fit_after_many_tiny_ones() {
    const LENGTH: usize = 1 << 20;
    for memory in [4 << 20, 8 << 20, 16 << 20] {
        let mut store = builder(memory, LENGTH).build().expect("the options are possible");
        let mut key = 1 << 32;
        for round in 0..3 {
            for _ in 0..memory / 20 {
                store.put(Put::new(&name(key), b"tiny"), NOW).expect("it fits");
                if key.is_multiple_of(100) {
                    store.expire(NOW, 100);
                }
                key += 1;
            }
            let result = write(&mut store, round, round, LENGTH);
            assert_eq!(result, Ok(()), "in {memory} bytes: {:?}", store.stats());
            assert_reads(&mut store, round, round, LENGTH);
            store.check_integrity();
        }
    }
}

/// What others reserve does not make a value impossible that fits without it.
#[test]
fn a_reservation_leaves_room_for_the_largest_value() {
    const MEMORY: u64 = 4 << 20;
    let mut store = builder(MEMORY, 1 << 20).build().expect("the options are possible");
    store.reserve(MEMORY);
    for _ in 0..100 {
        store.expire(NOW, 100);
    }
    for key in 0..3 {
        assert_eq!(write(&mut store, key, 1, 1 << 20), Ok(()), "{:?}", store.stats());
        assert_reads(&mut store, key, 1, 1 << 20);
    }
}

/// Where nothing may be evicted, a value for which there is no room any more is refused at once: a wait
/// would end in the same.
#[test]
fn a_reservation_makes_nobody_wait_where_nothing_is_evicted() {
    const MEMORY: u64 = 2 << 20;
    const LENGTH: usize = 90_000;
    let builder = builder(MEMORY, 300_000).eviction(Eviction::None);
    let mut store = builder.build().expect("the options are possible");
    let mut refused = 0;
    for key in 0..40 {
        store.reserve(key * 40_000);
        match write(&mut store, key, 1, LENGTH) {
            Ok(()) => assert_reads(&mut store, key, 1, LENGTH),
            Err(error) => {
                assert_eq!(error, StoreError::OutOfMemory);
                refused += 1;
            }
        }
    }
    assert!((5..35).contains(&refused), "{refused} are refused");
    let mut waits = None;
    store.details(NOW, &mut |name, value| {
        if name == "segment_wait" {
            waits = Some(value.to_string());
        }
    });
    assert_eq!(waits.as_deref(), Some("0"));
    store.check_integrity();
}

/// A value that is too large is refused and the present item stays.
#[test]
fn more_than_the_largest_is_refused() {
    let mut store = builder(2 << 20, 300_000).build().expect("the options are possible");
    write(&mut store, 1, 1, 300_000).expect("it fits");
    assert_eq!(write(&mut store, 1, 2, 300_001), Err(StoreError::TooLarge));
    let change = Change::Extend { before: b"", after: b"x" };
    assert_eq!(store.update(&name(1), NOW, |_| (change, ())), Err(StoreError::TooLarge));
    assert_reads(&mut store, 1, 1, 300_000);
    let long_key = vec![b'k'; 1 << 16];
    assert_eq!(store.put(Put::new(&long_key, b""), NOW), Err(StoreError::TooLarge));
    store.put(Put::new(&long_key[1..], b"value"), NOW).expect("64 KiB less one is a key");
    let item = store.get(&long_key[1..], NOW).expect("it was just written");
    assert_eq!((item.key(), item.value()), (&long_key[1..], &b"value"[..]));
    store.check_integrity();
}

/// A pinned value keeps its bytes, whatever happens to its item; its segments are used again when it
/// is let go of.
#[test]
fn pinned_values_stay_and_their_memory_comes_back() {
    for workers in [1, 2] {
        let mut store = builder(8 << 20, 4 * SEGMENT)
            .workers(workers)
            .build()
            .expect("the options are possible");
        let mut pins = Vec::new();
        for key in 0..4 {
            let length = SEGMENT * (key as usize + 1) / 2 + PIN_MIN;
            write(&mut store, key, 1, length).expect("it fits");
            let item = store.get(&name(key), NOW).expect("it was just written");
            pins.push((key, item.pin().expect("few are pinned")));
        }
        store.delete(&name(0), NOW);
        write(&mut store, 1, 2, 100).expect("it fits");
        let change = Change::Extend { before: b"", after: &describe(2, 7, 10) };
        store.update(&name(2), NOW, |_| (change, ())).expect("it fits");
        for round in 0..500 {
            let length = HEADER + (round as usize * 977) % (2 * SEGMENT);
            write(&mut store, 10 + round, round, length).expect("others can be evicted");
            store.expire(NOW, 16);
            if round == 100 {
                store.clear();
            }
            if round % 10 == 0 {
                store.check_integrity();
            }
        }
        for (key, pin) in &pins {
            assert_eq!(stamps(*key, pin), [1]);
        }
        drop(pins);
        store.clear();
        for _ in 0..100 {
            store.expire(NOW, 100);
        }
        let stats = store.stats();
        assert_eq!((stats.items, stats.used_bytes), (0, stats.index_bytes), "{stats:?}");
        store.check_integrity();
    }
}

/// Readers that do not read cannot take the memory from the writers: pins are refused before that.
#[test]
fn pins_are_few() {
    // Three to a segment.
    const LENGTH: usize = PIN_MIN + 4_000;
    let mut store = builder(2 << 20, SEGMENT).build().expect("the options are possible");
    let mut pins = Vec::new();
    for key in 0..500 {
        write(&mut store, key, 1, LENGTH).expect("others can be evicted");
        let item = store.get(&name(key), NOW).expect("it was just written");
        pins.extend(item.pin().map(|pin| (key, pin)));
        store.expire(NOW, 16);
    }
    assert!(!pins.is_empty());
    let stats = store.stats();
    assert!(stats.items * LENGTH as u64 > stats.limit_bytes / 2, "{stats:?}");
    for (key, pin) in pins {
        assert_eq!(stamps(key, &pin), [1]);
    }
}

/// A value is copied only where its segment is not pinned yet: a copy would take memory, and buffers that take more leave less
/// to be pinned, so that more would be copied.
#[test]
fn what_is_pinned_is_lent_again_whatever_buffers_have() {
    const LENGTH: usize = PIN_MIN + 4_000;
    let mut store = builder(2 << 20, SEGMENT).build().expect("the options are possible");
    let mut pins = Vec::new();
    for key in 0..20 {
        write(&mut store, key, 1, LENGTH).expect("it fits");
        let item = store.get(&name(key), NOW).expect("it was just written");
        pins.extend(item.pin().map(|pin| (key, pin)));
    }
    store.reserve(1 << 20);
    for (key, _) in pins.clone() {
        let again = store.get(&name(key), NOW).and_then(|item| item.pin());
        pins.push((key, again.expect("its segment is pinned")));
    }
}

/// Only clients can end pins: a write that needs their memory is refused at once, also if there are other handles.
#[test]
fn what_clients_hold_is_not_waited_for() {
    const LENGTH: usize = 60_000;
    let builder = builder(32 << 20, SEGMENT).workers(2);
    let mut store = builder.build().expect("the options are possible");
    let mut other = store.clone();
    let mut pins = Vec::new();
    for key in 0..400 {
        write(&mut store, key, 1, LENGTH).expect("it fits");
        let item = store.get(&name(key), NOW).expect("it was just written");
        pins.extend(item.pin());
    }
    store.resize(4 << 20).expect("it is no less than the least");
    for _ in 0..1_000 {
        store.expire(NOW, 64);
        other.expire(NOW, 64);
    }
    other.rest();
    let before = store.stats().waited;
    for key in 1_000..1_020 {
        let value = describe(key, 1, LENGTH - HEADER);
        let refused = store.put(Put::new(&name(key), &value), NOW);
        assert_eq!(refused.map(|_| ()), Err(StoreError::OutOfMemory), "{}", pins.len());
    }
    assert_eq!(store.stats().waited, before);
    drop(pins);
    write(&mut store, 2_000, 1, LENGTH).expect("there is room again");
}

/// A large value expires as any other, and its whole row comes back.
#[test]
fn rows_expire() {
    let mut store = builder(4 << 20, 1 << 20).build().expect("the options are possible");
    for round in 0..20_u64 {
        let now = Ticks::from_millis(1_000 + round * 10_000);
        let (name, value) = (name(round), describe(round, round, 900_000));
        let expiry = Expiry::after(Duration::from_secs(5), now);
        let put = Put::new(&name, &value).flags(flags(round)).expiry(expiry);
        store.put(put, now).expect("it fits");
        let before = Ticks::from_millis(now.as_millis() + 4_999);
        assert_eq!(check(&store.get(&name, before).expect("it lives"), round), [round]);
        let after = Ticks::from_millis(now.as_millis() + 5_000);
        assert!(store.get(&name, after).is_none());
        for _ in 0..3 {
            store.expire(after, 10);
        }
        let stats = store.stats();
        assert_eq!((stats.items, stats.used_bytes), (0, stats.index_bytes), "{stats:?}");
        assert_eq!((stats.evicted, stats.expired), (0, round + 1));
        store.check_integrity();
    }
}
