// SPDX-License-Identifier: Apache-2.0
//! Values to JSON.

use super::{DEPTH_MAX, Invalid, JsonSettings};
use crate::arguments::{Failure, numeric, type_name};
use crate::guard::Guard;
use crate::number::{general, whole};
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
        match whole(number, precision) {
            Some(whole) => {
                self.out.extend_from_slice(itoa::Buffer::new().format(whole).as_bytes());
            }
            None => self.out.extend_from_slice(general(number, precision).as_bytes()),
        }
        Ok(())
    }

    fn string(&mut self, text: &[u8]) -> Result<(), Failure> {
        self.out.push(b'"');
        // Escaped it may be six times as long.
        for mut piece in text.chunks(PIECE) {
            while let Some(at) = piece.iter().position(|byte| escape(*byte) != PLAIN) {
                self.out.extend_from_slice(&piece[..at]);
                self.escaped(piece[at]);
                piece = &piece[at + 1..];
            }
            self.out.extend_from_slice(piece);
            self.check_len()?;
        }
        self.out.push(b'"');
        Ok(())
    }

    fn escaped(&mut self, byte: u8) {
        match escape(byte) {
            b'u' => {
                let digit = |value: u8| b"0123456789abcdef"[usize::from(value)];
                let digits = [digit(byte >> 4), digit(byte & 15)];
                self.out.extend_from_slice(&[b'\\', b'u', b'0', b'0', digits[0], digits[1]]);
            }
            letter => self.out.extend_from_slice(&[b'\\', letter]),
        }
    }
}

/// The letter of a byte that is written as it is.
const PLAIN: u8 = 0;

/// The letter that is written behind a backslash for each byte; `u` is followed by four digits.
const ESCAPES: [u8; 256] = {
    let mut letters = [PLAIN; 256];
    let mut at = 0;
    while at < 0x20 {
        letters[at] = b'u';
        at += 1;
    }
    letters[0x7f] = b'u';
    letters[b'"' as usize] = b'"';
    letters[b'\\' as usize] = b'\\';
    letters[b'/' as usize] = b'/';
    letters[0x08] = b'b';
    letters[b'\t' as usize] = b't';
    letters[b'\n' as usize] = b'n';
    letters[0x0c] = b'f';
    letters[b'\r' as usize] = b'r';
    letters
};

fn escape(byte: u8) -> u8 {
    ESCAPES[usize::from(byte)]
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

    #[test]
    fn each_byte_is_written_as_redis_writes_it() {
        let (settings, guard) = (JsonSettings::default(), Guard::default());
        for byte in 0..=u8::MAX {
            let (most, out) = (TEXT_MAX, Vec::new());
            let mut encoder = Encoder { settings: &settings, guard: &guard, out, most, tables: 0 };
            assert!(encoder.string(&[b'a', byte, b'b', byte]).is_ok());
            let written = match byte {
                b'"' | b'\\' | b'/' => vec![b'\\', byte],
                b'\x08' => b"\\b".to_vec(),
                b'\t' => b"\\t".to_vec(),
                b'\n' => b"\\n".to_vec(),
                b'\x0c' => b"\\f".to_vec(),
                b'\r' => b"\\r".to_vec(),
                0..0x20 | 0x7f => format!("\\u{byte:04x}").into_bytes(),
                _ => vec![byte],
            };
            assert_eq!(encoder.out, [b"\"a", &written[..], b"b", &written, b"\""].concat());
        }
    }
}
