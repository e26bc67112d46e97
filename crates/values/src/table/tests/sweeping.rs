// SPDX-License-Identifier: Apache-2.0
//! Sweeps take out what is due, all of it, and look at little else.

use std::collections::{HashMap, HashSet};

use proptest::collection::vec;
use proptest::prelude::*;

use super::{Element, find, hash, insert, looks, remove};
use crate::table::bucket::{Bucket, seconds};
use crate::table::{Swept, Table, Verdict};

/// Sweeps to the end of a pass and returns what is gone.
fn sweep_all(table: &mut Table<Element>, now_ms: u64) -> HashSet<u32> {
    let mut gone = HashSet::new();
    while !table.sweep(now_ms, 3, |element| assert!(gone.insert(element.number()))) {}
    gone
}

#[test]
fn a_pass_takes_out_what_is_due_to_the_millisecond() {
    let mut table = Table::new();
    for number in 0..2000 {
        insert(&mut table, number, Some(u64::from(number)));
    }
    for now in [0, 1, 999, 1000, 1001, 1500, 5000] {
        sweep_all(&mut table, now);
        table.check_integrity();
        for number in 0..2000 {
            assert_eq!(find(&table, number).is_none(), u64::from(number) <= now);
        }
    }
    assert_eq!(table.heap_bytes(), 0);
}

#[test]
fn buckets_in_which_nothing_is_due_are_not_looked_into() {
    let mut table = Table::new();
    for number in 0..5000 {
        let due = [None, Some(100_000), Some(200_000)][number as usize % 3];
        insert(&mut table, number, due);
    }
    assert_eq!(looks(|| assert!(sweep_all(&mut table, 99_999).is_empty())), 0);

    // At 100 s, those of the first due second are taken out and the others of their buckets seen.
    let volatile_looks = |table: &Table<Element>, now: u64| -> usize {
        let due = |&home: &usize| {
            let due = table.chain_buckets(home).next().and_then(Bucket::due);
            due.is_some_and(|due| due <= seconds(now))
        };
        let chains = (0..table.buckets()).filter(due);
        let volatile = |element: &&Element| element.0.2.is_some();
        chains.map(|home| table.chain(home).filter(volatile).count()).sum()
    };
    let expected = volatile_looks(&table, 100_000);
    let mut gone = 0;
    let spent = looks(|| {
        while !table.sweep(100_000, 7, |element| {
            assert_eq!(element.0.2, Some(100_000));
            gone += 1;
        }) {}
    });
    assert_eq!(gone, 1667);
    // What a merge or a moved bucket looks at comes on top: one element for each that is gone.
    assert!((expected..=expected + gone).contains(&spent), "{spent} looks, {expected} needed");
    // The second is known exactly now.
    assert_eq!(looks(|| assert!(sweep_all(&mut table, 199_999).is_empty())), 0);
}

#[test]
fn a_due_time_that_moves_is_followed() {
    let mut table = Table::new();
    for number in 0..100 {
        insert(&mut table, number, Some(10_000));
    }
    for number in 0..100 {
        let element = table.find_mut(hash(number), &number.to_be_bytes()).expect("it is there");
        element.0.2 = [None, Some(5_000), Some(20_000)][number as usize % 3];
        table.refresh_due(hash(number), &number.to_be_bytes());
    }
    table.check_integrity();
    assert_eq!(sweep_all(&mut table, 5_000).len(), 33);
    assert_eq!(sweep_all(&mut table, 19_999).len(), 0);
    assert_eq!(sweep_all(&mut table, 20_000).len(), 33);
    assert_eq!(table.len(), 34);
}

#[test]
fn the_earliest_due_time_is_known() {
    let mut table = Table::new();
    assert_eq!(table.earliest_due(), None);
    insert(&mut table, 1, None);
    assert_eq!(table.earliest_due(), None);
    for (number, due) in [(2, 9_700), (3, 5_400), (4, 20_000)] {
        insert(&mut table, number, Some(due));
    }
    assert_eq!(table.earliest_due(), Some(5_000));
    assert_eq!(sweep_all(&mut table, 5_399).len(), 0);
    assert_eq!(table.earliest_due(), Some(5_000));
    assert_eq!(sweep_all(&mut table, 5_400).len(), 1);
    assert_eq!(table.earliest_due(), Some(9_000));
    remove(&mut table, 2);
    sweep_all(&mut table, 9_000);
    assert_eq!(table.earliest_due(), Some(20_000));
    sweep_all(&mut table, 20_000);
    assert_eq!(table.earliest_due(), None);
}

#[test]
fn what_is_due_first_is_known_after_a_pass() {
    let mut table = Table::new();
    assert_eq!(table.earliest_due(), None);
    for number in 0..1000 {
        insert(&mut table, number, (number % 2 == 0).then_some(10_500 + u64::from(number) * 1000));
    }
    assert_eq!(table.earliest_due(), Some(10_000), "the second, rounded down");
    assert_eq!(sweep_all(&mut table, 500_000).len(), 245);
    assert_eq!(table.earliest_due(), Some(500_000));
    table.find_mut(hash(1), &1_u32.to_be_bytes()).expect("it is there").0.2 = Some(3_000);
    table.refresh_due(hash(1), &1_u32.to_be_bytes());
    assert_eq!(table.earliest_due(), Some(3_000));
    sweep_all(&mut table, 10_000_000);
    assert_eq!((table.earliest_due(), table.len()), (None, 499));
}

#[test]
fn due_times_can_be_refreshed_without_the_key() {
    let mut table = super::filled(200);
    let element = table.find_mut(hash(42), &42_u32.to_be_bytes()).expect("it is there");
    element.0.2 = Some(7_000);
    assert_eq!(table.refresh_dues(hash(42)), Some(7_000));
    table.check_integrity();
    assert_eq!(table.earliest_due(), Some(7_000));
    let element = table.find_mut(hash(42), &42_u32.to_be_bytes()).expect("it is there");
    element.0.2 = None;
    assert_eq!(table.refresh_dues(hash(42)), None);
    table.check_integrity();
    assert_eq!(Table::<Element>::new().refresh_dues(hash(42)), None);
}

#[test]
fn a_table_stores_a_pass_only_while_something_may_be_due() {
    let mut table = super::filled(200);
    let without = table.heap_bytes();
    assert!(table.sweep(u64::MAX, 1, |_| panic!("nothing is due")), "there is nothing to find");
    let expire = |table: &mut Table<Element>, due| {
        table.find_mut(hash(42), &42_u32.to_be_bytes()).expect("it is there").0.2 = due;
        table.refresh_dues(hash(42));
        table.check_integrity();
    };
    expire(&mut table, Some(7_000));
    assert_eq!(table.heap_bytes(), without + 40);
    assert!(sweep_all(&mut table, 6_000).is_empty());
    assert_eq!(table.heap_bytes(), without + 40, "it is still due");
    expire(&mut table, None);
    assert!(sweep_all(&mut table, 8_000).is_empty());
    assert_eq!(table.heap_bytes(), without);
    expire(&mut table, Some(9_000));
    assert_eq!(sweep_all(&mut table, 9_000).len(), 1);
    assert_eq!(table.earliest_due(), None);
    insert(&mut table, 42, Some(10_000));
    while table.pop_some(100, drop) > 0 {
        table.check_integrity();
    }
    assert_eq!(table.heap_bytes(), 0);
}

/// Elements of which a part is due stay, with a later due time, and some need two looks.
#[test]
fn a_sweep_can_keep_elements_and_pause() {
    let mut table = Table::new();
    for number in 0..500 {
        insert(&mut table, number, Some(1_000 + u64::from(number % 3)));
    }
    let (mut pauses, mut gone) = (HashSet::new(), 0);
    loop {
        let swept = table.sweep_with(
            2_000,
            10,
            |element| match element.number() % 3 {
                0 => Verdict::Remove,
                1 => {
                    element.0.2 = Some(9_000);
                    Verdict::Keep
                }
                _ if pauses.insert(element.number()) => Verdict::Pause,
                _ => {
                    element.0.2 = None;
                    Verdict::Keep
                }
            },
            |element| {
                assert_eq!(element.number() % 3, 0);
                gone += 1;
            },
        );
        table.check_integrity();
        if swept.ended {
            break;
        }
    }
    assert_eq!((gone, pauses.len(), table.len()), (167, 166, 333));
    assert_eq!(table.earliest_due(), Some(1_000), "a paused chain may be noted as it was");
    let swept = table.sweep_with(2_000, usize::MAX, |_| panic!("nothing is due"), |_| {});
    assert_eq!(swept, Swept { ended: true, due_ms: Some(9_000) });
    assert_eq!(table.earliest_due(), Some(9_000));
}

proptest! {
    /// Elements come and go while a pass is under way; what was due at its start and stayed is gone
    /// at its end.
    #[test]
    fn a_pass_finds_all_that_is_due_whatever_comes_and_goes(
        start in 1..1500_u32,
        changes in vec((any::<bool>(), 0..300_u32, 0..60_usize), 0..40),
    ) {
        const NOW: u64 = 50_000;
        let due = |number: u32| Some(u64::from(number % 3) * 40_000);
        let mut table = Table::new();
        let mut model: HashMap<u32, Option<u64>> = HashMap::new();
        for number in 0..start {
            insert(&mut table, number, due(number));
            model.insert(number, due(number));
        }
        let is_due = |due: &Option<u64>| due.is_some_and(|due| due <= NOW);
        let mut owed: HashSet<u32> =
            model.iter().filter(|(_, due)| is_due(due)).map(|(&number, _)| number).collect();
        let (mut end, mut changes) = (start, changes.into_iter());
        loop {
            let change = changes.next();
            let budget = change.map_or(1000, |(_, _, budget)| budget);
            let finished = table.sweep(NOW, budget, |element| {
                assert!(is_due(&element.0.2));
                assert_eq!(model.remove(&element.number()), Some(element.0.2));
                owed.remove(&element.number());
            });
            table.check_integrity();
            if finished {
                break;
            }
            let Some((grow, count, _)) = change else { continue };
            let range = if grow { end..end + count } else { end.saturating_sub(count)..end };
            end = if grow { range.end } else { range.start };
            for number in range {
                if grow {
                    insert(&mut table, number, due(number));
                    model.insert(number, due(number));
                } else {
                    remove(&mut table, number);
                    model.remove(&number);
                    owed.remove(&number);
                }
            }
        }
        prop_assert!(owed.is_empty(), "{owed:?} were missed");
        prop_assert_eq!(table.len(), model.len());
    }
}
