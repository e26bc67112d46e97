// SPDX-License-Identifier: Apache-2.0
//! Every operation against `std::collections::HashMap`.

use std::collections::HashMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{Element, filled, find, hash, insert, remove};
use crate::table::{Compact, Keyed, TOGETHER, Table};
use crate::{Entry, hash_of};
use prefetch::Hint;

/// What happens to a table.
#[derive(Clone, Debug)]
enum Step {
    Put(u32, Option<u64>),
    PutMany(u32, u32, Option<u64>),
    Remove(u32),
    RemoveMany(u32, u32),
    Expire(u32, Option<u64>),
    Sweep(u64, usize),
    Pop(usize),
}

fn dues() -> impl Strategy<Value = Option<u64>> {
    proptest::option::of(0..20_000_u64)
}

fn steps() -> impl Strategy<Value = Step> {
    let number = 0..400_u32;
    prop_oneof![
        4 => (number.clone(), dues()).prop_map(|(number, due)| Step::Put(number, due)),
        1 => (number.clone(), 0..200_u32, dues())
            .prop_map(|(from, count, due)| Step::PutMany(from, count, due)),
        4 => number.clone().prop_map(Step::Remove),
        1 => (number.clone(), 0..200_u32).prop_map(|(from, count)| Step::RemoveMany(from, count)),
        2 => (number, dues()).prop_map(|(number, due)| Step::Expire(number, due)),
        1 => (0..25_000_u64, 0..100_usize).prop_map(|(now, budget)| Step::Sweep(now, budget)),
        1 => (0..50_usize).prop_map(Step::Pop),
    ]
}

type Model = HashMap<u32, Option<u64>>;

fn put(table: &mut Table<Element>, model: &mut Model, number: u32, due: Option<u64>) {
    let old = table.replace(hash(number), Element::new(number, due));
    assert_eq!(old.map(|old| old.0.2), model.insert(number, due));
}

fn expire(table: &mut Table<Element>, model: &mut Model, number: u32, due: Option<u64>) {
    let found = table.find_mut(hash(number), &number.to_be_bytes());
    assert_eq!(found.is_some(), model.contains_key(&number));
    if let Some(element) = found {
        element.0.2 = due;
        model.insert(number, due);
    }
    table.refresh_due(hash(number), &number.to_be_bytes());
}

fn apply(table: &mut Table<Element>, model: &mut Model, step: &Step) {
    match *step {
        Step::Put(number, due) => put(table, model, number, due),
        Step::PutMany(from, count, due) => {
            (from..from + count).for_each(|number| put(table, model, number, due));
        }
        Step::Remove(number) => {
            assert_eq!(remove(table, number).map(|old| old.0.2), model.remove(&number));
        }
        Step::RemoveMany(from, count) => {
            for number in from..from + count {
                assert_eq!(remove(table, number).map(|old| old.0.2), model.remove(&number));
            }
        }
        Step::Expire(number, due) => expire(table, model, number, due),
        Step::Sweep(now, budget) => {
            table.sweep(now, budget, |element| {
                assert!(element.0.2.is_some_and(|due| due <= now), "{element:?} is not due");
                assert_eq!(model.remove(&element.number()), Some(element.0.2));
            });
        }
        Step::Pop(budget) => {
            let mut gone = 0;
            let steps = table.pop_some(budget, |element| {
                assert_eq!(model.remove(&element.number()), Some(element.0.2));
                gone += 1;
            });
            assert!(gone <= steps && steps <= budget);
        }
    }
}

proptest! {
    #[test]
    fn a_table_does_what_a_hash_map_does(steps in vec(steps(), 0..60)) {
        let mut table = Table::new();
        let mut model = Model::new();
        for step in steps {
            apply(&mut table, &mut model, &step);
            prop_assert_eq!(table.len(), model.len());
            prop_assert_eq!(table.is_empty(), model.is_empty());
            table.check_integrity();
        }
        for number in 0..700 {
            let found = find(&table, number).map(|element| element.0.2);
            prop_assert_eq!(found, model.get(&number).copied());
        }
        let listed: Model = table.iter().map(|element| (element.number(), element.0.2)).collect();
        prop_assert_eq!(listed, model);
    }

    /// Numbers as elements, and a hash so poor that chains are long.
    #[test]
    fn colliding_hashes_cost_time_and_nothing_else(
        steps in vec((any::<bool>(), 0..300_u32), 0..600),
        spread in 1..40_u64,
    ) {
        let poor = |number: u32| (u64::from(number) % spread) * 0x0001_0001_0000_0001;
        let rehash = |number: &u32| poor(*number);
        let mut table: Table<u32, Compact> = Table::new();
        let mut model = std::collections::HashSet::new();
        for (add, number) in steps {
            let known = table.find_by(poor(number), |&found| found == number).copied();
            prop_assert_eq!(known.is_some(), model.contains(&number));
            if add && known.is_none() {
                table.insert_by(poor(number), number, rehash);
                model.insert(number);
            } else if !add {
                let gone = table.remove_by(poor(number), |&found| found == number, rehash);
                prop_assert_eq!(gone.is_some(), model.remove(&number));
            }
        }
        table.check_integrity_by(rehash);
        let listed: std::collections::HashSet<u32> = table.iter().copied().collect();
        prop_assert_eq!(listed, model);
    }
}

#[test]
fn an_element_can_be_changed_where_it_is() {
    let mut table = filled(100);
    let found = table.find_by_mut(hash(42), |element| element.number() == 42);
    found.expect("it is there").0.2 = Some(17);
    table.refresh_due(hash(42), &42_u32.to_be_bytes());
    table.check_integrity();
    assert_eq!(find(&table, 42), Some(&Element::new(42, Some(17))));
    assert!(table.find_by_mut(hash(100), |element| element.number() == 100).is_none());
}

#[test]
fn an_empty_table_answers_everything() {
    let mut table: Table<Element> = Table::default();
    assert!(find(&table, 1).is_none() && remove(&mut table, 1).is_none());
    assert!(table.iter().next().is_none() && table.sample(7).is_none());
    assert_eq!(table.scan(77, |_| panic!("there is nothing to visit")), 0);
    assert!(table.sweep(u64::MAX, 1, |_| panic!("nothing is due")));
    assert_eq!(table.pop_some(10, |_| panic!("there is nothing to take")), 0);
    table.prefetch(hash(1));
    table.prefetch_group(&[hash(1)].into_iter().collect(), Keyed::hint);
    table.prefetch_split(0, Keyed::hint);
    assert_eq!((table.hint(hash(1)), table.next_hint(hash(1))), (Hint::NONE, Hint::NONE));
    table.refresh_due(hash(1), b"none");
    assert_eq!((table.heap_bytes(), table.buckets()), (0, 0));
    table.check_integrity();
}

#[test]
fn prefetching_changes_nothing() {
    let mut table = filled(1000);
    for number in 0..2000 {
        table.prefetch(hash(number));
        table.hint(hash(number)).fetch();
        table.next_hint(hash(number)).fetch();
        table.prefetch_split(number as usize, Keyed::hint);
    }
    for first in (0..2000).step_by(TOGETHER) {
        table.prefetch_group(&(first..2000).take(TOGETHER).map(hash).collect(), Keyed::hint);
    }
    insert(&mut table, 1000, None);
    table.check_integrity();
}

#[test]
fn a_hint_leads_to_the_element_or_to_where_it_is_found() {
    let mut table: Table<Entry> = Table::new();
    let key = |number: u32| format!("key{number}").into_bytes();
    assert_eq!(table.hint(hash_of(&key(0))), Hint::NONE);
    for number in 0..1000 {
        table.insert(hash_of(&key(number)), Entry::string(&key(number), b"value"));
    }
    // One in forty is taken for another.
    let (mut here, mut behind) = (0, 0);
    for number in 0..1000 {
        let hash = hash_of(&key(number));
        let entry = table.find(hash, &key(number)).expect("it was inserted");
        let hint = table.hint(hash);
        assert_ne!(hint, Hint::NONE);
        if hint.leads_on() {
            behind += u32::from(table.next_hint(hash) == entry.hint());
        } else {
            here += u32::from(hint == entry.hint() && table.next_hint(hash) == Hint::NONE);
        }
    }
    assert!(here > 700 && behind > 10 && here + behind > 950, "{here} {behind}");
}

#[test]
fn the_next_hint_leads_to_the_rest_of_a_long_element() {
    let mut table: Table<Entry> = Table::new();
    let hash = hash_of(b"key");
    table.insert(hash, Entry::string(b"key", &[7; 1000]));
    assert_ne!(table.next_hint(hash), Hint::NONE);
    assert_ne!(table.next_hint(hash), table.hint(hash));
    table.replace(hash, Entry::string(b"key", &[7; 64]));
    assert_eq!(table.next_hint(hash), Hint::NONE);
}
