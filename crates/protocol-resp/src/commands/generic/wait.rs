// SPDX-License-Identifier: Apache-2.0
//! Waiting for replicas and an append-only file, which do not exist here: WAIT, WAITAOF.

use super::super::options::timeout_ms;
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use keyspace::View;

/// Counts the replicas that have the writes of this connection: none, at once.
pub(crate) fn wait<V: View>(call: &mut Call<'_, V>) -> Done {
    call.integer(1)?;
    timeout_ms(call.arg(2), call.unix_ms())?;
    call.out.integer(0);
    Ok(())
}

/// Counts the files that have the writes of this connection, here and on replicas: none, at once.
pub(crate) fn waitaof<V: View>(call: &mut Call<'_, V>) -> Done {
    let local = call.integer(1)?;
    if !(0..=1).contains(&local) {
        return Err(Fault::new("ERR value is out of range, value must between 0 and 1"));
    }
    if !call.integer(2).is_ok_and(|replicas| replicas >= 0) {
        return Err(Fault::NOT_POSITIVE);
    }
    timeout_ms(call.arg(3), call.unix_ms())?;
    if local != 0 {
        let text = "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.";
        return Err(Fault::new(text));
    }
    call.out.array(2);
    call.out.integer(0);
    call.out.integer(0);
    Ok(())
}
