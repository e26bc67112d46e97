// SPDX-License-Identifier: Apache-2.0
//! Values to JSON.

use super::{DEPTH_MAX, Invalid, JsonSettings};
use crate::arguments::{Failure, numeric, type_name};
use crate::guard::Guard;
use crate::number::general;
use crate::vm::MEMORY_MAX;
use mlua::{Table, Value};

/// The longest text, in bytes: a longer one does not fit the VM's memory.
const TEXT_MAX: usize = MEMORY_MAX / 2;

/// Bytes of a string that are written between two looks at how long the text is.
const PIECE: usize = 4096;

/// How many tables are written between two looks at whether the script may go on.
const TABLES: u32 = 1024;

/// The same of elements of an array: most of them may be holes, and the last one as far as numbers reach.
const ELEMENTS: i64 = 16 << 10;

/// A value as JSON.
pub(super) fn encode(
    value: &Value,
    settings: &JsonSettings,
    guard: &Guard,
) -> Result<Vec<u8>, Failure> {
    let mut encoder = Encoder { settings, guard, out: Vec::new(), most: TEXT_MAX, tables: 0 };
    encoder.value(value, 0)?;
    Ok(encoder.out)
}

struct Encoder<'a> {
    settings: &'a JsonSettings,
    guard: &'a Guard,
    out: Vec<u8>,
    /// The longest text that is written.
    most: usize,
    tables: u32,
}

impl Encoder<'_> {
    fn value(&mut self, value: &Value, depth: i64) -> Result<(), Failure> {
        match value {
            Value::String(text) => self.string(&text.as_bytes())?,
            Value::Integer(number) => self.number(*number as f64)?,
            Value::Number(number) => self.number(*number)?,
            Value::Boolean(true) => self.out.extend_from_slice(b"true"),
            Value::Boolean(false) => self.out.extend_from_slice(b"false"),
            Value::Nil => self.out.extend_from_slice(b"null"),
            Value::LightUserData(pointer) if pointer.0.is_null() => {
                self.out.extend_from_slice(b"null");
            }
            Value::Table(table) => self.table(table, depth + 1)?,
            other => return Err(cannot(other, "type not supported")),
        }
        self.check_len()
    }

    /// Asks whether the script may go on.
    fn ask(&self) -> Result<(), Failure> {
        if self.guard.may_go_on() { Ok(()) } else { Err(Failure::new("the script was ended")) }
    }

    fn check_len(&self) -> Result<(), Failure> {
        if self.out.len() > self.most { Err(Failure::new("not enough memory")) } else { Ok(()) }
    }

    fn table(&mut self, table: &Table, depth: i64) -> Result<(), Failure> {
        if depth > self.settings.encode_depth.get().min(DEPTH_MAX) {
            let text = format!("Cannot serialise, excessive nesting ({depth})");
            return Err(Failure::new(text));
        }
        self.tables += 1;
        if self.tables.is_multiple_of(TABLES) {
            self.ask()?;
        }
        match self.array_len(table)? {
            Some(len) if len > 0 => self.array(table, len, depth),
            _ => self.object(table, depth),
        }
    }

    /// The length of a table that is an array: all its keys are positive integers.
    fn array_len(&self, table: &Table) -> Result<Option<i64>, Failure> {
        let (mut most, mut count) = (0_i64, 0_i64);
        for pair in table.pairs::<Value, Value>() {
            match pair? {
                (Value::Integer(key), _) if key > 0 => {
                    most = most.max(key);
                    count += 1;
                }
                _ => return Ok(None),
            }
        }
        let (ratio, safe) = (self.settings.sparse_ratio.get(), self.settings.sparse_safe.get());
        if ratio > 0 && most > count.saturating_mul(ratio) && most > safe {
            if !self.settings.sparse_convert.get() {
                let table = Value::Table(table.clone());
                return Err(cannot(&table, "excessively sparse array"));
            }
            return Ok(None);
        }
        Ok(Some(most))
    }

    fn array(&mut self, table: &Table, len: i64, depth: i64) -> Result<(), Failure> {
        self.out.push(b'[');
        for at in 1..=len {
            if at > 1 {
                self.out.push(b',');
            }
            if at % ELEMENTS == 0 {
                self.ask()?;
            }
            let value: Value = table.raw_get(at)?;
            self.value(&value, depth)?;
        }
        self.out.push(b']');
        Ok(())
    }

    fn object(&mut self, table: &Table, depth: i64) -> Result<(), Failure> {
        self.out.push(b'{');
        let mut is_first = true;
        for pair in table.pairs::<Value, Value>() {
            let (key, value) = pair?;
            if !std::mem::take(&mut is_first) {
                self.out.push(b',');
            }
            self.key(&key)?;
            self.value(&value, depth)?;
        }
        self.out.push(b'}');
        Ok(())
    }

    fn key(&mut self, key: &Value) -> Result<(), Failure> {
        match key {
            Value::String(text) => self.string(&text.as_bytes())?,
            Value::Integer(_) | Value::Number(_) => {
                self.out.push(b'"');
                self.number(numeric(key).unwrap_or_default())?;
                self.out.push(b'"');
            }
            other => return Err(cannot(other, "table key must be a number or string")),
        }
        self.out.push(b':');
        Ok(())
    }

    fn number(&mut self, number: f64) -> Result<(), Failure> {
        if !number.is_finite() {
            match self.settings.encode_invalid.get() {
                Invalid::Refused => {
                    return Err(Failure::new("Cannot serialise number: must not be NaN or Inf"));
                }
                Invalid::Null => {
                    self.out.extend_from_slice(b"null");
                    return Ok(());
                }
                Invalid::Written if number.is_nan() => {
                    self.out.extend_from_slice(b"nan");
                    return Ok(());
                }
                Invalid::Written => {}
            }
        }
        let precision = self.settings.precision.get() as usize;
        self.out.extend_from_slice(general(number, precision).as_bytes());
        Ok(())
    }

    fn string(&mut self, text: &[u8]) -> Result<(), Failure> {
        self.out.push(b'"');
        // Escaped it may be six times as long.
        for piece in text.chunks(PIECE) {
            piece.iter().for_each(|byte| self.byte(*byte));
            self.check_len()?;
        }
        self.out.push(b'"');
        Ok(())
    }

    fn byte(&mut self, byte: u8) {
        let escape = match byte {
            b'"' => b'"',
            b'\\' => b'\\',
            b'/' => b'/',
            b'\x08' => b'b',
            b'\t' => b't',
            b'\n' => b'n',
            b'\x0c' => b'f',
            b'\r' => b'r',
            0..0x20 | 0x7f => {
                return self.out.extend_from_slice(format!("\\u{byte:04x}").as_bytes());
            }
            _ => return self.out.push(byte),
        };
        self.out.extend_from_slice(&[b'\\', escape]);
    }
}

fn cannot(value: &Value, why: &str) -> Failure {
    Failure::new(format!("Cannot serialise {}: {why}", type_name(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_written_than_there_may_be() {
        let (settings, guard) = (JsonSettings::default(), Guard::default());
        let (most, out) = (10 * PIECE, Vec::new());
        let mut encoder = Encoder { settings: &settings, guard: &guard, out, most, tables: 0 };
        let outcome = encoder.string(&[1; 100 * PIECE]);
        assert!(matches!(outcome, Err(Failure::Text(text)) if text == b"not enough memory"));
        assert!(encoder.out.len() <= most + 6 * PIECE, "{}", encoder.out.len());
    }
}
