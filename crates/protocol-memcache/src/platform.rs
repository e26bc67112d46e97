// SPDX-License-Identifier: Apache-2.0
//! [`Platform`]: services that the surrounding program provides.

use std::fmt::Debug;
use std::time::Duration;

/// The process around the service, with the operations that commands need from it.
///
/// No method waits: a change takes effect soon after the call.
pub trait Platform: Debug + Send + Sync {
    /// Ends the process in order.
    fn stop(&self);

    /// Logs as much as a server that was started with this many `-v`.
    fn set_verbosity(&self, level: u32);

    /// How many `-v` a server would be started with to log as much as now.
    fn verbosity(&self) -> u32;

    /// Asks for certificates, and what else is read at SIGHUP, to be read again. Returns a number for
    /// [`Platform::reread_outcome`].
    fn reread(&self) -> u64 {
        0
    }

    /// How that went; `None` as long as it is not done.
    fn reread_outcome(&self, number: u64) -> Option<Result<(), String>> {
        let _ = number;
        Some(Ok(()))
    }

    /// How long ago the certificates that are in use were read; `None` without TLS.
    fn certificates_age(&self) -> Option<Duration> {
        None
    }

    /// The memory limit is this many bytes from now on.
    fn memory_limit_set(&self, bytes: u64) {
        let _ = bytes;
    }

    /// The store has freed memory under a lower limit, and is not likely to use it again.
    fn memory_freed(&self) {}

    /// How many descriptors are kept for other things than connections.
    fn reserved_descriptors(&self) -> u64 {
        0
    }
}

/// Where there is no process to change: in tests, and in programs that serve in passing.
#[derive(Debug)]
pub(crate) struct Nowhere;

impl Platform for Nowhere {
    fn stop(&self) {}

    fn set_verbosity(&self, _: u32) {}

    fn verbosity(&self) -> u32 {
        0
    }
}
