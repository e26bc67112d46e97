// SPDX-License-Identifier: Apache-2.0
//! The connection: PING, SELECT, RESET.
//!
//! There is one user, `default`, who has no password, and one database.

use super::store_call::StoreCall;
use crate::engine::any_call::AnyCall;
use crate::engine::call::database;
use crate::session::replies::Replies;
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::Version;
use storage::Store;

/// How many databases there are.
pub(super) const DATABASES: usize = 1;

/// Answers.
pub(super) fn ping<S>(call: &mut StoreCall<'_, S>) -> Done {
    match call.args.len() {
        1 => call.out.simple("PONG"),
        2 => call.out.bulk(call.args.arg(1)),
        _ => return Err(Fault::arity(call.spec.name)),
    }
    Ok(())
}

/// Selects the database, the only one there is.
pub(super) fn select<S>(call: &mut StoreCall<'_, S>) -> Done {
    database(call.args.arg(1), DATABASES)?;
    call.out.ok();
    Ok(())
}

/// Resets the connection to the state of a new one, except for the name of its library.
pub(super) fn reset<S: Store>(call: &mut StoreCall<'_, S>) -> Done {
    call.set_version(Version::Resp2);
    if call.conn.replies != Replies::Skip {
        call.conn.replies = Replies::On;
    }
    if let Some(client) = &call.conn.client {
        client.reset();
    }
    call.out.simple("RESET");
    Ok(())
}
