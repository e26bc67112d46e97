// SPDX-License-Identifier: Apache-2.0
//! Counts heap allocations and compares them with the promises of hashes and sets.
//!
//! The counting allocator serves the whole process, so this test has a process of its own.

use test_support::counting::{Counting, allocations};
use values::{Encoding, Entry, Limits};

#[global_allocator]
static ALLOCATOR: Counting = Counting::new();

const NOW: u64 = 1_000;

fn name(index: usize) -> [u8; 8] {
    (index as u64).to_le_bytes()
}

/// A hash of that many fields with values of 50 bytes, one of which expires later.
fn hash_of(fields: usize) -> Entry {
    let (mut entry, limits) = (Entry::new_hash(b"key"), Limits::default());
    let mut hash = entry.hash_mut(&limits).expect("it is a hash");
    for index in 0..fields {
        hash.set(&name(index), &[1; 50], NOW);
    }
    hash.set_expiry(&name(1), Some(2 * NOW), NOW);
    entry
}

/// A small and a large set of texts, and one of integers.
fn sets() -> [Entry; 3] {
    let limits = Limits::default();
    [(100, "m"), (1_000, "m"), (500, "")].map(|(members, prefix)| {
        let mut entry = Entry::new_set(b"key");
        let mut set = entry.set_mut(&limits).expect("it is a set");
        for index in 0..members {
            set.add(format!("{prefix}{index}").as_bytes());
        }
        entry
    })
}

#[test]
fn reading_a_hash_allocates_nothing() {
    for fields in [100, 1_000] {
        let entry = hash_of(fields);
        let spent = allocations(|| {
            let hash = entry.hash().expect("it is a hash");
            for index in 0..2 * fields {
                let value = hash.get(&name(index), NOW);
                assert_eq!(value.is_some(), index < fields);
            }
            assert_eq!(hash.iter(NOW).count(), fields);
            assert!(hash.sample(7, NOW).is_some());
            let mut cursor = 0;
            loop {
                cursor = hash.scan(cursor, 10, NOW, |_, value| assert_eq!(value.len(), 50));
                if cursor == 0 {
                    break;
                }
            }
        });
        assert_eq!(spent, 0, "{fields} fields");
    }
}

#[test]
fn a_value_of_the_same_length_allocates_nothing() {
    let limits = Limits::default();
    for fields in [100, 1_000] {
        let mut entry = hash_of(fields);
        let spent = allocations(|| {
            let mut hash = entry.hash_mut(&limits).expect("it is a hash");
            for index in 0..fields {
                assert!(!hash.set_keeping_expiry(&name(index), &[2; 50], NOW));
            }
        });
        assert_eq!(spent, 0, "{fields} fields");
    }
}

#[test]
fn looking_for_expired_fields_too_early_allocates_nothing() {
    let limits = Limits::default();
    for fields in [100, 1_000] {
        let mut entry = hash_of(fields);
        let spent = allocations(|| {
            let mut hash = entry.hash_mut(&limits).expect("it is a hash");
            assert_eq!(hash.remove_expired(NOW, 1_000, |_| {}), 0);
        });
        assert_eq!(spent, 0, "{fields} fields");
    }
}

#[test]
fn adding_to_a_packed_collection_moves_it_at_most_once() {
    let limits = Limits::default();
    let (mut hash, mut set) = (hash_of(100), sets());
    let spent = allocations(|| {
        hash.hash_mut(&limits).expect("it is a hash").set(b"new", &[3; 60], NOW);
    });
    assert!(spent <= 1, "{spent} allocations");
    for entry in &mut set {
        let member = if entry.encoding() == Encoding::Intset { &b"501"[..] } else { b"new" };
        let spent = allocations(|| {
            assert!(entry.set_mut(&limits).expect("it is a set").add(member));
        });
        // The large one allocates the member, and sometimes a part of its index.
        assert!(spent <= 2, "{spent} allocations");
    }
}

#[test]
fn reading_a_set_allocates_nothing() {
    for entry in sets() {
        let spent = allocations(|| {
            let set = entry.set().expect("it is a set");
            assert!(set.contains(b"m7") != set.contains(b"7"));
            assert!(!set.contains(b"nobody") && !set.contains(b"100000"));
            assert_eq!(set.iter().filter(|member| set.contains(member)).count(), entry.len());
            assert!(set.sample(7).is_some());
        });
        assert_eq!(spent, 0, "{:?}", entry.encoding());
    }
}
