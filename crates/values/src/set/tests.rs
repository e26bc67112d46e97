// SPDX-License-Identifier: Apache-2.0
//! Sets do what a sorted set does, in each of their forms and from one to the next.

use super::*;
use crate::sample::tests::numbers;
use crate::{Encoding, NewSet, Remains};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const LIMITS: Limits = Limits {
    hash_entries: 0,
    hash_value: 0,
    list_bytes: -2,
    set_intset: 5,
    set_entries: 8,
    set_value: 6,
    zset_entries: 0,
    zset_value: 0,
    hll_sparse_bytes: 3000,
    stream_node_bytes: 4096,
    stream_node_entries: 100,
    stream_messages_seconds: 100,
    stream_messages: 100,
};

fn set_mut(entry: &mut Entry) -> SetMut<'_> {
    entry.set_mut(&LIMITS).expect("it is a set")
}

fn set(entry: &Entry) -> SetRef<'_> {
    entry.set().expect("it is a set")
}

fn of(members: &[&str]) -> Entry {
    let mut entry = Entry::new_set(b"key");
    for member in members {
        set_mut(&mut entry).add(member.as_bytes());
    }
    entry
}

/// A set of that many members, `m0`, `m1` and so on.
fn numbered(members: usize) -> Entry {
    let mut entry = Entry::new_set(b"key");
    for index in 0..members {
        assert!(set_mut(&mut entry).add(format!("m{index}").as_bytes()));
    }
    entry
}

fn members(entry: &Entry) -> BTreeSet<Vec<u8>> {
    let mut members = BTreeSet::new();
    for member in set(entry).iter() {
        assert!(members.insert(member.to_vec()), "each once");
    }
    members
}

#[test]
fn the_form_follows_from_what_was_added() {
    for (members, encoding) in [
        (&["1", "-2", "30000000000"][..], Encoding::Intset),
        (&["1", "2", "3", "4", "5"], Encoding::Intset),
        (&["1", "2", "3", "4", "5", "5"], Encoding::Intset),
        (&["1", "2", "3", "4", "5", "6"], Encoding::Hashtable),
        (&["1", "2", "a"], Encoding::Listpack),
        (&["a"], Encoding::Listpack),
        (&["007"], Encoding::Listpack),
        (&["1", "2", "3", "4", "5", "a"], Encoding::Listpack),
        (&["a", "1", "2", "3", "4", "5", "6", "7"], Encoding::Listpack),
        (&["a", "1", "2", "3", "4", "5", "6", "7", "8"], Encoding::Hashtable),
        (&["123456"], Encoding::Intset),
        (&["abcdef"], Encoding::Listpack),
        (&["abcdefg"], Encoding::Hashtable),
        (&["1", "abcdefg"], Encoding::Hashtable),
        (&["a", "1234567"], Encoding::Hashtable),
        (&["-123456", "a"], Encoding::Hashtable),
        (&["1234567", "a"], Encoding::Hashtable),
    ] {
        let entry = of(members);
        assert_eq!(entry.encoding(), encoding, "{members:?}");
        set(&entry).check_integrity();
        assert!(members.iter().all(|member| set(&entry).contains(member.as_bytes())));
        assert_eq!(entry.len(), members.iter().collect::<BTreeSet<_>>().len());
    }
}

#[test]
fn a_set_for_no_integers_begins_packed() {
    let limits = Limits { set_intset: 0, ..LIMITS };
    let mut entry = Entry::new_set(b"key");
    entry.set_mut(&limits).expect("it is a set").add(b"7");
    assert_eq!((entry.encoding(), members(&entry).len()), (Encoding::Listpack, 1));
}

#[test]
fn a_set_takes_the_form_for_what_is_expected() {
    for (first, expected, encoding) in [
        ("1", 5, Encoding::Intset),
        ("1", 6, Encoding::Listpack),
        ("a", 5, Encoding::Listpack),
        ("a", 8, Encoding::Listpack),
        ("a", 9, Encoding::Hashtable),
        ("1", 9, Encoding::Hashtable),
    ] {
        let mut entry = Entry::new_set(b"key");
        set_mut(&mut entry).expect(first.as_bytes(), expected);
        assert!(set_mut(&mut entry).add(first.as_bytes()));
        assert_eq!(entry.encoding(), encoding, "{first}, {expected}");
        assert_eq!(entry.len(), 1);
        set_mut(&mut entry).expect(b"a", 1_000);
        assert_eq!(entry.encoding(), encoding, "it is no longer empty");
    }
}

#[test]
fn a_large_set_stays_large() {
    let mut entry = numbered(9);
    for index in 0..8 {
        assert!(set_mut(&mut entry).remove(format!("m{index}").as_bytes()));
    }
    assert_eq!((entry.encoding(), entry.len()), (Encoding::Hashtable, 1));
    assert!(!set_mut(&mut entry).remove(b"m0"));
}

#[test]
fn integers_come_out_in_order_and_byte_for_byte() {
    let entry = of(&["10", "-7", "9223372036854775807", "0"]);
    let texts: Vec<String> = set(&entry)
        .iter()
        .map(|member| String::from_utf8(member.to_vec()).expect("digits"))
        .collect();
    assert_eq!(texts, ["-7", "0", "10", "9223372036854775807"]);
    assert!(!set(&entry).contains(b"010") && !set(&entry).contains(b"+10"));
}

#[test]
fn a_scan_visits_what_is_there_all_the_time() {
    let mut entry = numbered(500);
    let (mut seen, mut cursor, mut calls) = (BTreeSet::new(), 0, 0);
    loop {
        cursor = set(&entry).scan(cursor, 10, |member| {
            seen.insert(member.to_vec());
        });
        if cursor == 0 {
            break;
        }
        set_mut(&mut entry).remove(format!("m{}", 100 + calls).as_bytes());
        set_mut(&mut entry).remove(format!("m{}", 200 + calls).as_bytes());
        set_mut(&mut entry).add(format!("new{calls}").as_bytes());
        calls += 1;
    }
    assert!(calls >= 20, "{calls} calls for 500 members, 10 at a time");
    assert!((0..100).all(|index| seen.contains(format!("m{index}").as_bytes())));

    let mut all = 0;
    assert_eq!(set(&of(&["1", "2", "3"])).scan(0, 1, |_| all += 1), 0);
    assert_eq!(set(&of(&["a", "b", "c"])).scan(0, 1, |_| all += 1), 0);
    assert_eq!(all, 6, "small sets are visited in one call");
}

#[test]
fn all_members_have_their_turn_at_random() {
    for entry in [of(&["1", "2", "3"]), of(&["a", "b", "3"]), numbered(60)] {
        let (mut random, mut drawn) = (numbers(3), BTreeMap::<Vec<u8>, u32>::new());
        for _ in 0..200 * entry.len() {
            let member = set(&entry).sample(random()).expect("it is not empty");
            *drawn.entry(member.to_vec()).or_default() += 1;
        }
        assert_eq!(drawn.len(), entry.len());
        assert!(drawn.values().all(|times| *times > 20), "{drawn:?}");
    }
    assert_eq!(set(&Entry::new_set(b"key")).sample(7), None);
}

#[test]
fn different_random_members_are_as_many_as_wanted() {
    let entries = [of(&["1", "2", "3"]), of(&["a", "b", "3"]), numbered(60)];
    for (entry, count) in entries.iter().flat_map(|entry| [0, 1, 3, 15, 100].map(|n| (entry, n))) {
        let mut chosen = BTreeSet::new();
        set(entry).sample_distinct(count, numbers(5), |member| {
            assert!(chosen.insert(member.to_vec()), "each once");
        });
        assert_eq!(chosen.len(), count.min(entry.len()));
    }
}

#[test]
fn popping_takes_out_one_after_the_other() {
    for mut entry in [of(&["1", "2", "3"]), of(&["a", "b", "3"]), numbered(60)] {
        let (mut left, mut random) = (members(&entry), numbers(9));
        while let Some(member) = set_mut(&mut entry).pop(random()) {
            assert!(left.remove(&member));
            set(&entry).check_integrity();
        }
        assert_eq!((left.len(), entry.len()), (0, 0));
    }
}

#[test]
fn all_members_of_another_set_are_added_whatever_its_form() {
    let limits = Limits::default();
    let made = |count: u32, text: &str| {
        let mut set = NewSet::new(b"k");
        (0..count).for_each(|number| {
            set.edit(&limits).add(format!("{text}{number}").as_bytes());
        });
        set
    };
    for (count, text) in [(10, ""), (600, ""), (10, "x"), (600, "x")] {
        let other = made(count, text);
        for before in [0, 5] {
            let mut set = made(before, "mine");
            set.edit(&limits).add_all(other.read());
            set.edit(&limits).add_all(other.read());
            assert_eq!(set.read().len(), (count + before) as usize);
            assert!(other.read().iter().all(|member| set.read().contains(&member)));
            set.read().check_integrity();
        }
    }
}

#[test]
fn a_copy_has_the_same_members_and_lives_on_its_own() {
    for mut entry in [of(&["1", "2", "3"]), of(&["a", "b", "3"]), numbered(60)] {
        let copy = entry.copy_to(b"other");
        let before = members(&entry);
        set_mut(&mut entry).pop(1);
        set(&copy).check_integrity();
        assert_eq!((copy.key(), members(&copy)), (&b"other"[..], before));
    }
}

#[test]
fn a_large_set_is_freed_bit_by_bit() {
    let members: Vec<_> = (0..1_000).map(|index| format!("member {index}")).collect();
    let members: Vec<_> = members.iter().map(String::as_str).collect();
    let mut remains = Remains::from(of(&members));
    let (mut steps, mut before) = (0, remains.heap_bytes());
    while !remains.free_some(64) {
        let left = remains.heap_bytes();
        assert!(left < before && before - left < 16 * 1024, "a step frees a part");
        (before, steps) = (left, steps + 1);
    }
    assert!(steps >= 10, "{steps} steps");
}

proptest! {
    #[test]
    fn a_set_is_a_set(
        steps in prop::collection::vec(
            (prop_oneof![4 => "-?[0-9]", 1 => "[0-9]{4,9}", 3 => "[a-f]", 1 => "[a-c]{6,7}"], 0..3),
            0..80,
        ),
        ints_only: bool,
    ) {
        let (mut entry, mut model) = (Entry::new_set(b"key"), BTreeSet::new());
        let mut large = false;
        for (member, step) in steps {
            let member = member.into_bytes();
            if ints_only && parse_i64(&member).is_none() {
                continue;
            }
            if step == 0 {
                prop_assert_eq!(set_mut(&mut entry).remove(&member), model.remove(&member));
            } else {
                prop_assert_eq!(set_mut(&mut entry).add(&member), model.insert(member.clone()));
            }
            let read = set(&entry);
            read.check_integrity();
            prop_assert_eq!((read.len(), entry.len()), (model.len(), model.len()));
            prop_assert_eq!(read.contains(&member), model.contains(&member));
            prop_assert_eq!(&members(&entry), &model);
            let encoding = entry.encoding();
            let ints = model.iter().all(|member| parse_i64(member).is_some());
            prop_assert!(encoding != Encoding::Intset || ints && model.len() <= LIMITS.set_intset);
            prop_assert!(encoding != Encoding::Listpack || model.len() <= LIMITS.set_entries);
            prop_assert!(!large || encoding == Encoding::Hashtable, "a set stays large");
            large = encoding == Encoding::Hashtable;
            if !large {
                prop_assert_eq!(entry.heap_bytes(), entry.copy_to(b"key").heap_bytes());
            }
        }
    }
}
