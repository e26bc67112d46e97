// SPDX-License-Identifier: Apache-2.0
//! Numbers in strings: INCR, DECR, INCRBY, DECRBY, INCRBYFLOAT.

use super::super::long_double::{LongDouble, is_infinite};
use crate::commands::access::StringAccess;
use crate::wire::fault::{Done, Fault};

/// Adds one to an integer.
#[inline]
pub(crate) fn incr<'c>(call: &mut impl StringAccess<'c>) -> Done {
    add(call, 1)
}

/// Subtracts one from an integer.
pub(crate) fn decr<'c>(call: &mut impl StringAccess<'c>) -> Done {
    add(call, -1)
}

/// Adds to an integer.
pub(crate) fn incrby<'c>(call: &mut impl StringAccess<'c>) -> Done {
    let by = call.args().integer(2)?;
    add(call, by)
}

/// Subtracts from an integer.
pub(crate) fn decrby<'c>(call: &mut impl StringAccess<'c>) -> Done {
    let by = call.args().integer(2)?;
    add(call, by.checked_neg().ok_or(Fault::DECREMENT_OVERFLOW)?)
}

#[inline]
fn add<'c>(call: &mut impl StringAccess<'c>, by: i64) -> Done {
    let key = call.args().arg(1);
    let sum = call.change_integer(key, by, |old| old.checked_add(by).ok_or(Fault::OVERFLOW))?;
    call.out().integer(sum);
    Ok(())
}

/// Adds to a floating-point number. The sum is stored as the text that is shown.
pub(crate) fn incrbyfloat<'c>(call: &mut impl StringAccess<'c>) -> Done {
    let (key, by) = (call.args().arg(1), call.args().arg(2));
    let text = call.change_number(key, |old| sum(old, by).map(LongDouble::text))?;
    call.out().bulk(text.as_bytes());
    Ok(())
}

/// What adding `by` to a number makes; nothing counts as zero. The number before is looked at first.
fn sum(old: Option<&[u8]>, by: &[u8]) -> Result<LongDouble, Fault> {
    let old = old.map_or(Ok(Some(LongDouble::ZERO)), float)?;
    let sum = old.zip(float(by)?).and_then(|(old, by)| old.add(by));
    sum.ok_or(Fault::NOT_FINITE)
}

/// A number; `None` for one without bounds.
fn float(text: &[u8]) -> Result<Option<LongDouble>, Fault> {
    if is_infinite(text) {
        return Ok(None);
    }
    LongDouble::parse(text).map(Some).ok_or(Fault::NOT_FLOAT)
}
