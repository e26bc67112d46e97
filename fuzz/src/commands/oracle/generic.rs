// SPDX-License-Identifier: Apache-2.0
//! Commands for keys of all types.

use super::{Call, Expected, is};
use crate::commands::answer::Answer;

pub(super) fn run(name: &str, call: &mut Call<'_>) -> Option<Expected> {
    match name {
        "exists" | "touch" => {
            let there = (1..call.words.len()).filter(|&at| call.kept(call.arg(at)).is_some());
            is(Answer::count(there.count()))
        }
        "del" | "unlink" => {
            let keys = call.words[1..].iter();
            is(Answer::count(keys.filter(|key| call.remove(key).is_some()).count()))
        }
        "type" => {
            let kept = call.kept(call.arg(1));
            let name = kept.map_or("none", |kept| kept.value.data_type().name());
            is(Answer::text(name.as_bytes()))
        }
        "persist" => {
            let place = call.place(call.arg(1));
            let kept = call.state.entries.get_mut(&place);
            is(Answer::flag(kept.is_some_and(|kept| kept.expiry.take().is_some())))
        }
        "pttl" => tell(call, |expiry, now_ms| expiry - now_ms),
        "ttl" => tell(call, |expiry, now_ms| (expiry - now_ms + 500) / 1000),
        "pexpiretime" => tell(call, |expiry, _| expiry),
        "expire" | "pexpire" | "expireat" | "pexpireat" if call.words.len() == 3 => {
            expire(name, call)
        }
        "rename" | "renamenx" => rename(name, call),
        _ => None,
    }
}

fn tell(call: &Call<'_>, show: impl Fn(u64, u64) -> u64) -> Option<Expected> {
    is(Answer::Integer(match call.kept(call.arg(1)) {
        None => -2,
        Some(kept) => kept.expiry.map_or(-1, |expiry| show(expiry, call.now_ms) as i64),
    }))
}

/// Without a condition, and a time that is not absurd.
fn expire(name: &str, call: &mut Call<'_>) -> Option<Expected> {
    let number = call.integer(2).filter(|number| number.unsigned_abs() < 1 << 50)?;
    let ms = if name.starts_with('p') { number } else { number * 1000 };
    let at_ms = if name.ends_with("at") { ms } else { ms + call.now_ms as i64 };
    let place = call.place(call.arg(1));
    let Some(kept) = call.state.entries.get_mut(&place) else { return is(Answer::Integer(0)) };
    if at_ms > call.now_ms as i64 {
        kept.expiry = Some(at_ms as u64);
    } else {
        call.state.entries.remove(&place);
    }
    is(Answer::Integer(1))
}

fn rename(name: &str, call: &mut Call<'_>) -> Option<Expected> {
    let (from, to) = (call.place(call.arg(1)), call.place(call.arg(2)));
    if !call.state.entries.contains_key(&from) {
        return Some(Expected::Error);
    }
    if name == "renamenx" && call.state.entries.contains_key(&to) {
        return is(Answer::Integer(0));
    }
    if let Some(kept) = call.state.entries.remove(&from) {
        call.state.entries.insert(to, kept);
    }
    is(if name == "renamenx" { Answer::Integer(1) } else { Answer::ok() })
}
