// SPDX-License-Identifier: Apache-2.0
//! Counts heap allocations and compares them with the promises of lists and sorted sets; and checks
//! that the memory that large values of any type report is what they have allocated.
//!
//! The counting allocator serves the whole process, so this test has a process of its own.

use allocator::size_class;
use test_support::counting::{Counting, allocations, held, held_by};
use values::{End, Entry, Limits, ScoreBound, StreamId};

#[global_allocator]
static ALLOCATOR: Counting = Counting::sized_by(size_class);

/// Does all steps to one entry, and looks at its memory after each of them.
fn check_memory(new: fn(&[u8]) -> Entry, steps: impl Iterator<Item = impl FnOnce(&mut Entry)>) {
    let before = held();
    let mut entry = new(b"key");
    for (number, step) in steps.enumerate() {
        step(&mut entry);
        let bytes = held().wrapping_sub(before);
        assert_eq!(entry.heap_bytes(), bytes, "after step {number}");
    }
    let copy = entry.copy_to(b"copy");
    assert_eq!(entry.heap_bytes() + copy.heap_bytes(), held().wrapping_sub(before));
    drop((entry, copy));
    assert_eq!(held(), before, "all of it is given back");
}

/// Numbers that jump about.
fn scattered(number: usize) -> usize {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
}

#[test]
fn a_sorted_set_knows_its_memory() {
    let limits = Limits::default();
    let steps = (0..6_000).map(|number| {
        move |entry: &mut Entry| {
            let mut set = entry.zset_mut(&limits).expect("it is a sorted set");
            let member = scattered(number % 2_000).to_string();
            if number < 2_000 || number % 3 == 0 {
                set.insert(member.as_bytes(), (scattered(number) % 100) as f64);
            } else {
                set.remove(member.as_bytes());
            }
        }
    });
    check_memory(Entry::new_zset, steps);
}

#[test]
fn a_list_knows_its_memory() {
    let limits = Limits { list_bytes: -1, ..Limits::default() };
    let steps = (0..6_000_usize).map(|number| {
        move |entry: &mut Entry| {
            let mut list = entry.list_mut(&limits).expect("it is a list");
            let end = if number.is_multiple_of(2) { End::Front } else { End::Back };
            let text = vec![b'x'; scattered(number) % 300];
            match number % 7 {
                0 => drop(list.set((scattered(number) % 100) as i64, &text)),
                1 => drop(list.insert_before(&text, &text)),
                2 => drop(list.remove(1, &text)),
                _ if number < 3_000 => list.push(end, &text),
                _ => drop(list.pop(end, |_| ())),
            }
        }
    });
    check_memory(Entry::new_list, steps);
}

#[test]
fn a_hash_knows_its_memory() {
    let limits = Limits { hash_entries: 0, ..Limits::default() };
    let steps = (0..3_000_usize).map(|number| {
        move |entry: &mut Entry| {
            let mut hash = entry.hash_mut(&limits).expect("it is a hash");
            let name = scattered(number % 500).to_string();
            match number % 7 {
                0 => drop(hash.set_expiry(name.as_bytes(), Some(9_000 + number as u64), 1)),
                1 => drop(hash.remove_expired(9_000 + number as u64, 50, |_| ())),
                2 | 3 if number > 1_500 => drop(hash.remove(name.as_bytes(), 1)),
                _ => drop(hash.set(name.as_bytes(), &vec![b'x'; number % 90], 1)),
            }
        }
    });
    check_memory(Entry::new_hash, steps);
}

#[test]
fn a_set_knows_its_memory() {
    let limits = Limits::default();
    let steps = (0..3_000_usize).map(|number| {
        move |entry: &mut Entry| {
            let mut set = entry.set_mut(&limits).expect("it is a set");
            let member = scattered(number % 1_000).to_string();
            if number < 1_500 || number.is_multiple_of(3) {
                set.add(member.as_bytes());
            } else {
                set.remove(member.as_bytes());
            }
        }
    });
    check_memory(Entry::new_set, steps);
}

#[test]
fn a_stream_knows_its_memory() {
    let limits = Limits::default();
    let steps = (0..2_000_u64).map(|number| {
        move |entry: &mut Entry| {
            let mut stream = entry.stream_mut(&limits).expect("it is a stream");
            if number.is_multiple_of(3) {
                stream.remove(StreamId::new(number / 2, 0));
            } else {
                let value = number.to_string();
                let pairs = [[&b"name"[..], value.as_bytes()]];
                stream.append(StreamId::new(number, 0), pairs.into_iter());
            }
        }
    });
    check_memory(Entry::new_stream, steps);
}

#[test]
fn a_large_value_is_in_a_box_of_its_own_size() {
    let limits = Limits::default();
    let (_string, bytes) = held_by(|| Entry::raw_string(b"key", &[b'x'; 20_480]));
    assert_eq!(bytes, 24 + 40 + 20_480, "the entry, the box, the text");
    let (_set, bytes) = held_by(|| {
        let mut entry = Entry::new_set(b"key");
        entry.set_mut(&limits).expect("it is a set").add(&[b'x'; 100]);
        entry
    });
    assert_eq!(bytes, 24 + 72 + 24 + 64 + 104, "the entry, the box, an index, the member");
    let (_zset, bytes) = held_by(|| {
        let mut entry = Entry::new_zset(b"key");
        entry.zset_mut(&limits).expect("it is a sorted set").insert(&[b'x'; 100], 1.0);
        entry
    });
    let parts = [24 + 160, 24 + 40, 24 + 24 + 104, 96];
    assert_eq!(bytes, parts.iter().sum(), "the entry, the box, an index, the member, an order");
}

/// A small and a large sorted set, with scores from 0 up.
fn sorted_sets() -> [Entry; 2] {
    [100, 10_000].map(|members| {
        let (mut entry, limits) = (Entry::new_zset(b"key"), Limits::default());
        let mut set = entry.zset_mut(&limits).expect("it is a sorted set");
        for number in 0..members {
            set.insert(format!("{number:016}").as_bytes(), number as f64);
        }
        entry
    })
}

/// A small and a large list of numbers.
fn lists() -> [Entry; 2] {
    [100, 10_000].map(|elements| {
        let (mut entry, limits) = (Entry::new_list(b"key"), Limits::default());
        let mut list = entry.list_mut(&limits).expect("it is a list");
        for number in 0..elements {
            list.push_back(format!("{number:08}").as_bytes());
        }
        entry
    })
}

#[test]
fn reading_a_sorted_set_allocates_nothing() {
    for entry in sorted_sets() {
        let spent = allocations(|| {
            let set = entry.zset().expect("it is a sorted set");
            assert_eq!(set.score(b"0000000000000042"), Some(42.0));
            assert_eq!(set.rank(b"0000000000000042"), Some(42));
            let ranks =
                set.ranks_by_score(ScoreBound::Inclusive(50.0), ScoreBound::Exclusive(80.0));
            assert_eq!(set.range(ranks).rev().count(), 30);
            assert!(set.sample(7).is_some());
            assert_eq!(set.scan(0, 10, |_, _| {}) == 0, entry.len() == 100);
        });
        assert_eq!(spent, 0, "{} members", entry.len());
    }
}

#[test]
fn a_changed_score_allocates_next_to_nothing() {
    let limits = Limits::default();
    for mut entry in sorted_sets() {
        let spent = allocations(|| {
            let mut set = entry.zset_mut(&limits).expect("it is a sorted set");
            for number in 0..100 {
                let score = if number % 2 == 0 { f64::from(number) + 0.5 } else { 1e6 };
                assert!(set.insert(format_member(number).as_slice(), score).is_some());
            }
        });
        assert!(spent <= 1, "a leaf, when one must be split: {spent}");
    }
}

/// Sixteen digits, on the stack.
fn format_member(number: i32) -> [u8; 16] {
    let mut member = *b"0000000000000000";
    member[15] += (number % 10) as u8;
    member[14] += (number / 10) as u8;
    member
}

#[test]
fn reading_a_list_and_popping_allocate_nothing() {
    let limits = Limits::default();
    for mut entry in lists() {
        let len = entry.len();
        let spent = allocations(|| {
            let list = entry.list().expect("it is a list");
            assert_eq!(list.get(50).as_deref(), Some(&b"00000050"[..]));
            assert_eq!(list.range(20..60).rev().count(), 40);
            assert_eq!(list.iter().count(), len);
        });
        assert_eq!(spent, 0, "{len} elements");
        let spent = allocations(|| {
            let mut list = entry.list_mut(&limits).expect("it is a list");
            assert_eq!(list.pop_front(<[u8]>::len), Some(8));
            assert_eq!(list.pop_back(<[u8]>::len), Some(8));
        });
        assert!(spent <= 1, "a smaller entry: {spent}");
    }
}

#[test]
fn pushing_allocates_once_in_a_while() {
    let limits = Limits::default();
    for end in [End::Front, End::Back] {
        let mut entry = Entry::new_list(b"key");
        let spent = allocations(|| {
            for _ in 0..100_000 {
                entry.list_mut(&limits).expect("it is a list").push(end, b"12345678");
            }
        });
        assert!(spent < 100_000 / 100, "{end:?}: {spent}");
    }
}
