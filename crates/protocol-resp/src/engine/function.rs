// SPDX-License-Identifier: Apache-2.0
//! [`Commands`]: the interface through which the engine calls the command functions.

use crate::engine::call::Call;
use crate::engine::keys::Keys;
use crate::host::events::Event;
use crate::session::waiting::Waiter;
use crate::table::CommandId;
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::Writer;
use keyspace::View;
use values::Entry;

/// The command functions. The engine is in a lower room than they are, so it gets them as a type
/// parameter.
pub(crate) trait Commands {
    /// Executes a command.
    fn run<V: View>(id: CommandId, call: &mut Call<'_, V>) -> Done;

    /// Whether the value under `key` is of the type that a client waits for and has what it wants, or lacks what
    /// makes the wait an error.
    fn is_ready(waiter: &Waiter, key: &[u8], entry: Option<&Entry>, unix_ms: u64) -> bool;

    /// In how many milliseconds a waiting client is to be looked at again, though no command has changed its key.
    fn ready_in(waiter: &Waiter, entry: Option<&Entry>, unix_ms: u64) -> Option<u64>;

    /// Serves a waiting client from the value under `key`, which has an element for it, and writes the reply
    /// to `out`. Returns the events, each with its key.
    fn serve<'k, V: View>(
        waiter: &'k Waiter,
        unix_ms: u64,
        keys: &mut Keys<'_, V>,
        key: &'k [u8],
        out: &mut Writer<'_, Vec<u8>>,
    ) -> Result<Vec<(&'k [u8], Event)>, Fault>;
}
