// SPDX-License-Identifier: Apache-2.0
//! Strings.

use super::{Call, Expected, is};
use crate::commands::answer::Answer;
use crate::commands::state::Kept;
use crate::keyspace::value::Value;
use values::{Type, parse_i64};

pub(super) fn run(name: &str, call: &mut Call<'_>) -> Option<Expected> {
    let told = match name {
        "get" => get(call),
        "set" if call.words.len() == 3 => {
            let (key, value) = (call.arg(1).to_vec(), call.arg(2).to_vec());
            call.put(&key, Value::String(value));
            Ok(Answer::ok())
        }
        "set" => return set_with_options(call),
        "setnx" => {
            let (key, value) = (call.arg(1).to_vec(), call.arg(2).to_vec());
            let is_absent = call.kept(&key).is_none();
            if is_absent {
                call.put(&key, Value::String(value));
            }
            Ok(Answer::flag(is_absent))
        }
        "getset" => {
            let (key, value) = (call.arg(1).to_vec(), call.arg(2).to_vec());
            let old = get(call);
            if old.is_ok() {
                call.put(&key, Value::String(value));
            }
            old
        }
        "getdel" => {
            let old = get(call);
            if old.is_ok() {
                let key = call.arg(1).to_vec();
                call.remove(&key);
            }
            old
        }
        "mget" => Ok(Answer::List(
            (1..call.words.len())
                .map(|at| match call.of(call.arg(at), Type::String) {
                    Ok(Some(Value::String(text))) => Answer::text(text),
                    _ => Answer::Nil,
                })
                .collect(),
        )),
        "mset" | "msetnx" => return many(name, call),
        "strlen" => text(call).map(|text| Answer::count(text.map_or(0, <[u8]>::len))),
        "append" => append(call),
        "incr" => return add(call, 1),
        "decr" => return add(call, -1),
        "incrby" => return call.integer(2).map_or(Some(Expected::Error), |by| add(call, by)),
        "decrby" => {
            let by = call.integer(2).and_then(i64::checked_neg);
            return by.map_or(Some(Expected::Error), |by| add(call, by));
        }
        "getrange" | "substr" => return range(call),
        "setrange" => return set_range(call),
        _ => return None,
    };
    Some(told.map_or_else(|expected| expected, Expected::Is))
}

fn text<'a>(call: &'a Call<'_>) -> Result<Option<&'a [u8]>, Expected> {
    Ok(match call.of(call.arg(1), Type::String)? {
        Some(Value::String(text)) => Some(text),
        _ => None,
    })
}

fn get(call: &mut Call<'_>) -> Result<Answer, Expected> {
    text(call).map(Answer::maybe)
}

/// SET with options of which each is there once at most, and a time that is in the future.
fn set_with_options(call: &mut Call<'_>) -> Option<Expected> {
    let (key, value) = (call.arg(1).to_vec(), call.arg(2).to_vec());
    let mut words = call.words[3..].iter();
    let (mut condition, mut gets, mut expiry, mut keeps) = (None, false, None, false);
    while let Some(word) = words.next() {
        match word.to_ascii_uppercase().as_slice() {
            b"NX" | b"XX" if condition.is_none() => {
                condition = Some(word.eq_ignore_ascii_case(b"XX"));
            }
            b"GET" if !gets => gets = true,
            b"KEEPTTL" if !keeps && expiry.is_none() => keeps = true,
            unit @ (b"EX" | b"PX" | b"EXAT" | b"PXAT") if !keeps && expiry.is_none() => {
                let number =
                    parse_i64(words.next()?).filter(|number| (1..1 << 50).contains(number))?;
                let ms = if unit.starts_with(b"E") { number.checked_mul(1000)? } else { number };
                let is_point = unit.ends_with(b"AT");
                expiry = Some(if is_point { ms as u64 } else { call.now_ms + ms as u64 });
            }
            _ => return None,
        }
    }
    let old = get(call);
    if gets && old.is_err() {
        return Some(Expected::Error);
    }
    let is_there = call.kept(&key).is_some();
    let is_set = condition.is_none_or(|if_there: bool| if_there == is_there);
    if is_set {
        let kept = call.kept(&key).and_then(|kept| kept.expiry).filter(|_| keeps);
        let expiry = expiry.or(kept);
        let place = call.place(&key);
        if expiry.is_some_and(|expiry| expiry <= call.now_ms) {
            call.state.entries.remove(&place);
        } else {
            call.state.entries.insert(place, Kept { value: Value::String(value), expiry });
        }
    }
    match (gets, is_set) {
        (true, _) => old.ok().map(Expected::Is),
        (false, true) => is(Answer::ok()),
        (false, false) => is(Answer::Nil),
    }
}

fn many(name: &str, call: &mut Call<'_>) -> Option<Expected> {
    if call.words.len().is_multiple_of(2) {
        return Some(Expected::Error);
    }
    let any = call.words[1..].chunks(2).any(|pair| call.kept(&pair[0]).is_some());
    if name == "msetnx" && any {
        return is(Answer::Integer(0));
    }
    for pair in call.words[1..].chunks(2) {
        call.put(&pair[0], Value::String(pair[1].clone()));
    }
    is(if name == "msetnx" { Answer::Integer(1) } else { Answer::ok() })
}

fn append(call: &mut Call<'_>) -> Result<Answer, Expected> {
    text(call)?;
    let (key, more) = (call.arg(1).to_vec(), call.arg(2).to_vec());
    let Value::String(text) = call.make(&key, Type::String) else { return Err(Expected::Error) };
    text.extend(more);
    Ok(Answer::count(text.len()))
}

fn add(call: &mut Call<'_>, by: i64) -> Option<Expected> {
    let old = match text(call) {
        Ok(text) => text.map_or(Some(0), parse_i64),
        Err(expected) => return Some(expected),
    };
    let Some(sum) = old.and_then(|old| old.checked_add(by)) else { return Some(Expected::Error) };
    let key = call.arg(1).to_vec();
    *call.make(&key, Type::String) = Value::String(sum.to_string().into_bytes());
    is(Answer::Integer(sum))
}

fn range(call: &mut Call<'_>) -> Option<Expected> {
    let (Some(start), Some(end)) = (call.integer(2), call.integer(3)) else {
        return Some(Expected::Error);
    };
    // Redis treats these apart.
    if start < 0 && end < 0 && start > end {
        return text(call).map_or_else(Some, |_| is(Answer::text(b"")));
    }
    let text = match text(call) {
        Ok(text) => text.unwrap_or_default(),
        Err(expected) => return Some(expected),
    };
    // An end before the start of the string is taken as its first byte.
    let end = if end < 0 { end.saturating_add(text.len() as i64).max(0) } else { end };
    is(Answer::text(&text[super::span(start, end, text.len())]))
}

fn set_range(call: &mut Call<'_>) -> Option<Expected> {
    let offset = call.integer(2).and_then(|offset| usize::try_from(offset).ok());
    let Some(offset) = offset else { return Some(Expected::Error) };
    let old = match text(call) {
        Ok(text) => text.map(<[u8]>::to_vec),
        Err(expected) => return Some(expected),
    };
    let (key, with) = (call.arg(1).to_vec(), call.arg(3).to_vec());
    if with.is_empty() {
        return is(Answer::count(old.map_or(0, |text| text.len())));
    }
    let end = offset.checked_add(with.len())?;
    if end > 512 << 20 {
        return Some(Expected::Error);
    }
    let mut text = old.unwrap_or_default();
    text.resize(text.len().max(end), 0);
    text[offset..end].copy_from_slice(&with);
    let len = text.len();
    *call.make(&key, Type::String) = Value::String(text);
    is(Answer::count(len))
}
