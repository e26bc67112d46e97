// SPDX-License-Identifier: Apache-2.0
//! Hashes.

use super::{Call, Expected, is};
use crate::commands::answer::Answer;
use crate::keyspace::value::{Field, Value};
use std::collections::BTreeMap;
use values::{Type, parse_i64};

type Hash = BTreeMap<Vec<u8>, Field>;

pub(super) fn run(name: &str, call: &mut Call<'_>) -> Option<Expected> {
    let is_told = matches!(
        name,
        "hset"
            | "hmset"
            | "hsetnx"
            | "hget"
            | "hmget"
            | "hdel"
            | "hexists"
            | "hlen"
            | "hstrlen"
            | "hgetall"
            | "hkeys"
            | "hvals"
            | "hincrby"
    );
    if !is_told {
        return None;
    }
    if matches!(name, "hset" | "hmset") && call.words.len() % 2 == 1
        || name == "hincrby" && call.integer(3).is_none()
    {
        return Some(Expected::Error);
    }
    let none = Hash::new();
    let hash = match call.of(call.arg(1), Type::Hash) {
        Ok(Some(Value::Hash(hash))) => hash,
        Ok(_) => &none,
        Err(expected) => return Some(expected),
    };
    let value = |name: &[u8]| hash.get(name).map(|field| &field.value[..]);
    match name {
        "hget" => is(Answer::maybe(value(call.arg(2)))),
        "hmget" => {
            let values = call.words[2..].iter().map(|name| Answer::maybe(value(name)));
            is(Answer::List(values.collect()))
        }
        "hexists" => is(Answer::flag(hash.contains_key(call.arg(2)))),
        "hstrlen" => is(Answer::count(value(call.arg(2)).map_or(0, <[u8]>::len))),
        "hlen" => is(Answer::count(hash.len())),
        "hkeys" => Some(Expected::InAnyOrder(hash.keys().map(|name| Answer::text(name)).collect())),
        "hvals" => {
            let values = hash.values().map(|field| Answer::text(&field.value));
            Some(Expected::InAnyOrder(values.collect()))
        }
        "hgetall" => {
            let pairs = hash.iter();
            let flat =
                pairs.flat_map(|(name, field)| [Answer::text(name), Answer::text(&field.value)]);
            Some(Expected::PairsInAnyOrder(flat.collect()))
        }
        _ => change(name, call),
    }
}

fn change(name: &str, call: &mut Call<'_>) -> Option<Expected> {
    let (key, now_ms, words) = (call.arg(1).to_vec(), call.now_ms, call.words);
    let Value::Hash(hash) = call.make(&key, Type::Hash) else { return None };
    let told = match name {
        "hdel" => {
            Answer::count(words[2..].iter().filter(|name| hash.remove(*name).is_some()).count())
        }
        "hincrby" => {
            let old = hash.get(&words[2]);
            let number = old.map_or(Some(0), |field| parse_i64(&field.value));
            let by = parse_i64(&words[3])?;
            let Some(sum) = number.and_then(|number| number.checked_add(by)) else {
                call.tidy(&key);
                return Some(Expected::Error);
            };
            let expiry = old.and_then(|field| field.expiry).filter(|expiry| *expiry > now_ms);
            let value = sum.to_string().into_bytes();
            hash.insert(words[2].clone(), Field { value, expiry });
            Answer::Integer(sum)
        }
        "hsetnx" if hash.contains_key(&words[2]) => Answer::Integer(0),
        _ => {
            let before = hash.len();
            for pair in words[2..].chunks(2) {
                hash.insert(pair[0].clone(), Field { value: pair[1].clone(), expiry: None });
            }
            let added = hash.len() - before;
            if name == "hmset" { Answer::ok() } else { Answer::count(added) }
        }
    };
    call.tidy(&key);
    is(told)
}
