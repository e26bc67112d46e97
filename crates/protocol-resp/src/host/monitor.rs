// SPDX-License-Identifier: Apache-2.0
//! [`Monitors`]: the connections that see all commands (MONITOR).

use super::secrets;
use crate::session::client::origin;
use crate::session::connection::Resp;
use crate::table::{Flags, Spec};
use crate::wire::parse::Args;
use bytes::Bytes;
use parking_lot::Mutex;
use protocol::{ConnectionId, Context};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// The connections that see all commands.
#[derive(Debug, Default)]
pub(crate) struct Monitors {
    ids: Mutex<Vec<ConnectionId>>,
    count: AtomicUsize,
}

impl Monitors {
    /// Whether there are none.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Relaxed) == 0
    }

    /// Adds a connection, which sees all commands from now on.
    pub(crate) fn enter(&self, id: ConnectionId) {
        let mut ids = self.ids.lock();
        ids.push(id);
        self.count.store(ids.len(), Relaxed);
    }

    /// Removes a connection.
    pub(crate) fn leave(&self, id: ConnectionId) {
        let mut ids = self.ids.lock();
        ids.retain(|other| *other != id);
        self.count.store(ids.len(), Relaxed);
    }

    /// Shows a command that has run, with the database that is selected after it. Administrative
    /// commands are not shown.
    #[cold]
    pub(crate) fn feed(&self, spec: &Spec, args: Args<'_>, conn: &Resp, context: &mut Context<'_>) {
        if spec.flags.has(Flags::SKIP_MONITOR) || spec.flags.has(Flags::ADMIN) {
            return;
        }
        self.show(spec, args, conn, context, false);
    }

    /// Shows a command that runs a script, before those of the script; or one of the script, `in_script`.
    #[cold]
    pub(crate) fn show(
        &self,
        spec: &Spec,
        args: Args<'_>,
        conn: &Resp,
        context: &mut Context<'_>,
        in_script: bool,
    ) {
        let peer = conn.client.as_ref().and_then(|client| client.peer.as_deref());
        let remote = peer.map_or("", origin);
        let remote = if in_script { "lua" } else { remote };
        let line = Bytes::from(line(spec, args, conn.db, remote, clock::unix_micros()));
        for id in self.ids.lock().iter() {
            context.outbox.push(*id, line.clone());
        }
    }
}

/// A command as a line: time, database, address, and each argument in quotes.
fn line(spec: &Spec, args: Args<'_>, db: usize, remote: &str, micros: u64) -> Vec<u8> {
    let address = match remote.split_once(':') {
        Some(("tcp" | "tcp6", address)) => address,
        _ => remote,
    };
    let (seconds, micros) = (micros / 1_000_000, micros % 1_000_000);
    let mut line = format!("+{seconds}.{micros:06} [{db} {address}]").into_bytes();
    for arg in secrets::shown(spec, args) {
        line.push(b' ');
        crate::wire::quote::append(&mut line, arg);
    }
    line.extend_from_slice(b"\r\n");
    // It may wait for long.
    line.shrink_to_fit();
    line
}
