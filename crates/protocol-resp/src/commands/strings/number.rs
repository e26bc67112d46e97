// SPDX-License-Identifier: Apache-2.0
//! Integers in strings: INCR, DECR, INCRBY, DECRBY.

use crate::engine::call::Call;
use crate::host::events::{Class, Event};
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use values::{Entry, Type};

/// Adds one to an integer.
#[inline]
pub(crate) fn incr<V: View>(call: &mut Call<'_, V>) -> Done {
    add(call, 1)
}

/// Subtracts one from an integer.
pub(crate) fn decr<V: View>(call: &mut Call<'_, V>) -> Done {
    add(call, -1)
}

/// Adds to an integer.
pub(crate) fn incrby<V: View>(call: &mut Call<'_, V>) -> Done {
    let by = call.integer(2)?;
    add(call, by)
}

/// Subtracts from an integer.
pub(crate) fn decrby<V: View>(call: &mut Call<'_, V>) -> Done {
    let by = call.integer(2)?;
    let by = by.checked_neg().ok_or(Fault::DECREMENT_OVERFLOW)?;
    add(call, by)
}

#[inline]
fn add<V: View>(call: &mut Call<'_, V>, by: i64) -> Done {
    let key = call.arg(1);
    let sum = if let Some(mut entry) = call.keys.get_mut(key, Type::String)? {
        let old = entry.as_integer().ok_or(Fault::NOT_INTEGER)?;
        let sum = old.checked_add(by).ok_or(Fault::OVERFLOW)?;
        entry.set_integer(sum);
        sum
    } else {
        call.keys.put(Entry::integer(key, by));
        by
    };
    call.out.integer(sum);
    call.modified(key, Event::of(Class::STRING, "incrby"));
    Ok(())
}
