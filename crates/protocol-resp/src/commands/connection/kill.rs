// SPDX-License-Identifier: Apache-2.0
//! Closing connections: CLIENT KILL.

use super::filter::Filter;
use super::selection::all_clients;
use crate::engine::any_call::{AnyCall, CallParts};
use crate::session::listed_client::ListedClient;
use crate::wire::fault::{Done, Fault};
use protocol::Control;

/// Closes connections: that with an address, or those that meet conditions.
pub(crate) fn client_kill<'c>(call: &mut impl AnyCall<'c>) -> Done {
    let parts = call.parts();
    let (args, me, now) = (parts.args, parts.id, parts.now);
    let by_address = args.len() == 3;
    let filter = if by_address {
        Filter::of_address(args.arg(2))
    } else {
        Filter::parse(call, args.tail(2), true)?
    };
    let mut meant = all_clients(&call.parts());
    meant.retain(|listed| filter.matches(listed, me, now));
    for listed in &meant {
        kill(call, listed);
    }
    let CallParts { out, .. } = call.parts();
    match (by_address, meant.len()) {
        (true, 0) => return Err(Fault::new("ERR No such client")),
        (true, _) => out.ok(),
        (false, killed) => out.count(killed),
    }
    Ok(())
}

/// Closes a connection; that of the command once it has its reply.
pub(crate) fn kill<'c>(call: &mut impl AnyCall<'c>, listed: &ListedClient) {
    let CallParts { id, control, outbox, .. } = call.parts();
    if listed.id == id {
        *control = Control::Close;
        return;
    }
    outbox.close(listed.id);
    listed.note_going();
    if let Some(client) = &listed.client {
        // It is gone from here on: nothing may be taken for it from the keys it waits for.
        let waiting = client.waiting.lock().take();
        if let Some(waiting) = waiting {
            call.stop_waiting(&waiting);
        }
    }
}
