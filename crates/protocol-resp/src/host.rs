// SPDX-License-Identifier: Apache-2.0
//! What the services of all workers share: [`Host`], and its parts.
//!
//! * `clients.rs`: all connections. `client_memory.rs`: the memory they take together.
//! * `key_events.rs`: who cares for changes of keys. `watches.rs`, `waiters.rs`, `channels.rs`: its tables, which
//!   `interest.rs` and `counting_filter.rs` keep cheap for writers that nobody cares for. `events.rs`: the events.
//! * `stats.rs`, `histogram.rs`, `latency.rs`, `slowlog.rs`, `rate_sampler.rs`, `metric_source.rs`: what operators look at.
//!   `monitor.rs`: MONITOR. `pause.rs`: CLIENT PAUSE.
//! * `config.rs`: the parameters. `password.rs`, `secrets.rs`: passwords, and how they stay unseen.
//! * `platform.rs`: the program around the service. `machine.rs`, `version.rs`: where it runs, and what it is.

pub(crate) mod channels;
pub(crate) mod client_memory;
pub(crate) mod clients;
pub mod config;
pub(crate) mod counting_filter;
pub(crate) mod events;
pub(crate) mod histogram;
pub(crate) mod interest;
pub(crate) mod key_events;
pub(crate) mod latency;
pub(crate) mod machine;
pub(crate) mod metric_source;
pub(crate) mod monitor;
pub(crate) mod password;
pub(crate) mod pause;
pub(crate) mod platform;
pub(crate) mod rate_sampler;
pub(crate) mod secrets;
pub(crate) mod slowlog;
pub(crate) mod stats;
pub(crate) mod version;
pub(crate) mod waiters;
pub(crate) mod watches;

use crate::host::client_memory::ClientMemory;
use crate::host::clients::{Clients, is_local};
use crate::host::config::{Config, ConnectionSettings, SharedLimits};
use crate::host::key_events::KeyEvents;
use crate::host::latency::Latency;
use crate::host::monitor::Monitors;
use crate::host::password::Password;
use crate::host::pause::Pause;
use crate::host::platform::Platform;
use crate::host::rate_sampler::{Counts, RateSampler};
use crate::host::slowlog::Slowlog;
use crate::host::stats::Stats;
use crate::session::connection::Resp;
use crate::session::user::User;
use keyspace::{Observer, Settings};
use metrics::Source;
use std::path::PathBuf;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use values::Limits;

/// The server as a whole, apart from its keys.
#[derive(Debug)]
pub struct Host {
    /// How many databases there are.
    databases: usize,
    /// Who cares for changes of keys.
    pub(crate) key_events: KeyEvents,
    pub(crate) clients: Clients,
    /// The memory that they take.
    pub(crate) client_memory: ClientMemory,
    pub(crate) stats: Stats,
    pub(crate) monitors: Monitors,
    pub(crate) pause: Pause,
    pub(crate) slowlog: Slowlog,
    password: Password,
    /// Parameters that nothing goes by.
    config: Config,
    /// Parameters that connections go by.
    connection_settings: ConnectionSettings,
    /// Up to where values stay in their compact form.
    limits: SharedLimits,
    pub(crate) latency: Latency,
    pub(crate) rate_sampler: RateSampler,
    pub(crate) birth: Birth,
    /// The settings of the keyspace.
    settings: OnceLock<Arc<Settings>>,
    platform: OnceLock<Box<dyn Platform>>,
    config_file: OnceLock<PathBuf>,
    /// What brings the metrics up to date.
    metric_source: OnceLock<Source>,
}

/// When the server started, and the name of this run.
#[derive(Debug)]
pub(crate) struct Birth {
    pub(crate) at: Instant,
    pub(crate) unix_seconds: u64,
    /// 40 hexadecimal digits.
    pub(crate) run_id: String,
}

impl Birth {
    fn now() -> Self {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH);
        let digits = std::iter::repeat_with(|| fastrand::digit(16)).take(40);
        Birth {
            at: Instant::now(),
            unix_seconds: unix.map_or(0, |unix| unix.as_secs()),
            run_id: digits.collect::<String>().to_ascii_lowercase(),
        }
    }
}

impl Host {
    /// A server over a keyspace of so many databases.
    #[must_use]
    pub fn new(databases: usize) -> Self {
        Host {
            databases,
            key_events: KeyEvents::default(),
            clients: Clients::default(),
            client_memory: ClientMemory::default(),
            stats: Stats::default(),
            monitors: Monitors::default(),
            pause: Pause::default(),
            slowlog: Slowlog::default(),
            password: Password::default(),
            config: Config::default(),
            connection_settings: ConnectionSettings::default(),
            limits: SharedLimits::default(),
            latency: Latency::default(),
            rate_sampler: RateSampler::default(),
            birth: Birth::now(),
            settings: OnceLock::new(),
            platform: OnceLock::new(),
            config_file: OnceLock::new(),
            metric_source: OnceLock::new(),
        }
    }

    /// Shows in the metrics how this server and its keyspace are doing. The first keyspace is meant, as
    /// with [`Host::adopt`].
    pub(crate) fn report(self: &Arc<Self>, keyspace: impl FnOnce() -> Observer) {
        self.metric_source.get_or_init(|| metric_source::report(self, keyspace()));
    }

    /// Makes the settings of a keyspace those that parameters change. The first keyspace is meant;
    /// the first service does this with its own.
    pub fn adopt(&self, settings: &Arc<Settings>) {
        self.settings.get_or_init(|| Arc::clone(settings));
    }

    /// Tells the server what it is a part of.
    pub fn set_platform(&self, platform: Box<dyn Platform>) {
        debug_assert!(self.platform.get().is_none(), "it is a part of one program");
        self.platform.get_or_init(|| platform);
    }

    /// Notes the file that the parameters were read from.
    pub fn set_config_file(&self, path: PathBuf) {
        self.config_file.get_or_init(|| path);
    }

    /// The settings of the keyspace, or those of none while there is none.
    pub(crate) fn settings(&self) -> &Settings {
        self.settings.get_or_init(Arc::default)
    }

    /// Counts of the process since it started, but for those of commands.
    pub(crate) fn counts(&self) -> Counts {
        Counts::of_process(self.stats.calls())
    }

    /// How many databases there are.
    pub(crate) fn databases(&self) -> usize {
        self.databases
    }

    /// The longest argument, and so the longest string, in bytes.
    pub(crate) fn bulk_max(&self) -> usize {
        self.connection_settings.bulk_max.load(Relaxed)
    }

    /// The most connections at a time.
    pub(crate) fn connections_max(&self) -> usize {
        self.connection_settings.connections_max.load(Relaxed)
    }

    /// Brings a worker's copy of the limits of compact values up to date, if they have changed since this
    /// version of them.
    #[inline]
    pub(crate) fn refresh_limits(&self, version: &mut u64, copy: &mut Limits) {
        self.limits.refresh(version, copy);
    }

    /// The program around the service.
    pub(crate) fn platform(&self) -> Option<&dyn Platform> {
        self.platform.get().map(|platform| &**platform)
    }

    /// The file that the parameters were read from.
    pub(crate) fn config_file(&self) -> Option<&PathBuf> {
        self.config_file.get()
    }

    /// Whether commands need a second look: clients are paused, or somebody sees all commands.
    #[inline]
    pub(crate) fn is_unusual(&self) -> bool {
        self.pause.is_set() || !self.monitors.is_empty()
    }

    /// Whether a connection is from elsewhere, and such are not served (`protected-mode`).
    pub(crate) fn is_closed_to(&self, conn: &Resp) -> bool {
        let peer = conn.client.as_ref().and_then(|client| client.peer.as_ref());
        self.connection_settings.is_protected.load(Relaxed)
            && !self.asks_for_password()
            && peer.is_some_and(|peer| !is_local(&peer.remote))
    }

    /// Whether a password is asked for.
    #[cold]
    pub(crate) fn asks_for_password(&self) -> bool {
        self.password.is_set()
    }

    /// Whether this is the password; while none is asked for, any is.
    pub(crate) fn is_password(&self, given: &[u8]) -> bool {
        self.password.admits(given)
    }

    /// The state of a new connection.
    #[must_use]
    pub fn connection(&self) -> Resp {
        Resp::new(
            User::new(!self.password.is_set()),
            Arc::clone(&self.connection_settings.bulk_max),
        )
    }
}
