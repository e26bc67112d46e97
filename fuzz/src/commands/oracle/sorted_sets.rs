// SPDX-License-Identifier: Apache-2.0
//! Sorted sets.

use super::{Call, Expected, is, number, span};
use crate::commands::answer::Answer;
use crate::keyspace::value::{Value, in_order};
use std::collections::BTreeMap;
use values::Type;

type Zset = BTreeMap<Vec<u8>, f64>;

pub(super) fn run(name: &str, call: &mut Call<'_>) -> Option<Expected> {
    match name {
        "zadd" => return add(call),
        "zincrby" => return increase(call),
        "zpopmin" | "zpopmax" => return pop(name, call),
        "zrem" | "zscore" | "zmscore" | "zcard" => {}
        "zrange" | "zrevrange" if matches!(call.words.len(), 4 | 5) => return range(name, call),
        "zrank" | "zrevrank" if call.words.len() == 3 => {}
        _ => return None,
    }
    let zset = match zset(call) {
        Ok(zset) => zset,
        Err(expected) => return Some(expected),
    };
    match name {
        "zcard" => is(Answer::count(zset.len())),
        "zscore" => Some(match zset.get(call.arg(2)) {
            Some(score) => Expected::Number(*score),
            None => Expected::Is(Answer::Nil),
        }),
        "zmscore" => None,
        "zrem" => {
            let (key, words) = (call.arg(1).to_vec(), call.words);
            let Value::Zset(zset) = call.make(&key, Type::Zset) else { return None };
            let gone = words[2..].iter().filter(|member| zset.remove(*member).is_some()).count();
            call.tidy(&key);
            is(Answer::count(gone))
        }
        _ => {
            let order = in_order(&zset);
            let rank = order.iter().position(|(member, _)| *member == call.arg(2));
            let rank = rank.map(|rank| if name == "zrank" { rank } else { zset.len() - 1 - rank });
            is(rank.map_or(Answer::Nil, Answer::count))
        }
    }
}

fn zset(call: &Call<'_>) -> Result<Zset, Expected> {
    Ok(match call.of(call.arg(1), Type::Zset)? {
        Some(Value::Zset(zset)) => zset.clone(),
        _ => Zset::new(),
    })
}

/// A score in a form that nobody could read in another way.
fn score(text: &[u8]) -> Option<f64> {
    let is_plain = text.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-'));
    number(text).filter(|_| is_plain)
}

/// ZADD without options.
fn add(call: &mut Call<'_>) -> Option<Expected> {
    let words = call.words;
    let pairs = &words[2..];
    let scores: Option<Vec<f64>> = pairs.iter().step_by(2).map(|text| score(text)).collect();
    let scores = scores.filter(|_| pairs.len().is_multiple_of(2))?;
    if let Err(expected) = zset(call) {
        return Some(expected);
    }
    let key = call.arg(1).to_vec();
    let Value::Zset(zset) = call.make(&key, Type::Zset) else { return None };
    let before = zset.len();
    for (score, pair) in scores.into_iter().zip(pairs.chunks(2)) {
        zset.insert(pair[1].clone(), score);
    }
    is(Answer::count(zset.len() - before))
}

fn increase(call: &mut Call<'_>) -> Option<Expected> {
    let by = score(call.arg(2))?;
    let old = match zset(call) {
        Ok(zset) => zset.get(call.arg(3)).copied().unwrap_or(0.0),
        Err(expected) => return Some(expected),
    };
    let sum = old + by;
    if sum.is_nan() {
        return Some(Expected::Error);
    }
    let (key, member) = (call.arg(1).to_vec(), call.arg(3).to_vec());
    let Value::Zset(zset) = call.make(&key, Type::Zset) else { return None };
    zset.insert(member, sum);
    Some(Expected::Number(sum))
}

fn pop(name: &str, call: &mut Call<'_>) -> Option<Expected> {
    let count = match call.words.len() {
        2 => Some(1),
        3 => call.integer(2).and_then(|count| usize::try_from(count).ok()),
        _ => None,
    };
    let Some(count) = count else { return Some(Expected::Error) };
    let before = match zset(call) {
        Ok(zset) => zset,
        Err(expected) => return Some(expected),
    };
    let mut order = in_order(&before);
    if name == "zpopmax" {
        order.reverse();
    }
    order.truncate(count);
    let key = call.arg(1).to_vec();
    let Value::Zset(zset) = call.make(&key, Type::Zset) else { return None };
    for (member, _) in &order {
        zset.remove(*member);
    }
    call.tidy(&key);
    Some(Expected::Scored(order.iter().map(|(member, score)| (member.to_vec(), *score)).collect()))
}

/// By rank, without options but WITHSCORES.
fn range(name: &str, call: &mut Call<'_>) -> Option<Expected> {
    let with_scores = call.words.len() == 5;
    if with_scores && !call.arg(4).eq_ignore_ascii_case(b"withscores") {
        return None;
    }
    let (Some(start), Some(stop)) = (call.integer(2), call.integer(3)) else {
        return Some(Expected::Error);
    };
    let zset = match zset(call) {
        Ok(zset) => zset,
        Err(expected) => return Some(expected),
    };
    let mut order = in_order(&zset);
    if name == "zrevrange" {
        order.reverse();
    }
    let found = &order[span(start, stop, order.len())];
    if with_scores {
        let scored = found.iter().map(|(member, score)| (member.to_vec(), *score));
        return Some(Expected::Scored(scored.collect()));
    }
    is(Answer::texts(found.iter().map(|(member, _)| *member)))
}
