// SPDX-License-Identifier: Apache-2.0
//! How large a table is, and how little work an operation does.

use std::cell::Cell;

use super::{filled, find, hash, insert, remove};
use crate::table::{Compact, Table};

const MANY: u32 = 30_000;

#[test]
fn an_index_costs_about_seventeen_bytes_for_each_pointer() {
    let mut table = filled(100);
    for number in 100..MANY {
        insert(&mut table, number, None);
        // A quarter of the buckets have just been allocated, at worst, and the lists of the chunks
        // of a small table are large.
        let most = 22 * table.len() + 1024;
        assert!(table.heap_bytes() < most, "{} bytes of {}", table.heap_bytes(), table.len());
    }
    assert!(table.heap_bytes() < 20 * table.len(), "{}", table.heap_bytes());
    let per_bucket = table.len() as f64 / table.buckets() as f64;
    assert!((4.7..=4.81).contains(&per_bucket), "{per_bucket}");
}

#[test]
fn small_elements_make_small_buckets() {
    let rehash = |number: &std::num::NonZeroU32| hash(number.get());
    let mut table: Table<std::num::NonZeroU32, Compact> = Table::new();
    for number in 1..MANY {
        let element = std::num::NonZeroU32::new(number).expect("it is not zero");
        table.insert_by(hash(number), element, rehash);
    }
    assert!(table.heap_bytes() < 13 * MANY as usize, "{}", table.heap_bytes());
}

#[test]
fn memory_comes_back_with_the_elements() {
    let mut table = filled(MANY);
    let full = table.heap_bytes();
    for number in 0..MANY {
        remove(&mut table, number);
        let left = table.len();
        let allowed = 40 * left + full / 20;
        assert!(table.heap_bytes() <= allowed, "{} bytes for {left}", table.heap_bytes());
        if number % 1000 == 0 {
            table.check_integrity();
        }
    }
    assert_eq!((table.heap_bytes(), table.buckets()), (0, 0));
}

#[test]
fn a_table_that_was_made_at_once_is_like_one_that_grew() {
    let rehash = |number: &u32| hash(*number);
    for len in [0, 1, 4, 5, 100, 5000] {
        let (mut made, mut grown) = (Table::<u32, Compact>::new(), Table::<u32, Compact>::new());
        made.reserve(len as usize);
        for number in 0..len {
            made.insert_by(hash(number), number, rehash);
            grown.insert_by(hash(number), number, rehash);
        }
        assert_eq!((made.len(), made.buckets()), (grown.len(), grown.buckets()));
        made.check_integrity_by(rehash);
        // One that has elements stays as it is.
        made.reserve(10 * len as usize);
        assert!(len == 0 || made.buckets() == grown.buckets());
        for number in 0..len {
            assert!(made.remove_by(hash(number), |found| *found == number, rehash).is_some());
        }
        assert_eq!((made.buckets(), made.heap_bytes()), (0, 0));
    }
}

#[test]
fn a_table_is_taken_apart_in_steps() {
    let mut table = filled(MANY);
    let mut taken = vec![false; MANY as usize];
    loop {
        let mut gone = 0;
        let steps = table.pop_some(100, |element| {
            gone += 1;
            assert!(!std::mem::replace(&mut taken[element.number() as usize], true));
        });
        assert!(gone <= 100 && steps <= 100);
        if steps == 0 {
            break;
        }
    }
    assert!(taken.into_iter().all(|taken| taken));
    assert_eq!((table.len(), table.heap_bytes()), (0, 0));
}

#[test]
fn what_is_left_of_a_table_is_a_table() {
    let mut table = filled(1000);
    let mut gone = Vec::new();
    table.pop_some(500, |element| gone.push(element.number()));
    table.check_integrity();
    for number in 0..1000 {
        assert_eq!(find(&table, number).is_none(), gone.contains(&number));
    }
    gone.into_iter().for_each(|number| insert(&mut table, number, None));
    table.check_integrity();
}

#[test]
fn no_operation_looks_at_more_than_a_few_elements() {
    let looks = Cell::new(0);
    let rehash = |number: &u32| {
        looks.set(looks.get() + 1);
        hash(*number)
    };
    let mut table: Table<u32, Compact> = Table::new();
    let mut most = 0;
    for number in 0..MANY {
        looks.set(0);
        table.insert_by(hash(number), number, rehash);
        most = most.max(looks.get());
    }
    assert!(most <= 30, "{most} looks in an insert");
    for number in 0..MANY {
        looks.set(0);
        assert!(table.remove_by(hash(number), |&found| found == number, rehash).is_some());
        assert!(looks.get() <= 1, "{} looks in a removal", looks.get());
    }
}

#[test]
fn a_search_compares_hardly_any_wrong_element() {
    let table = filled(MANY);
    let wrong = Cell::new(0);
    for number in MANY..2 * MANY {
        let found = table.find_by(hash(number), |_| {
            wrong.set(wrong.get() + 1);
            false
        });
        assert!(found.is_none());
    }
    assert!(wrong.get() < MANY / 30, "{} of {MANY}", wrong.get());
}

#[test]
fn inserts_and_removals_in_turn_do_not_move_buckets() {
    let mut table = filled(MANY);
    let buckets = table.buckets();
    for number in MANY..MANY + 100 {
        insert(&mut table, number, None);
        remove(&mut table, number);
    }
    assert!(table.buckets() - buckets <= 1);
}
