// SPDX-License-Identifier: Apache-2.0
//! MIGRATE: values go to another server.
//!
//! They are read when the command runs, and removed here once the other server has stored them. A value that has
//! changed meanwhile stays, and the client is told: no change is lost.

use super::serial::{is_hollow, payload};
use crate::engine::any_call::AnyCall;
use crate::engine::call::Call;
use crate::host::migrations::{Job, Target, Transfer};
use crate::session::watching::Mark;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use keyspace::View;
use protocol::Control;
use std::time::Duration;

/// How long a step on the network may take if the client does not say.
const TIMEOUT_MS: u64 = 1000;

/// What a client asks for.
struct Request<'c> {
    target: Target,
    copies: bool,
    keys: Args<'c>,
}

impl<'c> Request<'c> {
    /// Reads `host port key|"" db timeout [COPY] [REPLACE] [AUTH password | AUTH2 user password] [KEYS key…]`.
    fn parse(args: Args<'c>, is_node: bool) -> Result<Self, Fault> {
        let (mut copies, mut replaces, mut auth) = (false, false, Vec::new());
        let mut keys = args.tail(3).head(1);
        let mut rest = args.tail(6);
        while let Some(word) = rest.get(0) {
            let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
            rest = rest.tail(1);
            let secrets = match () {
                () if is(b"auth") => 1,
                () if is(b"auth2") => 2,
                () => 0,
            };
            if secrets > 0 {
                auth = rest.head(secrets).iter().map(<[u8]>::to_vec).collect();
                if auth.len() < secrets {
                    return Err(Fault::SYNTAX);
                }
                rest = rest.tail(secrets);
            } else if is(b"copy") {
                copies = true;
            } else if is(b"replace") {
                replaces = true;
            } else if is(b"keys") {
                if !args.arg(3).is_empty() {
                    return Err(Fault::new(
                        "ERR When using MIGRATE KEYS option, the key argument must be set to the \
                         empty string",
                    ));
                }
                (keys, rest) = (rest, rest.head(0));
            } else {
                return Err(Fault::SYNTAX);
            }
        }
        let timeout_ms = u64::try_from(args.integer(5)?).ok().filter(|timeout| *timeout > 0);
        let timeout = Duration::from_millis(timeout_ms.unwrap_or(TIMEOUT_MS));
        let db = args.integer(4)?;
        let text = |i: usize| String::from_utf8_lossy(args.arg(i)).into_owned();
        let (host, port) = (text(1), text(2));
        let encryption = None;
        let target = Target { host, port, db, timeout, encryption, auth, replaces, is_node };
        Ok(Request { target, copies, keys })
    }
}

/// Sends values to another server, and removes them here.
pub(crate) fn migrate<V: View>(call: &mut Call<'_, V>) -> Done {
    let Request { mut target, copies, keys } = Request::parse(call.args, call.is_in_cluster())?;
    if call.in_transaction {
        return Err(Fault::new("ERR Command not allowed inside a transaction"));
    }
    let (now_ms, mut transfers) = (call.unix_ms(), Vec::new());
    for key in keys.iter() {
        match call.keys.any(key).filter(|entry| !is_hollow(entry, now_ms)) {
            Some(entry) => transfers.push(Transfer {
                key: key.into(),
                payload: payload(entry, now_ms),
                expiry: entry.expiry(),
                mark: Mark::default(),
                is_there: false,
            }),
            None => call.missed(key),
        }
    }
    if transfers.is_empty() {
        call.out.simple("NOKEY");
        return Ok(());
    }
    // A service without a program around it, as in tests, uses no network.
    let platform = call.platform().ok_or(Fault::new("IOERR there is no network"))?;
    if call.migrations().is_encrypted() {
        let encryption = platform.encryption().ok_or(Fault::new(
            "IOERR tls-replication is on, but there are no authorities to trust: tls-ca-cert-file",
        ))?;
        target.encryption = Some(encryption);
    }
    let room = call.migrations().room().map_err(Fault::new)?;
    let db = call.keys.db;
    for transfer in &transfers {
        call.key_events().mark_change(db, &transfer.key, &transfer.mark);
    }
    call.worker.migrations.add(call.id, call.now);
    room.begin(Job {
        id: call.id,
        ticket: call.ticket,
        db,
        copies,
        target,
        transfers,
        read_ms: now_ms,
    });
    call.control = Control::Block;
    Ok(())
}
