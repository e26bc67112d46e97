// SPDX-License-Identifier: Apache-2.0
//! How values are stored: OBJECT.

use crate::engine::call::Call;
use crate::engine::keys::Keys;
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use values::Entry;

/// The live entry under `key`, and the view that it is in. Counts as a hit or a miss, but not as an access, and nobody is
/// told of a miss.
fn look<'k, V: View>(keys: &'k mut Keys<'_, V>, key: &[u8]) -> Option<(&'k Entry, &'k V)> {
    keys.glance(key)?;
    let keys = &*keys;
    Some((keys.peek(key)?, &*keys.view))
}

/// Tells how a value is stored.
pub(crate) fn object_encoding<V: View>(call: &mut Call<'_, V>) -> Done {
    match look(&mut call.keys, call.args.arg(2)) {
        Some((entry, _)) => call.out.bulk(entry.encoding().name().as_bytes()),
        None => call.out.null(),
    }
    Ok(())
}

/// Tells how often a value was used, under a policy that counts.
pub(crate) fn object_freq<V: View>(call: &mut Call<'_, V>) -> Done {
    let Some((entry, view)) = look(&mut call.keys, call.args.arg(2)) else {
        call.out.null();
        return Ok(());
    };
    let text = "ERR An LFU maxmemory policy is not selected, access frequency not tracked. Please \
                note that when switching between policies at runtime LRU and LFU data will take \
                some time to adjust.";
    let frequency = view.frequency(entry).ok_or(Fault::new(text))?;
    call.out.integer(frequency.into());
    Ok(())
}

/// Tells for how many seconds a value has not been used.
pub(crate) fn object_idletime<V: View>(call: &mut Call<'_, V>) -> Done {
    let Some((entry, view)) = look(&mut call.keys, call.args.arg(2)) else {
        call.out.null();
        return Ok(());
    };
    let text = "ERR An LFU maxmemory policy is selected, idle time not tracked. Please note that \
                when switching between policies at runtime LRU and LFU data will take some time to \
                adjust.";
    let idle_ms = view.idle_ms(entry).ok_or(Fault::new(text))?;
    call.out.integer((idle_ms / 1000) as i64);
    Ok(())
}

/// Tells how many keys share a value: it is always one.
pub(crate) fn object_refcount<V: View>(call: &mut Call<'_, V>) -> Done {
    match look(&mut call.keys, call.args.arg(2)) {
        Some(_) => call.out.integer(1),
        None => call.out.null(),
    }
    Ok(())
}
