// SPDX-License-Identifier: Apache-2.0
//! The most common requests in their most common form, parsed in one pass.
//!
//! It allocates nothing and reads each byte of the line once. Of the body of a `set` or `ms` it reads only
//! the line end.

use super::{found, set};
use crate::command::CommandId;
use crate::exptime::Exptime;
use crate::op::{Act, Get, KEY_MAX, Meta, Mode, Op, Set};
use crate::parse::meta::{self, Flags};
use crate::parse::{LINE_MAX, Step, WHOLE_MAX_PACKED};
use crate::reply::Text;
use crate::request::Request;

/// Parses `get <key>`, `gets <key>`, `set <key> <flags> <exptime> <bytes> [noreply]`, `mg` and `ms` with single spaces,
/// plain numbers, right flags, a value of up to `sure_max` bytes and `\r\n`. `None` for everything else, lines that are unfinished
/// or longer than [`LINE_MAX`], and values that [may be](is_doubtful) taken in pieces, included.
#[inline]
pub(super) fn parse(input: &[u8], sure_max: usize) -> Option<Step<'_>> {
    match input.first_chunk::<4>()? {
        b"get " => get(input, 4, CommandId::Get, false),
        b"set " => set(input, sure_max),
        [b'm', b'g', b' ', _] => meta_get(input),
        [b'm', b's', b' ', _] => meta_set(input, sure_max),
        b"gets" if input.get(4) == Some(&b' ') => get(input, 5, CommandId::Gets, true),
        _ => None,
    }
}

#[inline(always)]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
fn get(input: &[u8], start: usize, command: CommandId, cas: bool) -> Option<Step<'_>> {
    let key = key(&input[start..])?;
    let end = start + key.len();
    if input.get(end..end + 2)? != b"\r\n" {
        return None;
    }
    let op = Op::Get(Get { key, cas, touch: None });
    Some(found(Request::text(command, op, Text::Whole), end + 2))
}

/// `mg <key> <flags>*`
#[inline(never)]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
fn meta_get(input: &[u8]) -> Option<Step<'_>> {
    let key = key(&input[3..])?;
    let flags = Flags::plain(Act::Get, key, &input[3 + key.len()..])?;
    let end = 3 + key.len() + flags.text().len();
    if end >= LINE_MAX {
        return None;
    }
    let meta = Meta::new(Act::Get, &input[3..end], key, flags);
    Some(found(Request::meta(CommandId::Mg, meta), end + 2))
}

/// `ms <key> <bytes> <flags>*`
#[inline(never)]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
fn meta_set(input: &[u8], sure_max: usize) -> Option<Step<'_>> {
    let key = key(&input[3..])?;
    let mut at = 3 + key.len();
    let len = usize::try_from(number(input, &mut at)?).ok()?;
    if len > sure_max {
        return None;
    }
    let flags = Flags::plain(Act::Set, key, &input[at..])?;
    let end = at + flags.text().len();
    if end >= LINE_MAX || is_doubtful(input, end + 2, len) {
        return None;
    }
    let meta = Meta::new(Act::Set, &input[3..end], key, flags);
    Some(meta::body(CommandId::Ms, meta, input, end + 2, len))
}

#[inline(always)]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
fn set(input: &[u8], sure_max: usize) -> Option<Step<'_>> {
    let key = key(&input[4..])?;
    let mut at = 4 + key.len();
    let flags = u32::try_from(number(input, &mut at)?).ok()?;
    let exptime = Exptime(i32::try_from(number(input, &mut at)?).ok()?.into());
    let len = usize::try_from(number(input, &mut at)?).ok()?;
    if len > sure_max {
        return None;
    }
    let rest = &input[at..];
    let quiet = !rest.starts_with(b"\r\n");
    let header = if !quiet {
        at + 2
    } else if rest.starts_with(b" noreply\r\n") {
        at + 10
    } else {
        return None;
    };
    if is_doubtful(input, header, len) {
        return None;
    }
    let set = Set { key, value: b"", cas: 0, flags, exptime, mode: Mode::Set };
    Some(set::body(CommandId::Set, input, header, len, set, quiet))
}

/// Whether a value of this length, behind a line that ends at `header`, may be one that is taken in pieces: it is not small,
/// and not all of it is there.
#[inline(always)]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
fn is_doubtful(input: &[u8], header: usize, len: usize) -> bool {
    len > WHOLE_MAX_PACKED && input.len() < header + len
}

/// The key at the start of `input`, if its length is valid and something follows it.
#[inline(always)]
fn key(input: &[u8]) -> Option<&[u8]> {
    let window = &input[..input.len().min(KEY_MAX + 1)];
    let len = visible_len(window);
    (len > 0 && len < window.len()).then(|| &window[..len])
}

/// Reads a space and a number of one to ten digits at `at`, and moves `at` past them.
#[inline]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
fn number(input: &[u8], at: &mut usize) -> Option<u64> {
    let rest = input.get(*at..)?.strip_prefix(b" ")?;
    let mut number = 0;
    let mut len = 0;
    while let Some(digit) = rest.get(len).map(|byte| byte.wrapping_sub(b'0')) {
        if digit > 9 {
            break;
        }
        if len == 10 {
            return None;
        }
        number = number * 10 + u64::from(digit);
        len += 1;
    }
    *at += 1 + len;
    (len > 0).then_some(number)
}

/// The number of bytes before the first space or ASCII control character, searched eight bytes at a
/// time.
#[inline]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
pub(super) fn visible_len(bytes: &[u8]) -> usize {
    const ONES: u64 = u64::MAX / 255;
    let mut rest = bytes;
    while let Some((chunk, tail)) = rest.split_first_chunk::<8>() {
        let word = u64::from_le_bytes(*chunk);
        // Sets the top bit of each byte below 0x21. The borrow of such a byte can set the bit of
        // higher bytes wrongly, so only the lowest set bit is exact.
        let below = word.wrapping_sub(ONES * 0x21) & !word & (ONES * 0x80);
        if below != 0 {
            return bytes.len() - rest.len() + below.trailing_zeros() as usize / 8;
        }
        rest = tail;
    }
    let len = rest.iter().take_while(|&&byte| byte > b' ').count();
    bytes.len() - rest.len() + len
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_separator_is_found_wherever_it_is() {
        for len in 0..40 {
            for byte in 0..=255 {
                let mut text = vec![b'k'; 40];
                text[len] = byte;
                let expected = if byte <= b' ' { len } else { 40 };
                assert_eq!(visible_len(&text), expected, "{byte} at {len}");
            }
        }
        assert_eq!(visible_len(b""), 0);
        assert_eq!(visible_len(b"\xff\x80\x7f!0123456789 "), 14);
    }
}
