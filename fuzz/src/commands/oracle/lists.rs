// SPDX-License-Identifier: Apache-2.0
//! Lists.

use super::{Call, Expected, is, span};
use crate::commands::answer::Answer;
use crate::keyspace::value::Value;
use std::collections::VecDeque;
use values::{Type, parse_i64};

type List = VecDeque<Vec<u8>>;

pub(super) fn run(name: &str, call: &mut Call<'_>) -> Option<Expected> {
    let numbers = match name {
        "lpush" | "rpush" | "lpushx" | "rpushx" | "llen" => &[][..],
        "lpop" | "rpop" if call.words.len() == 2 => &[],
        "lpop" | "rpop" if call.words.len() == 3 => return pop_many(name, call),
        "lpop" | "rpop" => return Some(Expected::Error),
        "rpoplpush" => return transfer(call, false, true),
        "lmove" => {
            let (Some(from), Some(to)) = (is_front(call.arg(3)), is_front(call.arg(4))) else {
                return Some(Expected::Error);
            };
            return transfer(call, from, to);
        }
        "lset" | "lrem" => &[2],
        // Without a list, nobody looks at the index.
        "lindex" => &[],
        "lrange" | "ltrim" => &[2, 3],
        "linsert" => &[],
        _ => return None,
    };
    if numbers.iter().any(|&at| call.integer(at).is_none()) {
        return Some(Expected::Error);
    }
    let is_side =
        |word: &[u8]| word.eq_ignore_ascii_case(b"before") || word.eq_ignore_ascii_case(b"after");
    if name == "linsert" && !is_side(call.arg(2)) {
        return Some(Expected::Error);
    }
    let list = match call.of(call.arg(1), Type::List) {
        Ok(Some(Value::List(list))) => Some(list),
        Ok(_) => None,
        Err(expected) => return Some(expected),
    };
    let len = list.map_or(0, VecDeque::len);
    match (name, list) {
        ("llen", _) => is(Answer::count(len)),
        ("lindex", None) => is(Answer::Nil),
        ("lindex", _) if call.integer(2).is_none() => Some(Expected::Error),
        ("lindex", _) => {
            let index = index(call.integer(2)?, len);
            is(Answer::maybe(index.and_then(|index| Some(list?.get(index)?.as_slice()))))
        }
        ("lrange", _) => {
            let range = span(call.integer(2)?, call.integer(3)?, len);
            let texts = list.into_iter().flat_map(|list| list.range(range.clone()));
            is(Answer::texts(texts.map(Vec::as_slice)))
        }
        ("lpushx" | "rpushx" | "lrem" | "linsert", None) => is(Answer::Integer(0)),
        ("lset", None) => Some(Expected::Error),
        ("lpop" | "rpop", None) => is(Answer::Nil),
        ("ltrim", None) => is(Answer::ok()),
        _ => change(name, call),
    }
}

fn index(index: i64, len: usize) -> Option<usize> {
    let index = if index < 0 { index.checked_add(len as i64)? } else { index };
    usize::try_from(index).ok().filter(|index| *index < len)
}

fn change(name: &str, call: &mut Call<'_>) -> Option<Expected> {
    let (key, words) = (call.arg(1).to_vec(), call.words);
    let Value::List(list) = call.make(&key, Type::List) else { return None };
    let told = match name {
        "lpush" | "lpushx" => {
            words[2..].iter().for_each(|text| list.push_front(text.clone()));
            Answer::count(list.len())
        }
        "rpush" | "rpushx" => {
            list.extend(words[2..].iter().cloned());
            Answer::count(list.len())
        }
        "lpop" => Answer::maybe(list.pop_front().as_deref()),
        "rpop" => Answer::maybe(list.pop_back().as_deref()),
        "lset" => {
            let Some(at) = index(parse_i64(&words[2])?, list.len()) else {
                return Some(Expected::Error);
            };
            list[at].clone_from(&words[3]);
            Answer::ok()
        }
        "lrem" => remove(list, parse_i64(&words[2])?, &words[3]),
        "ltrim" => {
            let range = span(parse_i64(&words[2])?, parse_i64(&words[3])?, list.len());
            list.truncate(range.end);
            list.drain(..range.start);
            Answer::ok()
        }
        "linsert" => match list.iter().position(|text| *text == words[3]) {
            Some(at) => {
                let is_after = words[2].eq_ignore_ascii_case(b"after");
                list.insert(at + usize::from(is_after), words[4].clone());
                Answer::count(list.len())
            }
            None => Answer::Integer(-1),
        },
        _ => return None,
    };
    call.tidy(&key);
    is(told)
}

/// Whether an end is the front, if it is one at all.
fn is_front(word: &[u8]) -> Option<bool> {
    let is_left = word.eq_ignore_ascii_case(b"left");
    (is_left || word.eq_ignore_ascii_case(b"right")).then_some(is_left)
}

fn pop(list: &mut List, from_front: bool) -> Option<Vec<u8>> {
    if from_front { list.pop_front() } else { list.pop_back() }
}

/// LPOP and RPOP with a count.
fn pop_many(name: &str, call: &mut Call<'_>) -> Option<Expected> {
    let count = call.integer(2).and_then(|count| usize::try_from(count).ok());
    let Some(count) = count else { return Some(Expected::Error) };
    match call.of(call.arg(1), Type::List) {
        Ok(Some(_)) => {}
        Ok(None) => return is(Answer::Nil),
        Err(expected) => return Some(expected),
    }
    let key = call.arg(1).to_vec();
    let Value::List(list) = call.make(&key, Type::List) else { return None };
    let popped: Vec<_> =
        (0..count.min(list.len())).filter_map(|_| pop(list, name == "lpop")).collect();
    call.tidy(&key);
    is(Answer::texts(popped.iter().map(Vec::as_slice)))
}

/// An element goes from an end of a list to an end of another, or of the same.
fn transfer(call: &mut Call<'_>, from_front: bool, to_front: bool) -> Option<Expected> {
    let (from, to) = (call.arg(1).to_vec(), call.arg(2).to_vec());
    match (call.of(&from, Type::List), call.of(&to, Type::List)) {
        (Ok(None), _) => return is(Answer::Nil),
        (Err(expected), _) | (_, Err(expected)) => return Some(expected),
        (Ok(Some(_)), Ok(_)) => {}
    }
    let Value::List(list) = call.make(&from, Type::List) else { return None };
    let element = pop(list, from_front)?;
    let Value::List(list) = call.make(&to, Type::List) else { return None };
    if to_front {
        list.push_front(element.clone());
    } else {
        list.push_back(element.clone());
    }
    call.tidy(&from);
    is(Answer::text(&element))
}

fn remove(list: &mut List, count: i64, text: &[u8]) -> Answer {
    let before = list.len();
    let mut left = if count == 0 { u64::MAX } else { count.unsigned_abs() };
    let mut is_kept = |other: &Vec<u8>| {
        let goes = left > 0 && other == text;
        left -= u64::from(goes);
        !goes
    };
    if count < 0 {
        let kept: List = list.drain(..).rev().filter(|other| is_kept(other)).collect();
        *list = kept.into_iter().rev().collect();
    } else {
        list.retain(&mut is_kept);
    }
    Answer::count(before - list.len())
}
