// SPDX-License-Identifier: Apache-2.0
//! ACL DRYRUN.

use crate::acl::{Denied, Selection};
use crate::engine::any_call::AnyCall;
use crate::engine::call::Call;
use crate::table;
use crate::wire::fault::{Done, Fault};
use keyspace::View;

/// Tells whether a user may run a command, without running it.
pub(crate) fn dryrun<V: View>(call: &mut Call<'_, V>) -> Done {
    let (name, command) = (call.arg(2), call.args.tail(3));
    let quoted = |what: &str, text: &[u8], problem: &str| {
        Fault::made([b"ERR ", what.as_bytes(), b"'", text, b"'", problem.as_bytes()].concat())
    };
    let account = call.acl().find(name).ok_or_else(|| quoted("User ", name, " not found"))?;
    let id = table::resolve(command.arg(0), command.get(1));
    let id = id.ok_or_else(|| quoted("Command ", command.arg(0), " not found"))?;
    let spec = id.spec();
    if !spec.accepts(command.len()) {
        return Err(Fault::arity(spec.name));
    }
    let selection = Selection { db: call.conn.db, databases: call.databases() };
    let Err(denied) = account.rights().check(id, &command, selection) else {
        call.out.ok();
        return Ok(());
    };
    let (what, object, end) = match denied {
        Denied::Command => ("run the '", spec.name.as_bytes(), "' command"),
        Denied::Key(at) => ("access the '", command.arg(at), "' key"),
        Denied::Channel(at) => ("access the '", command.arg(at), "' channel"),
        Denied::Database(0) => ("access database ", spec.name.as_bytes(), ""),
        Denied::Database(at) => ("access database ", command.arg(at), ""),
    };
    let text =
        [b"User ", name, b" has no permissions to ", what.as_bytes(), object, end.as_bytes()];
    call.out.bulk(&text.concat());
    Ok(())
}
