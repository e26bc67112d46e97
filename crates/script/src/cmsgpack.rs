// SPDX-License-Identifier: Apache-2.0
//! The library `cmsgpack`, as lua-cmsgpack 0.4.0. `pack.rs` and `unpack.rs` convert.

mod pack;
mod unpack;

use crate::arguments::{Arguments, Failure, Results, bad, function, string};
use crate::guard::Guard;
use mlua::{Lua, Table, Value};
use std::rc::Rc;

/// The table.
pub(crate) fn library(lua: &Lua, guard: &Rc<Guard>) -> mlua::Result<Table> {
    let library = lua.create_table()?;
    let guard = Rc::clone(guard);
    let packer = function(lua, move |lua, args| {
        if args.len() == 0 {
            return Err(Failure::new("bad argument #0 to 'pack' (MessagePack pack needs input.)"));
        }
        string(lua, pack::pack(args.0.iter(), &guard)?)
    })?;
    library.raw_set("pack", packer)?;
    library.raw_set("unpack", function(lua, |lua, args| unpack_all(lua, &args))?)?;
    library.raw_set("unpack_one", function(lua, |lua, args| unpack_one(lua, &args))?)?;
    library.raw_set("unpack_limit", function(lua, |lua, args| unpack_limit(lua, &args))?)?;
    library.raw_set("_NAME", "cmsgpack")?;
    library.raw_set("_VERSION", "lua-cmsgpack 0.4.0")?;
    library.raw_set("_COPYRIGHT", "Copyright (C) 2012, Salvatore Sanfilippo")?;
    library.raw_set("_DESCRIPTION", "MessagePack C implementation for Lua")?;
    Ok(library)
}

fn unpack_all(lua: &Lua, args: &Arguments) -> Results {
    unpack_from(lua, &args.text(0, "unpack")?, 0, 0)
}

fn unpack_one(lua: &Lua, args: &Arguments) -> Results {
    let text = args.text(0, "unpack_one")?;
    unpack_from(lua, &text, 1, integer(args.number_or(1, "unpack_one", 0.0)?))
}

fn unpack_limit(lua: &Lua, args: &Arguments) -> Results {
    let text = args.text(0, "unpack_limit")?;
    let limit = integer(args.number(1, "unpack_limit")?);
    unpack_from(lua, &text, limit, integer(args.number_or(2, "unpack_limit", 0.0)?))
}

/// A number as C casts it to an `int`.
fn integer(number: f64) -> i64 {
    i64::from(crate::number::truncated(number) as i32)
}

/// So many values from an offset on, with the offset behind them in front; all values if both are 0.
fn unpack_from(lua: &Lua, text: &[u8], limit: i64, offset: i64) -> Results {
    let len = text.len();
    let (Ok(start), Ok(count)) = (usize::try_from(offset), usize::try_from(limit)) else {
        let text = format!("Invalid request to unpack with offset of {offset} and limit of {len}.");
        return Err(Failure::new(text));
    };
    let Some(rest) = text.get(start..) else {
        let text = format!("Start offset {offset} greater than input length {len}.");
        return Err(Failure::new(text));
    };
    let is_all = limit == 0 && offset == 0;
    let (mut values, left) = unpack::unpack(lua, rest, if is_all { usize::MAX } else { count })?;
    if !is_all {
        let next = if left == 0 { -1 } else { (len - left) as i64 };
        values.push_front(Value::Integer(next));
    }
    Ok(values)
}

/// The error for a nesting that the stack has no room for.
fn too_deep(function: &str) -> Failure {
    bad(0, function, "too many nested tables")
}
