// SPDX-License-Identifier: Apache-2.0
//! Sets.

use super::{Call, Expected, is};
use crate::commands::answer::Answer;
use crate::keyspace::value::Value;
use std::collections::BTreeSet;
use values::Type;

type Set = BTreeSet<Vec<u8>>;

pub(super) fn run(name: &str, call: &mut Call<'_>) -> Option<Expected> {
    match name {
        "sinter" | "sunion" | "sdiff" => combine(name, call, 1),
        "sinterstore" | "sunionstore" | "sdiffstore" => combine(name, call, 2),
        "smove" => transfer(call),
        "sadd" | "srem" => change(name, call),
        "sismember" | "smismember" | "scard" | "smembers" => {
            let set = match set(call, call.arg(1)) {
                Ok(set) => set,
                Err(expected) => return Some(expected),
            };
            match name {
                "sismember" => is(Answer::flag(set.contains(call.arg(2)))),
                "scard" => is(Answer::count(set.len())),
                "smembers" => Some(members(&set)),
                _ => {
                    let members = call.words[2..].iter();
                    let flags = members.map(|member| Answer::flag(set.contains(member)));
                    is(Answer::List(flags.collect()))
                }
            }
        }
        _ => None,
    }
}

fn set(call: &Call<'_>, key: &[u8]) -> Result<Set, Expected> {
    Ok(match call.of(key, Type::Set)? {
        Some(Value::Set(set)) => set.clone(),
        _ => Set::new(),
    })
}

fn members(set: &Set) -> Expected {
    Expected::InAnyOrder(set.iter().map(|member| Answer::text(member)).collect())
}

fn combine(name: &str, call: &mut Call<'_>, first: usize) -> Option<Expected> {
    let sets: Result<Vec<Set>, Expected> =
        call.words[first..].iter().map(|key| set(call, key)).collect();
    let sets = match sets {
        Ok(sets) => sets,
        Err(expected) => return Some(expected),
    };
    let mut sets = sets.into_iter();
    let mut result = sets.next()?;
    for set in sets {
        result = match name.as_bytes()[1] {
            b'i' => &result & &set,
            b'u' => &result | &set,
            _ => &result - &set,
        };
    }
    if first == 1 {
        return Some(members(&result));
    }
    let (key, len) = (call.arg(1).to_vec(), result.len());
    if len == 0 {
        call.remove(&key);
    } else {
        call.put(&key, Value::Set(result));
    }
    is(Answer::count(len))
}

fn transfer(call: &mut Call<'_>) -> Option<Expected> {
    let (from, to, member) = (call.arg(1).to_vec(), call.arg(2).to_vec(), call.arg(3).to_vec());
    // Without a source, nothing else is looked at.
    if call.kept(&from).is_none() {
        return is(Answer::Integer(0));
    }
    let (source, destination) = (set(call, &from), set(call, &to));
    let (Ok(source), Ok(_)) = (source, destination) else { return Some(Expected::Error) };
    if !source.contains(&member) {
        return is(Answer::Integer(0));
    }
    if from == to {
        return is(Answer::Integer(1));
    }
    if let Value::Set(source) = call.make(&from, Type::Set) {
        source.remove(&member);
    }
    call.tidy(&from);
    if let Value::Set(destination) = call.make(&to, Type::Set) {
        destination.insert(member);
    }
    is(Answer::Integer(1))
}

fn change(name: &str, call: &mut Call<'_>) -> Option<Expected> {
    let (key, words) = (call.arg(1).to_vec(), call.words);
    if let Err(expected) = set(call, &key) {
        return Some(expected);
    }
    let Value::Set(set) = call.make(&key, Type::Set) else { return None };
    let mut changed = |member: &Vec<u8>| match name {
        "sadd" => set.insert(member.clone()),
        _ => set.remove(member),
    };
    let count = words[2..].iter().filter(|member| changed(member)).count();
    call.tidy(&key);
    is(Answer::count(count))
}
