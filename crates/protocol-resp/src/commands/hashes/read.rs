// SPDX-License-Identifier: Apache-2.0
//! What reads fields by name: HGET, HMGET, HEXISTS, HSTRLEN; and HLEN.

use super::super::named::visit_named;
use crate::engine::call::Call;
use crate::wire::fault::Done;
use keyspace::View;

/// Reads a field.
#[inline]
pub(crate) fn hget<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, field, now) = (call.arg(1), call.arg(2), call.unix_ms());
    match call.keys.hash(key)? {
        Some(hash) => call.out.bulk_or_null(hash.get(field, now)),
        None => {
            call.out.null();
            call.missed(key);
        }
    }
    Ok(())
}

/// Reads several fields. What is not there is null.
pub(crate) fn hmget<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, fields, now) = (call.arg(1), call.args.tail(2), call.unix_ms());
    match call.keys.hash(key)? {
        Some(mut hash) => {
            call.out.array(fields.len());
            visit_named(&mut hash, fields, 0, |hash, [field]| {
                call.out.bulk_or_null(hash.get(field, now));
            });
        }
        None => {
            call.out.array(fields.len());
            fields.iter().for_each(|_| call.out.null());
            call.missed(key);
        }
    }
    Ok(())
}

/// Tells whether there is such a field.
pub(crate) fn hexists<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, field, now) = (call.arg(1), call.arg(2), call.unix_ms());
    let found = call.keys.hash(key)?.map(|hash| hash.contains(field, now));
    call.out.integer(found.unwrap_or(false).into());
    if found.is_none() {
        call.missed(key);
    }
    Ok(())
}

/// Tells the length of a field's value.
pub(crate) fn hstrlen<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, field, now) = (call.arg(1), call.arg(2), call.unix_ms());
    let found = call.keys.hash(key)?.map(|hash| hash.get(field, now).unwrap_or_default().len());
    call.out.count(found.unwrap_or(0));
    if found.is_none() {
        call.missed(key);
    }
    Ok(())
}

/// Counts the fields, those included that have expired and are not removed yet.
pub(crate) fn hlen<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    let found = call.keys.hash(key)?.map(|hash| hash.len());
    call.out.count(found.unwrap_or(0));
    if found.is_none() {
        call.missed(key);
    }
    Ok(())
}
