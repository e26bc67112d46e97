// SPDX-License-Identifier: Apache-2.0
//! The library `redis`.

use crate::arguments::{Arguments, Failure, Results, Thrown, function, numeric, one, text_of};
use crate::guard::Guard;
use crate::number;
use crate::reply;
use crate::server::{Argument, Level, ReplyVersion};
use crate::vm::MEMORY_MAX;
use mlua::{FromLua, Lua, MultiValue, Table, Value, Variadic};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// The most bytes of the arguments of one command. More is an error of the script.
const COMMAND_MAX: usize = MEMORY_MAX;

thread_local! {
    /// Bytes of the arguments of the present command.
    static WORD_BYTES: Cell<usize> = const { Cell::new(0) };
}

/// An argument of a command, converted one after the other, so that there is never more than one reference.
struct Word(Option<Argument>);

impl FromLua for Word {
    fn from_lua(value: Value, _: &Lua) -> mlua::Result<Self> {
        Ok(Word(match &value {
            Value::String(text) => {
                let text = text.as_bytes();
                let bytes = WORD_BYTES.get().saturating_add(text.len());
                WORD_BYTES.set(bytes);
                (bytes <= COMMAND_MAX).then(|| text.to_vec())
            }
            Value::Integer(whole) => Some(number::argument(*whole as f64)),
            Value::Number(number) => Some(number::argument(*number)),
            _ => None,
        }))
    }
}

/// The words of a command.
fn words(words: Variadic<Word>) -> Result<Vec<Argument>, &'static str> {
    if WORD_BYTES.take() > COMMAND_MAX {
        return Err("ERR not enough memory");
    }
    if words.is_empty() {
        return Err("ERR Please specify at least one argument for this redis lib call");
    }
    words
        .into_iter()
        .map(|word| word.0.ok_or("ERR Lua redis lib command arguments must be strings or integers"))
        .collect()
}

/// The table; `prelude.lua` adds to it.
pub(crate) fn library(
    lua: &Lua,
    guard: &Rc<Guard>,
    resp: &Rc<Cell<ReplyVersion>>,
    version: &str,
) -> mlua::Result<Table> {
    let library = lua.create_table()?;
    for (name, raises) in [("call", true), ("pcall", false)] {
        let (guard, resp) = (Rc::clone(guard), Rc::clone(resp));
        let scratch = RefCell::new(Vec::new());
        let run = move |lua: &Lua, args: Variadic<Word>| {
            let mut reply = scratch.take();
            let results = call(lua, args, raises, &guard, resp.get(), &mut reply);
            reply.clear();
            if reply.capacity() <= 64 << 10 {
                scratch.replace(reply);
            }
            results
        };
        library.raw_set(name, lua.create_function(run)?)?;
    }
    let for_rights = Rc::clone(guard);
    let may_run = move |_: &Lua, args: Variadic<Word>| {
        let allowed = words(args).map_err(str::to_owned).and_then(|words| {
            for_rights.slot.with(|server| server.may_run(&words)).unwrap_or(Ok(false))
        });
        allowed.map_err(|text| table(text, false).error())
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

/// An error that is a table.
fn table(text: impl Into<Vec<u8>>, is_of_command: bool) -> Thrown {
    Thrown { text: text.into(), is_table: true, is_of_command }
}

/// Runs a command; its error is raised, or returned as a table.
fn call(
    lua: &Lua,
    args: Variadic<Word>,
    raises: bool,
    guard: &Guard,
    resp: ReplyVersion,
    reply: &mut Vec<u8>,
) -> mlua::Result<Value> {
    if !guard.may_go_on_after_call() {
        return Err(mlua::Error::runtime("the script was ended"));
    }
    let done = words(args).map_err(str::to_owned).and_then(|words| {
        let run = guard
            .slot
            .with(|server| server.call(&words, resp, &mut |bytes| reply.extend_from_slice(bytes)));
        run.unwrap_or_else(|| Err("ERR redis.call can only be called by a script".to_owned()))
    });
    let thrown = match done {
        Ok(()) => match reply.strip_prefix(b"-") {
            None => return reply::value(lua, reply),
            Some(text) => table(text.strip_suffix(b"\r\n").unwrap_or(text), true),
        },
        Err(text) => table(text, false),
    };
    if raises { Err(thrown.error()) } else { thrown_table(lua, &thrown).map(Value::Table) }
}

/// The table that an error is.
pub(crate) fn thrown_table(lua: &Lua, thrown: &Thrown) -> mlua::Result<Table> {
    let error = lua.create_table()?;
    error.raw_set("err", lua.create_string(&thrown.text)?)?;
    if thrown.is_of_command {
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
    guard.slot.with(|server| server.log(level, &texts.join(&b' ')));
    Ok(MultiValue::new())
}

/// `redis.sha1hex(text)`
fn sha1hex(lua: &Lua, args: &Arguments) -> Results {
    if args.len() != 1 {
        return Err(Failure::reply("ERR wrong number of arguments"));
    }
    let text = text_of(args.value(0)).unwrap_or_default();
    crate::arguments::string(lua, crate::sha1::hex(&text))
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
