// SPDX-License-Identifier: Apache-2.0
//! [`Facts`]: what INFO and MEMORY tell about the process and its keys.

use crate::engine::call::Call;
use crate::host::platform::Allocator;
use keyspace::{KeyspaceStats, View};
use protocol::Peer;

/// What is known of the process and its keys at this moment.
#[derive(Debug)]
pub(super) struct Facts {
    pub(super) keyspace: KeyspaceStats,
    pub(super) allocator: Option<Allocator>,
    /// Memory in RAM.
    pub(super) resident_bytes: u64,
    /// The most bytes that were in use.
    pub(super) peak_bytes: u64,
    pub(super) connections: usize,
    /// The most bytes that one of them takes for what it sends, and for what it has not read.
    pub(super) largest_buffers: (usize, usize),
    /// Bytes that count against `maxmemory`.
    pub(super) used_bytes: u64,
    /// What of them the process takes beside keys and clients.
    pub(super) startup_bytes: u64,
}

impl Facts {
    /// Collects them, for a command whose row of the table asks for the keyspace's numbers.
    pub(super) fn of<V: View>(call: &Call<'_, V>) -> Self {
        let keyspace = call.stats.cloned().unwrap_or_default();
        let settings = call.settings();
        let used_bytes = settings.with_overhead(keyspace.used_bytes);
        let peers = call.directory.list();
        let most = |of: fn(&Peer) -> usize| peers.iter().map(|peer| of(peer)).max().unwrap_or(0);
        Facts {
            allocator: call.platform().and_then(|platform| platform.allocator()),
            resident_bytes: metrics::process::resident_bytes(),
            peak_bytes: call.rate_sampler().peak(used_bytes),
            connections: peers.len(),
            largest_buffers: (most(Peer::input_bytes), most(Peer::output_bytes)),
            used_bytes,
            startup_bytes: settings.overhead(),
            keyspace,
        }
    }

    /// Keys of all databases.
    pub(super) fn keys(&self) -> u64 {
        self.keyspace.databases.iter().map(|database| database.keys).sum()
    }
}

/// The value of a metric that another crate declares; 0 in a program without that.
pub(crate) fn process_metric(name: &str) -> u64 {
    metrics::value(name).and_then(|value| u64::try_from(value).ok()).unwrap_or(0)
}
