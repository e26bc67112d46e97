// SPDX-License-Identifier: Apache-2.0
//! Parts of strings: APPEND, GETRANGE and SUBSTR, SETRANGE.

use super::check_length;
use crate::engine::call::Call;
use crate::host::events::{Class, Event};
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use values::{Digits, Entry, Type};

/// Adds bytes at the end of a string, which is made if there is none.
pub(crate) fn append<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, more) = (call.arg(1), call.arg(2));
    let len = if let Some(mut entry) = call.keys.get_mut(key, Type::String)? {
        check_length(call.host, entry.len().saturating_add(more.len()))?;
        entry.append(more);
        entry.len()
    } else {
        call.keys.put(Entry::string(key, more));
        more.len()
    };
    call.out.count(len);
    call.modified(key, Event::of(Class::STRING, "append"));
    Ok(())
}

/// Reads a part of a string.
pub(crate) fn getrange<V: View>(call: &mut Call<'_, V>) -> Done {
    let (start, end) = (call.integer(2)?, call.integer(3)?);
    let key = call.arg(1);
    let Some(entry) = call.keys.get(key, Type::String)? else {
        call.out.bulk(b"");
        call.missed(key);
        return Ok(());
    };
    let mut digits = Digits::new();
    let text = entry.text(&mut digits);
    call.out.bulk(part(text, start, end));
    Ok(())
}

/// From `start` to `end`, both counted from the end if negative; nothing if that is no part.
pub(crate) fn part(text: &[u8], start: i64, end: i64) -> &[u8] {
    let len = text.len() as i64;
    if start < 0 && end < 0 && start > end {
        return &[];
    }
    let from_end = |index: i64| if index < 0 { len.saturating_add(index).max(0) } else { index };
    let (start, end) = (from_end(start), from_end(end).min(len.saturating_sub(1)));
    if start > end || len == 0 { &[] } else { &text[start as usize..=end as usize] }
}

/// Overwrites a part of a string. What lies between its end and the part becomes zeros.
pub(crate) fn setrange<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, with) = (call.arg(1), call.arg(3));
    let offset = call.integer(2)?;
    let offset = usize::try_from(offset).map_err(|_| Fault::BAD_OFFSET)?;
    if with.is_empty() {
        let entry = call.keys.get(key, Type::String)?;
        call.out.count(entry.map_or(0, |entry| entry.len()));
        return Ok(());
    }
    let len = offset.saturating_add(with.len());
    let len = if let Some(mut entry) = call.keys.get_mut(key, Type::String)? {
        check_length(call.host, len)?;
        entry.set_range(offset, with);
        entry.len()
    } else {
        check_length(call.host, len)?;
        let mut entry = Entry::raw_string(key, b"");
        entry.set_range(offset, with);
        call.keys.put(entry);
        len
    };
    call.out.count(len);
    call.modified(key, Event::of(Class::STRING, "setrange"));
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
