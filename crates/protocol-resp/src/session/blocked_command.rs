// SPDX-License-Identifier: Apache-2.0
//! [`BlockedCommand`]: a command whose client waits. As in Redis it is counted, and noted in the slow log, when its
//! wait is over, for as long as it was carried out: the waiting itself costs nobody anything.

use super::memory::text_bytes;
use crate::session::client::Client;
use crate::table::CommandId;
use std::sync::Arc;

/// A command that was carried out up to where it waits.
#[derive(Debug)]
pub(crate) struct BlockedCommand {
    pub(crate) id: CommandId,
    /// As the slow log shows them.
    pub(crate) args: Vec<Box<[u8]>>,
    pub(crate) client: Option<Arc<Client>>,
    /// For how long it has been carried out, if this run is timed.
    pub(crate) nanos: Option<u64>,
}

impl BlockedCommand {
    /// The memory it takes, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.args.iter().map(|arg| text_bytes(arg.len())).sum()
    }
}
