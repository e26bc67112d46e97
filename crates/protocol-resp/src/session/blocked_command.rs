// SPDX-License-Identifier: Apache-2.0
//! [`BlockedCommand`]: a command whose client waits. As in Redis, it is counted, and entered in the slow log,
//! when its wait is over. Only the time of execution counts, not that of waiting, which costs nothing.

use super::memory::text_bytes;
use crate::session::client::Client;
use crate::session::user::User;
use crate::table::CommandId;
use std::sync::Arc;

/// A command that was executed up to the point where it waits.
#[derive(Debug)]
pub(crate) struct BlockedCommand {
    pub(crate) id: CommandId,
    pub(crate) args: Vec<Box<[u8]>>,
    pub(crate) client: Option<Arc<Client>>,
    /// Whose rights are checked once more before it is served.
    pub(crate) user: User,
    /// Nanoseconds of its execution so far, if this run is timed.
    pub(crate) nanos: Option<u64>,
}

impl BlockedCommand {
    /// The memory it takes, in bytes.
    pub(crate) fn bytes(&self) -> u64 {
        self.args.iter().map(|arg| text_bytes(arg.len())).sum()
    }
}
