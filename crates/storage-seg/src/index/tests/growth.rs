// SPDX-License-Identifier: Apache-2.0
//! Growth step by step: what is found, what is met and what memory is held at each.

use super::*;
use crate::index::GENERATIONS;
use std::collections::HashSet;

#[test]
fn from_one_bucket_to_many_and_back() {
    for exclusive in [false, true] {
        let (epochs, mut participant) = alone();
        let index = Index::new(1, exclusive, false).expect("memory");
        let mut keys = 0;
        for buckets in [2, 3, 7, 20, 64, 200, 1000, 1300, 2600] {
            while keys < index.slots() as u64 * 3 / 4 {
                insert(&index, keys, item(keys, 0));
                keys += 1;
            }
            grow_wholly(&index, buckets, &epochs, &mut participant);
            assert_eq!(index.check_integrity(|location| mix(key_of(location))) as u64, keys);
        }
        for buckets in [2599, 1100] {
            grow_wholly(&index, buckets, &epochs, &mut participant);
            assert_eq!(index.check_integrity(|location| mix(key_of(location))) as u64, keys);
        }
        assert!((0..keys).all(|key| find(&index, key) == Some(item(key, 0))));
    }
}

#[test]
fn one_growth_at_a_time_and_none_to_the_same_size() {
    let (epochs, mut participant) = alone();
    let index = Index::new(8, false, false).expect("memory");
    assert!(!index.grow(8).expect("memory"));
    assert!(!index.is_growing());
    assert!(index.grow(9).expect("memory"));
    assert!(!index.grow(10).expect("memory"));
    assert_eq!(index.buckets(), 9);
    while index.is_growing() {
        index.migrate(1, &epochs, &mut Items::new(mix));
        participant.quiesce();
    }
    assert!(!index.migrate(1, &epochs, &mut Items::new(mix)));
    assert!(index.grow(10).expect("memory"));
}

#[test]
fn there_is_a_last_growth() {
    let (epochs, mut participant) = alone();
    let index = Index::new(1, false, false).expect("memory");
    insert(&index, 7, item(7, 0));
    for growth in 1..GENERATIONS {
        assert!(!index.is_final());
        grow_wholly(&index, 2 + growth % 2, &epochs, &mut participant);
    }
    assert!(index.is_final());
    assert!(!index.grow(100).expect("memory"));
    assert_eq!(find(&index, 7), Some(item(7, 0)));
}

#[test]
fn entries_without_room_in_a_smaller_table_are_told_to_their_owner() {
    let (epochs, mut participant) = alone();
    let index = Index::new(100, false, false).expect("memory");
    for key in 0..600 {
        index.lock(mix(key)).insert(item(key, 0), (key % 256) as u8).expect("there is room");
    }
    assert!(index.grow(1).expect("memory"));
    let mut items = Items::new(mix);
    while index.is_growing() {
        index.migrate(1, &epochs, &mut items);
        participant.quiesce();
    }
    let room = 16 * 8;
    assert_eq!(index.check_integrity(|location| mix(key_of(location))), room);
    assert_eq!(items.dropped.len(), 600 - room);
    let dropped: HashSet<_> = items.dropped.iter().map(|&location| key_of(location)).collect();
    assert!((0..600).all(|key| find(&index, key).is_none() == dropped.contains(&key)));
    let kept = (0..600).filter(|key| !dropped.contains(key));
    assert!(kept.map(|key| key % 256).min() > Some(150), "the weakest go");
}

#[test]
fn a_scan_across_growth_meets_each_entry() {
    for (from, to) in [(100, 173), (100, 61), (64, 128)] {
        let (epochs, mut participant) = alone();
        let index = Index::new(from, false, false).expect("memory");
        (0..400).for_each(|key| insert(&index, key, item(key, 0)));
        let mut items = Items::new(mix);
        let mut met = HashSet::new();
        let (mut cursor, mut step) = (Some(0), 0);
        assert!(index.grow(to).expect("memory"));
        while let Some(hash) = cursor {
            cursor = index.scan(hash, 3, |location, _| {
                met.insert(location);
            });
            // The watermark is behind the scan, overtakes it, and is behind it again.
            step += 1;
            index.migrate([1, 7, 0][step / 5 % 3], &epochs, &mut items);
            participant.quiesce();
        }
        assert_eq!(met.len(), 400, "{from} to {to}");
    }
}

#[test]
fn memory_comes_back_while_growing_and_only_after_a_grace_period() {
    let (epochs, mut participant) = alone();
    let index = Index::new(1 << 16, false, false).expect("memory");
    (0..1 << 18).for_each(|key| insert(&index, key, item(key, 0)));
    let bytes = index.bytes();
    assert!(index.grow(3 << 15).expect("memory"));
    let mut items = Items::new(mix);

    while index.migrate(1000, &epochs, &mut items) {}
    assert_eq!(index.table(0).released(), 0, "this thread may still be reading there");
    assert!(index.table(0).moved() < index.table(0).homes() / 2, "it waits for the memory");
    assert!((0..1000).all(|key| find(&index, key) == Some(item(key, 0))));

    let mut most = 0;
    while index.is_growing() {
        participant.quiesce();
        index.migrate(1000, &epochs, &mut items);
        most = index.bytes().max(most);
    }
    assert!(most <= bytes * 3 / 2 + (2 << 20), "{most} bytes at most, {bytes} before");
    let now = index.bytes();
    assert!((bytes * 3 / 2).abs_diff(now) < 4096, "{now} bytes after, {bytes} before");

    assert_eq!(present(index.table(0)), Some(0), "pages of the table of before");
    let pages = index.table(1).bytes() as u64 / 4096;
    assert!(present(index.table(1)) <= Some(pages + 1));
    let old = index.table(0).buckets().iter().flat_map(|bucket| bucket.slots());
    let is_zero = |slot: &crate::sync::atomic::AtomicU64| slot.load(super::super::Acquire) == 0;
    assert!(old.into_iter().all(is_zero));
    assert!((0..1 << 18).all(|key| find(&index, key) == Some(item(key, 0))));
}

/// How many pages of a table take memory, as Linux tells; what the test hopes for elsewhere.
fn present(table: &super::super::table::Table) -> Option<u64> {
    use std::os::unix::fs::FileExt;
    let start = table.buckets().as_ptr().addr() as u64 / 4096;
    let pages = table.bytes().div_ceil(4096);
    let mut flags = vec![0; pages * 8];
    let Ok(pagemap) = std::fs::File::open("/proc/self/pagemap") else { return Some(0) };
    pagemap.read_exact_at(&mut flags, start * 8).expect("a record for each page");
    // The highest bit of a page's 64 says that it is in memory.
    Some(flags.chunks(8).filter(|flags| flags[7] & 0x80 != 0).count() as u64)
}
