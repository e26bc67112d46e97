// SPDX-License-Identifier: Apache-2.0
//! Counts heap allocations and compares them with the crate's promises.
//!
//! The counting allocator serves the whole process, so this test has a process of its own.

use allocator::size_class;
use test_support::counting::{Counting, allocations, held_by};
use values::{Digits, Entry, Table, hash_of};

#[global_allocator]
static ALLOCATOR: Counting = Counting::sized_by(size_class);

#[test]
fn counting_reading_and_noting_allocate_nothing() {
    let mut entry = Entry::string(b"visits", b"41");
    entry.set_expiry(Some(1));
    let spent = allocations(|| {
        let mut digits = Digits::new();
        for count in 0..1000 {
            let value = entry.as_integer().expect("it is a number");
            entry.set_integer(value + 1);
            entry.set_string(digits.format(value + 2));
            entry.set_access(count);
            entry.set_expiry(Some(u64::from(count)));
            assert!(!entry.text(&mut Digits::new()).is_empty());
        }
    });
    assert_eq!(spent, 0);
}

#[test]
fn a_string_of_about_the_same_length_takes_the_old_one_s_place() {
    for length in [20, 64, 1000, 16_000, 20_000, 1_000_000] {
        let mut entry = Entry::string(b"key", &vec![b'x'; length]);
        let other = vec![b'y'; length];
        assert_eq!(allocations(|| entry.set_string(&other)), 0, "{length} bytes");
        assert_eq!(allocations(|| entry.set_range(length / 2, b"zzz")), 0, "{length} bytes");
    }
}

#[test]
fn pinning_a_string_that_was_pinned_before_allocates_nothing() {
    let entry = Entry::string(b"key", &[b'x'; Entry::PIN_MIN]);
    drop(entry.pin());
    assert_eq!(allocations(|| drop(entry.pin())), 0);
}

#[test]
fn a_small_item_is_one_allocation() {
    assert_eq!(allocations(|| drop(Entry::string(&[b'k'; 20], &[b'v'; 64]))), 1);
}

#[test]
fn what_an_entry_says_it_holds_is_what_it_holds() {
    for length in [0, 1, 19, 44, 45, 100, 5000, 16_383, 16_384, 50_000] {
        let text = vec![b'x'; length];
        let (entry, bytes) = held_by(|| Entry::string(b"key", &text));
        // What counts the references of a large string comes with the first pin.
        let pinned = held_by(|| drop(entry.pin())).1;
        assert_eq!(entry.heap_bytes(), bytes + pinned, "{length} bytes");

        let (entry, bytes) = held_by(|| {
            let mut entry = Entry::integer(b"key", 17);
            entry.set_expiry(Some(17));
            for _ in 0..20 {
                entry.append(&text);
            }
            entry.set_range(3 * length, b"0123456789");
            drop(entry.pin());
            entry.rename(b"another key")
        });
        assert_eq!(entry.heap_bytes(), bytes, "{length} bytes, 20 times");
    }
}

fn key(number: u32) -> [u8; 4] {
    number.to_be_bytes()
}

/// A table of as many entries, each third of which expires.
fn table_of(entries: u32) -> Table<Entry> {
    let mut table = Table::new();
    for number in 0..entries {
        let mut entry = Entry::string(&key(number), &[b'v'; 50]);
        entry.set_expiry((number % 3 == 0).then_some(1_000 + u64::from(number)));
        table.insert(hash_of(&key(number)), entry);
    }
    table
}

#[test]
fn what_a_table_says_it_holds_is_what_it_holds() {
    let (mut table, bytes) = held_by(|| table_of(20_000));
    let entries = |table: &Table<Entry>| table.iter().map(Entry::heap_bytes).sum::<usize>();
    assert_eq!(table.heap_bytes() + entries(&table), bytes);

    let ((), freed) = held_by(|| {
        for number in 0..15_000 {
            table.remove(hash_of(&key(number)), &key(number));
        }
    });
    let bytes = bytes.wrapping_add(freed);
    assert_eq!(table.heap_bytes() + entries(&table), bytes);

    let ((), freed) = held_by(|| while table.pop_some(100, drop) > 0 {});
    assert_eq!((table.heap_bytes(), bytes.wrapping_add(freed)), (0, 0));
}

#[test]
fn looking_things_up_and_sweeping_allocate_nothing() {
    let mut table = table_of(5_000);
    let spent = allocations(|| {
        for number in 0..10_000 {
            let hash = hash_of(&key(number));
            table.prefetch(hash);
            table.hint(hash).fetch();
            assert_eq!(table.find(hash, &key(number)).is_some(), number < 5_000);
            assert!(table.sample(u64::from(number)).is_some());
        }
        let mut cursor = table.scan(0, |_| {});
        while cursor != 0 {
            cursor = table.scan(cursor, |_| {});
        }
        while !table.sweep(999, 10, drop) {}
    });
    assert_eq!(spent, 0);
}
