// SPDX-License-Identifier: Apache-2.0
//! Replicas and an append-only file, of which there are none: WAIT, WAITAOF.

use super::super::call::Call;
use super::super::fault::{Done, Fault};
use storage::keyspace::View;

/// Counts the replicas that have the writes of this connection: none, at once.
pub(crate) fn wait<V: View>(call: &mut Call<'_, V>) -> Done {
    call.integer(1)?;
    check_timeout(call, 2)?;
    call.out.integer(0);
    Ok(())
}

/// Counts the files that have the writes of this connection, here and on replicas: none, at once.
pub(crate) fn waitaof<V: View>(call: &mut Call<'_, V>) -> Done {
    let local = call.integer(1)?;
    call.integer(2)?;
    check_timeout(call, 3)?;
    if local != 0 {
        let text = "ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled.";
        return Err(Fault::new(text));
    }
    call.out.array(2);
    call.out.integer(0);
    call.out.integer(0);
    Ok(())
}

fn check_timeout<V: View>(call: &Call<'_, V>, at: usize) -> Done {
    let timeout = values::parse_i64(call.arg(at));
    match timeout.ok_or(Fault::new("ERR timeout is not an integer or out of range"))? {
        0.. => Ok(()),
        _ => Err(Fault::new("ERR timeout is negative")),
    }
}
