// SPDX-License-Identifier: Apache-2.0
//! Checks whether a client's user may run a command.

use crate::acl::Denied;
use crate::host::Host;
use crate::host::acl_log::{Denial, DenialKind, Where};
use crate::session::client::Client;
use crate::session::connection::Resp;
use crate::session::listed_client::{self, ListedClient};
use crate::table::CommandId;
use crate::wire::fault::Fault;
use crate::wire::parse::Args;
use clock::Now;

/// Whether the user of a connection may run a command; the reply if not, which is recorded.
pub(super) fn check(
    host: &Host,
    conn: &Resp,
    id: CommandId,
    args: Args<'_>,
    now: Now,
) -> Result<(), Fault> {
    check_at(host, conn, id, args, place(conn.transaction.is_some()), now)
}

/// The same for a command that is run elsewhere.
pub(super) fn check_at(
    host: &Host,
    conn: &Resp,
    id: CommandId,
    args: Args<'_>,
    place: Where,
    now: Now,
) -> Result<(), Fault> {
    let Err(denied) = find(host, conn, id, args) else { return Ok(()) };
    record(host, conn, (id, args, denied), place, now);
    Err(match denied {
        Denied::Command => {
            let (user, name) = (conn.user.name(), id.spec().name.as_bytes());
            let text =
                [b"NOPERM User ", user, b" has no permissions to run the '", name, b"' command"];
            Fault::made(text.concat())
        }
        Denied::Key(_) => Fault::new("NOPERM No permissions to access a key"),
        Denied::Channel(_) => Fault::new("NOPERM No permissions to access a channel"),
        Denied::Database(_) => Fault::new("NOPERM No permissions to access database"),
    })
}

/// The same for a command that was queued when the user had other rights.
pub(super) fn check_queued(
    host: &Host,
    conn: &Resp,
    id: CommandId,
    args: Args<'_>,
    now: Now,
) -> Result<(), Fault> {
    let Err(denied) = find(host, conn, id, args) else { return Ok(()) };
    record(host, conn, (id, args, denied), Where::Transaction, now);
    let reason = match denied {
        Denied::Command => "no permission to execute the command or subcommand",
        Denied::Key(_) => "no permission to touch the specified keys",
        Denied::Channel(_) => {
            "no permission to access one of the channels used as arguments to the command"
        }
        Denied::Database(_) => "no permission to access the database",
    };
    Err(Fault::made(format!(
        "NOPERM ACLs rules changed between the moment the transaction was accumulated and the EXEC call. This command \
         is no longer allowed for the following reason: {reason}"
    )))
}

/// Whether the user of a connection may run a command, without a record.
pub(super) fn find(host: &Host, conn: &Resp, id: CommandId, args: Args<'_>) -> Result<(), Denied> {
    let account = conn.user.account().unwrap_or_else(|| host.acl().default_account());
    account.rights().check(id, &args, conn.db)
}

#[cold]
fn record(
    host: &Host,
    conn: &Resp,
    (id, args, denied): (CommandId, Args<'_>, Denied),
    context: Where,
    now: Now,
) {
    let name = id.spec().name.as_bytes();
    let (reason, object) = match denied {
        Denied::Command => (DenialKind::Command, name),
        Denied::Key(at) => (DenialKind::Key, args.arg(at)),
        Denied::Channel(at) => (DenialKind::Channel, args.arg(at)),
        Denied::Database(0) => (DenialKind::Database, name),
        Denied::Database(at) => (DenialKind::Database, args.arg(at)),
    };
    let (object, user) = (object.into(), conn.user.name().into());
    note(host, conn, Denial { reason, context, object, user }, now);
}

/// Where a command is run.
pub(super) fn place(in_transaction: bool) -> Where {
    if in_transaction { Where::Transaction } else { Where::TopLevel }
}

/// Records what was denied to a client.
#[cold]
pub(super) fn note(host: &Host, conn: &Resp, denial: Denial, now: Now) {
    let mut text = Vec::new();
    if let Some(client) = &conn.client {
        let state_bytes = size_of::<Resp>() + size_of::<Client>();
        listed_client::describe(&ListedClient::of(client), state_bytes, now.ticks, &mut text);
    }
    host.acl_log().note(denial, text, now.unix_ms);
}
