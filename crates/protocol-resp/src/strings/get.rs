// SPDX-License-Identifier: Apache-2.0
//! Reads of whole values: GET, MGET, GETDEL, GETEX, STRLEN.

use super::store_call::{StoreCall, refused, reply};
use crate::commands::strings::ExpiryChange;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use storage::{Change, Expiry, Item, Stage, Store};

/// How many keys ahead are prefetched.
const AHEAD: usize = 32;

/// Reads a value.
#[inline]
pub(super) fn get<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    let key = call.arg(1);
    read(call, key);
    Ok(())
}

/// Reads one value. One look-up, one copy into the reply.
#[inline]
fn read<S: Store>(call: &mut StoreCall<'_, S>, key: &[u8]) {
    let hit = match call.store.get(key, call.now.ticks) {
        Some(item) => {
            reply(&item, &mut call.out);
            true
        }
        None => {
            call.out.null();
            false
        }
    };
    call.count_read(hit);
}

/// Reads several values, one after the other.
pub(super) fn mget<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    let mut keys = call.args.tail(1);
    call.out.array(keys.len());
    while !keys.is_empty() {
        prefetch(call.store, keys.head(AHEAD));
        for key in keys.head(AHEAD).iter() {
            read(call, key);
        }
        keys = keys.tail(AHEAD);
    }
    call.outcome = "ok";
    Ok(())
}

/// Prefetches several keys, so that their cache misses overlap.
fn prefetch<S: Store>(store: &S, keys: Args<'_>) {
    if keys.len() > 1 {
        for stage in Stage::ALL {
            for key in keys.iter() {
                store.prefetch(key, stage);
            }
        }
    }
}

/// Reads a value and changes its item, in one atomic step. An invalid change is an error only if the key
/// exists.
fn read_and_change<S: Store>(
    call: &mut StoreCall<'_, S>,
    change: &Result<Change<'_>, Fault>,
) -> Done {
    let StoreCall { store, out, .. } = call;
    let mark = out.begin_array();
    let hit = store.update(call.args.arg(1), call.now.ticks, |item| {
        // The store may call this again after another worker's change.
        out.undo(mark);
        match (item, change) {
            (Some(item), Ok(change)) => {
                reply(&item, out);
                (*change, Ok(true))
            }
            (Some(_), Err(fault)) => (Change::Keep, Err(fault.clone())),
            (None, _) => {
                out.null();
                (Change::Keep, Ok(false))
            }
        }
    });
    let hit = hit.map_err(refused)??;
    call.count_read(hit);
    Ok(())
}

/// Reads a value and removes its key.
pub(super) fn getdel<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    read_and_change(call, &Ok(Change::Delete))
}

/// Reads a value and changes when it expires.
pub(super) fn getex<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    let change = ExpiryChange::parse(call.args.tail(2))?;
    if change == ExpiryChange::Keep {
        return get(call);
    }
    let now = call.now.unix_ms;
    let change = change.moment(now).map(|moment| match moment {
        None => Change::Expire(Expiry::NEVER),
        Some(moment) if moment <= now => Change::Delete,
        Some(moment) => Change::Expire(call.expiry(moment)),
    });
    read_and_change(call, &change)
}

/// Tells the length of a value.
pub(super) fn strlen<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    let item = call.store.get(call.args.arg(1), call.now.ticks);
    let len = item.as_ref().map(|item| item.value().len());
    drop(item);
    call.out.count(len.unwrap_or(0));
    call.count_read(len.is_some());
    Ok(())
}
