// SPDX-License-Identifier: Apache-2.0
//! Pausing all clients, and unblocking one: CLIENT PAUSE, UNPAUSE, UNBLOCK.

use super::super::dispatch::too_many_arguments;
use super::super::options::timeout_ms;
use crate::engine::call::Call;
use crate::session::replies::Replies;
use crate::wire::fault::{Done, Fault};
use bytes::Bytes;
use keyspace::View;
use protocol::Control;
use std::time::Duration;

/// How long the client that ends a pause waits at most until those that were held have run: one that does not read
/// its replies runs nothing.
const OTHERS_MAX: Duration = Duration::from_millis(100);

/// Holds commands back for a time.
pub(crate) fn client_pause<V: View>(call: &mut Call<'_, V>) -> Done {
    let writes_only = match (call.args.get(3), call.args.get(4)) {
        (_, Some(_)) => return Err(too_many_arguments(call)),
        (None, _) => false,
        (Some(word), _) if word.eq_ignore_ascii_case(b"all") => false,
        (Some(word), _) if word.eq_ignore_ascii_case(b"write") => true,
        _ => return Err(Fault::new("ERR CLIENT PAUSE mode must be WRITE or ALL")),
    };
    let time = timeout_ms(call.arg(2), call.unix_ms())?;
    call.pause().begin(call.now, time, writes_only, call.settings());
    call.out.ok();
    Ok(())
}

/// Ends a pause.
pub(crate) fn client_unpause<V: View>(call: &mut Call<'_, V>) -> Done {
    call.pause().end(call.settings(), call.outbox);
    let may_wait = !call.in_transaction && call.conn.replies == Replies::On;
    if may_wait && call.pause().await_resumed(call.id, call.ticket) {
        call.worker.sleep(call.id, call.ticket, call.now.ticks + OTHERS_MAX);
        call.control = Control::Block;
    } else {
        call.out.ok();
    }
    Ok(())
}

/// Ends the wait of a client: as if its time were up, or with an error.
pub(crate) fn client_unblock<V: View>(call: &mut Call<'_, V>) -> Done {
    let with_error = match (call.args.get(3), call.args.get(4)) {
        (_, Some(_)) => return Err(too_many_arguments(call)),
        (None, _) => false,
        (Some(word), _) if word.eq_ignore_ascii_case(b"timeout") => false,
        (Some(word), _) if word.eq_ignore_ascii_case(b"error") => true,
        _ => return Err(Fault::new("ERR CLIENT UNBLOCK reason should be TIMEOUT or ERROR")),
    };
    let id = call.integer(2)?;
    let client = u64::try_from(id).ok().and_then(|id| call.clients().get(id));
    let waiting = client.and_then(|client| client.waiting.lock().take());
    // The side that removes it from the table replies to it.
    let waiting = waiting.filter(|waiting| call.key_events().stop_waiting(waiting));
    if let Some(waiting) = &waiting {
        let reply = if with_error {
            call.command_stats().error(b"UNBLOCKED");
            Bytes::from_static(b"-UNBLOCKED client unblocked via CLIENT UNBLOCK\r\n")
        } else {
            waiting.nothing()
        };
        call.end_wait(waiting, with_error);
        call.outbox.resume(waiting.id, waiting.ticket, reply);
    }
    call.out.integer(waiting.is_some().into());
    Ok(())
}
