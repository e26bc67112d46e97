// SPDX-License-Identifier: Apache-2.0
//! Numbers in fields: HINCRBY, HINCRBYFLOAT. A field keeps its expiry.

use super::super::long_double::{LongDouble, is_infinite};
use crate::engine::call::Call;
use crate::host::events::{Class, Event};
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use values::{Digits, parse_i64};

/// Adds to an integer.
pub(crate) fn hincrby<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, field, now) = (call.arg(1), call.arg(2), call.unix_ms());
    let by = call.integer(3)?;
    let sum = call.keys.edit_hash(key, |hash| {
        let old = match hash.read().get(field, now) {
            Some(text) => parse_i64(text).ok_or(Fault::new("ERR hash value is not an integer"))?,
            None => 0,
        };
        let sum = old.checked_add(by);
        let sum = sum.ok_or(Fault::OVERFLOW)?;
        hash.set_keeping_expiry(field, Digits::new().format(sum), now);
        Ok(sum)
    })?;
    call.out.integer(sum);
    call.modified_fields(key, Event::of(Class::HASH, "hincrby"), || vec![field]);
    Ok(())
}

/// Adds to a floating-point number.
pub(crate) fn hincrbyfloat<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, field, now) = (call.arg(1), call.arg(2), call.unix_ms());
    if is_infinite(call.arg(3)) {
        return Err(Fault::new("ERR value is NaN or Infinity"));
    }
    let by = LongDouble::parse(call.arg(3)).ok_or(Fault::NOT_FLOAT)?;
    let text = call.keys.edit_hash(key, |hash| {
        let too_large = Fault::new("ERR increment would produce NaN or Infinity");
        let old = match hash.read().get(field, now) {
            Some(text) if is_infinite(text) => return Err(too_large),
            Some(text) => {
                LongDouble::parse(text).ok_or(Fault::new("ERR hash value is not a float"))?
            }
            None => LongDouble::ZERO,
        };
        let text = old.add(by).ok_or(too_large)?.text();
        hash.set_keeping_expiry(field, text.as_bytes(), now);
        Ok(text)
    })?;
    call.out.bulk(text.as_bytes());
    call.modified_fields(key, Event::of(Class::HASH, "hincrbyfloat"), || vec![field]);
    Ok(())
}
