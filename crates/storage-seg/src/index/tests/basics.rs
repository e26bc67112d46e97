// SPDX-License-Identifier: Apache-2.0
//! What each operation does, without growth.

use super::*;
use crate::index::home::Full;

/// All keys have the same home, and their tag is their number.
fn crowded(key: u64) -> u64 {
    key
}

#[test]
fn an_entry_is_found_replaced_and_removed() {
    let index = Index::new(10, false, false).expect("memory");
    assert_eq!(find(&index, 7), None);
    insert(&index, 7, item(7, 0));
    assert_eq!(find(&index, 7), Some(item(7, 0)));
    assert_eq!(index.candidate(mix(7)), Some(item(7, 0)));

    let home = index.lock(mix(7));
    let entry = home.find_location(item(7, 0)).expect("it is there");
    home.replace(&entry, item(7, 1), 3);
    assert!(home.find_location(item(7, 0)).is_none(), "the copy of before is gone");
    let entry = home.find(|location| key_of(location) == 7).expect("it is there");
    assert_eq!((entry.location(), entry.frequency()), (item(7, 1), 3));
    home.remove(&entry, false);
    drop(home);
    assert_eq!(find(&index, 7), None);
    assert_eq!(index.check_integrity(|location| mix(key_of(location))), 0);
}

#[test]
fn a_frequency_is_written_only_to_the_entry_that_was_seen() {
    for exclusive in [false, true] {
        let index = Index::new(10, exclusive, false).expect("memory");
        insert(&index, 7, item(7, 0));
        let stale = index.find(mix(7), |_| true).expect("it is there");
        stale.set_frequency(200);
        assert_eq!(index.find(mix(7), |_| true).expect("it is there").frequency(), 200);

        let home = index.lock(mix(7));
        let entry = home.find(|_| true).expect("it is there");
        home.replace(&entry, item(7, 1), 5);
        drop(home);
        stale.set_frequency(9);
        let entry = index.find(mix(7), |_| true).expect("it is there");
        assert_eq!((entry.location(), entry.frequency()), (item(7, 1), 5));
    }
}

#[test]
fn a_home_overflows_to_its_reach_and_no_further() {
    for exclusive in [false, true] {
        let index = Index::new(4, exclusive, false).expect("memory");
        let room = 16 * 8;
        for key in 0..room {
            assert_eq!(index.lock(crowded(key)).insert(item(key, 0), key as u8), Ok(()));
        }
        assert_eq!(index.lock(crowded(room)).insert(item(room, 0), 0), Err(Full));
        assert_eq!(index.check_integrity(|location| crowded(key_of(location))), room as usize);
        let found = (0..room).all(|key| {
            let entry = index.find(crowded(key), |location| location == item(key, 0));
            entry.is_some_and(|entry| entry.frequency() == key as u8)
        });
        assert!(found);
        assert_eq!(index.census(1).displaced, 15 * 8);
        // From the far end back, and each time the reach follows.
        for key in (0..room).rev() {
            let home = index.lock(crowded(key));
            let entry = home.find_location(item(key, 0)).expect("it is there");
            home.remove(&entry, false);
            drop(home);
            index.check_integrity(|location| crowded(key_of(location)));
        }
        assert_eq!(index.census(1).lines, 1);
    }
}

#[test]
fn a_full_home_gives_its_weakest_entry_for_a_new_one() {
    let index = Index::new(1, false, false).expect("memory");
    for key in 0..16 * 8 {
        let frequency = if key == 50 { 1 } else { 9 };
        index.lock(crowded(key)).insert(item(key, 0), frequency).expect("there is room");
    }
    let home = index.lock(crowded(500));
    assert_eq!(home.insert(item(500, 0), 2), Err(Full));
    let weakest = home.weakest().expect("it has entries");
    assert_eq!(weakest.location(), item(50, 0));
    home.replace(&weakest, item(500, 0), 2);
    drop(home);
    assert!(index.find(crowded(50), |location| key_of(location) == 50).is_none());
    let entry = index.find(crowded(500), |location| key_of(location) == 500);
    assert_eq!(entry.expect("it took the slot").frequency(), 2);
    index.check_integrity(|location| crowded(key_of(location)));
}

#[test]
fn a_home_without_entries_is_told_who_crowds_it() {
    // The keys of home n are 1000 n and up. All homes are full but one, which has nothing of its
    // own to drop.
    let hash = |key: u64| (((key / 1000) << 32).div_ceil(300) << 32) + key % 1000;
    let index = Index::new(300, false, false).expect("memory");
    for home in (0..300).filter(|&home| home != 150) {
        let mut keys = home * 1000..;
        while keys.next().is_some_and(|key| index.lock(hash(key)).insert(item(key, 0), 9).is_ok()) {
        }
    }
    let key = 150_000;
    let home = index.lock(hash(key));
    assert_eq!(home.insert(item(key, 0), 0), Err(Full));
    assert!(home.weakest().is_none());
    drop(home);
    index.check_integrity(|location| hash(key_of(location)));

    let location = index.crowding(hash(key)).expect("somebody crowds it");
    let home = index.lock(hash(key_of(location)));
    home.remove(&home.find_location(location).expect("it is there"), true);
    drop(home);
    assert_eq!(index.lock(hash(key)).insert(item(key, 0), 0), Ok(()));
}

#[test]
fn a_ghost_remembers_until_its_slot_is_used() {
    let index = Index::new(1, false, false).expect("memory");
    let home = index.lock(crowded(5));
    home.insert(item(5, 0), 77).expect("there is room");
    assert_eq!(home.ghost(), None, "an entry is no ghost");
    home.remove(&home.find(|_| true).expect("it is there"), true);
    assert_eq!(home.ghost(), Some(77));
    assert!(home.find(|_| true).is_none(), "a ghost is no entry");
    drop(home);
    assert_eq!(index.census(1).ghosts, 1);
    assert_eq!(index.candidate(crowded(5)), None);
    assert_eq!(index.lock(crowded(6)).ghost(), None, "another tag");

    // Others take the empty slots first.
    for key in 10..17 {
        index.lock(crowded(key)).insert(item(key, 0), 0).expect("there is room");
    }
    assert_eq!(index.lock(crowded(5)).ghost(), Some(77));
    index.lock(crowded(17)).insert(item(17, 0), 0).expect("there is room");
    assert_eq!(index.lock(crowded(5)).ghost(), None);
    assert_eq!(index.census(1).displaced, 0);
}

#[test]
fn a_key_comes_back_to_its_own_ghost() {
    let index = Index::new(1, true, false).expect("memory");
    let home = index.lock(crowded(5));
    home.insert(item(5, 0), 77).expect("there is room");
    home.remove(&home.find(|_| true).expect("it is there"), true);
    home.insert(item(5, 1), 78).expect("there is room");
    assert_eq!(home.ghost(), None);
    drop(home);
    assert_eq!(index.census(1).ghosts, 0);
}

#[test]
fn a_scan_goes_by_hash_and_meets_each_entry_once() {
    let index = Index::new(100, false, false).expect("memory");
    (0..600).for_each(|key| insert(&index, key, item(key, 0)));
    let mut homes = Vec::new();
    let mut cursor = Some(0);
    while let Some(hash) = cursor {
        cursor = index.scan(hash, 7, |location, _| {
            homes.push((u128::from(mix(key_of(location))) * 100) >> 64);
        });
    }
    assert_eq!(homes.len(), 600);
    assert!(homes.is_sorted());
}

#[test]
fn nine_tenths_of_the_slots_can_be_used() {
    let index = Index::new(1 << 13, false, false).expect("memory");
    let entries = index.slots() as u64 * 9 / 10;
    (0..entries).for_each(|key| insert(&index, key, item(key, 0)));
    assert_eq!(index.check_integrity(|location| mix(key_of(location))) as u64, entries);
    assert!((0..entries).all(|key| find(&index, key) == Some(item(key, 0))));
    let census = index.census(1000);
    assert!(census.displaced * 2 < census.entries, "{census:?}");
}
