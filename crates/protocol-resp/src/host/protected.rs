// SPDX-License-Identifier: Apache-2.0
//! What a parameter of `no`, `yes` and `local` protects: DEBUG, and some parameters themselves.

use super::Host;
use crate::host::clients::is_local;
use crate::wire::fault::Fault;
use protocol::{ConnectionId, Directory};

/// The parameter that protects DEBUG.
pub(crate) const DEBUG: &str = "enable-debug-command";

/// The reply to DEBUG where it is not allowed.
pub(crate) const DEBUG_REFUSED: Fault = Fault::new(
    "ERR DEBUG command not allowed. If the enable-debug-command option is set to \"local\", you can run it from a \
     local connection, otherwise you need to set this option in the configuration file, and then restart the server.",
);

/// `local`, as the parameters' number; `no` is 0.
const LOCAL: i64 = 2;

impl Host {
    /// Whether such a parameter lets a client do what it protects.
    pub(crate) fn may(&self, parameter: &str, client: ConnectionId, directory: &Directory) -> bool {
        match self.value_of(parameter).number() {
            0 => false,
            LOCAL => directory.get(client).is_some_and(|peer| is_local(&peer.remote)),
            _ => true,
        }
    }
}
