// SPDX-License-Identifier: Apache-2.0
//! [`Process`]: the process, as commands see and change it.

use crate::allocator;
use protocol::Peer;
use protocol_resp::service::{Allocator, BufferLimit, Platform};
use server::{Controls, OutputLimit};
use std::sync::Arc;
use std::time::Duration;

/// The process's own resident memory, without pages of files such as the program; 0 if
/// the system does not tell.
pub(crate) fn own_bytes() -> u64 {
    let text = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
    let kilobytes = line.and_then(|line| line.split_ascii_whitespace().next()?.parse::<u64>().ok());
    kilobytes.unwrap_or(0) * 1024
}

/// A limit in the workers' form. In `limit` 0 means none.
fn output_limit(limit: BufferLimit) -> OutputLimit {
    let bytes = |bytes: u64| match usize::try_from(bytes) {
        Ok(0) | Err(_) => usize::MAX,
        Ok(bytes) => bytes,
    };
    let soft_time = Duration::from_secs(limit.seconds);
    OutputLimit { hard: bytes(limit.hard), soft: bytes(limit.soft), soft_time }
}

/// The process, as the service sees it.
#[derive(Debug)]
pub(crate) struct Process(pub(crate) Controls);

impl Platform for Process {
    fn stop(&self) {
        self.0.stop();
    }

    fn allow_connections(&self, most: usize) -> Result<(), usize> {
        self.0.allow_connections(most)
    }

    fn set_connections_max(&self, most: usize) {
        if let Err(fewer) = self.0.set_max_connections(most) {
            log::warn!("there are descriptors for {fewer} connections only");
        }
    }

    fn set_idle_timeout(&self, time: Duration) {
        self.0.set_idle_timeout(time);
    }

    fn set_request_max(&self, bytes: u64) {
        self.0.set_request_bytes(usize::try_from(bytes).unwrap_or(usize::MAX));
    }

    fn set_output_limits(&self, replies: BufferLimit, messages: BufferLimit) {
        self.0.set_output_limits(output_limit(replies), output_limit(messages));
    }

    fn peers(&self) -> Vec<Arc<Peer>> {
        self.0.peers()
    }

    fn allocator(&self) -> Option<Allocator> {
        allocator::numbers()
    }

    fn purge(&self) {
        allocator::purge();
    }
}
