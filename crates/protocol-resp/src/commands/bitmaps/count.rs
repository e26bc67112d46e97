// SPDX-License-Identifier: Apache-2.0
//! Counting and finding bits: BITCOUNT, BITPOS.

use super::{bytes, string};
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use std::ops::Range;
use values::Digits;

/// What the numbers of a range count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Byte,
    Bit,
}

impl Unit {
    fn parse(word: Option<&[u8]>) -> Result<Self, Fault> {
        match word {
            None => Ok(Unit::Byte),
            Some(word) if word.eq_ignore_ascii_case(b"byte") => Ok(Unit::Byte),
            Some(word) if word.eq_ignore_ascii_case(b"bit") => Ok(Unit::Bit),
            Some(_) => Err(Fault::SYNTAX),
        }
    }

    /// The bits from `start` to `end`, both counted from the end of the text if negative. An end before the
    /// text is its first unit.
    fn range(self, text: &[u8], start: i64, end: i64) -> Range<u64> {
        // Bits of a unit, and units of a byte.
        let (bits, units) = match self {
            Unit::Byte => (8, 1),
            Unit::Bit => (1, 8),
        };
        let len = (text.len() as i64).saturating_mul(units);
        let from_end =
            |index: i64| if index < 0 { index.saturating_add(len).max(0) } else { index };
        let (start, end) = (from_end(start), from_end(end).min(len.saturating_sub(1)));
        if start > end {
            return 0..0;
        }
        let bit = |index: i64| index.saturating_mul(bits) as u64;
        bit(start)..bit(end.saturating_add(1))
    }
}

/// Counts the bits that are set.
pub(crate) fn bitcount<V: View>(call: &mut Call<'_, V>) -> Done {
    let args = call.args;
    let range = match args.len() {
        2 => None,
        3 => Some((args.integer(2)?, -1, Unit::Byte)),
        4 | 5 => Some((args.integer(2)?, args.integer(3)?, Unit::parse(args.get(4))?)),
        _ => return Err(Fault::SYNTAX),
    };
    let mut digits = Digits::new();
    let text = string::text(call, args.arg(1), &mut digits)?.unwrap_or_default();
    let (start, end, unit) = range.unwrap_or((0, -1, Unit::Byte));
    let is_reversed = start < 0 && end < 0 && start > end;
    let range = if is_reversed { 0..0 } else { unit.range(text, start, end) };
    let count = bytes::count(text, range);
    call.out.integer(count as i64);
    Ok(())
}

/// Finds the first bit that is set, or that is not.
pub(crate) fn bitpos<V: View>(call: &mut Call<'_, V>) -> Done {
    let args = call.args;
    let set = match args.integer(2)? {
        0 => false,
        1 => true,
        _ => return Err(Fault::new("ERR The bit argument must be 1 or 0.")),
    };
    if args.len() > 6 {
        return Err(Fault::SYNTAX);
    }
    let start = if args.len() > 3 { args.integer(3)? } else { 0 };
    let unit = Unit::parse(args.get(5))?;
    let end = if args.len() > 4 { Some(args.integer(4)?) } else { None };
    let mut digits = Digits::new();
    let found = match string::text(call, args.arg(1), &mut digits)? {
        // All bits that are not there are 0.
        None => (!set).then_some(0),
        Some(text) => {
            let range = unit.range(text, start, end.unwrap_or(-1));
            // The first bit behind the string, if its end was not named.
            let behind = (!set && end.is_none() && !range.is_empty()).then_some(range.end);
            bytes::find(text, range, set).or(behind)
        }
    };
    call.out.integer(found.map_or(-1, |at| at as i64));
    Ok(())
}
