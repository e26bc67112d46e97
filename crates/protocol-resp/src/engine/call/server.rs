// SPDX-License-Identifier: Apache-2.0
//! The parts of the server that commands are about.

use super::Call;
use crate::host::Startup;
use crate::host::client_memory::ClientMemory;
use crate::host::clients::Clients;
use crate::host::cluster::Cluster;
use crate::host::commandlog::{CommandLog, LargeLogs};
use crate::host::config::{ConfigFile, Parameter, Value};
#[cfg(feature = "scripts")]
use crate::host::functions::Functions;
use crate::host::hot_keys::{HotKeys, Session};
use crate::host::key_events::KeyEvents;
use crate::host::latency::Latency;
use crate::host::migrations::Migrations;
use crate::host::monitor::Monitors;
use crate::host::pause::Pause;
use crate::host::platform::Platform;
use crate::host::rate_sampler::{Counts, RateSampler};
use crate::host::scripts::Scripts;
use crate::host::stats::Stats;
use crate::session::waiting::Waiter;
use keyspace::Settings;
use std::io;
use std::path::Path;

impl<'c, V> Call<'c, V> {
    /// Clients interested in changes of keys, and channels.
    #[inline]
    pub(crate) fn key_events(&self) -> &'c KeyEvents {
        self.host.key_events()
    }

    /// All clients.
    pub(crate) fn clients(&self) -> &'c Clients {
        self.host.clients()
    }

    /// The counts of commands and errors.
    pub(crate) fn command_stats(&self) -> &'c Stats {
        self.host.stats()
    }

    /// Who sees all commands (MONITOR).
    pub(crate) fn monitors(&self) -> &'c Monitors {
        self.host.monitors()
    }

    /// The pause of clients (CLIENT PAUSE).
    pub(crate) fn pause(&self) -> &'c Pause {
        self.host.pause()
    }

    /// Whether memory for data is limited.
    #[cfg(feature = "scripts")]
    pub(crate) fn has_memory_limit(&self) -> bool {
        self.host.settings().maxmemory() != 0
    }

    /// The cache of scripts.
    pub(crate) fn scripts(&self) -> &'c Scripts {
        self.host.scripts()
    }

    /// The libraries of functions.
    #[cfg(feature = "scripts")]
    pub(crate) fn functions(&self) -> &'c Functions {
        self.host.functions()
    }

    /// The commands that took long.
    pub(crate) fn slowlog(&self) -> &'c CommandLog {
        self.host.slowlog()
    }

    /// The commands whose requests or replies were large.
    pub(crate) fn large_logs(&self) -> &'c LargeLogs {
        self.host.large_logs()
    }

    /// The cluster that this server is a node of.
    pub(crate) fn cluster(&self) -> &'c Cluster {
        self.host.cluster()
    }

    /// Whether the client uses TLS, as far as the port that it has connected to tells.
    pub(crate) fn uses_tls(&self) -> bool {
        self.host.uses_tls(self.conn.client.as_deref())
    }

    /// The keys that take the most time and bytes (HOTKEYS).
    pub(crate) fn hot_keys(&self) -> &'c HotKeys {
        self.host.hot_keys()
    }

    /// Begins to look for such keys.
    pub(crate) fn begin_hot_keys(&self, session: Session) {
        self.host.begin_hot_keys(session);
    }

    /// Looks for such keys no more.
    pub(crate) fn end_hot_keys(&self, at_ms: u64) {
        self.host.end_hot_keys(at_ms);
    }

    /// Values on their way to other servers.
    pub(crate) fn migrations(&self) -> &'c Migrations {
        self.host.migrations()
    }

    /// The latency monitor.
    pub(crate) fn latency(&self) -> &'c Latency {
        self.host.latency()
    }

    /// The memory that clients take.
    pub(crate) fn client_memory(&self) -> &'c ClientMemory {
        self.host.client_memory()
    }

    /// The settings of the keyspace.
    pub(crate) fn settings(&self) -> &'c Settings {
        self.host.settings()
    }

    /// The program around the service.
    pub(crate) fn platform(&self) -> Option<&'c dyn Platform> {
        self.host.platform()
    }

    /// Rates and peaks of what is counted.
    pub(crate) fn rate_sampler(&self) -> &'c RateSampler {
        self.host.rate_sampler()
    }

    /// What the process has counted since the last CONFIG RESETSTAT.
    pub(crate) fn counts(&self) -> Counts {
        self.rate_sampler().since_reset(self.host.counts())
    }

    /// Resets what is counted (CONFIG RESETSTAT).
    pub(crate) fn reset_counts(&mut self) {
        self.host.reset_counts();
        self.worker.resets_stats = true;
    }

    /// When the server started, and the name of this run.
    pub(crate) fn startup(&self) -> &'c Startup {
        self.host.startup()
    }

    /// The longest argument, and so the longest string, in bytes.
    pub(crate) fn bulk_max(&self) -> usize {
        self.host.bulk_max()
    }

    /// The most connections at a time.
    pub(crate) fn connections_max(&self) -> usize {
        self.host.connections_max()
    }

    /// The value of the parameter with this name.
    pub(crate) fn parameter(&self, name: &str) -> Value {
        self.host.value_of(name)
    }

    /// Whether a parameter lets the client do what it protects.
    pub(crate) fn may(&self, parameter: &str) -> bool {
        self.host.may(parameter, self.id, self.directory)
    }

    /// The value of a parameter, as CONFIG GET shows it.
    pub(crate) fn configured(&self, parameter: &'static Parameter) -> Vec<u8> {
        self.host.configured(parameter)
    }

    /// Changes parameters: all of them, or none if one of the changes is refused. Then its index is returned
    /// with the reason.
    pub(crate) fn reconfigure(
        &self,
        changes: &[(&'static Parameter, &[u8])],
    ) -> Result<(), (usize, String)> {
        self.host.reconfigure(changes)
    }

    /// The file that the parameters were read from.
    pub(crate) fn config_file(&self) -> Option<&'c ConfigFile> {
        self.host.config_file()
    }

    /// Makes this file say what is in force.
    pub(crate) fn rewrite_config(&self, file: &Path) -> io::Result<()> {
        self.host.rewrite_config(file)
    }

    /// Counts the blocked command of a client whose wait this command ends, which may be a failure.
    pub(crate) fn end_wait(&self, waiter: &Waiter, failed: bool) {
        self.host.end_wait(waiter, &self.worker.counts, 0, failed, self.now);
    }
}
