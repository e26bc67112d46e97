// SPDX-License-Identifier: Apache-2.0
//! MULTI, DISCARD, WATCH, UNWATCH; and EXEC without MULTI.

use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use keyspace::View;

/// Begins a transaction.
pub(crate) fn multi<V: View>(call: &mut Call<'_, V>) -> Done {
    if call.conn.transaction.is_some() {
        return Err(Fault::new("ERR MULTI calls can not be nested"));
    }
    call.conn.begin_transaction();
    call.out.ok();
    Ok(())
}

/// Drops the commands of a transaction.
pub(crate) fn discard<V: View>(call: &mut Call<'_, V>) -> Done {
    if call.conn.end_transaction().is_none() {
        return Err(Fault::new("ERR DISCARD without MULTI"));
    }
    call.key_events().unwatch(call.conn);
    call.out.ok();
    Ok(())
}

/// Lets the next transaction fail if one of the keys changes before.
pub(crate) fn watch<V: View>(call: &mut Call<'_, V>) -> Done {
    if call.conn.transaction.is_some() {
        return Err(Fault::new("ERR WATCH inside MULTI is not allowed"));
    }
    for key in call.args.tail(1).iter() {
        let was_there = call.keys.peek(key).is_some();
        call.key_events().watch(call.conn, call.keys.db, key, was_there);
    }
    call.conn.note_transaction();
    call.out.ok();
    Ok(())
}

/// Forgets all watched keys.
pub(crate) fn unwatch<V: View>(call: &mut Call<'_, V>) -> Done {
    call.key_events().unwatch(call.conn);
    call.out.ok();
    Ok(())
}

/// Carries out the commands of a transaction. Reached without MULTI only: the engine takes care of it
/// otherwise (`engine/exec.rs`).
pub(crate) fn exec<V: View>(_: &mut Call<'_, V>) -> Done {
    Err(Fault::new("ERR EXEC without MULTI"))
}
