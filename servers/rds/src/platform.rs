// SPDX-License-Identifier: Apache-2.0
//! [`Process`]: what commands may ask of the process.

use crate::allocator;
use protocol_resp::service::{Allocator, Platform};
use server::Controls;
use std::time::Duration;

/// Memory of the process that is in RAM; 0 where the system does not tell.
pub(crate) fn resident_bytes() -> u64 {
    metrics::process::refresh();
    let bytes = metrics::value("process_resident_memory_bytes");
    bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or(0)
}

/// The process, as the service sees it.
#[derive(Debug)]
pub(crate) struct Process(pub(crate) Controls);

impl Platform for Process {
    fn stop(&self) {
        self.0.stop();
    }

    fn set_connections_max(&self, most: usize) {
        self.0.set_max_connections(most);
    }

    fn set_idle_timeout(&self, time: Duration) {
        self.0.set_idle_timeout(time);
    }

    fn set_unread_max(&self, bytes: Option<u64>) {
        let most = bytes.and_then(|bytes| usize::try_from(bytes).ok());
        self.0.set_push_bytes(most.unwrap_or(usize::MAX));
    }

    fn allocator(&self) -> Option<Allocator> {
        allocator::numbers()
    }

    fn purge(&self) {
        allocator::purge();
    }
}
