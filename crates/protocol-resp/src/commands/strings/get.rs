// SPDX-License-Identifier: Apache-2.0
//! What reads whole strings: GET, GETDEL, GETEX, STRLEN, MGET.

use super::{ExpiryChange, reply, reply_or_null};
use crate::commands::access::{Change, KeyChange, StringAccess, StringValue, visit_ahead};
use crate::wire::fault::Done;

/// Reads a string.
#[inline]
pub(crate) fn get<'c>(call: &mut impl StringAccess<'c>) -> Done {
    let key = call.args().arg(1);
    call.read(key, |value, out| reply_or_null(value, out))
}

/// Reads several strings. What is no string is null.
pub(crate) fn mget<'c>(call: &mut impl StringAccess<'c>) -> Done {
    let keys = call.args().tail(1);
    call.out().array(keys.len());
    visit_ahead(call, keys, |call, [key]| {
        if call.read(key, |value, out| reply_or_null(value, out)).is_err() {
            call.out().null();
        }
        Ok(())
    })
}

/// Reads a string and removes its key.
pub(crate) fn getdel<'c>(call: &mut impl StringAccess<'c>) -> Done {
    let key = call.args().arg(1);
    call.read_and_change(key, |value, out| {
        let change = if value.is_some() { KeyChange::Remove } else { KeyChange::Keep };
        reply_or_null(value, out);
        Ok(Change::Key(change))
    })
}

/// Reads a string and changes when it expires. A moment that makes no sense is an error only if there is
/// a string.
pub(crate) fn getex<'c>(call: &mut impl StringAccess<'c>) -> Done {
    let change = ExpiryChange::parse(call.args().tail(2))?;
    let (key, now, name) = (call.args().arg(1), call.unix_ms(), call.spec().name);
    if change == ExpiryChange::Keep {
        return call.read(key, |value, out| reply_or_null(value, out));
    }
    call.read_and_change(key, |value, out| {
        let Some(value) = value else {
            out.null();
            return Ok(Change::Key(KeyChange::Keep));
        };
        let change = match change.moment(now, name)? {
            Some(moment) if moment <= now => KeyChange::Remove,
            Some(moment) => KeyChange::Expire(moment),
            None if value.has_expiry() => KeyChange::Persist,
            None => KeyChange::Keep,
        };
        reply(&value, out);
        Ok(Change::Key(change))
    })
}

/// Tells the length of a string.
pub(crate) fn strlen<'c>(call: &mut impl StringAccess<'c>) -> Done {
    let key = call.args().arg(1);
    call.read(key, |value, out| out.count(value.map_or(0, |value| value.len())))
}
