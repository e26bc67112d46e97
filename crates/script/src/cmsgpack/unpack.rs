// SPDX-License-Identifier: Apache-2.0
//! MessagePack to values.

use super::too_deep;
use crate::arguments::Failure;
use mlua::{Lua, MultiValue, Value};

/// How deep arrays and maps are nested at most.
const DEPTH_MAX: usize = 1000;

/// So many values, and how many bytes are left behind them.
pub(super) fn unpack(lua: &Lua, text: &[u8], most: usize) -> Result<(MultiValue, usize), Failure> {
    let mut reader = Reader { lua, rest: text };
    let mut values = MultiValue::new();
    while !reader.rest.is_empty() && values.len() < most {
        values.push_back(reader.value(0)?);
    }
    Ok((values, reader.rest.len()))
}

struct Reader<'a> {
    lua: &'a Lua,
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn value(&mut self, depth: usize) -> Result<Value, Failure> {
        if depth > DEPTH_MAX {
            return Err(too_deep("unpack"));
        }
        let [kind] = self.bytes()?;
        Ok(match kind {
            0x00..=0x7f => Value::Integer(i64::from(kind)),
            0xe0..=0xff => Value::Integer(i64::from(kind as i8)),
            0x80..=0x8f => self.map(u32::from(kind & 15), depth)?,
            0x90..=0x9f => self.array(u32::from(kind & 15), depth)?,
            0xa0..=0xbf => self.string(u32::from(kind & 31))?,
            0xc0 => Value::Nil,
            0xc2 => Value::Boolean(false),
            0xc3 => Value::Boolean(true),
            0xca => Value::Number(f64::from(f32::from_be_bytes(self.bytes()?))),
            0xcb => Value::Number(f64::from_be_bytes(self.bytes()?)),
            0xcc => Value::Integer(i64::from(u8::from_be_bytes(self.bytes()?))),
            0xcd => Value::Integer(i64::from(u16::from_be_bytes(self.bytes()?))),
            0xce => Value::Integer(i64::from(u32::from_be_bytes(self.bytes()?))),
            // The original reads large unsigned numbers as signed ones, too.
            0xcf | 0xd3 => Value::Integer(i64::from_be_bytes(self.bytes()?)),
            0xd0 => Value::Integer(i64::from(i8::from_be_bytes(self.bytes()?))),
            0xd1 => Value::Integer(i64::from(i16::from_be_bytes(self.bytes()?))),
            0xd2 => Value::Integer(i64::from(i32::from_be_bytes(self.bytes()?))),
            0xd9 => {
                let [len] = self.bytes()?;
                self.string(u32::from(len))?
            }
            0xda => {
                let len = u16::from_be_bytes(self.bytes()?);
                self.string(u32::from(len))?
            }
            0xdb => {
                let len = u32::from_be_bytes(self.bytes()?);
                self.string(len)?
            }
            0xdc => {
                let len = u16::from_be_bytes(self.bytes()?);
                self.array(u32::from(len), depth)?
            }
            0xdd => {
                let len = u32::from_be_bytes(self.bytes()?);
                self.array(len, depth)?
            }
            0xde => {
                let len = u16::from_be_bytes(self.bytes()?);
                self.map(u32::from(len), depth)?
            }
            0xdf => {
                let len = u32::from_be_bytes(self.bytes()?);
                self.map(len, depth)?
            }
            _ => return Err(Failure::new("Bad data format in input.")),
        })
    }

    fn bytes<const N: usize>(&mut self) -> Result<[u8; N], Failure> {
        let (bytes, rest) = self.rest.split_first_chunk().ok_or_else(missing)?;
        self.rest = rest;
        Ok(*bytes)
    }

    fn string(&mut self, len: u32) -> Result<Value, Failure> {
        let (text, rest) = self.rest.split_at_checked(len as usize).ok_or_else(missing)?;
        self.rest = rest;
        Ok(Value::String(self.lua.create_string(text)?))
    }

    fn array(&mut self, len: u32, depth: usize) -> Result<Value, Failure> {
        let table = self.lua.create_table()?;
        for at in 1..=len {
            let value = self.value(depth + 1)?;
            table.raw_set(at, value)?;
        }
        Ok(Value::Table(table))
    }

    fn map(&mut self, len: u32, depth: usize) -> Result<Value, Failure> {
        let table = self.lua.create_table()?;
        for _ in 0..len {
            let key = self.value(depth + 1)?;
            let value = self.value(depth + 1)?;
            match key {
                Value::Nil => return Err(Failure::new("table index is nil")),
                Value::Number(key) if key.is_nan() => {
                    return Err(Failure::new("table index is NaN"));
                }
                key => table.raw_set(key, value)?,
            }
        }
        Ok(Value::Table(table))
    }
}

#[cold]
fn missing() -> Failure {
    Failure::new("Missing bytes in input.")
}
