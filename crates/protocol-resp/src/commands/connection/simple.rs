// SPDX-License-Identifier: Apache-2.0
//! PING, ECHO, SELECT, QUIT, RESET.

use super::super::pubsub;
use super::tracking;
use crate::engine::any_call::{AnyCall, CallParts};
use crate::engine::call::Call;
use crate::session::marks::Marks;
use crate::session::replies::Replies;
use crate::session::user::User;
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::Version;
use keyspace::View;
use protocol::Control;

/// Answers. To a subscriber in RESP2 in the form of a message, for it expects nothing else.
pub(crate) fn ping<'c>(call: &mut impl AnyCall<'c>) -> Done {
    let text = call.args().get(1);
    if call.args().len() > 2 {
        return Err(Fault::arity(call.spec().name));
    }
    if call.expects_messages() {
        call.out().array(2);
        call.out().bulk(b"pong");
        call.out().bulk(text.unwrap_or_default());
        return Ok(());
    }
    match text {
        Some(text) => call.out().bulk(text),
        None => call.out().simple("PONG"),
    }
    Ok(())
}

/// Returns its argument.
pub(crate) fn echo<'c>(call: &mut impl AnyCall<'c>) -> Done {
    let CallParts { args, out, .. } = call.parts();
    out.bulk(args.arg(1));
    Ok(())
}

/// Chooses the database. A node of a cluster has only one.
pub(crate) fn select<'c>(call: &mut impl AnyCall<'c>) -> Done {
    let text = call.args().arg(1);
    if call.is_in_cluster() && values::parse_i64(text).is_some_and(|number| number != 0) {
        return Err(Fault::new("ERR SELECT is not allowed in cluster mode"));
    }
    let db = call.database(text)?;
    call.select(db);
    call.out().ok();
    Ok(())
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
    if call.conn.is_monitor() {
        call.conn.marks.set(Marks::MONITOR, false);
        call.monitors().leave(call.id);
    }
    drop(call.conn.end_transaction());
    call.key_events().unwatch(call.conn);
    tracking::stop(call);
    pubsub::leave(call);
    call.conn.fieldsets.discard_all();
    call.conn.note_fieldsets();
    call.conn.marks.set(Marks::ASKING, false);
    call.conn.marks.set(Marks::READS_ONLY, false);
    call.set_no_touch(false);
    reset_session(call)
}

/// RESET, for a connection that only has what those of both services have.
pub(crate) fn reset_session<'c>(call: &mut impl AnyCall<'c>) -> Done {
    call.select(0);
    call.set_version(Version::Resp2);
    let is_logged_in = !call.asks_for_password();
    let CallParts { user, replies, client, out, .. } = call.parts();
    *user = User::new(is_logged_in);
    if *replies != Replies::Skip {
        *replies = Replies::On;
    }
    if let Some(client) = client {
        client.reset();
    }
    out.simple("RESET");
    Ok(())
}
