// SPDX-License-Identifier: Apache-2.0
//! What stores a string: SET, SETNX, SETEX, PSETEX, GETSET.

use super::super::deadline::Deadline;
use super::{EXPIRE, Expiry, Only, SET, SetOptions, reply};
use crate::engine::call::Call;
use crate::wire::fault::Done;
use keyspace::View;
use values::{Entry, Type};

/// Stores a string.
#[inline]
pub(crate) fn set<V: View>(call: &mut Call<'_, V>) -> Done {
    if call.args.len() == 3 {
        store(call, call.arg(1), call.arg(2), Expiry::Never);
        call.out.ok();
        return Ok(());
    }
    let options = SetOptions::parse(call.args.tail(3), call.unix_ms())?;
    set_with(call, &options)
}

/// SET with options: the reply is the string before, or says whether anything was stored.
fn set_with<V: View>(call: &mut Call<'_, V>, options: &SetOptions) -> Done {
    let (key, value) = (call.arg(1), call.arg(2));
    if options.get {
        match call.keys.get(key, Type::String)? {
            Some(entry) => reply(entry, &mut call.out),
            None => {
                call.out.null();
                call.missed(key);
            }
        }
    }
    let stores = match options.only {
        Only::Always => true,
        Only::IfAbsent => call.keys.touch(key).is_none(),
        Only::IfPresent => call.keys.peek(key).is_some(),
    };
    if stores {
        store(call, key, value, options.expiry);
    }
    match (options.get, stores) {
        (true, _) => {}
        (false, true) => call.out.ok(),
        (false, false) => call.out.null(),
    }
    Ok(())
}

/// Stores a string in place of whatever is under `key`.
#[inline]
fn store<V: View>(call: &mut Call<'_, V>, key: &[u8], value: &[u8], expiry: Expiry) {
    if let Some(mut entry) = call.keys.any_mut(key)
        && !entry.is_large()
    {
        entry.set_string(value);
        match expiry {
            Expiry::Never => entry.set_expiry(None),
            Expiry::At(moment) => entry.set_expiry(Some(moment)),
            Expiry::Keep => {}
        }
    } else {
        let mut entry = Entry::string(key, value);
        entry.set_expiry(match expiry {
            Expiry::Never => None,
            Expiry::At(moment) => Some(moment),
            Expiry::Keep => call.keys.peek(key).and_then(Entry::expiry),
        });
        call.keys.put(entry);
    }
    call.modified(key, SET);
    if matches!(expiry, Expiry::At(_)) {
        call.notify(key, EXPIRE);
    }
}

/// Stores a string unless there is something under its key.
pub(crate) fn setnx<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, value) = (call.arg(1), call.arg(2));
    let stores = call.keys.touch(key).is_none();
    if stores {
        store(call, key, value, Expiry::Never);
    }
    call.out.integer(stores.into());
    Ok(())
}

/// Stores a string that expires after some seconds.
pub(crate) fn setex<V: View>(call: &mut Call<'_, V>) -> Done {
    store_for(call, Deadline::EX, "setex")
}

/// Stores a string that expires after some milliseconds.
pub(crate) fn psetex<V: View>(call: &mut Call<'_, V>) -> Done {
    store_for(call, Deadline::PX, "psetex")
}

fn store_for<V: View>(call: &mut Call<'_, V>, unit: Deadline, command: &str) -> Done {
    let moment = unit.positive(call.arg(2), call.unix_ms(), command)?;
    store(call, call.arg(1), call.arg(3), Expiry::At(moment));
    call.out.ok();
    Ok(())
}

/// Stores a string and returns the one it replaces.
pub(crate) fn getset<V: View>(call: &mut Call<'_, V>) -> Done {
    set_with(call, &SetOptions::GETSET)
}
