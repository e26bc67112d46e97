// SPDX-License-Identifier: Apache-2.0
//! Replies of commands to values of Lua. The replies are ours, so what is malformed becomes nil.

use mlua::{Lua, Result, Table, Value};

/// How deep replies are nested at most.
const DEPTH_MAX: usize = 64;

/// The value of a whole reply.
pub(crate) fn value(lua: &Lua, reply: &[u8]) -> Result<Value> {
    Reader { lua, rest: reply }.value(0)
}

struct Reader<'a> {
    lua: &'a Lua,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: usize) -> Result<Value> {
        let line = self.line();
        let Some((kind, text)) = line.split_first().filter(|_| depth < DEPTH_MAX) else {
            return Ok(Value::Nil);
        };
        let len = || values_len(text);
        Ok(match kind {
            b'$' => match len() {
                Some(len) => Value::String(self.lua.create_string(self.bulk(len))?),
                None => Value::Boolean(false),
            },
            b':' => Value::Integer(number(text)),
            b'+' => self.field("ok", text)?,
            b'-' => self.field("err", text)?,
            b'*' | b'>' => match len() {
                Some(len) => self.array(len, depth)?,
                None => Value::Boolean(false),
            },
            b'%' => {
                let pairs = self.lua.create_table()?;
                for _ in 0..len().unwrap_or(0) {
                    let key = self.value(depth + 1)?;
                    let value = self.value(depth + 1)?;
                    if !key.is_nil() {
                        pairs.raw_set(key, value)?;
                    }
                }
                self.wrap("map", Value::Table(pairs))?
            }
            b'~' => {
                let set = self.lua.create_table()?;
                for _ in 0..len().unwrap_or(0) {
                    let member = self.value(depth + 1)?;
                    if !member.is_nil() {
                        set.raw_set(member, true)?;
                    }
                }
                self.wrap("set", Value::Table(set))?
            }
            b'#' => Value::Boolean(text == b"t"),
            b',' => {
                let text = std::str::from_utf8(text).unwrap_or_default();
                self.wrap("double", Value::Number(text.parse().unwrap_or(f64::NAN)))?
            }
            b'(' => self.field("big_number", text)?,
            b'=' => {
                let text = self.bulk(len().unwrap_or(0));
                let (format, text) = text.split_at_checked(4).unwrap_or((b"txt:", text));
                let table = self.lua.create_table()?;
                table.raw_set("string", self.lua.create_string(text)?)?;
                table.raw_set("format", self.lua.create_string(&format[..3])?)?;
                self.wrap("verbatim_string", Value::Table(table))?
            }
            b'|' => {
                for _ in 0..2 * len().unwrap_or(0) {
                    self.value(depth + 1)?;
                }
                self.value(depth)?
            }
            _ => Value::Nil,
        })
    }

    fn array(&mut self, len: usize, depth: usize) -> Result<Value> {
        let table = self.lua.create_table_with_capacity(len.min(self.rest.len()), 0)?;
        for i in 1..=len {
            let value = self.value(depth + 1)?;
            table.raw_set(i, value)?;
        }
        Ok(Value::Table(table))
    }

    fn field(&self, name: &str, text: &[u8]) -> Result<Value> {
        self.wrap(name, Value::String(self.lua.create_string(text)?))
    }

    fn wrap(&self, name: &str, value: Value) -> Result<Value> {
        let table: Table = self.lua.create_table()?;
        table.raw_set(name, value)?;
        Ok(Value::Table(table))
    }

    /// The next line, without its end.
    fn line(&mut self) -> &'a [u8] {
        let end = memchr::memchr(b'\n', self.rest).unwrap_or(self.rest.len());
        let line = &self.rest[..end];
        self.rest = self.rest.get(end + 1..).unwrap_or_default();
        line.strip_suffix(b"\r").unwrap_or(line)
    }

    /// The next bytes, and the line end behind them.
    fn bulk(&mut self, len: usize) -> &'a [u8] {
        let (text, rest) = self.rest.split_at(len.min(self.rest.len()));
        self.rest = rest.get(2..).unwrap_or_default();
        text
    }
}

fn number(text: &[u8]) -> i64 {
    std::str::from_utf8(text).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// A length; a negative one is that of no value.
fn values_len(text: &[u8]) -> Option<usize> {
    usize::try_from(number(text)).ok()
}
