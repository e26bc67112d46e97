// SPDX-License-Identifier: Apache-2.0
//! When keys expire: the EXPIRE and TTL families, PERSIST.
//!
//! Changing an expiry does not write the value: flags and version stay, as with memcache's touch.

use super::store_call::{StoreCall, refused};
use crate::commands::deadline::{Deadline, invalid};
use crate::commands::generic::Condition;
use crate::wire::fault::Done;
use clock::Ticks;
use storage::{Change, Expiry, Item, Store};

/// Lets a key expire after some seconds.
pub(super) fn expire<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    expire_by(call, Deadline::EX)
}

/// Lets a key expire after some milliseconds.
pub(super) fn pexpire<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    expire_by(call, Deadline::PX)
}

/// Lets a key expire at a time in seconds.
pub(super) fn expireat<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    expire_by(call, Deadline::EXAT)
}

/// Lets a key expire at a time in milliseconds.
pub(super) fn pexpireat<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    expire_by(call, Deadline::PXAT)
}

fn expire_by<S: Store>(call: &mut StoreCall<'_, S>, by: Deadline) -> Done {
    let condition = Condition::parse(call.args.tail(3).iter())?;
    let number = call.integer(2)?;
    let moment = by.moment(number, call.now.unix_ms);
    let moment = moment.ok_or_else(|| invalid(call.spec.name))?;
    let now = call.now;
    // A time before 1970 is treated as 1970: both are in the past.
    let at = now.at_unix(u64::try_from(moment).unwrap_or(0));
    let change = if at <= now.ticks { Change::Delete } else { Change::Expire(Expiry::at(at)) };
    let done = call.store.update(call.args.arg(1), now.ticks, |item| {
        let old = item.map(|item| item.expiry().ticks().map(|at| now.unix_at(at)));
        match old {
            Some(old) if condition.allows(old, moment) => (change, true),
            _ => (Change::Keep, false),
        }
    });
    call.out.integer(done.map_err(refused)?.into());
    Ok(())
}

/// Takes a key's expiry away.
pub(super) fn persist<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    let done = call.store.update(call.args.arg(1), call.now.ticks, |item| match item {
        Some(item) if item.expiry() != Expiry::NEVER => (Change::Expire(Expiry::NEVER), true),
        _ => (Change::Keep, false),
    });
    call.out.integer(done.map_err(refused)?.into());
    Ok(())
}

/// Tells in how many seconds a key expires.
pub(super) fn ttl<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    let now = call.now.ticks;
    tell(call, |at| rounded(at.since(now).as_millis() as i64))
}

/// Tells in how many milliseconds a key expires.
pub(super) fn pttl<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    let now = call.now.ticks;
    tell(call, |at| at.since(now).as_millis() as i64)
}

/// Tells at what second a key expires.
pub(super) fn expiretime<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    let now = call.now;
    tell(call, |at| rounded(now.unix_at(at) as i64))
}

/// Tells at what millisecond a key expires.
pub(super) fn pexpiretime<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    let now = call.now;
    tell(call, |at| now.unix_at(at) as i64)
}

/// Milliseconds as seconds, as Redis rounds them.
fn rounded(millis: i64) -> i64 {
    millis.saturating_add(500) / 1000
}

/// -2 without a key, -1 without an expiry, else what `show` makes of the moment.
fn tell<S: Store>(call: &mut StoreCall<'_, S>, show: impl Fn(Ticks) -> i64) -> Done {
    let item = call.store.get(call.args.arg(1), call.now.ticks);
    let number = match item.map(|item| item.expiry().ticks()) {
        None => -2,
        Some(None) => -1,
        Some(Some(at)) => show(at),
    };
    call.out.integer(number);
    Ok(())
}
