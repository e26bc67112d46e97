// SPDX-License-Identifier: Apache-2.0
//! [`Host`]: the state that the services of all workers share, and its parts.
//!
//! * `clients.rs`: all connections. `client_memory.rs`: the limit on their total memory.
//! * `key_events.rs`: clients that watch keys, wait for keys, cache keys or subscribe to events. `watches.rs`,
//!   `waiters.rs`, `tracking.rs`, `channels.rs`: its tables. `interest.rs` and `counting_filter.rs` keep writes cheap while
//!   no client is interested in the key. `events.rs`: the events.
//! * `stats.rs`, `histogram.rs`, `latency.rs`, `commandlog.rs`, `rate_sampler.rs`, `metric_source.rs`, `command_metrics.rs`:
//!   statistics for operators. `hot_keys.rs`: HOTKEYS, with the sums of `heavy_hitters.rs`. `monitor.rs`: MONITOR. `pause.rs`: CLIENT PAUSE.
//! * `cluster.rs`: the nodes of the cluster. `scripts.rs`: the cache of scripts. `functions.rs`: libraries of functions. `users.rs`: users from files.
//!   `acl_log.rs`: what users were denied. `migrations.rs`: values on their way to other servers.
//! * `config.rs`: the parameters. `password.rs`, `secrets.rs`: passwords, and how they are kept out
//!   of logs.
//! * `files.rs`: files that the server writes. `platform.rs`: the program around the service. `machine.rs`,
//!   `version.rs`: the machine's memory, and the version.

pub(crate) mod acl_log;
pub(crate) mod channels;
pub(crate) mod client_memory;
pub(crate) mod clients;
pub(crate) mod cluster;
pub(crate) mod command_metrics;
pub(crate) mod commandlog;
pub mod config;
pub(crate) mod counting_filter;
mod crowd;
pub(crate) mod events;
pub(crate) mod files;
#[cfg(feature = "scripts")]
pub(crate) mod functions;
pub(crate) mod heavy_hitters;
pub(crate) mod histogram;
pub(crate) mod hot_keys;
pub(crate) mod interest;
pub(crate) mod key_events;
pub(crate) mod latency;
pub(crate) mod machine;
pub(crate) mod metric_source;
pub(crate) mod migrations;
pub(crate) mod monitor;
pub(crate) mod password;
pub(crate) mod pause;
pub(crate) mod platform;
pub(crate) mod protected;
pub(crate) mod rate_sampler;
pub(crate) mod scripts;
pub(crate) mod secrets;
pub(crate) mod stats;
pub(crate) mod tracking;
mod users;
pub(crate) mod version;
pub(crate) mod vm_memory;
pub(crate) mod waiters;
pub(crate) mod watches;

use crate::acl::Acl;
use crate::host::acl_log::AclLog;
use crate::host::client_memory::ClientMemory;
use crate::host::clients::{Clients, is_local};
use crate::host::cluster::Cluster;
use crate::host::commandlog::{CommandLog, LargeLogs};
use crate::host::config::{Config, ConfigFile, ConnectionSettings, SharedLimits};
#[cfg(feature = "scripts")]
use crate::host::functions::Functions;
use crate::host::hot_keys::{HotKeys, Session};
use crate::host::key_events::KeyEvents;
use crate::host::latency::Latency;
use crate::host::migrations::Migrations;
use crate::host::monitor::Monitors;
use crate::host::password::Password;
use crate::host::pause::Pause;
use crate::host::platform::Platform;
use crate::host::rate_sampler::{Counts, RateSampler};
use crate::host::scripts::Scripts;
use crate::host::stats::Stats;
use crate::session::connection::Resp;
use crate::session::marks::Marks;
use crate::session::user::User;
use keyspace::{Observer, Settings};
use metrics::Source;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, OnceLock};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use values::Limits;

/// The state of the server as a whole, except its keys.
#[derive(Debug)]
pub struct Host {
    /// How many databases there are.
    databases: usize,
    /// Clients interested in changes of keys.
    key_events: KeyEvents,
    clients: Clients,
    /// The memory that clients take.
    client_memory: ClientMemory,
    stats: Stats,
    monitors: Monitors,
    pause: Pause,
    slowlog: CommandLog,
    large_logs: LargeLogs,
    hot_keys: HotKeys,
    migrations: Migrations,
    /// Every run of a command is timed, for the slow log or the latency monitor.
    times_all: AtomicBool,
    cluster: Cluster,
    acl: Acl,
    acl_log: AclLog,
    /// The file of users, if there is one.
    acl_file: OnceLock<Vec<u8>>,
    password: Password,
    /// Accepted but unused parameters.
    config: Config,
    /// Parameters that affect connections.
    connection_settings: ConnectionSettings,
    /// Size limits of the compact forms of values.
    limits: SharedLimits,
    latency: Latency,
    /// The cache of scripts, and those that take long.
    scripts: Scripts,
    #[cfg(feature = "scripts")]
    functions: Functions,
    rate_sampler: RateSampler,
    startup: Startup,
    /// The settings of the keyspace.
    settings: OnceLock<Arc<Settings>>,
    platform: OnceLock<Box<dyn Platform>>,
    config_file: OnceLock<ConfigFile>,
    /// Updates the metrics when they are read.
    metric_source: OnceLock<Source>,
}

/// When the server started, and the name of this run.
#[derive(Debug)]
pub(crate) struct Startup {
    pub(crate) at: Instant,
    pub(crate) unix_seconds: u64,
    /// 40 hexadecimal digits.
    pub(crate) run_id: String,
}

impl Startup {
    fn now() -> Self {
        let unix = SystemTime::now().duration_since(UNIX_EPOCH);
        let digits = std::iter::repeat_with(|| fastrand::digit(16)).take(40);
        Startup {
            at: Instant::now(),
            unix_seconds: unix.map_or(0, |unix| unix.as_secs()),
            run_id: digits.collect::<String>().to_ascii_lowercase(),
        }
    }
}

impl Host {
    /// The host of a server with this number of databases.
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
            slowlog: CommandLog::of_slow(),
            large_logs: LargeLogs::default(),
            hot_keys: HotKeys::default(),
            migrations: Migrations::default(),
            times_all: AtomicBool::default(),
            cluster: Cluster::default(),
            acl: Acl::default(),
            acl_log: AclLog::default(),
            acl_file: OnceLock::new(),
            password: Password::default(),
            config: Config::default(),
            connection_settings: ConnectionSettings::default(),
            limits: SharedLimits::default(),
            latency: Latency::default(),
            scripts: Scripts::default(),
            #[cfg(feature = "scripts")]
            functions: Functions::default(),
            rate_sampler: RateSampler::default(),
            startup: Startup::now(),
            settings: OnceLock::new(),
            platform: OnceLock::new(),
            config_file: OnceLock::new(),
            metric_source: OnceLock::new(),
        }
    }

    /// Reports this server and its keyspace in the metrics. Only the first keyspace counts, as with
    /// [`Host::adopt`].
    pub(crate) fn report(self: &Arc<Self>, keyspace: impl FnOnce() -> Observer) {
        self.metric_source.get_or_init(|| metric_source::report(self, keyspace()));
    }

    /// Sets the keyspace whose settings the parameters change. Only the first call counts; the
    /// first service makes it, with its own keyspace.
    pub fn adopt(&self, settings: &Arc<Settings>) {
        self.settings.get_or_init(|| Arc::clone(settings));
    }

    /// Sets the program around the service.
    pub fn set_platform(&self, platform: Box<dyn Platform>) {
        debug_assert!(self.platform.get().is_none(), "it is a part of one program");
        self.platform.get_or_init(|| platform);
    }

    /// Records the file that the parameters were read from.
    pub fn set_config_file(&self, file: ConfigFile) {
        self.config_file.get_or_init(|| file);
    }

    /// Clients interested in changes of keys, and channels.
    #[inline]
    pub(crate) fn key_events(&self) -> &KeyEvents {
        &self.key_events
    }

    /// All clients.
    #[inline]
    pub(crate) fn clients(&self) -> &Clients {
        &self.clients
    }

    /// The memory that clients take.
    #[inline]
    pub(crate) fn client_memory(&self) -> &ClientMemory {
        &self.client_memory
    }

    /// The counts of commands and errors.
    #[inline]
    pub(crate) fn stats(&self) -> &Stats {
        &self.stats
    }

    /// Who sees all commands (MONITOR).
    #[inline]
    pub(crate) fn monitors(&self) -> &Monitors {
        &self.monitors
    }

    /// The pause of clients (CLIENT PAUSE).
    #[inline]
    pub(crate) fn pause(&self) -> &Pause {
        &self.pause
    }

    /// The commands that took long.
    #[inline]
    pub(crate) fn slowlog(&self) -> &CommandLog {
        &self.slowlog
    }

    /// Whether every run of a command is timed.
    #[inline]
    pub(crate) fn times_all(&self) -> bool {
        self.times_all.load(Relaxed)
    }

    /// Works out whether every run is timed, after a change of a threshold.
    fn adjust_timing(&self) {
        let is_on = self.slowlog.times_all() || self.latency.is_on() || self.hot_keys.is_active();
        self.times_all.store(is_on, Relaxed);
    }

    /// The keys that take the most time and bytes.
    #[inline]
    pub(crate) fn hot_keys(&self) -> &HotKeys {
        &self.hot_keys
    }

    /// Values on their way to other servers.
    pub(crate) fn migrations(&self) -> &Migrations {
        &self.migrations
    }

    /// Begins to look for such keys.
    pub(crate) fn begin_hot_keys(&self, session: Session) {
        self.hot_keys.begin(session);
        self.adjust_timing();
    }

    /// Looks for such keys no more.
    pub(crate) fn end_hot_keys(&self, at_ms: u64) {
        self.hot_keys.end(at_ms);
        self.adjust_timing();
    }

    /// The commands whose requests or replies were large.
    #[inline]
    pub(crate) fn large_logs(&self) -> &LargeLogs {
        &self.large_logs
    }

    /// The latency monitor.
    #[inline]
    pub(crate) fn latency(&self) -> &Latency {
        &self.latency
    }

    /// The cache of scripts, and those that take long.
    #[inline]
    pub(crate) fn scripts(&self) -> &Scripts {
        &self.scripts
    }

    /// The libraries of functions.
    #[cfg(feature = "scripts")]
    #[inline]
    pub(crate) fn functions(&self) -> &Functions {
        &self.functions
    }

    /// Rates and peaks of what is counted.
    #[inline]
    pub(crate) fn rate_sampler(&self) -> &RateSampler {
        &self.rate_sampler
    }

    /// When the server started, and the name of this run.
    pub(crate) fn startup(&self) -> &Startup {
        &self.startup
    }

    /// Resets what is counted, as CONFIG RESETSTAT does.
    pub(crate) fn reset_counts(&self) {
        self.stats.reset();
        self.rate_sampler.reset(self.counts());
        self.acl_log.reset_counts();
        self.client_memory.reset_evicted();
        self.scripts.reset_evicted();
    }

    /// The settings of the keyspace, or defaults while there is none.
    pub(crate) fn settings(&self) -> &Settings {
        self.settings.get_or_init(Arc::default)
    }

    /// Counts of the process since it started, except those of commands.
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

    /// Updates a worker's copy of the limits of compact values, if they have changed since its `version`.
    #[inline]
    pub(crate) fn refresh_limits(&self, version: &mut u64, copy: &mut Limits) {
        self.limits.refresh(version, copy);
    }

    /// The program around the service.
    pub(crate) fn platform(&self) -> Option<&dyn Platform> {
        self.platform.get().map(|platform| &**platform)
    }

    /// The file that the parameters were read from.
    pub(crate) fn config_file(&self) -> Option<&ConfigFile> {
        self.config_file.get()
    }

    /// Users, and what they may do.
    #[inline]
    pub(crate) fn acl(&self) -> &Acl {
        &self.acl
    }

    /// The file of users; empty if there is none.
    pub(crate) fn acl_file(&self) -> &[u8] {
        self.acl_file.get().map_or(&[], Vec::as_slice)
    }

    /// What users were denied.
    pub(crate) fn acl_log(&self) -> &AclLog {
        &self.acl_log
    }

    /// Whether commands need additional checks: clients are paused, there are monitors, users that may not do
    /// everything, or a script that takes too long.
    #[inline]
    pub(crate) fn is_unusual(&self) -> bool {
        self.pause.is_set()
            || !self.monitors.is_empty()
            || self.acl.is_used()
            || self.scripts.is_busy()
    }

    /// Whether `protected-mode` refuses the connection, because it comes from another machine.
    pub(crate) fn is_closed_to(&self, conn: &Resp) -> bool {
        let peer = conn.client.as_ref().and_then(|client| client.peer.as_ref());
        self.connection_settings.is_protected.load(Relaxed)
            && !self.asks_for_password()
            && peer.is_some_and(|peer| !is_local(&peer.remote))
    }

    /// Whether clients must log in.
    #[cold]
    pub(crate) fn asks_for_password(&self) -> bool {
        !self.acl.default_account().rights().is_open()
    }

    /// Sets the only password of the default user, none if it is empty.
    pub(crate) fn set_password(&self, text: &[u8]) {
        self.password.set(text);
        self.acl.set_password(text);
    }

    /// The state of a new connection.
    #[must_use]
    pub fn connection(&self) -> Resp {
        let bulk_max = Arc::clone(&self.connection_settings.bulk_max);
        let mut conn = Resp::new(User::new(!self.asks_for_password()), bulk_max);
        conn.marks.set(Marks::CLUSTER, self.cluster.is_on());
        conn
    }
}
