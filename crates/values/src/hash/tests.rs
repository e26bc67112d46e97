// SPDX-License-Identifier: Apache-2.0
//! What hashes do, in each of their forms and from one to the next.

mod model;

use super::*;
use crate::sample::tests::numbers;
use crate::{Encoding, Remains};
use std::collections::{BTreeMap, BTreeSet, HashMap};

const LIMITS: Limits = Limits {
    hash_entries: 6,
    hash_value: 8,
    list_bytes: -2,
    set_intset: 0,
    set_entries: 0,
    set_value: 0,
    zset_entries: 0,
    zset_value: 0,
    hll_sparse_bytes: 3000,
    stream_node_bytes: 4096,
    stream_node_entries: 100,
    stream_messages_seconds: 100,
    stream_messages: 100,
};

fn hash_mut(entry: &mut Entry) -> HashMut<'_> {
    entry.hash_mut(&LIMITS).expect("it is a hash")
}

fn hash(entry: &Entry) -> HashRef<'_> {
    entry.hash().expect("it is a hash")
}

/// A hash of that many fields, `f0` with the value `v0` and so on.
fn numbered(fields: usize) -> Entry {
    let mut entry = Entry::new_hash(b"key");
    for index in 0..fields {
        let (name, value) = (format!("f{index}"), format!("v{index}"));
        assert!(hash_mut(&mut entry).set(name.as_bytes(), value.as_bytes(), 0));
    }
    entry
}

#[test]
fn a_hash_goes_from_packed_to_large_and_stays_there() {
    let mut entry = numbered(6);
    assert_eq!(entry.encoding(), Encoding::Listpack);
    hash_mut(&mut entry).set(b"f6", b"v6", 0);
    assert_eq!(entry.encoding(), Encoding::Hashtable);
    for index in 0..6 {
        assert!(hash_mut(&mut entry).remove(format!("f{index}").as_bytes(), 0));
    }
    assert_eq!((entry.encoding(), entry.len()), (Encoding::Hashtable, 1));
    assert_eq!(hash(&entry).get(b"f6", 0), Some(&b"v6"[..]));
}

#[test]
fn a_long_name_or_value_makes_a_hash_large() {
    for (name, value) in [("name", "123456789"), ("123456789", "value")] {
        let mut entry = numbered(2);
        hash_mut(&mut entry).set(b"name", b"12345678", 0);
        assert_eq!(entry.encoding(), Encoding::Listpack);
        hash_mut(&mut entry).set(name.as_bytes(), value.as_bytes(), 0);
        assert_eq!(entry.encoding(), Encoding::Hashtable);
        assert_eq!(hash(&entry).get(name.as_bytes(), 0), Some(value.as_bytes()));
    }
}

#[test]
fn a_field_with_an_expiry_is_gone_on_time() {
    for fields in [3, 10] {
        let mut entry = numbered(fields);
        assert_eq!(hash(&entry).next_expiry(), None);
        assert!(hash_mut(&mut entry).set_expiry(b"f1", Some(1_000), 0));
        assert_eq!(hash(&entry).expiry_of(b"f1", 0), Some(Some(1_000)));
        assert_eq!(hash(&entry).expiry_of(b"f2", 0), Some(None));
        assert_eq!(hash(&entry).get(b"f1", 999), Some(&b"v1"[..]));
        let read = hash(&entry);
        assert_eq!((read.get(b"f1", 1_000), read.expiry_of(b"f1", 1_000)), (None, None));
        assert!(!read.contains(b"f1", 1_000) && read.contains(b"f2", 1_000));
        assert_eq!((read.len(), read.live(999), read.live(1_000)), (fields, fields, fields - 1));
        assert_eq!(read.next_expiry(), Some(1_000));

        let mut edit = hash_mut(&mut entry);
        assert!(!edit.set_expiry(b"f1", None, 1_000), "too late");
        assert!(!edit.remove(b"f1", 1_000), "it is not seen any more");
        assert_eq!(edit.len(), fields - 1);
    }
}

#[test]
fn a_packed_hash_with_an_expiry_says_so() {
    let mut entry = numbered(3);
    assert!(!hash_mut(&mut entry).set_expiry(b"none", Some(5), 0));
    assert!(hash_mut(&mut entry).set_expiry(b"f0", None, 0));
    assert_eq!(entry.encoding(), Encoding::Listpack);
    assert!(hash_mut(&mut entry).set_expiry(b"f0", Some(5), 0));
    assert_eq!(entry.encoding(), Encoding::ListpackEx);
    assert_eq!(hash_mut(&mut entry).remove_expired(5, 100, |_| {}), 1);
    assert_eq!((entry.encoding(), hash(&entry).next_expiry()), (Encoding::ListpackEx, None));
    for index in 3..8 {
        hash_mut(&mut entry).set(format!("f{index}").as_bytes(), b"v", 5);
    }
    assert_eq!((entry.encoding(), entry.len()), (Encoding::Hashtable, 7));
}

#[test]
fn setting_a_field_drops_its_expiry_unless_asked_to_keep_it() {
    for fields in [3, 10] {
        let mut entry = numbered(fields);
        hash_mut(&mut entry).set_expiry(b"f1", Some(1_000), 0);
        assert!(!hash_mut(&mut entry).set_keeping_expiry(b"f1", b"kept", 0));
        assert_eq!(hash(&entry).expiry_of(b"f1", 0), Some(Some(1_000)));
        assert!(!hash_mut(&mut entry).set(b"f1", b"dropped", 0));
        assert_eq!(hash(&entry).expiry_of(b"f1", 0), Some(None));
        assert_eq!(hash(&entry).get(b"f1", 2_000), Some(&b"dropped"[..]));

        hash_mut(&mut entry).set_expiry(b"f2", Some(1_000), 0);
        let new = hash_mut(&mut entry).set_keeping_expiry(b"f2", b"again", 1_000);
        assert!(new, "the former one had expired, and its expiry went with it");
        assert_eq!(hash(&entry).expiry_of(b"f2", 1_000), Some(None));
    }
}

#[test]
fn a_value_of_the_same_length_is_written_in_place() {
    for (fields, len) in [(3, 8), (10, 50_000)] {
        let mut entry = numbered(fields);
        hash_mut(&mut entry).set(b"f1", &vec![1; len], 0);
        let place = hash(&entry).get(b"f1", 0).expect("it is there").as_ptr();
        hash_mut(&mut entry).set(b"f1", &vec![2; len], 0);
        assert_eq!(hash(&entry).get(b"f1", 0).expect("it is there").as_ptr(), place);
    }
}

#[test]
fn expired_fields_of_a_large_hash_go_within_a_budget() {
    let mut entry = numbered(1_000);
    for index in 0..1_000 {
        let due = if index % 2 == 0 { 10_000 + index } else { 1_000_000 };
        assert!(hash_mut(&mut entry).set_expiry(format!("f{index}").as_bytes(), Some(due), 0));
    }
    assert_eq!(hash_mut(&mut entry).remove_expired(9_999, 1_000_000, |_| {}), 0);
    let (mut gone, mut now_ms) = (BTreeSet::new(), 20_000);
    let most = hash_mut(&mut entry).remove_expired(now_ms, 10, |name| {
        gone.insert(name.to_vec());
    });
    assert!(most < 100, "ten buckets hold {most}");
    for _ in 0..1_000 {
        hash_mut(&mut entry).remove_expired(now_ms, 10, |name| {
            gone.insert(name.to_vec());
        });
        now_ms += 1;
    }
    assert_eq!((gone.len(), entry.len()), (500, 500));
    hash(&entry).check_integrity();
    let next = hash(&entry).next_expiry().expect("there are more to come");
    assert!((999_000..=1_000_000).contains(&next), "{next} is exact to the second");
}

#[test]
fn a_scan_visits_what_is_there_all_the_time() {
    let mut entry = numbered(500);
    hash_mut(&mut entry).set_expiry(b"f7", Some(1), 0);
    let (mut seen, mut cursor, mut calls) = (HashMap::<Vec<u8>, Vec<u8>>::new(), 0, 0);
    loop {
        cursor = hash(&entry).scan(cursor, 10, 1, |name, value| {
            seen.insert(name.to_vec(), value.to_vec());
        });
        if cursor == 0 {
            break;
        }
        // The hash shrinks and grows meanwhile.
        hash_mut(&mut entry).remove(format!("f{}", 100 + calls).as_bytes(), 1);
        hash_mut(&mut entry).set(format!("new{calls}").as_bytes(), b"v", 1);
        calls += 1;
    }
    assert!(calls >= 20, "{calls} calls for 500 fields, 10 at a time");
    for index in (0..100).filter(|index| *index != 7) {
        let (name, value) = (format!("f{index}"), format!("v{index}"));
        assert_eq!(seen.get(name.as_bytes()).map(Vec::as_slice), Some(value.as_bytes()));
    }
    assert!(!seen.contains_key(&b"f7"[..]), "it has expired");
}

#[test]
fn a_small_hash_is_scanned_in_one_call() {
    let entry = numbered(5);
    let mut seen = Vec::new();
    assert_eq!(hash(&entry).scan(0, 1, 0, |name, _| seen.push(name.to_vec())), 0);
    assert_eq!(seen.len(), 5);
}

#[test]
fn random_fields_are_live_ones_and_all_have_their_turn() {
    for fields in [6, 60] {
        let mut entry = numbered(fields);
        hash_mut(&mut entry).set_expiry(b"f0", Some(1), 0);
        let (mut random, mut drawn) = (numbers(3), BTreeMap::<Vec<u8>, u32>::new());
        for _ in 0..200 * fields {
            let (name, value) = hash(&entry).sample(random(), 1).expect("most are live");
            assert_eq!(&name[1..], &value[1..]);
            *drawn.entry(name.to_vec()).or_default() += 1;
        }
        assert_eq!(drawn.len(), fields - 1);
        assert!(drawn.values().all(|times| *times > 20), "{drawn:?}");
    }
    assert_eq!(hash(&Entry::new_hash(b"key")).sample(7, 0), None);
}

#[test]
fn a_hash_of_expired_fields_has_no_random_one_and_one_live_field_is_found() {
    for fields in [6, 60] {
        let mut entry = numbered(fields);
        for index in 0..fields {
            hash_mut(&mut entry).set_expiry(format!("f{index}").as_bytes(), Some(1), 0);
        }
        assert_eq!(hash(&entry).sample(1, 1), None);
        hash_mut(&mut entry).set(b"f1", b"v1", 1);
        assert!((0..100).all(|random| hash(&entry).sample(random, 1).is_some()));
        let mut all = Vec::new();
        hash(&entry).sample_distinct(3, 1, numbers(1), |name, _| all.push(name.to_vec()));
        assert_eq!(all, [b"f1"]);
    }
}

#[test]
fn different_random_fields_are_as_many_as_wanted() {
    for (fields, count) in [(6, 0), (6, 3), (6, 6), (6, 9), (60, 5), (60, 40), (60, 60), (60, 90)] {
        let mut entry = numbered(fields);
        hash_mut(&mut entry).set_expiry(b"f1", Some(1), 0);
        let mut chosen = BTreeSet::new();
        hash(&entry).sample_distinct(count, 1, numbers(5), |name, _| {
            assert!(chosen.insert(name.to_vec()), "each once");
        });
        assert_eq!(chosen.len(), count.min(fields - 1));
        assert!(!chosen.contains(&b"f1"[..]));
    }
}

#[test]
fn a_copy_has_the_same_fields_and_times_and_lives_on_its_own() {
    for fields in [3, 100] {
        let mut entry = numbered(fields);
        hash_mut(&mut entry).set_expiry(b"f1", Some(1_000), 0);
        let copy = entry.copy_to(b"other");
        hash_mut(&mut entry).remove(b"f2", 0);
        hash(&copy).check_integrity();
        assert_eq!((copy.key(), copy.len(), entry.len()), (&b"other"[..], fields, fields - 1));
        assert_eq!(hash(&copy).expiry_of(b"f1", 0), Some(Some(1_000)));
        assert_eq!(hash(&copy).get(b"f2", 0), Some(&b"v2"[..]));
    }
}

#[test]
fn a_large_hash_is_freed_bit_by_bit() {
    let mut remains = Remains::from(numbered(1_000));
    let (mut steps, mut before) = (0, remains.heap_bytes());
    while !remains.free_some(64) {
        let left = remains.heap_bytes();
        assert!(left < before && before - left < 16 * 1024, "a step frees a part");
        (before, steps) = (left, steps + 1);
    }
    assert!(steps >= 10, "{steps} steps");
    assert_eq!(remains.heap_bytes(), 0);
}

#[test]
fn names_that_many_hashes_have_are_kept_once() {
    let limits = Limits::default();
    let names = ["first name", "last name", "date of birth", "street", "city"];
    let person = || {
        let mut entry = Entry::new_hash(b"person");
        for name in names {
            entry.hash_mut(&limits).expect("a hash").set(name.as_bytes(), b"12345678", 0);
        }
        entry
    };
    let alone = person();
    let many: Vec<Entry> = (0..200).map(|_| person()).collect();
    let last = many.last().expect("there are some");
    // Five names of 42 bytes with their lengths, against as many numbers of two bytes at most.
    assert!(last.bytes().len() + 42 + 5 - 10 <= alone.bytes().len(), "{}", last.bytes().len());
    for entry in [&alone, last] {
        hash(entry).check_integrity();
        let read: Vec<_> = hash(entry).iter(0).map(|(name, _)| name).collect();
        assert_eq!(read, names.map(str::as_bytes));
    }
    let mut edited = last.copy_to(b"copy");
    let mut edit = edited.hash_mut(&limits).expect("a hash");
    edit.set_expiry(b"street", Some(10), 0);
    assert!(edit.remove(b"last name", 0));
    assert_eq!(edit.remove_expired(10, 100, |name| assert_eq!(name, b"street")), 1);
    assert_eq!(edit.read().get(b"city", 10), Some(&b"12345678"[..]));
    assert_eq!(edit.len(), 3);
    edit.set(b"city", &[b'v'; 100], 10);
    assert_eq!((edited.encoding(), edited.len()), (Encoding::Hashtable, 3));
    assert!(hash(&edited).contains(b"date of birth", 10));
}

#[test]
fn the_few_that_are_left_are_all_drawn() {
    let mut entry = Entry::new_hash(b"key");
    let mut hash = hash_mut(&mut entry);
    let left: BTreeSet<Vec<u8>> =
        (0..4_u32).map(|number| number.to_string().into_bytes()).collect();
    for number in 0..20_000_u32 {
        let field = number.to_string().into_bytes();
        hash.set(&field, b"value", 0);
        if !left.contains(&field) {
            hash.set_expiry(&field, Some(1000), 0);
        }
    }
    let hash = entry.hash().expect("it is a hash");
    let mut random = numbers(7);
    let drawn: BTreeSet<Vec<u8>> =
        (0..100).map(|_| hash.sample(random(), 2000).expect("some are left").0.to_vec()).collect();
    assert_eq!(drawn, left);
}
