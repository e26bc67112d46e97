// SPDX-License-Identifier: Apache-2.0
//! Numbers in values: INCR, DECR, INCRBY, DECRBY, INCRBYFLOAT.
//!
//! A number is stored as its text, in Redis's canonical form: `007` and `+7` are not numbers. Trailing spaces
//! are ignored, because memcache's decr leaves some when a number gets shorter.

use super::store_call::{StoreCall, refused};
use crate::commands::strings::sum as float_sum;
use crate::wire::fault::{Done, Fault};
use storage::{Change, Digits, Expiry, Item, Store};

/// The most digits of a number of memcache, and so the longest value that its decr pads.
const PADDED_MAX: usize = 20;

/// A value without the spaces that memcache's decr has left at its end.
fn trimmed(value: &[u8]) -> &[u8] {
    if value.len() > PADDED_MAX {
        return value;
    }
    let end = value.iter().rposition(|&byte| byte != b' ').map_or(0, |last| last.saturating_add(1));
    &value[..end]
}

/// Adds one to an integer.
#[inline]
pub(super) fn incr<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    add(call, 1)
}

/// Subtracts one from an integer.
pub(super) fn decr<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    add(call, -1)
}

/// Adds to an integer.
pub(super) fn incrby<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    let by = call.integer(2)?;
    add(call, by)
}

/// Subtracts from an integer.
pub(super) fn decrby<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    let by = call.integer(2)?;
    add(call, by.checked_neg().ok_or(Fault::DECREMENT_OVERFLOW)?)
}

#[inline]
fn add<S: Store>(call: &mut StoreCall<'_, S>, by: i64) -> Done {
    let mut first = itoa::Buffer::new();
    let first = first.format(by).as_bytes();
    let sum = call.store.update(call.args.arg(1), call.now.ticks, |item| {
        let Some(item) = item else {
            return (Change::Put { value: first, flags: 0, expiry: Expiry::NEVER }, Ok(by));
        };
        match sum(item.value(), by) {
            Ok(sum) => {
                let mut digits = itoa::Buffer::new();
                (Change::Number(Digits::new(digits.format(sum).as_bytes())), Ok(sum))
            }
            Err(fault) => (Change::Keep, Err(fault)),
        }
    });
    call.out.integer(sum.map_err(refused)??);
    Ok(())
}

fn sum(value: &[u8], by: i64) -> Result<i64, Fault> {
    let old = values::parse_i64(trimmed(value)).ok_or(Fault::NOT_INTEGER)?;
    old.checked_add(by).ok_or(Fault::OVERFLOW)
}

/// Adds to a floating-point number. The sum is stored as the text that is shown.
pub(super) fn incrbyfloat<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    let by = call.arg(2);
    let text = call.rewrite(|old, new| {
        let text = float_sum(old.map(trimmed), by)?.text();
        new.extend_from_slice(text.as_bytes());
        Ok(text)
    })?;
    call.out.bulk(text.as_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_those_of_redis_and_what_memcache_makes_of_them() {
        assert_eq!(sum(b"7", 1), Ok(8));
        assert_eq!(sum(b"9   ", 1), Ok(10));
        assert_eq!(sum(b"-1", 1), Ok(0));
        assert_eq!(sum(&[b"9", &[b' '; 19][..]].concat(), 1), Ok(10));
        assert_eq!(sum(&[b"9", &[b' '; 20][..]].concat(), 1), Err(Fault::NOT_INTEGER));
        for value in ["", " ", "007", "+7", " 7", "7 8", "7\n", "7.0", "9223372036854775808"] {
            assert_eq!(sum(value.as_bytes(), 1), Err(Fault::NOT_INTEGER), "{value:?}");
        }
        assert_eq!(sum(b"9223372036854775807", 1), Err(Fault::OVERFLOW));
        assert_eq!(sum(b"-9223372036854775808", -1), Err(Fault::OVERFLOW));
    }
}
