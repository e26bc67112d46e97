// SPDX-License-Identifier: Apache-2.0
//! [`Controls`]: what a service may ask of the process it runs in.

use crate::process::Stopper;
use protocol::{Directory, Peer};
use reactor::Dials;
use std::sync::Arc;
use std::time::Duration;

/// Descriptors kept for listeners, logs, event queues and the admin plane.
const SPARE_FILES: u64 = 128;

/// Changes limits of a server while it runs, and stops it: for protocols that let their clients do so.
#[derive(Clone, Debug)]
pub struct Controls {
    stopper: Stopper,
    dials: Dials,
    directory: Arc<Directory>,
}

impl Controls {
    pub(crate) fn new(stopper: Stopper, dials: Dials, directory: Arc<Directory>) -> Self {
        Controls { stopper, dials, directory }
    }

    /// Asks for the orderly end, as SIGTERM does.
    pub fn stop(&self) {
        self.stopper.stop();
    }

    /// Sets how many connections are served at once, and lets the process have a descriptor for each,
    /// as far as the system allows.
    pub fn set_max_connections(&self, most: usize) {
        self.dials.set_connections_max(most);
        raise_file_limit(most);
    }

    /// Sets for how long a connection may send nothing; [`Duration::ZERO`] for ever.
    pub fn set_idle_timeout(&self, timeout: Duration) {
        self.dials.set_idle_timeout(timeout);
    }

    /// Sets how many bytes of messages a connection may leave unread before it is closed.
    pub fn set_push_bytes(&self, most: usize) {
        self.dials.set_push_bytes(most);
    }

    /// The present connections, oldest first.
    pub fn peers(&self) -> Vec<Arc<Peer>> {
        self.directory.list()
    }
}

/// Lets the process have a descriptor for each connection, as far as the system allows.
pub(crate) fn raise_file_limit(connections: usize) {
    let wanted = connections as u64 + SPARE_FILES;
    match rlimit::increase_nofile_limit(wanted) {
        Ok(got) if got < wanted => log::warn!(
            "{got} open files allowed, {wanted} wanted for max_connections = {connections}: raise \
             the hard limit (ulimit -Hn)"
        ),
        Ok(_) => {}
        Err(error) => log::warn!("cannot raise the limit of open files: {error}"),
    }
}
