// SPDX-License-Identifier: Apache-2.0
//! Checks whether a client's user may run a command.

use crate::acl::{Denied, Selection};
use crate::host::Host;
use crate::host::acl_log::{Denial, DenialKind, Where};
use crate::session::client::Client;
use crate::session::connection::Resp;
use crate::session::listed_client::{self, ListedClient};
use crate::session::user::User;
use crate::table::CommandId;
use crate::table::keys::Words;
use crate::wire::fault::Fault;
use crate::wire::parse::Args;
use clock::Now;
use std::sync::Arc;

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
    judge(host, &Subject::of(conn), id, &args, place, now)
}

/// Whose rights are checked.
#[derive(Debug)]
pub(super) struct Subject<'a> {
    pub(super) user: &'a User,
    /// The database that is selected.
    pub(super) db: usize,
    pub(super) client: Option<&'a Arc<Client>>,
}

impl<'a> Subject<'a> {
    fn of(conn: &'a Resp) -> Self {
        // That of a transaction is the one that its commands, when they run, will have selected.
        let selected = conn.transaction.as_ref().and_then(|transaction| transaction.selected);
        let db = selected.unwrap_or(conn.db);
        Subject { user: &conn.user, db, client: conn.client.as_ref() }
    }

    fn find<W: Words + ?Sized>(&self, host: &Host, id: CommandId, args: &W) -> Result<(), Denied> {
        let account = self.user.account().unwrap_or_else(|| host.acl().default_account());
        let selection = Selection { db: self.db, databases: host.databases() };
        account.rights().check(id, args, selection)
    }
}

/// Whether somebody may run a command; the reply if not, which is recorded.
pub(super) fn judge<W: Words + ?Sized>(
    host: &Host,
    subject: &Subject<'_>,
    id: CommandId,
    args: &W,
    place: Where,
    now: Now,
) -> Result<(), Fault> {
    let Err(denied) = subject.find(host, id, args) else { return Ok(()) };
    record(host, subject, (id, args, denied), place, now);
    Err(match denied {
        Denied::Command => {
            let (user, name) = (subject.user.name(), id.spec().name.as_bytes());
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
    record(host, &Subject::of(conn), (id, &args, denied), Where::Transaction, now);
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
    Subject::of(conn).find(host, id, &args)
}

#[cold]
fn record<W: Words + ?Sized>(
    host: &Host,
    subject: &Subject<'_>,
    (id, args, denied): (CommandId, &W, Denied),
    context: Where,
    now: Now,
) {
    let name = id.spec().name.as_bytes();
    let word = |at| args.word(at).unwrap_or_default();
    let (reason, object) = match denied {
        Denied::Command => (DenialKind::Command, name),
        Denied::Key(at) => (DenialKind::Key, word(at)),
        Denied::Channel(at) => (DenialKind::Channel, word(at)),
        Denied::Database(0) => (DenialKind::Database, name),
        Denied::Database(at) => (DenialKind::Database, word(at)),
    };
    let (object, user) = (object.into(), subject.user.name().into());
    note_of(host, subject.client, Denial { reason, context, object, user }, now);
}

/// Where a command is run.
pub(super) fn place(in_transaction: bool) -> Where {
    if in_transaction { Where::Transaction } else { Where::TopLevel }
}

/// Records what was denied to a client.
#[cold]
pub(super) fn note(host: &Host, conn: &Resp, denial: Denial, now: Now) {
    note_of(host, conn.client.as_ref(), denial, now);
}

fn note_of(host: &Host, client: Option<&Arc<Client>>, denial: Denial, now: Now) {
    let mut text = Vec::new();
    if let Some(client) = client {
        let state_bytes = size_of::<Resp>() + size_of::<Client>();
        listed_client::describe(&ListedClient::of(client), state_bytes, 0, now.ticks, &mut text);
    }
    host.acl_log().note(denial, text, now.unix_ms);
}
