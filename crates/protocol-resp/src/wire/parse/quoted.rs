// SPDX-License-Identifier: Apache-2.0
//! An inline request with quotes, or with more words than a request stores spans for.
//!
//! Between double quotes `\n`, `\r`, `\t`, `\b`, `\a` and `\xHH` stand for a byte, and a backslash
//! before any other byte for that byte; between single quotes only `\'` does. Quotes may start
//! inside a word, as in a shell, but must end one.
//!
//! Such a request is converted to an array, which the request owns.

use super::inline::{ends_word, is_space, skip_space};
use super::request::Request;
use crate::wire::client::Encoder;

/// The request in `line`, which has at least a word; `None` if its quotes do not end as they
/// should.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
pub(super) fn request(line: &[u8]) -> Option<Request<'static>> {
    let mut text = Vec::with_capacity(line.len());
    let mut ends = Vec::new();
    let mut at = skip_space(line, 0);
    while at < line.len() {
        at = skip_space(line, word(line, at, &mut text)?);
        ends.push(text.len());
    }
    let mut body = Vec::with_capacity(text.len() + 16 * ends.len());
    let mut encoder = Encoder::new(&mut body);
    encoder.begin(ends.len());
    let mut start = 0;
    for &end in &ends {
        encoder.arg(&text[start..end]);
        start = end;
    }
    Some(Request::owned(body, u32::try_from(ends.len()).ok()?))
}

/// Appends the word at `at` to `text`, without its quotes; where it ends in `line`.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
fn word(line: &[u8], mut at: usize, text: &mut Vec<u8>) -> Option<usize> {
    while let Some(&byte) = line.get(at) {
        match byte {
            b'"' => return closed(line, double(line, at + 1, text)?),
            b'\'' => return closed(line, single(line, at + 1, text)?),
            _ if ends_word(byte) => break,
            _ => text.push(byte),
        }
        at += 1;
    }
    Some(at)
}

/// White space or nothing must follow a closing quote, which is before `at`.
fn closed(line: &[u8], at: usize) -> Option<usize> {
    line.get(at).is_none_or(|&byte| is_space(byte)).then_some(at)
}

/// Appends what is between double quotes from `at` on; where it ends.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
fn double(line: &[u8], mut at: usize, text: &mut Vec<u8>) -> Option<usize> {
    loop {
        let (byte, len) = match line[at..] {
            [] => return None,
            [b'"', ..] => return Some(at + 1),
            [b'\\', b'x', high, low, ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                (hex(high) << 4 | hex(low), 4)
            }
            [b'\\', escaped, ..] => (unescape(escaped), 2),
            [byte, ..] => (byte, 1),
        };
        text.push(byte);
        at += len;
    }
}

/// Appends what is between single quotes from `at` on; where it ends.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
fn single(line: &[u8], mut at: usize, text: &mut Vec<u8>) -> Option<usize> {
    loop {
        let (byte, len) = match line[at..] {
            [] => return None,
            [b'\'', ..] => return Some(at + 1),
            [b'\\', b'\'', ..] => (b'\'', 2),
            [byte, ..] => (byte, 1),
        };
        text.push(byte);
        at += len;
    }
}

fn unescape(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 0x08,
        b'a' => 0x07,
        other => other,
    }
}

/// The value of a hexadecimal digit.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
fn hex(digit: u8) -> u8 {
    match digit {
        b'0'..=b'9' => digit - b'0',
        _ => (digit | 0x20) - b'a' + 10,
    }
}
