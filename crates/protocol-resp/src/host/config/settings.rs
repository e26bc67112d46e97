// SPDX-License-Identifier: Apache-2.0
//! Parameters in force: where commands and connections read them.

use super::special::BufferLimits;
use crate::host::Host;
use crate::host::events::Wanted;
use crate::wire::parse::BULK_MAX;
use parking_lot::{Mutex, RwLock};
use std::sync::Arc;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize};
use std::time::Duration;
use values::Limits;

/// The parameters of connections.
#[derive(Debug)]
pub(crate) struct ConnectionSettings {
    /// `maxclients`
    pub(crate) connections_max: AtomicUsize,
    /// `timeout`
    pub(crate) idle_seconds: AtomicU64,
    pub(crate) keepalive_seconds: AtomicU64,
    /// `client-output-buffer-limit`
    pub(crate) buffers: Mutex<BufferLimits>,
    /// `proto-max-bulk-len`, which connections look up for an argument that is large.
    pub(crate) bulk_max: Arc<AtomicUsize>,
    /// `client-query-buffer-limit`
    pub(crate) request_max: AtomicU64,
    /// `protected-mode`
    pub(crate) is_protected: AtomicBool,
    /// `notify-keyspace-events`, as [`Wanted::bits`]; the effective events are in `Interest`.
    pub(crate) events: AtomicU32,
}

impl Default for ConnectionSettings {
    fn default() -> Self {
        ConnectionSettings {
            connections_max: AtomicUsize::new(10_000),
            idle_seconds: AtomicU64::new(0),
            keepalive_seconds: AtomicU64::new(300),
            buffers: Mutex::default(),
            bulk_max: Arc::new(AtomicUsize::new(BULK_MAX)),
            request_max: AtomicU64::new(1 << 30),
            is_protected: AtomicBool::new(true),
            events: AtomicU32::new(0),
        }
    }
}

/// The limits of compact encodings. Each worker has a copy, and checks here whether its copy is the latest.
#[derive(Debug, Default)]
pub(crate) struct SharedLimits {
    version: AtomicU64,
    limits: RwLock<Limits>,
}

impl SharedLimits {
    /// The limits.
    pub(crate) fn get(&self) -> Limits {
        *self.limits.read()
    }

    /// Changes them.
    pub(crate) fn change(&self, change: impl FnOnce(&mut Limits)) {
        let mut limits = self.limits.write();
        change(&mut limits);
        self.version.fetch_add(1, Release);
    }

    /// Brings a copy of an earlier version up to date.
    #[inline]
    pub(crate) fn refresh(&self, version: &mut u64, copy: &mut Limits) {
        let latest = self.version.load(Acquire);
        if latest != *version {
            *version = latest;
            *copy = self.get();
        }
    }
}

impl Host {
    /// Sets how many connections are served at once.
    pub(crate) fn set_connections_max(&self, most: usize) {
        self.connection_settings.connections_max.store(most, Relaxed);
        if let Some(platform) = self.platform() {
            platform.set_connections_max(most);
        }
    }

    /// Sets for how many seconds a connection may be idle; 0: for ever.
    pub(crate) fn set_idle_timeout(&self, seconds: u64) {
        self.connection_settings.idle_seconds.store(seconds, Relaxed);
        if let Some(platform) = self.platform() {
            platform.set_idle_timeout(Duration::from_secs(seconds));
        }
    }

    /// Sets after how many seconds without a word from its client a new connection asks for it; 0: never.
    pub(crate) fn set_keepalive(&self, seconds: u64) {
        self.connection_settings.keepalive_seconds.store(seconds, Relaxed);
        if let Some(platform) = self.platform() {
            platform.set_keepalive(Duration::from_secs(seconds));
        }
    }

    /// Sets how large a request may be.
    pub(crate) fn set_request_max(&self, bytes: u64) {
        self.connection_settings.request_max.store(bytes, Relaxed);
        if let Some(platform) = self.platform() {
            platform.set_request_max(bytes);
        }
    }

    /// Sets how much a client may leave unread.
    pub(crate) fn set_buffer_limits(&self, text: &[u8]) {
        let limits = {
            let mut limits = self.connection_settings.buffers.lock();
            limits.change(text);
            *limits
        };
        if let Some(platform) = self.platform() {
            let BufferLimits([normal, _, pubsub]) = limits;
            platform.set_output_limits(normal, pubsub);
        }
    }

    /// Sets which events are published.
    pub(crate) fn set_wanted(&self, wanted: Wanted) {
        // Expired keys that are found are recorded as long as any events are published.
        match (self.key_events.wanted().is_any(), wanted.is_any()) {
            (false, true) => self.settings().add_listener(),
            (true, false) => self.settings().remove_listener(),
            (true, true) | (false, false) => {}
        }
        self.connection_settings.events.store(wanted.bits(), Relaxed);
        self.key_events.want(wanted);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_of_the_limits_is_brought_up_to_date_once() {
        let shared = SharedLimits::default();
        let (mut version, mut copy) = (0, Limits::default());
        shared.change(|limits| limits.hash_entries = 3);
        shared.refresh(&mut version, &mut copy);
        assert_eq!((version, copy.hash_entries), (1, 3));
        copy.hash_entries = 4;
        shared.refresh(&mut version, &mut copy);
        assert_eq!(copy.hash_entries, 4, "nothing has changed");
    }
}
