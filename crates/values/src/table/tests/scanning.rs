// SPDX-License-Identifier: Apache-2.0
//! The guarantee of a full scan, and the evenness of samples.

use std::collections::HashMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{filled, find, insert, remove};

/// Elements that stay in the table through all of a test.
const STAY: std::ops::Range<u32> = 0..150;

proptest! {
    #[test]
    fn what_stays_in_the_table_is_visited_once_whatever_comes_and_goes(
        others in 0..1500_u32,
        changes in vec((any::<bool>(), 0..400_u32), 0..40),
    ) {
        let mut table = filled(STAY.end + others);
        let mut end = STAY.end + others;
        let mut visited = HashMap::new();
        let (mut cursor, mut calls, mut most_buckets) = (0, 0, table.buckets());
        let mut changes = changes.into_iter();
        loop {
            cursor = table.scan(cursor, |element| {
                *visited.entry(element.number()).or_insert(0) += 1;
            });
            calls += 1;
            if cursor == 0 {
                break;
            }
            match changes.next() {
                Some((true, count)) => {
                    (end..end + count).for_each(|number| insert(&mut table, number, None));
                    end += count;
                }
                Some((false, count)) => {
                    let start = end.saturating_sub(count).max(STAY.end);
                    for number in start..end {
                        remove(&mut table, number);
                    }
                    end = start;
                }
                None => {}
            }
            most_buckets = most_buckets.max(table.buckets());
        }
        prop_assert!(STAY.into_iter().all(|number| visited.get(&number) == Some(&1)), "{visited:?}");
        prop_assert!(calls <= most_buckets.next_power_of_two(), "{calls} calls");
    }

    #[test]
    fn any_cursor_leads_to_an_end(cursor: u64, count in 0..500_u32) {
        let table = filled(count);
        let mut at = table.scan(cursor, |_| {});
        for _ in 0..table.buckets() {
            if at == 0 {
                break;
            }
            at = table.scan(at, |_| {});
        }
        prop_assert_eq!(at, 0);
    }
}

#[test]
fn a_table_that_does_not_change_is_visited_once() {
    for count in [0, 1, 5, 17, 100, 1000, 5000] {
        let table = filled(count);
        let (mut visits, mut cursor) = (Vec::new(), 0);
        loop {
            let before = visits.len();
            cursor = table.scan(cursor, |element| visits.push(element.number()));
            assert!(visits.len() - before < 60, "a call visits a bucket or two");
            if cursor == 0 {
                break;
            }
        }
        visits.sort_unstable();
        assert!(visits.into_iter().eq(0..count));
    }
}

#[test]
fn samples_are_about_even_also_while_a_round_of_splits_is_halfway() {
    // 700 elements make 146 buckets, so 18 have been split and hold half of what the others do.
    let table = filled(700);
    let mut counts = [0_u32; 700];
    for draw in 0..350_000 {
        counts[table.sample(draw).expect("it is not empty").number() as usize] += 1;
    }
    // 500 of each on average. A chain that is longer than there are places gets a little less.
    assert!(counts.iter().all(|&count| (250..=750).contains(&count)), "{counts:?}");
}

#[test]
fn a_sample_of_one_is_that_one() {
    let mut table = filled(3000);
    (0..2999).for_each(|number| drop(remove(&mut table, number)));
    for draw in 0..100 {
        assert_eq!(table.sample(draw), find(&table, 2999));
    }
}

#[test]
fn looking_around_shows_every_element_once_in_a_turn() {
    let table = filled(1000);
    let (mut seen, mut from) = (Vec::new(), 777);
    for _ in 0..table.buckets() {
        from = table.look_from(from, 1, false, |element| {
            seen.push(element.number());
            true
        });
    }
    assert_eq!(from, 777 % table.buckets());
    seen.sort_unstable();
    assert!(seen.into_iter().eq(0..1000));

    let mut calls = 0;
    table.look_from(3, usize::MAX, false, |_| {
        calls += 1;
        calls < 10
    });
    assert_eq!(calls, 10);
}

#[test]
fn looking_around_for_what_expires_hides_the_rest() {
    let mut table = filled(1000);
    (1000..1010).for_each(|number| insert(&mut table, number, Some(1)));
    let mut seen = Vec::new();
    let end = table.look_from(0, usize::MAX, true, |element| {
        seen.push(element.number());
        true
    });
    seen.sort_unstable();
    assert!(seen.into_iter().eq(1000..1010));
    assert_eq!(end, 0);
    assert_eq!(filled(0).look_from(7, 10, false, |_| panic!("there is nothing")), 0);
}
