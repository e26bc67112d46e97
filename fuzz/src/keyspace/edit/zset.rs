// SPDX-License-Identifier: Apache-2.0
//! Edits of sorted sets.

use super::words::score;
use super::{Edit, element, many};
use crate::keyspace::value::in_order;
use arbitrary::{Result, Unstructured};
use std::collections::{BTreeMap, BTreeSet};
use values::{LexBound, ScoreBound, ZsetMut};

type Zset = BTreeMap<Vec<u8>, f64>;

impl Edit<'_> {
    pub(super) fn zset(
        self,
        entry: &mut ZsetMut<'_>,
        zset: &mut Zset,
        input: &mut Unstructured<'_>,
    ) -> Result<()> {
        match input.int_in_range(0..=11_u8)? {
            0..=2 => {
                let (member, score) = (element(input)?, score(input)?);
                insert(entry, zset, member, score);
            }
            3 | 4 => {
                let member = element(input)?;
                assert_eq!(entry.remove(&member), zset.remove(&member));
            }
            5 => {
                let first = in_order(zset).first().map(|(member, score)| (member.to_vec(), *score));
                let popped = entry.pop_min(|member, score| (member.to_vec(), score));
                assert_eq!(popped, first);
                zset.remove(&first.unwrap_or_default().0);
            }
            6 => {
                let last = in_order(zset).last().map(|(member, score)| (member.to_vec(), *score));
                let popped = entry.pop_max(|member, score| (member.to_vec(), score));
                assert_eq!(popped, last);
                if let Some((member, _)) = last {
                    zset.remove(&member);
                }
            }
            7 => remove_range(entry, zset, input)?,
            8 => {
                let (prefix, first) = (element(input)?, score(input)?);
                let prefix = &prefix[..prefix.len().min(100)];
                let step = input.int_in_range(-1..=1_i8)?;
                for number in 0..many(input, zset.len())? {
                    let member = [prefix, number.to_string().as_bytes()].concat();
                    insert(entry, zset, member, first + f64::from(step) * number as f64);
                }
            }
            9 => ranges(entry, zset, input)?,
            10 => walk(entry, zset, input)?,
            _ => sample(entry, zset, input)?,
        }
        Ok(())
    }
}

fn insert(entry: &mut ZsetMut<'_>, zset: &mut Zset, member: Vec<u8>, score: f64) {
    let old = zset.get(&member).copied();
    assert_eq!(entry.insert(&member, score), old);
    if old != Some(score) {
        zset.insert(member, score);
    }
}

fn remove_range(
    entry: &mut ZsetMut<'_>,
    zset: &mut Zset,
    input: &mut Unstructured<'_>,
) -> Result<()> {
    let start = input.int_in_range(0..=zset.len() + 1)?;
    let end = start + input.int_in_range(0..=20)?;
    let end_of_all = end.min(zset.len());
    let start_of_all = start.min(end_of_all);
    let goes: Vec<(Vec<u8>, f64)> = in_order(zset)[start_of_all..end_of_all]
        .iter()
        .map(|(member, score)| (member.to_vec(), *score))
        .collect();
    let mut gone = Vec::new();
    let count = entry.remove_range(start..end, |member, score| gone.push((member.to_vec(), score)));
    assert_eq!((count, &gone), (goes.len(), &goes), "{start}..{end}");
    for (member, _) in goes {
        zset.remove(&member);
    }
    Ok(())
}

fn score_bound(input: &mut Unstructured<'_>) -> Result<ScoreBound> {
    let score = score(input)?;
    Ok(if input.arbitrary()? { ScoreBound::Inclusive(score) } else { ScoreBound::Exclusive(score) })
}

fn ranges(entry: &ZsetMut<'_>, zset: &Zset, input: &mut Unstructured<'_>) -> Result<()> {
    let order = in_order(zset);
    let (min, max) = (score_bound(input)?, score_bound(input)?);
    let is_in = |score: f64| {
        let is_above = match min {
            ScoreBound::Inclusive(min) => score >= min,
            ScoreBound::Exclusive(min) => score > min,
        };
        let is_below = match max {
            ScoreBound::Inclusive(max) => score <= max,
            ScoreBound::Exclusive(max) => score < max,
        };
        is_above && is_below
    };
    let expected = order.iter().copied().filter(|(_, score)| is_in(*score));
    let set = entry.read();
    let ranks = set.ranks_by_score(min, max);
    assert!(set.range(ranks.clone()).eq(expected.clone()), "{min:?} to {max:?}: {ranks:?}");
    let rank = input.int_in_range(0..=zset.len())?;
    assert_eq!(set.get(rank), order.get(rank).copied());
    if let Some((member, _)) = order.get(rank) {
        assert_eq!(set.rank_from_end(member), Some(zset.len() - 1 - rank));
    }
    let is_even = order.windows(2).all(|pair| pair[0].1 == pair[1].1);
    let (low, high) = (element(input)?, element(input)?);
    if is_even {
        let ranks = set.ranks_by_lex(LexBound::Inclusive(&low), LexBound::Exclusive(&high));
        let expected = zset.keys().filter(|member| **member >= low && **member < high);
        assert!(set.range(ranks).map(|(member, _)| member).eq(expected), "by lex");
        let ranks = set.ranks_by_lex(LexBound::Exclusive(&low), LexBound::Max);
        assert_eq!(ranks.len(), zset.keys().filter(|member| **member > low).count());
        let ranks = set.ranks_by_lex(LexBound::Min, LexBound::Inclusive(&high));
        assert_eq!(ranks.len(), zset.keys().filter(|member| **member <= high).count());
    }
    Ok(())
}

fn walk(entry: &ZsetMut<'_>, zset: &Zset, input: &mut Unstructured<'_>) -> Result<()> {
    let count = input.int_in_range(1..=20_usize)?;
    let (mut cursor, mut seen) = (0, BTreeMap::new());
    for _ in 0..=4 * zset.len() {
        cursor = entry.read().scan(cursor, count, |member, score| {
            seen.insert(member.to_vec(), score);
        });
        if cursor == 0 {
            break;
        }
    }
    assert!(cursor == 0 && seen == *zset, "a walk over a sorted set");
    let cursor = input.arbitrary()?;
    entry.read().scan(cursor, count, |member, _| assert!(zset.contains_key(member), "no member"));
    Ok(())
}

fn sample(entry: &ZsetMut<'_>, zset: &Zset, input: &mut Unstructured<'_>) -> Result<()> {
    let (mut random, count) = (input.arbitrary::<u64>()?, input.int_in_range(0..=40_usize)?);
    let drawn = entry.read().sample(random);
    assert_eq!(drawn.is_some(), !zset.is_empty());
    assert!(drawn.is_none_or(|(drawn, score)| zset.get(drawn) == Some(&score)), "no member");
    let mut distinct = BTreeSet::new();
    let next = || {
        random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        random ^ random >> 32
    };
    entry.read().sample_distinct(count, next, |member, score| {
        assert_eq!(zset.get(member), Some(&score));
        assert!(distinct.insert(member.to_vec()), "they are not distinct");
    });
    assert_eq!(distinct.len(), count.min(zset.len()), "{count} of {}", zset.len());
    Ok(())
}
