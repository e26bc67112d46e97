// SPDX-License-Identifier: Apache-2.0
//! [`Clients`]: all connections of a process.

use crate::session::client::Client;
use parking_lot::Mutex;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Whether a client is on this machine, by its address.
pub(crate) fn is_local(remote: &str) -> bool {
    let loopback = ["unix:", "tcp:127.", "tcp6:[::1]:", "tcp6:[::ffff:127."];
    loopback.iter().any(|start| remote.starts_with(start))
}

/// All connections of a process that have sent a command.
#[derive(Debug, Default)]
pub(crate) struct Clients {
    by_id: Mutex<BTreeMap<u64, Arc<Client>>>,
}

impl Clients {
    /// Enters a connection.
    pub(crate) fn enter(&self, client: &Arc<Client>) {
        self.by_id.lock().insert(client.id.serial(), Arc::clone(client));
    }

    /// Removes a connection.
    pub(crate) fn leave(&self, client: &Client) {
        self.by_id.lock().remove(&client.id.serial());
    }

    /// The connection with this number.
    pub(crate) fn get(&self, serial: u64) -> Option<Arc<Client>> {
        self.by_id.lock().get(&serial).cloned()
    }

    /// All, oldest first.
    pub(crate) fn list(&self) -> Vec<Arc<Client>> {
        self.by_id.lock().values().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_on_this_machine_are_told_by_their_address() {
        for remote in ["unix:/run/rds", "tcp:127.0.0.1:5", "tcp6:[::1]:5"] {
            assert!(is_local(remote), "{remote}");
        }
        for remote in ["tcp:10.0.0.1:5", "tcp6:[fe80::1]:5", "tcp:128.127.0.1:5"] {
            assert!(!is_local(remote), "{remote}");
        }
    }
}
