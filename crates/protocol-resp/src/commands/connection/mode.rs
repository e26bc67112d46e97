// SPDX-License-Identifier: Apache-2.0
//! How a client is treated: CLIENT REPLY, NO-EVICT, NO-TOUCH; and what it says of itself: CAPA, IMPORT-SOURCE.

use crate::engine::any_call::{AnyCall, CallParts};
use crate::session::client::Client;
use crate::session::replies::Replies;
use crate::wire::fault::{Done, Fault};

/// Turns replies off and on. Only what turns them on is answered.
pub(crate) fn client_reply<'c>(call: &mut impl AnyCall<'c>) -> Done {
    let CallParts { args, replies, out, .. } = call.parts();
    let word = args.arg(2);
    if word.eq_ignore_ascii_case(b"on") {
        *replies = Replies::On;
        out.ok();
    } else if word.eq_ignore_ascii_case(b"off") {
        *replies = Replies::Off;
    } else if word.eq_ignore_ascii_case(b"skip") {
        if *replies != Replies::Off {
            *replies = Replies::SkipNext;
        }
    } else {
        return Err(Fault::SYNTAX);
    }
    Ok(())
}

/// Spares the connection when others must go to free memory (`client_memory.rs`).
pub(crate) fn client_no_evict<'c>(call: &mut impl AnyCall<'c>) -> Done {
    switch(call, Client::NO_EVICT)?;
    Ok(())
}

/// Lets the connection use keys without a trace of it, where the store has such reads.
pub(crate) fn client_no_touch<'c>(call: &mut impl AnyCall<'c>) -> Done {
    let on = switch(call, Client::NO_TOUCH)?;
    call.set_no_touch(on);
    Ok(())
}

/// Hears what the client is capable of, which other clients can ask for (CLIENT LIST). There is no other server to
/// redirect it to.
pub(crate) fn client_capa<'c>(call: &mut impl AnyCall<'c>) -> Done {
    let CallParts { args, client, out, .. } = call.parts();
    let follows = args.tail(2).iter().any(|word| word.eq_ignore_ascii_case(b"redirect"));
    if let Some(client) = client.filter(|_| follows) {
        client.set(Client::FOLLOWS, true);
    }
    out.ok();
    Ok(())
}

/// Hears whether the client is a source of imported data. The server imports none.
pub(crate) fn client_import_source<'c>(call: &mut impl AnyCall<'c>) -> Done {
    if !call.args().arg(2).eq_ignore_ascii_case(b"off") {
        return Err(Fault::new("ERR Server is not in import mode"));
    }
    call.out().ok();
    Ok(())
}

/// Turns a flag on or off.
fn switch<'c>(call: &mut impl AnyCall<'c>, flag: u32) -> Result<bool, Fault> {
    let CallParts { args, client, out, .. } = call.parts();
    let word = args.arg(2);
    let on = word.eq_ignore_ascii_case(b"on");
    if !on && !word.eq_ignore_ascii_case(b"off") {
        return Err(Fault::SYNTAX);
    }
    if let Some(client) = client {
        client.set(flag, on);
    }
    out.ok();
    Ok(on)
}
