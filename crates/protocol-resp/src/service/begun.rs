// SPDX-License-Identifier: Apache-2.0
//! [`Begun`]: a command that waits. As in Redis it is counted, and noted in the slow log, when its
//! wait is over, for as long as it was carried out: the waiting itself costs nobody anything.

use super::clients::Client;
use super::holdings::text_bytes;
use super::host::Host;
use super::slowlog;
use super::stats::Tally;
use crate::parse::Args;
use crate::table::CommandId;
use clock::Now;
use std::sync::Arc;

/// A command that was carried out up to where it waits.
#[derive(Debug)]
pub(crate) struct Begun {
    id: CommandId,
    /// As the slow log shows them.
    args: Vec<Box<[u8]>>,
    client: Option<Arc<Client>>,
    /// For how long it has been carried out, if this run is timed.
    nanos: Option<u64>,
}

impl Begun {
    /// A command of a client that begins to wait.
    pub(crate) fn new(
        id: CommandId,
        args: Args<'_>,
        client: Option<Arc<Client>>,
        nanos: Option<u64>,
    ) -> Self {
        Begun { id, args: slowlog::kept(id.spec(), args), client, nanos }
    }

    /// The memory it takes, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.args.iter().map(|arg| text_bytes(arg.len())).sum()
    }

    /// Counts it: its wait is over, and it took so many nanoseconds longer to answer it. `failed`: with an error.
    pub(crate) fn end(self, host: &Host, tally: &Tally, longer: u64, failed: bool, now: Now) {
        let Begun { id, args, client, nanos } = self;
        let tally = tally.of(id.index());
        tally.calls.add(1);
        if failed {
            tally.failed.add(1);
        }
        if let Some(nanos) = nanos {
            let nanos = nanos.saturating_add(longer);
            tally.time(nanos, host.latency.is_tracking());
            host.latency.note_command(id.spec(), nanos, now.unix_seconds());
            host.slowlog.note(nanos, client.as_deref(), now, || args);
        }
    }
}
