// SPDX-License-Identifier: Apache-2.0

use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Members with their scores.
type Model = BTreeMap<u16, i32>;

fn limits() -> Limits {
    Limits { zset_entries: 20, set_intset: 10, set_entries: 20, ..Limits::default() }
}

/// An entry of a sorted set, or of a plain one.
fn entry(members: &Model, is_sorted: bool) -> Entry {
    let limits = limits();
    let mut entry = if is_sorted { Entry::new_zset(b"key") } else { Entry::new_set(b"key") };
    for (member, score) in members {
        let member = member.to_string();
        if let Some(mut set) = entry.zset_mut(&limits) {
            set.insert(member.as_bytes(), f64::from(*score));
        } else {
            entry.set_mut(&limits).unwrap().add(member.as_bytes());
        }
    }
    entry
}

fn number(member: &[u8]) -> u16 {
    std::str::from_utf8(member).unwrap().parse().unwrap()
}

fn combine(aggregate: Aggregate, a: i32, b: i32) -> i32 {
    match aggregate {
        Aggregate::Sum => a + b,
        Aggregate::Min => a.min(b),
        Aggregate::Max => a.max(b),
        Aggregate::Count => a + b,
    }
}

fn sets() -> impl Strategy<Value = Vec<(Model, bool, i32)>> {
    let members = proptest::collection::btree_map(0_u16..80, -9..9, 0..60);
    proptest::collection::vec((members, any::<bool>(), -3..4), 1..10)
}

fn aggregates() -> impl Strategy<Value = Aggregate> {
    prop_oneof![
        Just(Aggregate::Sum),
        Just(Aggregate::Min),
        Just(Aggregate::Max),
        Just(Aggregate::Count)
    ]
}

proptest! {
    #[test]
    fn results_are_those_of_the_standard_library(sets in sets(), aggregate in aggregates()) {
        let entries: Vec<_> =
            sets.iter().map(|(members, is_sorted, _)| entry(members, *is_sorted)).collect();
        let inputs: Vec<_> = entries.iter().zip(&sets).map(|(entry, (_, _, weight))| {
            Input { source: Source::of(entry), weight: f64::from(*weight) }
        }).collect();
        // What the scores are, in a plain set too.
        let scores = |at: usize, weight: i32| -> Model {
            let (members, is_sorted, _) = &sets[at];
            let looks = *is_sorted && aggregate != Aggregate::Count;
            let score = |score: i32| if looks { score } else { 1 };
            members.iter().map(|(member, of)| (*member, score(*of) * weight)).collect()
        };
        let weighed: Vec<_> =
            sets.iter().enumerate().map(|(at, (_, _, weight))| scores(at, *weight)).collect();

        let united: Vec<_> = unite(&inputs, aggregate).in_order().map(|(member, score)| {
            (number(member), score as i32)
        }).collect();
        let mut expected = Model::new();
        for (member, score) in weighed.iter().flatten() {
            let total = expected.entry(*member);
            total.and_modify(|total| *total = combine(aggregate, *total, *score)).or_insert(*score);
        }
        prop_assert!(united.is_sorted_by_key(|(member, score)| (*score, member.to_string())));
        prop_assert_eq!(united.len(), expected.len());
        prop_assert_eq!(Model::from_iter(united), expected);

        let mut found = Model::new();
        intersect(&inputs, aggregate, |member, score| {
            assert!(found.insert(number(member), score as i32).is_none(), "twice");
            ControlFlow::Continue(())
        });
        let mut expected = weighed[0].clone();
        for other in &weighed[1..] {
            expected.retain(|member, _| other.contains_key(member));
            for (member, total) in &mut expected {
                *total = combine(aggregate, *total, other[member]);
            }
        }
        prop_assert_eq!(found, expected);

        let mut found = Model::new();
        subtract(&inputs, |member, score| {
            assert!(found.insert(number(member), score as i32).is_none(), "twice");
        });
        let (members, is_sorted, _) = &sets[0];
        let score = |score: i32| if *is_sorted { score } else { 1 };
        let mut expected: Model = members.iter().map(|(member, of)| (*member, score(*of))).collect();
        for other in &weighed[1..] {
            expected.retain(|member, _| !other.contains_key(member));
        }
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn many_small_sets_are_subtracted_from_a_large_one() {
    let large = entry(&(0..1000).map(|member| (member, 5)).collect(), true);
    let small: Vec<_> =
        (0..50).map(|member| entry(&Model::from([(member, 1)]), member % 2 == 0)).collect();
    let inputs: Vec<_> = std::iter::once(&large)
        .chain(&small)
        .map(|entry| Input { source: Source::of(entry), weight: 1.0 })
        .collect();
    let mut found = Vec::new();
    subtract(&inputs, |member, score| found.push((number(member), score)));
    found.sort_by_key(|(member, _)| *member);
    assert!(found.into_iter().eq((50..1000).map(|member| (member, 5.0))));
}

#[test]
fn what_is_not_there_is_empty() {
    let there = entry(&Model::from([(1, 2)]), true);
    let there = Input { source: Source::of(&there), weight: 1.0 };
    let missing = Input { source: None, weight: 1.0 };
    intersect(&[there, missing], Aggregate::Sum, |_, _| unreachable!("it is not in both"));
    intersect(&[], Aggregate::Sum, |_, _| unreachable!("it is nowhere"));
    subtract(&[missing, there], |_, _| unreachable!("it is not in the first"));
    let mut found = 0;
    subtract(&[there, missing], |_, _| found += 1);
    assert_eq!(found, 1);
}

#[test]
fn infinities_that_cancel_each_other_out_are_zero() {
    let (inf, sum) = (f64::INFINITY, Aggregate::Sum);
    assert_eq!(sum.combine(inf, -inf), 0.0);
    assert_eq!(sum.combine(1.0, f64::NAN), 0.0);
    assert_eq!(Aggregate::Min.combine(1.0, f64::NAN), 1.0);
    assert_eq!(Aggregate::Max.combine(-1.0, f64::NAN), -1.0);
    assert_eq!(Input { source: None, weight: 0.0 }.weigh(inf, sum), 0.0);
}
