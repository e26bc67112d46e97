// SPDX-License-Identifier: Apache-2.0
//! Finding keys: KEYS, SCAN, RANDOMKEY.

use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use crate::wire::glob;
use crate::wire::reply::Writer;
use buffer::Mark;
use keyspace::{Scope, View};
use std::fmt::Display;
use values::Type;

/// Elements that a step of a walk looks at, unless the client says otherwise.
pub(crate) const COUNT: usize = 10;

/// Lists the keys that match a pattern.
#[expect(clippy::arithmetic_side_effects, reason = "counts what is in memory")]
pub(crate) fn keys<V: View>(call: &mut Call<'_, V>) -> Done {
    let pattern = call.arg(1);
    let mark = call.out.begin_array();
    let (mut found, mut cursor) = (0, 0);
    loop {
        let out = &mut call.out;
        cursor = call.keys.view.scan(call.keys.db, cursor, &mut |entry| {
            if pattern == b"*" || glob::matches(pattern, entry.key()) {
                out.bulk(entry.key());
                found += 1;
            }
        });
        if cursor == 0 {
            break;
        }
    }
    call.out.end_array(mark, found);
    Ok(())
}

/// The options of SCAN and of the walks over collections.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Options<'a> {
    pub(crate) pattern: Option<&'a [u8]>,
    pub(crate) count: usize,
    pub(crate) of: Option<&'a [u8]>,
    /// Fields without their values, or members without their scores.
    pub(crate) names_only: bool,
}

/// What is walked over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Walked {
    Keys,
    Fields,
    Members,
    ScoredMembers,
}

impl<'a> Options<'a> {
    /// Reads the options behind the cursor.
    pub(crate) fn parse(
        mut words: impl Iterator<Item = &'a [u8]>,
        walked: Walked,
    ) -> Result<Self, Fault> {
        let mut options = Options { pattern: None, count: COUNT, of: None, names_only: false };
        while let Some(word) = words.next() {
            let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
            if is(b"novalues") {
                if walked != Walked::Fields {
                    return Err(Fault::new("ERR NOVALUES option can only be used in HSCAN"));
                }
                options.names_only = true;
                continue;
            }
            if is(b"noscores") {
                if walked != Walked::ScoredMembers {
                    return Err(Fault::new("ERR NOSCORES option can only be used in ZSCAN"));
                }
                options.names_only = true;
                continue;
            }
            let value = words.next().ok_or(Fault::SYNTAX)?;
            if is(b"count") {
                let count = values::parse_i64(value).ok_or(Fault::NOT_INTEGER)?;
                options.count = usize::try_from(count).map_err(|_| Fault::SYNTAX)?;
                if count < 1 {
                    return Err(Fault::SYNTAX);
                }
            } else if is(b"match") {
                options.pattern = Some(value).filter(|pattern| *pattern != b"*");
            } else if is(b"type") && walked == Walked::Keys {
                options.of = Some(value);
            } else {
                return Err(Fault::SYNTAX);
            }
        }
        Ok(options)
    }

    /// Whether an element is asked for.
    pub(crate) fn matches(&self, element: &[u8]) -> bool {
        self.pattern.is_none_or(|pattern| glob::matches(pattern, element))
    }
}

/// Reads a cursor by the rule of C's `strtoull`, as Redis 8 and Valkey do: behind white space a sign and
/// digits, up to the first zero byte. A negative number counts down from the end of the range. But one
/// that is written as integers are, `-1`, is none.
pub(crate) fn cursor(text: &[u8]) -> Result<u64, Fault> {
    let refused = Fault::new("ERR invalid cursor");
    if let Some(number) = values::parse_i64(text) {
        return u64::try_from(number).map_err(|_| refused);
    }
    let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
    let is_space = |byte: &u8| byte.is_ascii_whitespace() || *byte == b'\x0b';
    let text = &text[text.iter().take_while(|byte| is_space(byte)).count()..];
    let (is_negative, digits) = match text {
        [b'-', digits @ ..] => (true, digits),
        [b'+', digits @ ..] | digits => (false, digits),
    };
    if !digits.iter().all(u8::is_ascii_digit) {
        return Err(refused);
    }
    let number = std::str::from_utf8(digits).ok().and_then(|digits| digits.parse::<u64>().ok());
    let number = number.ok_or(refused)?;
    Ok(if is_negative { number.wrapping_neg() } else { number })
}

/// Makes a step's reply of the `found` elements that were written since `start`: the cursor to go
/// on from, and the elements.
pub(crate) fn end_step(out: &mut Writer<'_>, start: Mark, cursor: impl Display, found: usize) {
    let cursor = cursor.to_string();
    let head = format!("*2\r\n${}\r\n{cursor}\r\n*{found}\r\n", cursor.len());
    out.out().insert(start, head.as_bytes());
}

/// Takes a step of a walk over all keys.
#[expect(clippy::arithmetic_side_effects, reason = "counts what is in memory")]
pub(crate) fn scan<V: View>(call: &mut Call<'_, V>) -> Done {
    let mut cursor = cursor(call.arg(1))?;
    let options = Options::parse(call.args.tail(2).iter(), Walked::Keys)?;
    let of = match options.of {
        Some(name) => Type::named(name).map(Some),
        None => Some(None),
    };
    let start = call.out.begin_array();
    let (mut found, mut seen) = (0, 0);
    // An empty step costs something, too. But a walk comes past all shards that are empty: each may take a step of its own.
    for _ in 0..options.count.saturating_mul(10).saturating_add(Scope::SHARDS_MAX) {
        lock(call, cursor);
        let out = &mut call.out;
        cursor = call.keys.view.scan(call.keys.db, cursor, &mut |entry| {
            seen += 1;
            let is_asked_for = of.is_some_and(|of| of.is_none_or(|of| entry.data_type() == of));
            if is_asked_for && options.matches(entry.key()) {
                out.bulk(entry.key());
                found += 1;
            }
        });
        if cursor == 0 || seen >= options.count {
            break;
        }
    }
    end_step(&mut call.out, start, cursor, found);
    Ok(())
}

/// Locks what the next step of a walk needs, too. If somebody holds that, others may change anything until they have gone,
/// which they may between the steps of a walk.
fn lock<V: View>(call: &mut Call<'_, V>, cursor: u64) {
    let needed = call.keys.view.scan_scope(cursor);
    if !call.scope.contains(needed) {
        call.scope |= needed;
        if !call.keys.view.extend(call.scope) {
            call.keys.view.relock(call.scope);
        }
    }
}

/// Returns some key.
pub(crate) fn randomkey<V: View>(call: &mut Call<'_, V>) -> Done {
    let random = call.worker.random();
    let entry = call.keys.view.random(call.keys.db, random);
    call.out.bulk_or_null(entry.map(|entry| entry.key()));
    Ok(())
}
