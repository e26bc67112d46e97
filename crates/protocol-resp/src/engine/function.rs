// SPDX-License-Identifier: Apache-2.0
//! [`Commands`]: the functions of the commands, as the engine asks for them.

use crate::engine::call::Call;
use crate::engine::keys::Keys;
use crate::host::events::Event;
use crate::session::waiting::Wants;
use crate::table::CommandId;
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::Writer;
use keyspace::View;

/// The functions of the commands. The engine lies below them, so it is given them as a parameter.
pub(crate) trait Commands {
    /// Carries out a command.
    fn run<V: View>(id: CommandId, call: &mut Call<'_, V>) -> Done;

    /// Gives a client that waits what it wants of the value under `key`, which has something for it;
    /// the reply is written to `out`. Returns what happened, each event with its key.
    fn serve<'k, V: View>(
        wants: &'k Wants,
        keys: &mut Keys<'_, V>,
        key: &'k [u8],
        out: &mut Writer<'_, Vec<u8>>,
    ) -> Result<Vec<(&'k [u8], Event)>, Fault>;
}
