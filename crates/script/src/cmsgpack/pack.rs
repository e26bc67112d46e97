// SPDX-License-Identifier: Apache-2.0
//! Values to MessagePack.

use crate::arguments::Failure;
use crate::guard::Guard;
use crate::vm::MEMORY_MAX;
use mlua::{Table, Value};

/// Tables that are nested deeper become nil, as in the original.
const DEPTH_MAX: usize = 16;

/// The longest text, in bytes: a longer one does not fit the VM's memory.
const TEXT_MAX: usize = MEMORY_MAX / 2;

/// How many tables are written between two looks at whether the script may go on.
const TABLES: u32 = 1024;

/// Values, one behind the other.
pub(super) fn pack<'a>(
    values: impl Iterator<Item = &'a Value>,
    guard: &Guard,
) -> Result<Vec<u8>, Failure> {
    let mut packer = Packer { out: Vec::new(), tables: 0, guard };
    for value in values {
        packer.value(value, 0)?;
    }
    Ok(packer.out)
}

struct Packer<'a> {
    out: Vec<u8>,
    tables: u32,
    guard: &'a Guard,
}

impl Packer<'_> {
    fn value(&mut self, value: &Value, depth: usize) -> Result<(), Failure> {
        match value {
            Value::String(text) => self.string(&text.as_bytes()),
            Value::Boolean(true) => self.out.push(0xc3),
            Value::Boolean(false) => self.out.push(0xc2),
            Value::Integer(number) => self.integer(*number),
            // Zero with a sign is an integer here.
            Value::Number(0.0) => self.integer(0),
            Value::Number(number) => self.double(*number),
            Value::Table(table) if depth < DEPTH_MAX => self.table(table, depth)?,
            _ => self.out.push(0xc0),
        }
        if self.out.len() > TEXT_MAX { Err(Failure::new("not enough memory")) } else { Ok(()) }
    }

    fn string(&mut self, text: &[u8]) {
        match text.len() {
            len @ 0..32 => self.out.push(0xa0 | len as u8),
            len @ 32..=0xff => self.out.extend_from_slice(&[0xd9, len as u8]),
            len => self.header(0xda, len),
        }
        self.out.extend_from_slice(text);
    }

    /// A length of two bytes behind this byte, or of four behind the next.
    fn header(&mut self, short: u8, len: usize) {
        match u16::try_from(len) {
            Ok(len) => {
                self.out.push(short);
                self.out.extend_from_slice(&len.to_be_bytes());
            }
            Err(_) => {
                self.out.push(short + 1);
                self.out.extend_from_slice(&(len as u32).to_be_bytes());
            }
        }
    }

    fn integer(&mut self, number: i64) {
        let out = &mut self.out;
        match number {
            -32..=127 => out.push(number as u8),
            128..=0xff => out.extend_from_slice(&[0xcc, number as u8]),
            0x100..=0xffff => {
                out.push(0xcd);
                out.extend_from_slice(&(number as u16).to_be_bytes());
            }
            0x1_0000..=0xffff_ffff => {
                out.push(0xce);
                out.extend_from_slice(&(number as u32).to_be_bytes());
            }
            0x1_0000_0000.. => {
                out.push(0xcf);
                out.extend_from_slice(&number.to_be_bytes());
            }
            -0x80..-32 => out.extend_from_slice(&[0xd0, number as u8]),
            -0x8000..-0x80 => {
                out.push(0xd1);
                out.extend_from_slice(&(number as u16).to_be_bytes());
            }
            -0x8000_0000..-0x8000 => {
                out.push(0xd2);
                out.extend_from_slice(&(number as u32).to_be_bytes());
            }
            ..-0x8000_0000 => {
                out.push(0xd3);
                out.extend_from_slice(&number.to_be_bytes());
            }
        }
    }

    fn double(&mut self, number: f64) {
        let single = number as f32;
        if f64::from(single) == number {
            self.out.push(0xca);
            self.out.extend_from_slice(&single.to_be_bytes());
        } else {
            self.out.push(0xcb);
            self.out.extend_from_slice(&number.to_be_bytes());
        }
    }

    fn table(&mut self, table: &Table, depth: usize) -> Result<(), Failure> {
        self.tables += 1;
        if self.tables.is_multiple_of(TABLES) && !self.guard.may_go_on() {
            return Err(Failure::new("the script was ended"));
        }
        let (mut count, mut most, mut is_array) = (0_i64, 0_i64, true);
        for pair in table.pairs::<Value, Value>() {
            count += 1;
            match pair? {
                (Value::Integer(key), _) if key > 0 => most = most.max(key),
                _ => is_array = false,
            }
        }
        if is_array && most == count {
            self.len(0x90, 0xdc, count);
            for at in 1..=count {
                let value: Value = table.raw_get(at)?;
                self.value(&value, depth + 1)?;
            }
            return Ok(());
        }
        self.len(0x80, 0xde, count);
        for pair in table.pairs::<Value, Value>() {
            let (key, value) = pair?;
            self.value(&key, depth + 1)?;
            self.value(&value, depth + 1)?;
        }
        Ok(())
    }

    fn len(&mut self, fixed: u8, short: u8, len: i64) {
        if len < 16 { self.out.push(fixed | len as u8) } else { self.header(short, len as usize) }
    }
}
