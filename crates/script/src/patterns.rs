// SPDX-License-Identifier: Apache-2.0
//! `string.find`, `match` and `gsub`, and the search that `prelude.lua` makes the others of. `matcher.rs`
//! matches.

mod matcher;

use crate::arguments::{Arguments, Failure, Results, bad, function};
use crate::guard::Guard;
use crate::vm::MEMORY_MAX;
use matcher::{Capture, Matcher};
use mlua::{Lua, MultiValue, Table, Value};
use std::rc::Rc;

/// The letters that make a text a pattern.
const SPECIALS: &[u8] = b"^$*+?.([%-";

/// Adds the functions to `rust`.
pub(crate) fn install(lua: &Lua, rust: &Table, guard: &Rc<Guard>) -> mlua::Result<()> {
    let add = |name: &'static str, work: fn(&Lua, &Guard, &Arguments) -> Results| {
        let guard = Rc::clone(guard);
        rust.raw_set(name, function(lua, move |lua, args| work(lua, &guard, &args))?)
    };
    add("find", |lua, guard, args| find(lua, guard, args, "find"))?;
    add("match", |lua, guard, args| find(lua, guard, args, "match"))?;
    add("gsub", gsub)?;
    add("search", search)?;
    add("gmatch_arguments", |lua, _, args| Ok(both(lua, args, "gmatch")?.into_iter().collect()))?;
    add("gsub_arguments", gsub_arguments)
}

/// The text and the pattern of a function as strings, or its error.
fn both(lua: &Lua, args: &Arguments, name: &str) -> Result<[Value; 2], Failure> {
    let string = |at| -> Result<Value, Failure> {
        let text = args.text(at, name)?;
        Ok(match args.value(at) {
            value @ Value::String(_) => value.clone(),
            _ => Value::String(lua.create_string(text)?),
        })
    };
    Ok([string(0)?, string(1)?])
}

/// `gsub_arguments(text, pattern, replacement, limit)`: text and pattern as strings, and how many matches are
/// replaced at most; or the error of `gsub`.
fn gsub_arguments(lua: &Lua, _: &Guard, args: &Arguments) -> Results {
    let [text, pattern] = both(lua, args, "gsub")?;
    let limit = limit(args, args.text(0, "gsub")?.len())?;
    Ok(MultiValue::from_iter([text, pattern, Value::Integer(limit)]))
}

/// How many matches `gsub` replaces at most in a text of `len` bytes: a C `int`, into which any number is cast.
fn limit(args: &Arguments, len: usize) -> Result<i64, Failure> {
    let limit = args.number_or(3, "gsub", len as f64 + 1.0)?;
    Ok(i64::from(crate::number::truncated(limit) as i32))
}

/// A pattern up to its first zero byte.
fn pattern_of(text: &[u8]) -> &[u8] {
    &text[..memchr::memchr(0, text).unwrap_or(text.len())]
}

/// `string.find(text, pattern, from, is_plain)`, `string.match(text, pattern, from)`
fn find(lua: &Lua, guard: &Guard, args: &Arguments, name: &str) -> Results {
    let (text, pattern) = (args.text(0, name)?, args.text(1, name)?);
    let from = crate::number::truncated(args.number_or(2, name, 1.0)?);
    let from = if from < 0 { from.saturating_add(text.len() as i64 + 1) } else { from };
    let start = usize::try_from(from.saturating_sub(1)).unwrap_or(0).min(text.len());
    let is_find = name == "find";
    let is_plain = !matches!(args.value(3), Value::Nil | Value::Boolean(false));
    let is_word = || !pattern_of(&pattern).iter().any(|byte| SPECIALS.contains(byte));
    if is_find && (is_plain || is_word()) {
        let found = memchr::memmem::find(&text[start..], &pattern);
        return Ok(MultiValue::from_iter(match found {
            Some(at) => {
                let first = (start + at) as i64 + 1;
                vec![Value::Integer(first), Value::Integer(first - 1 + pattern.len() as i64)]
            }
            None => vec![Value::Nil],
        }));
    }
    let pattern = pattern_of(&pattern);
    let (pattern, is_anchored) = match pattern.strip_prefix(b"^") {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut matcher = Matcher::new(&text, pattern, guard);
    let Some((first, end)) = first_match(&mut matcher, start, is_anchored)? else {
        return Ok(MultiValue::from_iter([Value::Nil]));
    };
    let mut results = captured(lua, &matcher, if is_find { None } else { Some((first, end)) })?;
    if is_find {
        results.push_front(Value::Integer(end as i64));
        results.push_front(Value::Integer(first as i64 + 1));
    }
    Ok(results)
}

/// The first match from `at` on: its beginning and its end.
fn first_match(
    matcher: &mut Matcher<'_>,
    at: usize,
    is_anchored: bool,
) -> Result<Option<(usize, usize)>, Failure> {
    for first in at..=matcher.text.len() {
        if let Some(end) = matcher.match_at(first)? {
            return Ok(Some((first, end)));
        }
        if is_anchored {
            break;
        }
    }
    Ok(None)
}

/// The captures of a match; the whole match if there are none and it is given.
fn captured(
    lua: &Lua,
    matcher: &Matcher<'_>,
    whole: Option<(usize, usize)>,
) -> Result<MultiValue, Failure> {
    let mut values = MultiValue::new();
    for capture in matcher.captures() {
        values.push_back(match *capture {
            Capture::Text(start, len) => {
                Value::String(lua.create_string(&matcher.text[start..start + len])?)
            }
            Capture::Position(at) => Value::Integer(at as i64 + 1),
            Capture::Open(_) => return Err(Failure::new("unfinished capture")),
        });
    }
    if let (true, Some((first, end))) = (values.is_empty(), whole) {
        values.push_back(Value::String(lua.create_string(&matcher.text[first..end])?));
    }
    Ok(values)
}

/// `search(text, pattern, at, scans)`: first and last position of a match, and its captures. A pattern that is
/// not searched for begins with `^`.
fn search(lua: &Lua, guard: &Guard, args: &Arguments) -> Results {
    let (Value::String(text), Value::String(pattern)) = (args.value(0), args.value(1)) else {
        return Err(args.wrong(0, "search", "string"));
    };
    let (text, pattern) = (text.as_bytes(), pattern.as_bytes());
    let at = args.value(2).as_usize().unwrap_or(1).saturating_sub(1);
    let is_anchored = args.value(3) == &Value::Boolean(false);
    let pattern = &pattern_of(&pattern)[usize::from(is_anchored)..];
    let mut matcher = Matcher::new(&text, pattern, guard);
    let Some((first, end)) = first_match(&mut matcher, at, is_anchored)? else {
        return Ok(MultiValue::from_iter([Value::Nil]));
    };
    let mut results = captured(lua, &matcher, None)?;
    results.push_front(Value::Integer(end as i64));
    results.push_front(Value::Integer(first as i64 + 1));
    Ok(results)
}

/// `string.gsub(text, pattern, replacement, limit)` with a text as the replacement.
fn gsub(lua: &Lua, guard: &Guard, args: &Arguments) -> Results {
    let (text, pattern) = (args.text(0, "gsub")?, args.text(1, "gsub")?);
    let limit = limit(args, text.len())?;
    let Ok(replacement) = args.text(2, "gsub") else {
        return Err(bad(2, "gsub", "string/function/table expected"));
    };
    let pattern = pattern_of(&pattern);
    let (pattern, is_anchored) = match pattern.strip_prefix(b"^") {
        Some(pattern) => (pattern, true),
        None => (pattern, false),
    };
    let mut matcher = Matcher::new(&text, pattern, guard);
    let (mut out, mut at, mut count) = (Vec::new(), 0, 0);
    while count < limit {
        let end = matcher.match_at(at)?;
        if let Some(end) = end {
            count += 1;
            replace(&mut out, &matcher, (at, end), &replacement)?;
        }
        match end {
            Some(end) if end > at => at = end,
            _ => match text.get(at) {
                Some(byte) => {
                    out.push(*byte);
                    at += 1;
                }
                None => break,
            },
        }
        if is_anchored {
            break;
        }
    }
    out.extend_from_slice(text.get(at..).unwrap_or_default());
    let out = Value::String(lua.create_string(out)?);
    Ok(MultiValue::from_iter([out, Value::Integer(count)]))
}

/// Appends a replacement, in which `%1` stands for a capture.
fn replace(
    out: &mut Vec<u8>,
    matcher: &Matcher<'_>,
    (first, end): (usize, usize),
    replacement: &[u8],
) -> Result<(), Failure> {
    let mut bytes = replacement.iter();
    while let Some(&byte) = bytes.next() {
        // Long captures many times: what the VM has no room for is not made.
        if out.len() > MEMORY_MAX / 2 {
            return Err(Failure::new("not enough memory"));
        }
        if byte != b'%' {
            out.push(byte);
            continue;
        }
        // C's strings end with a zero byte.
        let letter = bytes.next().copied().unwrap_or(0);
        let at = match letter {
            b'0' => {
                out.extend_from_slice(&matcher.text[first..end]);
                continue;
            }
            b'1'..=b'9' => usize::from(letter - b'1'),
            _ => {
                out.push(letter);
                continue;
            }
        };
        match matcher.captures().get(at) {
            Some(&Capture::Text(start, len)) => {
                out.extend_from_slice(&matcher.text[start..start + len]);
            }
            Some(Capture::Position(at)) => {
                out.extend_from_slice((at + 1).to_string().as_bytes());
            }
            Some(Capture::Open(_)) => return Err(Failure::new("unfinished capture")),
            None if at == 0 => out.extend_from_slice(&matcher.text[first..end]),
            None => return Err(Failure::new("invalid capture index")),
        }
    }
    Ok(())
}
