// SPDX-License-Identifier: Apache-2.0
//! Writes of whole values: SET, SETNX, SETEX, PSETEX, GETSET, MSET, MSETNX.

use super::store_call::{StoreCall, refused, reply};
use crate::commands::deadline::Deadline;
use crate::commands::strings::{Expiry as When, Only, SetOptions};
use crate::wire::fault::{Done, Fault};
use storage::{Change, Condition, Expiry, Item, Put, Store, StoreError};

/// Stores a value.
#[inline]
pub(super) fn set<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    if call.args.len() > 3 {
        let options = SetOptions::parse(call.args.tail(3), call.now.unix_ms)?;
        return set_with(call, &options);
    }
    put(call, call.arg(2), Expiry::NEVER, Condition::Always)?;
    call.out.ok();
    Ok(())
}

/// Stores a value under the first key, without flags; returns whether the condition held.
#[inline]
fn put<S: Store>(
    call: &mut StoreCall<'_, S>,
    value: &[u8],
    expiry: Expiry,
    condition: Condition,
) -> Result<bool, Fault> {
    let put = Put::new(call.args.arg(1), value).expiry(expiry).condition(condition);
    match call.store.put(put, call.now.ticks) {
        Ok(_) => Ok(true),
        Err(StoreError::Exists | StoreError::NotFound) => Ok(false),
        Err(error) => Err(refused(error)),
    }
}

/// SET with options: the reply is the old value, or tells whether the new one was stored.
fn set_with<S: Store>(call: &mut StoreCall<'_, S>, options: &SetOptions) -> Done {
    if options.get || options.expiry == When::Keep {
        return replace(call, options);
    }
    let expiry = match options.expiry {
        When::At(moment) => call.expiry(moment),
        When::Never | When::Keep => Expiry::NEVER,
    };
    let condition = match options.only {
        Only::Always => Condition::Always,
        Only::IfAbsent => Condition::IfAbsent,
        Only::IfPresent => Condition::IfPresent,
    };
    if put(call, call.arg(2), expiry, condition)? {
        call.out.ok();
    } else {
        call.out.null();
    }
    Ok(())
}

/// SET that reads the old item, for its value or for its expiry.
fn replace<S: Store>(call: &mut StoreCall<'_, S>, options: &SetOptions) -> Done {
    let (key, value) = (call.arg(1), call.arg(2));
    let fixed = match options.expiry {
        When::At(moment) => call.expiry(moment),
        When::Never | When::Keep => Expiry::NEVER,
    };
    let StoreCall { store, out, .. } = call;
    let mark = out.begin_array();
    let seen = store.update(key, call.now.ticks, |item| {
        // The store may call this again after another worker's change.
        out.undo(mark);
        let hit = item.is_some();
        let stores = match options.only {
            Only::Always => true,
            Only::IfAbsent => !hit,
            Only::IfPresent => hit,
        };
        let expiry = match &item {
            Some(item) if options.expiry == When::Keep => item.expiry(),
            _ => fixed,
        };
        match &item {
            Some(item) if options.get => reply(item, out),
            _ if options.get || !stores => out.null(),
            _ => out.ok(),
        }
        let change = if stores { Change::Put { value, flags: 0, expiry } } else { Change::Keep };
        (change, hit)
    });
    let hit = seen.map_err(refused)?;
    if options.get {
        call.count_read(hit);
    }
    Ok(())
}

/// Stores a value unless there is one under its key.
pub(super) fn setnx<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    let stored = put(call, call.arg(2), Expiry::NEVER, Condition::IfAbsent)?;
    call.out.integer(stored.into());
    Ok(())
}

/// Stores a value that expires after some seconds.
pub(super) fn setex<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    store_for(call, Deadline::EX)
}

/// Stores a value that expires after some milliseconds.
pub(super) fn psetex<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    store_for(call, Deadline::PX)
}

fn store_for<S: Store>(call: &mut StoreCall<'_, S>, by: Deadline) -> Done {
    let moment = by.positive(call.arg(2), call.now.unix_ms, call.spec.name)?;
    put(call, call.arg(3), call.expiry(moment), Condition::Always)?;
    call.out.ok();
    Ok(())
}

/// Stores a value and returns the one it replaces.
pub(super) fn getset<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    replace(call, &SetOptions::GETSET)
}

/// Stores several values, one after the other: others may see some of them before the rest are
/// there. If one is refused, those before it are stored.
pub(super) fn mset<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    check_pairs(call)?;
    let pairs = call.args.tail(1);
    for (key, value) in pairs.iter().step_by(2).zip(pairs.iter().skip(1).step_by(2)) {
        call.store.put(Put::new(key, value), call.now.ticks).map_err(refused)?;
    }
    call.out.ok();
    Ok(())
}

/// Stores a value unless there is one under its key. With several keys it is refused: a store whose
/// operations have one key each cannot guarantee that all are stored or none.
pub(super) fn msetnx<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    check_pairs(call)?;
    if call.args.len() > 3 {
        return Err(Fault::new("ERR MSETNX of more than one key is not supported by this server"));
    }
    setnx(call)
}

fn check_pairs<S>(call: &StoreCall<'_, S>) -> Done {
    if call.args.len().is_multiple_of(2) { Err(Fault::arity(call.spec.name)) } else { Ok(()) }
}
