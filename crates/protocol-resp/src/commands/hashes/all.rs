// SPDX-License-Identifier: Apache-2.0
//! What reads all fields: HGETALL, HKEYS, HVALS.

use crate::engine::call::Call;
use crate::wire::fault::Done;
use keyspace::View;

/// Reads all fields with their values.
pub(crate) fn hgetall<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, now) = (call.arg(1), call.unix_ms());
    match call.keys.hash(key)? {
        Some(hash) => {
            call.out.map(hash.live(now));
            hash.iter(now).for_each(|(field, value)| {
                call.out.bulk(field);
                call.out.bulk(value);
            });
        }
        None => {
            call.out.map(0);
            call.missed(key);
        }
    }
    Ok(())
}

/// Lists the fields.
pub(crate) fn hkeys<V: View>(call: &mut Call<'_, V>) -> Done {
    list(call, |(field, _)| field)
}

/// Lists the values.
pub(crate) fn hvals<V: View>(call: &mut Call<'_, V>) -> Done {
    list(call, |(_, value)| value)
}

fn list<V: View>(
    call: &mut Call<'_, V>,
    half: impl for<'a> Fn((&'a [u8], &'a [u8])) -> &'a [u8],
) -> Done {
    let (key, now) = (call.arg(1), call.unix_ms());
    match call.keys.hash(key)? {
        Some(hash) => {
            call.out.array(hash.live(now));
            hash.iter(now).for_each(|pair| call.out.bulk(half(pair)));
        }
        None => {
            call.out.array(0);
            call.missed(key);
        }
    }
    Ok(())
}
