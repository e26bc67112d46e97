// SPDX-License-Identifier: Apache-2.0
//! The library `redis`.

use crate::arguments::{Arguments, Failure, Results, Thrown, function, numeric, one, text_of};
use crate::guard::Guard;
use crate::native::{self, Bridge, COMMAND_MAX};
use crate::number;
use crate::server::{Level, ReplyVersion};
use crate::texts::TextList;
use mlua::{Lua, MultiValue, Table, Value};
use std::cell::Cell;
use std::rc::Rc;

/// The words of a command.
fn words(args: &MultiValue) -> Result<TextList, &'static str> {
    if args.is_empty() {
        return Err("ERR Please specify at least one argument for this redis lib call");
    }
    let mut words = TextList::default();
    let mut is_right = true;
    for value in args {
        match value {
            Value::String(text) => {
                let text = text.as_bytes();
                if words.len_bytes().saturating_add(text.len()) > COMMAND_MAX {
                    return Err("ERR not enough memory");
                }
                words.push(&text);
            }
            Value::Integer(whole) => words.push(&number::argument(*whole as f64)),
            Value::Number(number) => words.push(&number::argument(*number)),
            _ => is_right = false,
        }
    }
    is_right
        .then_some(words)
        .ok_or("ERR Lua redis lib command arguments must be strings or integers")
}

/// The table; `prelude.lua` adds to it.
pub(crate) fn library(lua: &Lua, bridge: &Rc<Bridge>, version: &str) -> mlua::Result<Table> {
    let library = lua.create_table()?;
    let Bridge { guard, resp, .. } = &**bridge;
    library.raw_set("call", native::caller(lua, bridge, true)?)?;
    library.raw_set("pcall", native::caller(lua, bridge, false)?)?;
    let for_rights = Rc::clone(guard);
    let may_run = move |_: &Lua, args: MultiValue| {
        let allowed = words(&args).map_err(str::to_owned).and_then(|words| {
            let allowed = for_rights.slot.with(|server| server.may_run(words.texts()));
            allowed.unwrap_or(Ok(false))
        });
        allowed.map_err(|text| {
            Thrown { text: text.into(), is_table: true, was_counted: false }.error()
        })
    };
    library.raw_set("acl_check_cmd", lua.create_function(may_run)?)?;
    let for_log = Rc::clone(guard);
    library.raw_set("log", function(lua, move |_, args| log(&for_log, &args))?)?;
    library.raw_set("sha1hex", function(lua, |lua, args| sha1hex(lua, &args))?)?;
    library.raw_set("error_reply", function(lua, |lua, args| reply_table(lua, &args, "err"))?)?;
    library.raw_set("status_reply", function(lua, |lua, args| reply_table(lua, &args, "ok"))?)?;
    let chosen = Rc::clone(resp);
    library.raw_set("setresp", function(lua, move |_, args| set_resp(&chosen, &args))?)?;
    library.raw_set("set_repl", function(lua, |_, args| set_repl(&args))?)?;
    let numbers = [
        ("LOG_DEBUG", 0),
        ("LOG_VERBOSE", 1),
        ("LOG_NOTICE", 2),
        ("LOG_WARNING", 3),
        ("REPL_NONE", 0),
        ("REPL_AOF", 1),
        ("REPL_SLAVE", 2),
        ("REPL_REPLICA", 2),
        ("REPL_ALL", 3),
    ];
    for (name, value) in numbers {
        library.raw_set(name, value)?;
    }
    let number =
        version.split('.').fold(0_i64, |sum, part| sum << 8 | part.parse::<i64>().unwrap_or(0));
    library.raw_set("REDIS_VERSION_NUM", number)?;
    library.raw_set("REDIS_VERSION", version)?;
    Ok(library)
}

/// The table that an error is.
pub(crate) fn thrown_table(lua: &Lua, thrown: &Thrown) -> mlua::Result<Table> {
    let error = lua.create_table()?;
    error.raw_set("err", lua.create_string(&thrown.text)?)?;
    if thrown.was_counted {
        error.raw_set("ignore_error_stats_update", true)?;
    }
    Ok(error)
}

/// `redis.log(level, text...)`
fn log(guard: &Guard, args: &Arguments) -> Results {
    if args.len() < 2 {
        return Err(Failure::reply("ERR redis.log() requires two arguments or more."));
    }
    let Some(level) = numeric(args.value(0)) else {
        return Err(Failure::reply("ERR First argument must be a number (log level)."));
    };
    let level = match number::truncated(level) {
        0 => Level::Debug,
        1 => Level::Verbose,
        2 => Level::Notice,
        3 => Level::Warning,
        _ => return Err(Failure::reply("ERR Invalid log level.")),
    };
    let texts: Vec<_> = args.0.iter().skip(1).filter_map(text_of).collect();
    let texts: Vec<&[u8]> = texts.iter().map(|text| &**text).collect();
    guard.slot.with(|server| server.log(level, &texts.join(&b' ')));
    Ok(MultiValue::new())
}

/// `redis.sha1hex(text)`
fn sha1hex(lua: &Lua, args: &Arguments) -> Results {
    if args.len() != 1 {
        return Err(Failure::reply("ERR wrong number of arguments"));
    }
    let text = text_of(args.value(0));
    crate::arguments::string(lua, crate::sha1::hex(text.as_deref().unwrap_or_default()))
}

/// `redis.error_reply(text)`, `redis.status_reply(text)`
fn reply_table(lua: &Lua, args: &Arguments, field: &str) -> Results {
    let table = lua.create_table()?;
    let (Value::String(text), 1) = (args.value(0), args.len()) else {
        table.raw_set("err", "ERR wrong number or type of arguments")?;
        return one(Value::Table(table));
    };
    let text = text.as_bytes();
    let with_code = if field == "err" { with_code(&text) } else { text.to_vec() };
    table.raw_set(field, lua.create_string(with_code)?)?;
    one(Value::Table(table))
}

/// The text of an error: its first word is the code, if there are more. A sign in front of it is none of it, and so is
/// what follows a NUL.
fn with_code(text: &[u8]) -> Vec<u8> {
    let text = text.strip_prefix(b"-").unwrap_or(text);
    let text = text.split(|&byte| byte == 0).next().unwrap_or_default();
    let text = text.strip_suffix(b"\r\n").unwrap_or(text);
    if text.contains(&b' ') { text.to_vec() } else { [b"ERR ", text].concat() }
}

/// `redis.setresp(version)`
fn set_resp(resp: &Cell<ReplyVersion>, args: &Arguments) -> Results {
    if args.len() != 1 {
        return Err(Failure::reply("ERR redis.setresp() requires one argument."));
    }
    resp.set(match args.number(0, "setresp") {
        Ok(2.0) => ReplyVersion::Two,
        Ok(3.0) => ReplyVersion::Three,
        _ => return Err(Failure::reply("ERR RESP version must be 2 or 3.")),
    });
    Ok(MultiValue::new())
}

/// `redis.set_repl(flags)`: there are no replicas.
fn set_repl(args: &Arguments) -> Results {
    if args.len() != 1 {
        return Err(Failure::reply("ERR redis.set_repl() requires one argument."));
    }
    let flags = args.number(0, "set_repl").map_or(0, number::truncated);
    if flags & !3 != 0 {
        return Err(Failure::reply(
            "ERR Invalid replication flags. Use REPL_AOF, REPL_REPLICA, REPL_ALL or REPL_NONE.",
        ));
    }
    Ok(MultiValue::new())
}
