// SPDX-License-Identifier: Apache-2.0
//! Functions of Lua that are safer than the originals, and what `prelude.lua` needs of Rust.

use crate::arguments::{Arguments, Failure, Results, Thrown, bad, function, one, string};
use crate::redis;
use crate::vm::MEMORY_MAX;
use mlua::chunk::ChunkMode;
use mlua::{Lua, MultiValue, Table, Value};
use std::cell::Cell;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::rc::Rc;
use std::time::Instant;

/// The first byte of byte code.
const BYTE_CODE: u8 = 0x1b;

/// The longest string that `string.rep` makes, in bytes: more does not fit the VM's memory.
const REPEATED_MAX: usize = MEMORY_MAX / 2;

/// The largest number of the generator that is made to a fraction.
const RANDOM_MAX: f64 = 2_147_483_647.0;

/// A source that Lua takes for text: byte code gets a space in front, and is then malformed. RULE-TEXT.
pub(crate) fn text_only(source: &[u8]) -> Option<Vec<u8>> {
    (source.first() == Some(&BYTE_CODE)).then(|| [b" ", source].concat())
}

/// The message of an error of Lua, without what Rust's library adds to it.
pub(crate) fn message(error: &mlua::Error) -> String {
    match error {
        mlua::Error::SyntaxError { message, .. } | mlua::Error::RuntimeError(message) => {
            message.lines().next().unwrap_or_default().to_owned()
        }
        mlua::Error::MemoryError(_) => "not enough memory".to_owned(),
        mlua::Error::CallbackError { cause, .. } => message(cause),
        mlua::Error::StackError => "stack overflow".to_owned(),
        other => other.to_string().lines().next().unwrap_or_default().to_owned(),
    }
}

/// Adds the functions to `rust`.
pub(crate) fn install(lua: &Lua, rust: &Table) -> mlua::Result<()> {
    rust.raw_set("loadstring", function(lua, |lua, args| load(lua, &args))?)?;
    rust.raw_set("collectgarbage", function(lua, |lua, args| collect(lua, &args))?)?;
    rust.raw_set("rep", function(lua, |lua, args| repeat(lua, &args))?)?;
    rust.raw_set("where", lua.create_function(|lua, ()| place_values(lua))?)?;
    rust.raw_set("caught", lua.create_function(|lua, error: Value| caught(lua, error))?)?;
    let start = Instant::now();
    rust.raw_set(
        "clock",
        function(lua, move |_, _| one(Value::Number(start.elapsed().as_secs_f64())))?,
    )?;
    let random_seed = RandomState::new().build_hasher().finish();
    let state = Rc::new(Cell::new(random_seed));
    let seeded = Rc::clone(&state);
    rust.raw_set("random", function(lua, move |_, args| random(&state, &args))?)?;
    rust.raw_set(
        "randomseed",
        function(lua, move |_, args| {
            let seed = args.number(0, "randomseed")?;
            seeded.set(seed_of(crate::number::truncated(seed) as i32));
            Ok(MultiValue::new())
        })?,
    )
}

/// What the original would have raised in place of an error of Rust.
fn caught(lua: &Lua, error: Value) -> mlua::Result<Value> {
    let Value::Error(error) = error else { return Ok(error) };
    Ok(match Thrown::of(&error) {
        Some(thrown) if thrown.is_table => Value::Table(redis::thrown_table(lua, thrown)?),
        Some(thrown) => Value::String(lua.create_string(&thrown.text)?),
        None => Value::String(lua.create_string(message(&error))?),
    })
}

/// `loadstring(text, name)`
fn load(lua: &Lua, args: &Arguments) -> Results {
    let source = args.text(0, "loadstring")?;
    let named = if args.value(1).is_nil() { None } else { Some(args.text(1, "loadstring")?) };
    let name = named.as_ref().unwrap_or(&source);
    // C's strings end at the first zero. RULE-ANCHOR: this string is alive until the chunk is parsed.
    let name = name.split(|byte| *byte == 0).next().unwrap_or_default();
    let anchor = lua.create_string(name)?;
    let text = String::from_utf8(name.to_vec());
    // A name that is not UTF-8 cannot be handed over; it is only shown in messages.
    let text = text.unwrap_or_else(|_| "=?".to_owned());
    let source = text_only(&source).unwrap_or_else(|| source.to_vec());
    let loaded = lua.load(source).set_name(text).set_mode(ChunkMode::Text).into_function();
    drop(anchor);
    match loaded {
        Ok(chunk) => one(Value::Function(chunk)),
        Err(error @ mlua::Error::MemoryError(_)) => Err(error.into()),
        Err(error) => {
            let message = Value::String(lua.create_string(message(&error))?);
            Ok(MultiValue::from_iter([Value::Nil, message]))
        }
    }
}

/// `collectgarbage(what)`
fn collect(lua: &Lua, args: &Arguments) -> Results {
    match args.text(0, "collectgarbage").as_deref() {
        Ok(b"count") => one(Value::Number(lua.used_memory() as f64 / 1024.0)),
        Ok(b"step") => one(Value::Boolean(lua.gc_step()?)),
        _ => {
            lua.gc_collect()?;
            one(Value::Integer(0))
        }
    }
}

/// `string.rep(text, times)`
fn repeat(lua: &Lua, args: &Arguments) -> Results {
    let text = args.text(0, "rep")?;
    let times = crate::number::truncated(args.number(1, "rep")?).max(0) as usize;
    if text.len().saturating_mul(times) > REPEATED_MAX {
        return Err(Failure::new("not enough memory"));
    }
    string(lua, text.repeat(if text.is_empty() { 0 } else { times }))
}

/// The chunk and line of the script that runs now: the first function that is neither C nor the prelude.
pub(crate) fn place(lua: &Lua) -> Option<(String, i64)> {
    for level in 0.. {
        let found = lua.inspect_stack(level, |debug| {
            let source = debug.source();
            let name = source.source.map(|name| name.into_owned()).unwrap_or_default();
            let is_script = source.what != "C" && source.what != "tail" && name != "=prelude";
            is_script.then(|| (name, debug.current_line().map_or(-1, |line| line as i64)))
        });
        match found {
            None => break,
            Some(None) => {}
            Some(place) => return place,
        }
    }
    None
}

/// The same as values.
fn place_values(lua: &Lua) -> mlua::Result<(Option<mlua::LuaString>, Option<i64>)> {
    let Some((name, line)) = place(lua) else { return Ok((None, None)) };
    Ok((Some(lua.create_string(name)?), Some(line)))
}

/// The state of `drand48` after this seed.
fn seed_of(seed: i32) -> u64 {
    (u64::from(seed as u32) << 16) | 0x330e
}

/// `math.random(from, to)` over the generator that Redis has: it gives the same numbers on all machines.
fn random(state: &Cell<u64>, args: &Arguments) -> Results {
    let next = state.get().wrapping_mul(0x5_deec_e66d).wrapping_add(0xb) & ((1 << 48) - 1);
    state.set(next);
    let unit = ((next >> 17) as f64 % RANDOM_MAX) / RANDOM_MAX;
    let whole = |number: f64| crate::number::truncated(number) as i32;
    match args.len() {
        0 => one(Value::Number(unit)),
        1 => {
            let to = whole(args.number(0, "random")?);
            if to < 1 {
                return Err(bad(0, "random", "interval is empty"));
            }
            one(Value::Number((unit * f64::from(to)).floor() + 1.0))
        }
        2 => {
            let (from, to) = (whole(args.number(0, "random")?), whole(args.number(1, "random")?));
            if from > to {
                return Err(bad(1, "random", "interval is empty"));
            }
            let width = f64::from(to) - f64::from(from) + 1.0;
            one(Value::Number((unit * width).floor() + f64::from(from)))
        }
        _ => Err(Failure::new("wrong number of arguments")),
    }
}
