// SPDX-License-Identifier: Apache-2.0
//! Telling when fields expire: HTTL, HPTTL, HEXPIRETIME, HPEXPIRETIME.

use super::fields;
use crate::engine::call::Call;
use crate::wire::fault::Done;
use keyspace::View;

/// Tells in how many seconds fields expire.
pub(crate) fn httl<V: View>(call: &mut Call<'_, V>) -> Done {
    let now = call.unix_ms();
    tell(call, |moment| moment.saturating_sub(now).div_ceil(1000))
}

/// Tells in how many milliseconds fields expire.
pub(crate) fn hpttl<V: View>(call: &mut Call<'_, V>) -> Done {
    let now = call.unix_ms();
    tell(call, |moment| moment.saturating_sub(now))
}

/// Tells at what second fields expire.
pub(crate) fn hexpiretime<V: View>(call: &mut Call<'_, V>) -> Done {
    tell(call, |moment| moment.div_ceil(1000))
}

/// Tells at what millisecond fields expire.
pub(crate) fn hpexpiretime<V: View>(call: &mut Call<'_, V>) -> Done {
    tell(call, |moment| moment)
}

/// For each field -2 if it is not there, -1 without an expiry, else what `show` makes of the moment.
fn tell<V: View>(call: &mut Call<'_, V>, show: impl Fn(u64) -> u64) -> Done {
    let (key, now) = (call.arg(1), call.unix_ms());
    let hash = call.keys.hash(key)?;
    let fields = fields::parse(call.args, 2, fields::NOT_POSITIVE)?;
    call.out.array(fields.len());
    for field in fields.iter() {
        let expiry = hash.and_then(|hash| hash.expiry_of(field, now));
        call.out.integer(match expiry {
            None => -2,
            Some(None) => -1,
            Some(Some(moment)) => show(moment) as i64,
        });
    }
    if hash.is_none() {
        call.missed(key);
    }
    Ok(())
}
