// SPDX-License-Identifier: Apache-2.0
//! What reads whole strings: GET, GETDEL, GETEX, STRLEN.

use super::{EXPIRE, ExpiryChange, reply};
use crate::engine::call::Call;
use crate::host::events::{Class, Event};
use crate::wire::fault::Done;
use keyspace::View;
use values::Type;

/// Reads a string.
#[inline]
pub(crate) fn get<V: View>(call: &mut Call<'_, V>) -> Done {
    match call.keys.get(call.args.arg(1), Type::String)? {
        Some(entry) => reply(entry, &mut call.out),
        None => {
            call.out.null();
            call.missed(call.arg(1));
        }
    }
    Ok(())
}

/// Reads a string and removes its key.
pub(crate) fn getdel<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    let Some(entry) = call.keys.get(key, Type::String)? else {
        call.out.null();
        call.missed(key);
        return Ok(());
    };
    reply(entry, &mut call.out);
    call.keys.remove(key);
    call.modified(key, Event::DEL);
    Ok(())
}

/// Reads a string and changes when it expires.
pub(crate) fn getex<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    let now = call.unix_ms();
    let change = ExpiryChange::parse(call.args.tail(2))?;
    let Some(entry) = call.keys.get(key, Type::String)? else {
        call.out.null();
        call.missed(key);
        return Ok(());
    };
    let moment = change.moment(now)?;
    let had_expiry = entry.expiry().is_some();
    reply(entry, &mut call.out);
    match moment {
        Some(moment) if moment <= now => {
            call.keys.remove(key);
            call.modified(key, Event::DEL);
        }
        Some(moment) => {
            call.keys.set_expiry(key, Some(moment));
            call.modified(key, EXPIRE);
        }
        None if change == ExpiryChange::Persist && had_expiry => {
            call.keys.set_expiry(key, None);
            call.modified(key, Event::of(Class::GENERIC, "persist"));
        }
        None => {}
    }
    Ok(())
}

/// Tells the length of a string.
pub(crate) fn strlen<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    match call.keys.get(key, Type::String)? {
        Some(entry) => call.out.count(entry.len()),
        None => {
            call.out.count(0);
            call.missed(key);
        }
    }
    Ok(())
}
