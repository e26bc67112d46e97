// SPDX-License-Identifier: Apache-2.0
//! Parts of strings: APPEND, GETRANGE and SUBSTR, SETRANGE.

use super::by_reference;
use crate::commands::access::{StringAccess, StringValue};
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::Writer;
use values::Digits;

/// Parts of at least this size are sent by reference, if the string can be. For smaller ones, one more slice
/// in the gathering write and the reference count cost more than the copy.
///
/// Only if they are half of the string or more: the reference keeps the whole string for as long as the client does
/// not read, and what is counted against the client is the part.
pub(crate) const PIN_MIN: usize = 16 * 1024;

/// Adds bytes at the end of a string, which is made if there is none.
pub(crate) fn append<'c>(call: &mut impl StringAccess<'c>) -> Done {
    let (key, more) = (call.args().arg(1), call.args().arg(2));
    let len = call.append(key, more)?;
    call.out().count(len);
    Ok(())
}

/// Reads a part of a string.
pub(crate) fn getrange<'c>(call: &mut impl StringAccess<'c>) -> Done {
    let args = call.args();
    let (start, end) = (args.integer(2)?, args.integer(3)?);
    call.read(args.arg(1), |value, out| match value {
        Some(value) => reply_part(&value, start, end, out),
        None => out.bulk(b""),
    })
}

fn reply_part<V: StringValue>(value: &V, start: i64, end: i64, out: &mut Writer<'_>) {
    let mut digits = Digits::new();
    let whole = value.text(&mut digits);
    let text = part(whole, start, end);
    let is_most = text.len() >= PIN_MIN && text.len() >= whole.len() / 2;
    let pinned = if is_most { value.pin() } else { None };
    match pinned {
        // The same part of the pinned string.
        Some(pinned) => by_reference::<V>(pinned.slice_ref(part(&pinned, start, end)), out),
        None => out.bulk(text),
    }
}

/// From `start` to `end`, both counted from the end if negative; nothing if that is no part.
fn part(text: &[u8], start: i64, end: i64) -> &[u8] {
    let len = text.len() as i64;
    if start < 0 && end < 0 && start > end {
        return &[];
    }
    let from_end = |index: i64| if index < 0 { len.saturating_add(index).max(0) } else { index };
    let (start, end) = (from_end(start), from_end(end).min(len.saturating_sub(1)));
    if start > end || len == 0 { &[] } else { &text[start as usize..=end as usize] }
}

/// Overwrites a part of a string. What lies between its end and the part becomes zeros.
pub(crate) fn setrange<'c>(call: &mut impl StringAccess<'c>) -> Done {
    let args = call.args();
    let (key, with) = (args.arg(1), args.arg(3));
    let offset = usize::try_from(args.integer(2)?).map_err(|_| Fault::BAD_OFFSET)?;
    let len = if with.is_empty() { call.len_of(key)? } else { call.overwrite(key, offset, with)? };
    call.out().count(len);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_cut_as_in_redis() {
        let cases = [
            (0, 3, "This"),
            (-3, -1, "ing"),
            (0, -1, "This is a string"),
            (10, 100, "string"),
            (5, 3, ""),
            (-1, -5, ""),
            (100, 200, ""),
            (-100, 2, "Thi"),
            (-100, -101, ""),
            (i64::MIN, i64::MAX, "This is a string"),
        ];
        for (start, end, expected) in cases {
            let found = part(b"This is a string", start, end);
            assert_eq!(found, expected.as_bytes(), "{start} {end}");
        }
        assert_eq!(part(b"", 0, -1), b"");
    }
}
