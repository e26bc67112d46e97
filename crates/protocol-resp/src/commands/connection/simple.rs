// SPDX-License-Identifier: Apache-2.0
//! PING, ECHO, SELECT, QUIT, RESET.

use super::super::pubsub;
use crate::engine::any_call::{AnyCall, CallParts};
use crate::engine::call::Call;
use crate::session::replies::Replies;
use crate::session::user::User;
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::Version;
use keyspace::View;
use protocol::Control;
use std::sync::atomic::Ordering::Relaxed;

/// Answers. To a subscriber in RESP2 in the form of a message, for it expects nothing else.
pub(crate) fn ping<V: View>(call: &mut Call<'_, V>) -> Done {
    let text = call.args.get(1);
    if call.args.len() > 2 {
        return Err(Fault::arity(call.spec.name));
    }
    if call.conn.is_subscriber() && call.conn.version == Version::Resp2 {
        call.out.array(2);
        call.out.bulk(b"pong");
        call.out.bulk(text.unwrap_or_default());
        return Ok(());
    }
    match text {
        Some(text) => call.out.bulk(text),
        None => call.out.simple("PONG"),
    }
    Ok(())
}

/// Returns its argument.
pub(crate) fn echo<'c>(call: &mut impl AnyCall<'c>) -> Done {
    let CallParts { args, out, .. } = call.parts();
    out.bulk(args.arg(1));
    Ok(())
}

/// Chooses the database.
pub(crate) fn select<V: View>(call: &mut Call<'_, V>) -> Done {
    let db = call.database(call.arg(1))?;
    set_database(call, db);
    call.out.ok();
    Ok(())
}

fn set_database<V: View>(call: &mut Call<'_, V>, db: usize) {
    call.conn.db = db;
    if let Some(client) = &call.conn.client {
        client.db.store(db as u32, Relaxed);
    }
}

/// Closes the connection.
pub(crate) fn quit<'c>(call: &mut impl AnyCall<'c>) -> Done {
    let CallParts { out, control, .. } = call.parts();
    out.ok();
    *control = Control::Close;
    Ok(())
}

/// Makes the connection as if it were new. What it has said of its library stays.
pub(crate) fn reset<V: View>(call: &mut Call<'_, V>) -> Done {
    if call.conn.is_monitor {
        call.conn.is_monitor = false;
        call.monitors().leave(call.id);
    }
    drop(call.conn.end_transaction());
    call.key_events().unwatch(call.conn);
    pubsub::leave(call);
    set_database(call, 0);
    call.set_version(Version::Resp2);
    call.conn.user = User::new(!call.asks_for_password());
    call.conn.no_touch = false;
    if call.conn.replies != Replies::Skip {
        call.conn.replies = Replies::On;
    }
    if let Some(client) = &call.conn.client {
        client.reset();
    }
    call.out.simple("RESET");
    Ok(())
}
