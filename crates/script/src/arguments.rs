// SPDX-License-Identifier: Apache-2.0
//! The arguments and results of functions that are written in Rust.
//!
//! An error of such a function is a userdata in Lua. Where a script can catch it, `prelude.lua` makes of it what
//! the original raises: a text, or for the library `redis` a table.

use crate::number::{LUA_DIGITS, general};
use crate::strtod::parse_number;
use mlua::{BorrowedBytes, Function, Lua, MultiValue, Value};
use std::fmt;
use std::ops::Deref;

/// What a function fails with.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error with a text, in front of which comes the place.
    Text(Vec<u8>),
    /// An error of the library `redis`: a table with this text.
    Reply(Vec<u8>),
    /// Lua has no memory, or no stack.
    Lua(mlua::Error),
}

impl Failure {
    /// Of the library `redis`.
    pub(crate) fn reply(text: impl Into<Vec<u8>>) -> Self {
        Failure::Reply(text.into())
    }

    /// With a text.
    pub(crate) fn new(text: impl Into<Vec<u8>>) -> Self {
        Failure::Text(text.into())
    }
}

impl From<mlua::Error> for Failure {
    fn from(error: mlua::Error) -> Self {
        Failure::Lua(error)
    }
}

/// An error as it is raised.
#[derive(Clone, Debug)]
pub(crate) struct Thrown {
    /// With the place in front, if it has one.
    pub(crate) text: Vec<u8>,
    /// It is a table in Lua.
    pub(crate) is_table: bool,
    /// It is the reply to a command.
    pub(crate) was_counted: bool,
}

impl fmt::Display for Thrown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&String::from_utf8_lossy(&self.text))
    }
}

impl std::error::Error for Thrown {}

impl Thrown {
    /// As an error that a function returns.
    pub(crate) fn error(self) -> mlua::Error {
        mlua::Error::external(self)
    }

    /// What an error is that a function has returned, if it is one of these.
    pub(crate) fn of(error: &mlua::Error) -> Option<&Thrown> {
        match error {
            mlua::Error::CallbackError { cause, .. } => Thrown::of(cause),
            other => other.downcast_ref(),
        }
    }
}

/// The place of the function's caller, as Lua writes it in front of an error; nothing if that is no script.
fn place(lua: &Lua) -> Vec<u8> {
    for level in 1.. {
        let found = lua.inspect_stack(level, |debug| {
            let source = debug.source();
            let is_ours = source.source.as_deref() == Some("=prelude") || source.what == "tail";
            let short = source.short_src.unwrap_or_default();
            let line = debug.current_line().filter(|_| source.what != "C");
            let text = line.map(|line| format!("{short}:{line}: ").into_bytes());
            (is_ours, text.unwrap_or_default())
        });
        match found {
            Some((true, _)) => {}
            Some((false, place)) => return place,
            None => break,
        }
    }
    Vec::new()
}

/// The results of a function.
pub(crate) type Results = Result<MultiValue, Failure>;

/// A function for `prelude.lua`.
pub(crate) fn function(
    lua: &Lua,
    work: impl Fn(&Lua, Arguments) -> Results + 'static,
) -> mlua::Result<Function> {
    lua.create_function(move |lua, values: MultiValue| match work(lua, Arguments(values)) {
        Ok(results) => Ok(results),
        Err(Failure::Text(text)) => {
            let text = [place(lua), text].concat();
            Err(Thrown { text, is_table: false, was_counted: false }.error())
        }
        Err(Failure::Reply(text)) => {
            Err(Thrown { text, is_table: true, was_counted: false }.error())
        }
        Err(Failure::Lua(error)) => Err(error),
    })
}

/// One result.
pub(crate) fn one(value: Value) -> Results {
    Ok(MultiValue::from_iter([value]))
}

/// One result, a string.
pub(crate) fn string(lua: &Lua, text: impl AsRef<[u8]>) -> Results {
    one(Value::String(lua.create_string(text)?))
}

/// The arguments of a function.
#[derive(Debug)]
pub(crate) struct Arguments(pub(crate) MultiValue);

impl Arguments {
    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// The argument at `at`, from 0; nil if there are fewer.
    pub(crate) fn value(&self, at: usize) -> &Value {
        self.0.get(at).unwrap_or(&Value::Nil)
    }

    /// The argument at `at` as text; numbers are text, too. No string is copied.
    pub(crate) fn text(&self, at: usize, function: &str) -> Result<LuaText, Failure> {
        match text_of(self.value(at)) {
            Some(text) => Ok(text),
            None => Err(self.wrong(at, function, "string")),
        }
    }

    /// The argument at `at` as a number; text may be a number, too.
    pub(crate) fn number(&self, at: usize, function: &str) -> Result<f64, Failure> {
        number_of(self.value(at)).ok_or_else(|| self.wrong(at, function, "number"))
    }

    /// The same, or `default` if there is none.
    pub(crate) fn number_or(
        &self,
        at: usize,
        function: &str,
        default: f64,
    ) -> Result<f64, Failure> {
        if self.value(at).is_nil() { Ok(default) } else { self.number(at, function) }
    }

    /// The error for an argument of another type.
    pub(crate) fn wrong(&self, at: usize, function: &str, expected: &str) -> Failure {
        let got = self.0.get(at).map_or("no value", type_name);
        bad(at, function, &format!("{expected} expected, got {got}"))
    }
}

/// The error for the argument at `at`, from 0.
pub(crate) fn bad(at: usize, function: &str, why: &str) -> Failure {
    Failure::new(format!("bad argument #{} to '{function}' ({why})", at + 1))
}

/// The bytes of a value. A script may give a function the same long string again and again, with other offsets.
#[derive(Debug)]
pub(crate) enum LuaText {
    /// A string, where Lua has it.
    String(BorrowedBytes),
    /// The digits of a number.
    Digits(String),
}

impl Deref for LuaText {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match self {
            LuaText::String(bytes) => bytes,
            LuaText::Digits(digits) => digits.as_bytes(),
        }
    }
}

impl AsRef<[u8]> for LuaText {
    fn as_ref(&self) -> &[u8] {
        self
    }
}

/// A value as text, if it is text or a number.
pub(crate) fn text_of(value: &Value) -> Option<LuaText> {
    match value {
        Value::String(text) => Some(LuaText::String(text.as_bytes())),
        other => numeric(other).map(|number| LuaText::Digits(general(number, LUA_DIGITS))),
    }
}

/// A value as a number, if it is one.
pub(crate) fn numeric(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => Some(*number),
        Value::Integer(number) => Some(*number as f64),
        _ => None,
    }
}

/// A value as a number, if it is a number or text that says one.
pub(crate) fn number_of(value: &Value) -> Option<f64> {
    match value {
        Value::String(text) => parse_number(&text.as_bytes()),
        other => numeric(other),
    }
}

/// The name of a value's type.
pub(crate) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Nil => "nil",
        Value::Boolean(_) => "boolean",
        Value::LightUserData(_) | Value::UserData(_) | Value::Error(_) => "userdata",
        Value::Integer(_) | Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Table(_) => "table",
        Value::Function(_) => "function",
        Value::Thread(_) => "thread",
        _ => "userdata",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_not_copied() {
        let lua = Lua::new();
        let long = Value::String(lua.create_string([b'x'; 1000]).unwrap());
        let args = Arguments(MultiValue::from_iter([long.clone(), Value::Number(1.5)]));
        let place = |text: &LuaText| text.as_ptr();
        let again = [args.text(0, "find").unwrap(), text_of(&long).unwrap()];
        assert_eq!(place(&again[0]), place(&again[1]));
        assert_eq!(again[0].len(), 1000);
        assert_eq!(*args.text(1, "find").unwrap(), *b"1.5");
        assert!(args.text(2, "find").is_err());
    }
}
