// SPDX-License-Identifier: Apache-2.0
//! JSON to values.
//!
//! Numbers are read by C's `strtod`, so hexadecimal ones and those without a value are numbers, too, unless the
//! script has said otherwise. A zero byte is the end of the text.

use super::{DEPTH_MAX, JsonSettings, null};
use crate::arguments::Failure;
use crate::strtod::{begins_with, strtod};
use mlua::{Lua, Value};
use std::borrow::Cow;

/// The value of a text.
pub(super) fn decode(lua: &Lua, text: &[u8], settings: &JsonSettings) -> Result<Value, Failure> {
    if text.len() >= 2 && (text[0] == 0 || text[1] == 0) {
        return Err(Failure::new("JSON parser does not support UTF-16 or UTF-32"));
    }
    let mut decoder = Decoder { lua, text, at: 0, depth: 0, settings };
    let first = decoder.token();
    let value = decoder.value(first)?;
    let end = decoder.token();
    if end.kind == Kind::End { Ok(value) } else { Err(end.unexpected("the end")) }
}

struct Token<'a> {
    kind: Kind<'a>,
    /// Where it begins.
    at: usize,
}

#[derive(PartialEq)]
enum Kind<'a> {
    ObjectBegin,
    ObjectEnd,
    ArrayBegin,
    ArrayEnd,
    /// Where it is in the text, if nothing is escaped.
    String(Cow<'a, [u8]>),
    Number(f64),
    Boolean(bool),
    Null,
    Colon,
    Comma,
    End,
    Error(&'static str),
}

impl Token<'_> {
    #[cold]
    fn unexpected(&self, expected: &str) -> Failure {
        let found = match self.kind {
            Kind::ObjectBegin => "T_OBJ_BEGIN",
            Kind::ObjectEnd => "T_OBJ_END",
            Kind::ArrayBegin => "T_ARR_BEGIN",
            Kind::ArrayEnd => "T_ARR_END",
            Kind::String(_) => "T_STRING",
            Kind::Number(_) => "T_NUMBER",
            Kind::Boolean(_) => "T_BOOLEAN",
            Kind::Null => "T_NULL",
            Kind::Colon => "T_COLON",
            Kind::Comma => "T_COMMA",
            Kind::End => "T_END",
            Kind::Error(what) => what,
        };
        let at = self.at + 1;
        Failure::new(format!("Expected {expected} but found {found} at character {at}"))
    }
}

struct Decoder<'a> {
    lua: &'a Lua,
    text: &'a [u8],
    at: usize,
    depth: i64,
    settings: &'a JsonSettings,
}

impl<'a> Decoder<'a> {
    /// The byte at a place; zero at the end.
    fn byte(&self, at: usize) -> u8 {
        self.text.get(at).copied().unwrap_or(0)
    }

    fn token(&mut self) -> Token<'a> {
        while matches!(self.byte(self.at), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
        let at = self.at;
        let simple = match self.byte(at) {
            b'{' => Kind::ObjectBegin,
            b'}' => Kind::ObjectEnd,
            b'[' => Kind::ArrayBegin,
            b']' => Kind::ArrayEnd,
            b':' => Kind::Colon,
            b',' => Kind::Comma,
            0 => return Token { kind: Kind::End, at },
            b'"' => return self.string(),
            _ => return self.word(),
        };
        self.at += 1;
        Token { kind: simple, at }
    }

    fn word(&mut self) -> Token<'a> {
        let at = self.at;
        let rest = &self.text[at..];
        let words = [
            (&b"true"[..], Kind::Boolean(true)),
            (b"false", Kind::Boolean(false)),
            (b"null", Kind::Null),
        ];
        let is_number = matches!(rest[0], b'-' | b'0'..=b'9');
        let allows_invalid = self.settings.decode_invalid.get();
        if is_number && !allows_invalid && is_invalid(rest) {
            return Token { kind: Kind::Error("invalid number"), at };
        }
        if !is_number {
            for (word, kind) in words {
                if rest.starts_with(word) {
                    self.at += word.len();
                    return Token { kind, at };
                }
            }
            let may_begin = matches!(rest[0], b'+' | b'i' | b'I' | b'n' | b'N');
            if !(may_begin && allows_invalid && is_invalid(rest)) {
                return Token { kind: Kind::Error("invalid token"), at };
            }
        }
        match strtod(rest) {
            Some((number, len)) => {
                self.at += len;
                Token { kind: Kind::Number(number), at }
            }
            None => Token { kind: Kind::Error("invalid number"), at },
        }
    }

    fn string(&mut self) -> Token<'a> {
        let start = self.at;
        self.at += 1;
        let mut text = Cow::Borrowed(self.plain());
        loop {
            match self.byte(self.at) {
                b'"' => break,
                b'\\' => {
                    if let Err(what) = self.escape(text.to_mut()) {
                        return Token { kind: Kind::Error(what), at: self.at };
                    }
                    text.to_mut().extend_from_slice(self.plain());
                }
                _ => {
                    return Token { kind: Kind::Error("unexpected end of string"), at: self.at };
                }
            }
        }
        self.at += 1;
        Token { kind: Kind::String(text), at: start }
    }

    /// The bytes of a string up to its end or to the next that is escaped.
    fn plain(&mut self) -> &'a [u8] {
        let rest = &self.text[self.at..];
        let len = memchr::memchr3(b'"', b'\\', 0, rest).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    fn escape(&mut self, text: &mut Vec<u8>) -> Result<(), &'static str> {
        let byte = match self.byte(self.at + 1) {
            b'u' => return self.unicode(text).ok_or("invalid unicode escape code"),
            b'b' => b'\x08',
            b't' => b'\t',
            b'n' => b'\n',
            b'f' => b'\x0c',
            b'r' => b'\r',
            byte @ (b'"' | b'\\' | b'/') => byte,
            _ => return Err("invalid escape code"),
        };
        text.push(byte);
        self.at += 2;
        Ok(())
    }

    fn unicode(&mut self, text: &mut Vec<u8>) -> Option<()> {
        let mut code = self.hex(self.at + 2)?;
        let mut len = 6;
        if code & 0xf800 == 0xd800 {
            let is_high = code & 0x400 == 0;
            let is_pair = self.byte(self.at + 6) == b'\\' && self.byte(self.at + 7) == b'u';
            if !is_high || !is_pair {
                return None;
            }
            let low = self.hex(self.at + 8)?;
            if low & 0xfc00 != 0xdc00 {
                return None;
            }
            code = ((code & 0x3ff) << 10) + (low & 0x3ff) + 0x1_0000;
            len = 12;
        }
        let symbol = char::from_u32(code)?;
        text.extend_from_slice(symbol.encode_utf8(&mut [0; 4]).as_bytes());
        self.at += len;
        Some(())
    }

    fn hex(&self, at: usize) -> Option<u32> {
        let digits = self.text.get(at..at + 4)?;
        digits.iter().try_fold(0, |sum, digit| Some(sum * 16 + char::from(*digit).to_digit(16)?))
    }

    fn value(&mut self, token: Token<'a>) -> Result<Value, Failure> {
        Ok(match token.kind {
            Kind::String(text) => Value::String(self.lua.create_string(text)?),
            Kind::Number(number) => Value::Number(number),
            Kind::Boolean(value) => Value::Boolean(value),
            Kind::Null => null(),
            Kind::ObjectBegin => self.object()?,
            Kind::ArrayBegin => self.array()?,
            _ => return Err(token.unexpected("value")),
        })
    }

    fn descend(&mut self) -> Result<(), Failure> {
        self.depth += 1;
        if self.depth <= self.settings.decode_depth.get().min(DEPTH_MAX) {
            return Ok(());
        }
        let (depth, at) = (self.depth, self.at);
        let text = format!("Found too many nested data structures ({depth}) at character {at}");
        Err(Failure::new(text))
    }

    fn object(&mut self) -> Result<Value, Failure> {
        self.descend()?;
        let table = self.lua.create_table()?;
        let mut token = self.token();
        let mut may_end = true;
        loop {
            let key = match token.kind {
                Kind::ObjectEnd if may_end => break,
                Kind::String(key) => key,
                _ => return Err(token.unexpected("object key string")),
            };
            may_end = false;
            let colon = self.token();
            if colon.kind != Kind::Colon {
                return Err(colon.unexpected("colon"));
            }
            let first = self.token();
            let value = self.value(first)?;
            table.raw_set(self.lua.create_string(key)?, value)?;
            let next = self.token();
            match next.kind {
                Kind::ObjectEnd => break,
                Kind::Comma => token = self.token(),
                _ => return Err(next.unexpected("comma or object end")),
            }
        }
        self.depth -= 1;
        Ok(Value::Table(table))
    }

    fn array(&mut self) -> Result<Value, Failure> {
        self.descend()?;
        let table = self.lua.create_table()?;
        let mut token = self.token();
        if token.kind != Kind::ArrayEnd {
            for at in 1.. {
                let value = self.value(token)?;
                table.raw_set(at, value)?;
                let next = self.token();
                match next.kind {
                    Kind::ArrayEnd => break,
                    Kind::Comma => token = self.token(),
                    _ => return Err(next.unexpected("comma or array end")),
                }
            }
        }
        self.depth -= 1;
        Ok(Value::Table(table))
    }
}

/// Whether a number is one that JSON does not have, though C has it.
fn is_invalid(text: &[u8]) -> bool {
    let digits = match text.first() {
        Some(b'+') => return true,
        Some(b'-') => &text[1..],
        _ => text,
    };
    match digits {
        [b'0', next, ..] => matches!(next, b'x' | b'X' | b'0'..=b'9'),
        _ => begins_with(digits, b"inf") || begins_with(digits, b"nan"),
    }
}
