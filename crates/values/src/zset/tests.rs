// SPDX-License-Identifier: Apache-2.0
//! Sorted sets beside a sorted vector.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;
use crate::sample::tests::numbers;
use crate::{Encoding, Remains};

/// Members with their scores, in order.
type Model = Vec<(Vec<u8>, f64)>;

fn limits(entries: usize) -> Limits {
    Limits { zset_entries: entries, zset_value: 8, ..Limits::default() }
}

fn read(entry: &Entry) -> ZsetRef<'_> {
    entry.zset().expect("it is a sorted set")
}

fn owned<'a>(iter: impl Iterator<Item = (&'a [u8], f64)>) -> Model {
    iter.map(|(member, score)| (member.to_vec(), score)).collect()
}

/// A member by its number; a few are too long to be packed.
fn member(number: u16) -> Vec<u8> {
    let mut member = (number / 3).to_string().into_bytes();
    if number.is_multiple_of(97) {
        member.resize(9, b'+');
    }
    member
}

/// A score by its number: few, so that many are equal.
fn score(number: u8) -> f64 {
    match number % 16 {
        0 => f64::NEG_INFINITY,
        1 => f64::INFINITY,
        2 => -0.0,
        3 => 0.0,
        4 => 0.5,
        other => f64::from(other) - 8.0,
    }
}

#[derive(Clone, Debug)]
enum Step {
    Insert(u16, u8),
    /// The score of a member that is there.
    Change(u16, u8),
    Remove(u16),
    Pop(bool),
    RemoveRange(u16, u16),
    /// So many new members from this number on.
    Many(u16, u8, u8),
    /// Replaced by a copy.
    Copy,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let number = || 0..600_u16;
    let step = prop_oneof![
        6 => (number(), any::<u8>()).prop_map(|(member, score)| Step::Insert(member, score)),
        3 => (number(), any::<u8>()).prop_map(|(member, score)| Step::Change(member, score)),
        3 => number().prop_map(Step::Remove),
        2 => any::<bool>().prop_map(Step::Pop),
        1 => (number(), number()).prop_map(|(a, b)| Step::RemoveRange(a, b)),
        2 => (number(), any::<u8>(), any::<u8>()).prop_map(|(a, n, score)| Step::Many(a, n, score)),
        1 => Just(Step::Copy),
    ];
    prop::collection::vec(step, 0..40)
}

fn insert(set: &mut ZsetMut<'_>, model: &mut Model, member: Vec<u8>, score: f64) {
    let old = set.insert(&member, score);
    match model.iter_mut().find(|entry| entry.0 == member) {
        Some(entry) => {
            assert_eq!(old, Some(entry.1));
            if entry.1 != score {
                entry.1 = score;
            }
        }
        None => {
            assert_eq!(old, None);
            model.push((member, score));
        }
    }
}

fn apply(entry: &mut Entry, model: &mut Model, step: &Step, limits: &Limits) {
    let mut set = entry.zset_mut(limits).expect("it is a sorted set");
    match *step {
        Step::Insert(number, value) => insert(&mut set, model, member(number), score(value)),
        Step::Change(at, value) if !model.is_empty() => {
            let member = model[usize::from(at) % model.len()].0.clone();
            insert(&mut set, model, member, score(value));
        }
        Step::Remove(number) => {
            let member = member(number);
            let at = model.iter().position(|entry| entry.0 == member);
            assert_eq!(set.remove(&member), at.map(|at| model.remove(at).1));
        }
        Step::Pop(max) => {
            let owned = |member: &[u8], score| (member.to_vec(), score);
            let expected =
                if max { model.pop() } else { (!model.is_empty()).then(|| model.remove(0)) };
            let popped = if max { set.pop_max(owned) } else { set.pop_min(owned) };
            assert_eq!(popped, expected);
        }
        Step::RemoveRange(a, b) => {
            let (start, end) = (usize::from(a.min(b)), usize::from(a.max(b)));
            let mut gone = Vec::new();
            let count =
                set.remove_range(start..end, |member, score| gone.push((member.to_vec(), score)));
            let end = end.min(model.len());
            let expected: Model = model.drain(start.min(end)..end).collect();
            assert_eq!((count, gone), (expected.len(), expected));
        }
        Step::Many(from, count, value) => {
            for number in from..from + u16::from(count) {
                insert(&mut set, model, member(number * 3), score(value));
            }
        }
        Step::Change(..) => {}
        Step::Copy => *entry = entry.copy_to(b"copy"),
    }
    model.sort_by(|a, b| a.1.partial_cmp(&b.1).expect("no NaN").then_with(|| a.0.cmp(&b.0)));
}

fn check_ranges(set: ZsetRef<'_>, model: &Model) {
    for (from, to) in [(0, 1), (5, 12), (2, 3), (3, 2), (9, 7), (4, 4)] {
        for (low, high) in [(false, false), (true, false), (false, true), (true, true)] {
            let bound = |open, value| match open {
                true => ScoreBound::Exclusive(value),
                false => ScoreBound::Inclusive(value),
            };
            let (min, max) = (score(from), score(to));
            let ranks = set.ranks_by_score(bound(low, min), bound(high, max));
            let is_in = |value: f64| {
                (value > min || (!low && value == min)) && (value < max || (!high && value == max))
            };
            let expected: Model = model.iter().filter(|entry| is_in(entry.1)).cloned().collect();
            assert_eq!(owned(set.range(ranks.clone())), expected);
            let backwards = owned(set.range(ranks).rev());
            assert!(backwards.iter().eq(expected.iter().rev()));
        }
    }
}

fn check(entry: &Entry, model: &Model) {
    let set = read(entry);
    assert_eq!((set.len(), entry.len()), (model.len(), model.len()));
    assert_eq!(&owned(set.iter()), model);
    assert!(owned(set.iter().rev()).iter().eq(model.iter().rev()));
    for (rank, (member, score)) in model.iter().enumerate() {
        assert_eq!(set.score(member), Some(*score));
        assert_eq!(set.rank(member), Some(rank));
        assert_eq!(set.rank_from_end(member), Some(model.len() - 1 - rank));
        assert_eq!(set.get(rank), Some((&**member, *score)));
    }
    assert_eq!((set.score(b"nobody"), set.rank(b"nobody")), (None, None));
    assert_eq!(set.get(model.len()), None);
    check_ranges(set, model);

    let mut visited = BTreeSet::new();
    let mut cursor = 0;
    loop {
        cursor = set.scan(cursor, 5, |member, score| {
            assert_eq!(set.score(member), Some(score));
            visited.insert(member.to_vec());
        });
        if cursor == 0 {
            break;
        }
    }
    assert_eq!(visited.len(), model.len());
}

proptest! {
    #[test]
    fn a_sorted_set_is_a_sorted_vector(
        steps in steps(),
        entries in prop::sample::select(vec![0, 3, 40, 300]),
    ) {
        let limits = limits(entries);
        let (mut entry, mut model) = (Entry::new_zset(b"key"), Model::new());
        let mut was_large = false;
        for (number, step) in steps.iter().enumerate() {
            apply(&mut entry, &mut model, step, &limits);
            read(&entry).check_integrity();
            if number % 5 == 0 {
                check(&entry, &model);
            }
            let is_large = entry.encoding() == Encoding::Skiplist;
            let fits = model.len() <= entries && model.iter().all(|entry| entry.0.len() <= 8);
            prop_assert!(is_large || fits, "it should be large");
            prop_assert!(is_large || !was_large || model.is_empty(), "it should have stayed large");
            was_large = is_large;
        }
        check(&entry, &model);
        let mut remains = Remains::from(entry);
        while !remains.free_some(7) {}
        prop_assert_eq!(remains.heap_bytes(), 0);
    }
}

/// A packed and a large sorted set with the same members.
fn both(members: &[(&[u8], f64)]) -> [Entry; 2] {
    [1000, 0].map(|entries| {
        let limits = Limits { zset_entries: entries, zset_value: 100, ..Limits::default() };
        let mut entry = Entry::new_zset(b"key");
        let mut set = entry.zset_mut(&limits).expect("it is a sorted set");
        for (member, score) in members {
            assert_eq!(set.insert(member, *score), None);
        }
        entry
    })
}

#[test]
fn members_of_one_score_are_found_by_their_bytes() {
    let members: Vec<(&[u8], f64)> =
        [&b"a"[..], b"ab", b"b", b"ba", b"c", b"\xff"].map(|member| (member, 1.0)).to_vec();
    for entry in both(&members) {
        let count = |min, max| read(&entry).ranks_by_lex(min, max);
        assert_eq!(count(LexBound::Min, LexBound::Max), 0..6);
        assert_eq!(count(LexBound::Inclusive(b"ab"), LexBound::Inclusive(b"ba")), 1..4);
        assert_eq!(count(LexBound::Exclusive(b"ab"), LexBound::Exclusive(b"ba")), 2..3);
        assert_eq!(count(LexBound::Exclusive(b"aa"), LexBound::Max), 1..6);
        assert_eq!(count(LexBound::Min, LexBound::Exclusive(b"a")), 0..0);
        assert_eq!(count(LexBound::Inclusive(b"c"), LexBound::Inclusive(b"a")), 4..4);
        assert_eq!(count(LexBound::Max, LexBound::Min), 6..6);
    }
}

#[test]
fn members_of_different_scores_are_no_trouble_to_a_range_of_members() {
    let names: Vec<String> = (0..500).map(|number| format!("{}", number * 7919 % 1000)).collect();
    let members: Vec<(&[u8], f64)> =
        names.iter().enumerate().map(|(at, name)| (name.as_bytes(), at as f64)).collect();
    for entry in both(&members) {
        for (min, max) in [("2", "5"), ("5", "2"), ("0", "999")] {
            let min = LexBound::Inclusive(min.as_bytes());
            let ranks = read(&entry).ranks_by_lex(min, LexBound::Exclusive(max.as_bytes()));
            assert_eq!(read(&entry).range(ranks.clone()).count(), ranks.len());
        }
    }
}

#[test]
fn a_score_that_equals_the_old_one_is_not_written() {
    for mut entry in both(&[(b"zero", 0.0), (b"less", -0.0)]) {
        let limits = Limits::default();
        let mut set = entry.zset_mut(&limits).expect("it is a sorted set");
        assert_eq!(set.insert(b"zero", -0.0), Some(0.0));
        assert_eq!(set.insert(b"less", 0.0), Some(0.0));
        let bits: Vec<u64> = read(&entry).iter().map(|(_, score)| score.to_bits()).collect();
        assert_eq!(bits, [(-0.0_f64).to_bits(), 0.0_f64.to_bits()]);
    }
}

#[test]
#[should_panic(expected = "NaN is no score")]
fn nan_is_no_score() {
    let limits = Limits::default();
    let mut entry = Entry::new_zset(b"key");
    entry.zset_mut(&limits).expect("it is a sorted set").insert(b"member", f64::NAN);
}

#[test]
fn a_set_that_passes_its_limits_becomes_large_and_stays_so() {
    let limits = Limits::default();
    let mut entry = Entry::new_zset(b"key");
    for number in 0..128 {
        entry.zset_mut(&limits).expect("a sorted set").insert(&[number; 64], 0.0);
    }
    assert_eq!(entry.encoding(), Encoding::Listpack);
    entry.zset_mut(&limits).expect("a sorted set").insert(&[128; 64], 0.0);
    assert_eq!(entry.encoding(), Encoding::Skiplist);
    entry.zset_mut(&limits).expect("a sorted set").remove_range(0..129, |_, _| {});
    assert_eq!((entry.encoding(), entry.len()), (Encoding::Skiplist, 0));

    let mut entry = Entry::new_zset(b"key");
    entry.zset_mut(&limits).expect("a sorted set").insert(&[0; 65], 0.0);
    assert_eq!(entry.encoding(), Encoding::Skiplist);
}

#[test]
fn samples_are_members_and_distinct_ones_differ() {
    let names: Vec<String> = (0..300).map(|number| number.to_string()).collect();
    let members: Vec<(&[u8], f64)> = names.iter().map(|name| (name.as_bytes(), 7.0)).collect();
    for entry in both(&members) {
        let set = read(&entry);
        let mut random = numbers(5);
        let seen: BTreeSet<&[u8]> =
            (0..5000).filter_map(|_| set.sample(random())).map(|(member, _)| member).collect();
        assert_eq!(seen.len(), 300);
        for count in [0, 1, 50, 99, 101, 299, 300, 500] {
            let mut seen = BTreeSet::new();
            set.sample_distinct(count, &mut random, |member, score| {
                assert_eq!(set.score(member), Some(score));
                assert!(seen.insert(member.to_vec()));
            });
            assert_eq!(seen.len(), count.min(300));
        }
    }
    assert_eq!(read(&Entry::new_zset(b"key")).sample(9), None);
}

#[test]
fn distinct_samples_prefer_nobody() {
    let names: Vec<String> = (0..30).map(|number| number.to_string()).collect();
    let members: Vec<(&[u8], f64)> = names.iter().map(|name| (name.as_bytes(), 7.0)).collect();
    let [_, entry] = both(&members);
    let (mut random, mut seen) = (numbers(8), [0_u32; 30]);
    for _ in 0..3_000 {
        read(&entry).sample_distinct(9, &mut random, |member, _| {
            let rank = read(&entry).rank(member).expect("it is a member");
            seen[rank] += 1;
        });
    }
    assert!(seen.iter().all(|times| (800..1_000).contains(times)), "{seen:?}");
}

#[test]
fn other_types_are_no_sorted_sets() {
    let limits = Limits::default();
    let mut entry = Entry::string(b"key", b"value");
    assert!(entry.zset().is_none() && entry.zset_mut(&limits).is_none());
}

/// A sorted set of members of 16 bytes, whose scores come in this order.
fn hundred_thousand(score: impl Fn(u32) -> u32) -> Entry {
    let (mut entry, limits) = (Entry::new_zset(b"key"), Limits::default());
    let mut set = entry.zset_mut(&limits).expect("it is a sorted set");
    for number in 0..100_000 {
        set.insert(format!("member:{number:09}").as_bytes(), f64::from(score(number)));
    }
    entry
}

#[test]
fn a_member_of_a_large_set_costs_less_than_seventy_bytes() {
    let cost = |entry: &Entry| entry.heap_bytes() / entry.len();
    let mut mixed = hundred_thousand(|number| number.wrapping_mul(2_654_435_769));
    assert!(cost(&mixed) < 70, "{}", cost(&mixed));
    let ordered = hundred_thousand(|number| number);
    assert!(cost(&ordered) < 65, "{}", cost(&ordered));

    // What went does not stay allocated.
    let limits = Limits::default();
    let mut set = mixed.zset_mut(&limits).expect("it is a sorted set");
    for number in 0..99_000 {
        assert!(set.remove(format!("member:{number:09}").as_bytes()).is_some());
    }
    set.read().check_integrity();
    assert!(cost(&mixed) < 130, "{}", cost(&mixed));
}

#[test]
fn members_in_no_order_are_all_of_them() {
    for count in [0, 3, 20, 500, 7000] {
        let (limits, mut entry) = (limits(20), Entry::new_zset(b"key"));
        let mut set = entry.zset_mut(&limits).unwrap();
        for number in 0..count {
            set.insert(format!("{number}").as_bytes(), f64::from(number % 7));
        }
        // Free places are left out.
        for number in (0..count).step_by(3) {
            set.remove(format!("{number}").as_bytes());
        }
        let mut members = owned(set.read().members());
        members.sort_by(|a, b| a.partial_cmp(b).expect("no score is NaN"));
        let mut expected = owned(set.read().iter());
        expected.sort_by(|a, b| a.partial_cmp(b).expect("no score is NaN"));
        assert_eq!(members, expected);
    }
}
