// SPDX-License-Identifier: Apache-2.0
//! Several strings at once: MGET, MSET, MSETNX.

use super::{SET, reply};
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use values::{Entry, Type};

/// Reads several strings. What is no string is null.
pub(crate) fn mget<V: View>(call: &mut Call<'_, V>) -> Done {
    let keys = call.args.tail(1);
    call.out.array(keys.len());
    for key in keys.iter() {
        match call.keys.any(key) {
            Some(entry) if entry.data_type() == Type::String => reply(entry, &mut call.out),
            Some(_) => call.out.null(),
            None => {
                call.out.null();
                call.missed(key);
            }
        }
    }
    Ok(())
}

/// Stores several strings.
pub(crate) fn mset<V: View>(call: &mut Call<'_, V>) -> Done {
    check_pairs(call)?;
    store_all(call);
    call.out.ok();
    Ok(())
}

/// Stores several strings, unless there is something under one of the keys.
pub(crate) fn msetnx<V: View>(call: &mut Call<'_, V>) -> Done {
    check_pairs(call)?;
    let pairs = call.args.tail(1);
    let stores = pairs.iter().step_by(2).all(|key| call.keys.touch(key).is_none());
    if stores {
        store_all(call);
    }
    call.out.integer(stores.into());
    Ok(())
}

fn check_pairs<V: View>(call: &Call<'_, V>) -> Result<(), Fault> {
    if call.args.len().is_multiple_of(2) { Err(Fault::arity(call.spec.name)) } else { Ok(()) }
}

fn store_all<V: View>(call: &mut Call<'_, V>) {
    let pairs = call.args.tail(1);
    let keys = pairs.iter().step_by(2);
    for (key, value) in keys.zip(pairs.iter().skip(1).step_by(2)) {
        if let Some(mut entry) = call.keys.any_mut(key)
            && !entry.is_large()
        {
            entry.set_string(value);
            entry.set_expiry(None);
        } else {
            call.keys.put(Entry::string(key, value));
        }
        call.modified(key, SET);
    }
}
