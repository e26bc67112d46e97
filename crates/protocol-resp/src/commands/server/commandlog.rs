// SPDX-License-Identifier: Apache-2.0
//! COMMANDLOG: the commands that took long, and those whose requests or replies were large. SLOWLOG: the first of
//! them.

use crate::commands::dispatch;
use crate::engine::call::Call;
use crate::host::commandlog::CommandLog;
use crate::wire::fault::{Done, Fault};
use keyspace::View;

/// Entries that are listed unless a number says otherwise.
const COUNT: usize = 10;

/// Lists the slow ones, the latest first.
pub(crate) fn slowlog_get<V: View>(call: &mut Call<'_, V>) -> Done {
    let most = match call.args.len() {
        2 => COUNT,
        3 => count(call)?,
        _ => return Err(dispatch::wrong_arguments(call)),
    };
    let log = call.slowlog();
    list(call, log, most);
    Ok(())
}

/// Lists those of a kind, the latest first.
pub(crate) fn commandlog_get<V: View>(call: &mut Call<'_, V>) -> Done {
    let most = count(call)?;
    let log = log(call, 3)?;
    list(call, log, most);
    Ok(())
}

/// How many entries a client wants to see.
fn count<V: View>(call: &Call<'_, V>) -> Result<usize, Fault> {
    match values::parse_i64(call.arg(2)) {
        Some(-1) => Ok(usize::MAX),
        Some(count) if count >= 0 => Ok(count as usize),
        _ => Err(Fault::new("ERR count should be greater than or equal to -1")),
    }
}

/// The log that an argument names.
fn log<'c, V: View>(call: &Call<'c, V>, at: usize) -> Result<&'c CommandLog, Fault> {
    let word = call.arg(at);
    let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
    if is(b"slow") {
        Ok(call.slowlog())
    } else if is(b"large-request") {
        Ok(&call.large_logs().requests)
    } else if is(b"large-reply") {
        Ok(&call.large_logs().replies)
    } else {
        let text = "ERR type should be one of the following: slow, large-request, large-reply";
        Err(Fault::new(text))
    }
}

fn list<V: View>(call: &mut Call<'_, V>, log: &CommandLog, most: usize) {
    let entries = log.latest(most);
    call.out.array(entries.len());
    for entry in &entries {
        call.out.array(6);
        call.out.integer(entry.id as i64);
        call.out.integer(entry.unix_seconds as i64);
        call.out.integer(entry.value as i64);
        call.out.array(entry.args.len());
        for arg in &entry.args {
            call.out.bulk(arg);
        }
        call.out.bulk(entry.peer.as_bytes());
        call.out.bulk(&entry.client);
    }
}

/// Counts the slow ones.
pub(crate) fn slowlog_len<V: View>(call: &mut Call<'_, V>) -> Done {
    call.out.count(call.slowlog().len());
    Ok(())
}

/// Forgets the slow ones.
pub(crate) fn slowlog_reset<V: View>(call: &mut Call<'_, V>) -> Done {
    call.slowlog().clear();
    call.out.ok();
    Ok(())
}

/// Counts those of a kind.
pub(crate) fn commandlog_len<V: View>(call: &mut Call<'_, V>) -> Done {
    let len = log(call, 2)?.len();
    call.out.count(len);
    Ok(())
}

/// Forgets those of a kind.
pub(crate) fn commandlog_reset<V: View>(call: &mut Call<'_, V>) -> Done {
    log(call, 2)?.clear();
    call.out.ok();
    Ok(())
}
