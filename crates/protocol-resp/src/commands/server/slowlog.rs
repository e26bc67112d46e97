// SPDX-License-Identifier: Apache-2.0
//! SLOWLOG: the commands that took long.

use crate::commands::dispatch;
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use keyspace::View;

/// Entries that are listed unless a number says otherwise.
const COUNT: usize = 10;

/// Lists them, the latest first.
pub(crate) fn slowlog_get<V: View>(call: &mut Call<'_, V>) -> Done {
    let most = match call.args.len() {
        2 => COUNT,
        3 => match values::parse_i64(call.arg(2)) {
            Some(-1) => usize::MAX,
            Some(count) if count >= 0 => count as usize,
            _ => return Err(Fault::new("ERR count should be greater than or equal to -1")),
        },
        _ => return Err(dispatch::wrong_arguments(call)),
    };
    let entries = call.slowlog().latest(most);
    call.out.array(entries.len());
    for entry in &entries {
        call.out.array(6);
        call.out.integer(entry.id as i64);
        call.out.integer(entry.unix_seconds as i64);
        call.out.integer(entry.elapsed.as_micros() as i64);
        call.out.array(entry.args.len());
        for arg in &entry.args {
            call.out.bulk(arg);
        }
        call.out.bulk(entry.peer.as_bytes());
        call.out.bulk(&entry.client);
    }
    Ok(())
}

/// Counts them.
pub(crate) fn slowlog_len<V: View>(call: &mut Call<'_, V>) -> Done {
    call.out.count(call.slowlog().len());
    Ok(())
}

/// Forgets them.
pub(crate) fn slowlog_reset<V: View>(call: &mut Call<'_, V>) -> Done {
    call.slowlog().clear();
    call.out.ok();
    Ok(())
}
