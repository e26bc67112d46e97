// SPDX-License-Identifier: Apache-2.0
//! The library `cjson`, as lua-cjson 2.1.0 in Redis. `encode.rs` and `decode.rs` convert; here are the settings.

mod decode;
mod encode;

use crate::arguments::{Arguments, Failure, Results, bad, function, one, string};
use crate::guard::Guard;
use mlua::{LightUserData, Lua, MultiValue, Table, Value};
use std::cell::Cell;
use std::rc::Rc;

/// The deepest nesting that is converted, whatever a script sets.
const DEPTH_MAX: i64 = 1000;

/// The settings that a script can change. Each run of a script begins with the defaults.
#[derive(Debug)]
pub(crate) struct JsonSettings {
    sparse_convert: Cell<bool>,
    sparse_ratio: Cell<i64>,
    sparse_safe: Cell<i64>,
    encode_depth: Cell<i64>,
    decode_depth: Cell<i64>,
    precision: Cell<i64>,
    keeps_buffer: Cell<bool>,
    encode_invalid: Cell<Invalid>,
    decode_invalid: Cell<bool>,
    is_changed: Cell<bool>,
}

/// What becomes of numbers that JSON has no notation for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Invalid {
    Refused,
    Written,
    Null,
}

impl Default for JsonSettings {
    fn default() -> Self {
        let settings = JsonSettings {
            sparse_convert: Cell::default(),
            sparse_ratio: Cell::default(),
            sparse_safe: Cell::default(),
            encode_depth: Cell::default(),
            decode_depth: Cell::default(),
            precision: Cell::default(),
            keeps_buffer: Cell::default(),
            encode_invalid: Cell::new(Invalid::Refused),
            decode_invalid: Cell::default(),
            is_changed: Cell::new(true),
        };
        settings.reset();
        settings
    }
}

impl JsonSettings {
    /// Back to the defaults.
    pub(crate) fn reset(&self) {
        if self.is_changed.take() {
            self.sparse_convert.set(false);
            self.sparse_ratio.set(2);
            self.sparse_safe.set(10);
            self.encode_depth.set(DEPTH_MAX);
            self.decode_depth.set(DEPTH_MAX);
            self.precision.set(14);
            self.keeps_buffer.set(true);
            self.encode_invalid.set(Invalid::Refused);
            self.decode_invalid.set(true);
        }
    }
}

/// The table.
pub(crate) fn library(
    lua: &Lua,
    settings: &Rc<JsonSettings>,
    guard: &Rc<Guard>,
) -> mlua::Result<Table> {
    let library = lua.create_table()?;
    let add = |name: &'static str, work: fn(&Lua, &JsonSettings, &Arguments) -> Results| {
        let settings = Rc::clone(settings);
        library.raw_set(name, function(lua, move |lua, args| work(lua, &settings, &args))?)
    };
    add("decode", decode)?;
    add("encode_sparse_array", sparse_array)?;
    add("encode_max_depth", |_, settings, args| {
        integer(settings, &settings.encode_depth, args, 0, "encode_max_depth", 1..=INT_MAX)
    })?;
    add("decode_max_depth", |_, settings, args| {
        integer(settings, &settings.decode_depth, args, 0, "decode_max_depth", 1..=INT_MAX)
    })?;
    add("encode_number_precision", |_, settings, args| {
        integer(settings, &settings.precision, args, 0, "encode_number_precision", 1..=14)
    })?;
    add("encode_keep_buffer", |_, settings, args| {
        boolean(settings, &settings.keeps_buffer, args, "encode_keep_buffer")
    })?;
    add("decode_invalid_numbers", |_, settings, args| {
        boolean(settings, &settings.decode_invalid, args, "decode_invalid_numbers")
    })?;
    add("encode_invalid_numbers", invalid_numbers)?;
    let (settings, guard) = (Rc::clone(settings), Rc::clone(guard));
    let encode = function(lua, move |lua, args| {
        one_argument(&args, "encode")?;
        string(lua, encode::encode(args.value(0), &settings, &guard)?)
    })?;
    library.raw_set("encode", encode)?;
    library.raw_set("null", null())?;
    library.raw_set("_NAME", "cjson")?;
    library.raw_set("_VERSION", "2.1.0")?;
    Ok(library)
}

/// The value for JSON's `null`.
fn null() -> Value {
    Value::LightUserData(LightUserData(std::ptr::null_mut()))
}

const INT_MAX: i64 = i32::MAX as i64;

fn one_argument(args: &Arguments, function: &str) -> Result<(), Failure> {
    if args.len() == 1 { Ok(()) } else { Err(bad(0, function, "expected 1 argument")) }
}

fn decode(lua: &Lua, settings: &JsonSettings, args: &Arguments) -> Results {
    one_argument(args, "decode")?;
    one(decode::decode(lua, &args.text(0, "decode")?, settings)?)
}

/// Changes a number, if an argument says so; returns it.
fn integer(
    settings: &JsonSettings,
    setting: &Cell<i64>,
    args: &Arguments,
    at: usize,
    function: &str,
    range: std::ops::RangeInclusive<i64>,
) -> Results {
    if !args.value(at).is_nil() {
        let value = crate::number::truncated(args.number(at, function)?);
        if !range.contains(&value) {
            let (least, most) = (range.start(), range.end());
            let why = format!("expected integer between {least} and {most}");
            return Err(bad(at, function, &why));
        }
        setting.set(value);
        settings.is_changed.set(true);
    }
    one(Value::Integer(setting.get()))
}

/// What an argument says: a boolean, or one of these words.
fn choice(args: &Arguments, function: &str, words: &[&str]) -> Result<Option<usize>, Failure> {
    let word = match args.value(0) {
        Value::Nil => return Ok(None),
        Value::Boolean(value) => return Ok(Some(usize::from(*value))),
        _ => args.text(0, function)?,
    };
    let found = words.iter().position(|known| known.as_bytes() == &*word);
    let why = format!("invalid option '{}'", String::from_utf8_lossy(&word));
    found.map(Some).ok_or_else(|| bad(0, function, &why))
}

fn boolean(
    settings: &JsonSettings,
    setting: &Cell<bool>,
    args: &Arguments,
    function: &str,
) -> Results {
    if let Some(choice) = choice(args, function, &["off", "on"])? {
        setting.set(choice == 1);
        settings.is_changed.set(true);
    }
    one(Value::Boolean(setting.get()))
}

fn sparse_array(_: &Lua, settings: &JsonSettings, args: &Arguments) -> Results {
    let name = "encode_sparse_array";
    let mut results = boolean(settings, &settings.sparse_convert, args, name)?;
    results.extend(integer(settings, &settings.sparse_ratio, args, 1, name, 0..=INT_MAX)?);
    results.extend(integer(settings, &settings.sparse_safe, args, 2, name, 0..=INT_MAX)?);
    Ok(results)
}

fn invalid_numbers(lua: &Lua, settings: &JsonSettings, args: &Arguments) -> Results {
    if let Some(choice) = choice(args, "encode_invalid_numbers", &["off", "on", "null"])? {
        settings.encode_invalid.set([Invalid::Refused, Invalid::Written, Invalid::Null][choice]);
        settings.is_changed.set(true);
    }
    match settings.encode_invalid.get() {
        Invalid::Refused => one(Value::Boolean(false)),
        Invalid::Written => one(Value::Boolean(true)),
        Invalid::Null => Ok(MultiValue::from_iter([Value::String(lua.create_string("null")?)])),
    }
}
