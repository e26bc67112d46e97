// SPDX-License-Identifier: Apache-2.0
//! How a client is treated: CLIENT REPLY, NO-EVICT, NO-TOUCH.

use super::super::call::Call;
use super::super::clients::Client;
use super::super::fault::{Done, Fault};
use super::super::resp::Replies;
use storage::keyspace::View;

/// Turns replies off and on. Only what turns them on is answered.
pub(crate) fn client_reply<V: View>(call: &mut Call<'_, V>) -> Done {
    let word = call.arg(2);
    if word.eq_ignore_ascii_case(b"on") {
        call.conn.replies = Replies::On;
        call.out.ok();
    } else if word.eq_ignore_ascii_case(b"off") {
        call.conn.replies = Replies::Off;
    } else if word.eq_ignore_ascii_case(b"skip") {
        if call.conn.replies != Replies::Off {
            call.conn.replies = Replies::SkipNext;
        }
    } else {
        return Err(Fault::SYNTAX);
    }
    Ok(())
}

/// Spares the connection when others must go to free memory. None has to: the limit of memory is for
/// keys, and buffers have limits of their own. So it shows in the list of clients, and no more.
pub(crate) fn client_no_evict<V: View>(call: &mut Call<'_, V>) -> Done {
    let on = switch(call.arg(2))?;
    set(call, Client::NO_EVICT, on);
    call.out.ok();
    Ok(())
}

/// Lets the connection use keys without a trace of it.
pub(crate) fn client_no_touch<V: View>(call: &mut Call<'_, V>) -> Done {
    let on = switch(call.arg(2))?;
    call.conn.no_touch = on;
    set(call, Client::NO_TOUCH, on);
    call.out.ok();
    Ok(())
}

fn switch(word: &[u8]) -> Result<bool, Fault> {
    if word.eq_ignore_ascii_case(b"on") {
        Ok(true)
    } else if word.eq_ignore_ascii_case(b"off") {
        Ok(false)
    } else {
        Err(Fault::SYNTAX)
    }
}

fn set<V: View>(call: &Call<'_, V>, flag: u32, on: bool) {
    if let Some(client) = &call.conn.client {
        client.set(flag, on);
    }
}
