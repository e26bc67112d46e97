// SPDX-License-Identifier: Apache-2.0
//! [`ServerProcess`]: the process, as commands see and change it.

use crate::config::Config;
use config::ByteSize;
use log::LevelFilter;
use protocol_memcache::Platform;
use server::Controls;
use std::time::Duration;

/// The process, as the service sees it.
#[derive(Debug)]
pub(crate) struct ServerProcess {
    controls: Controls,
    /// The level of the log without `-v`: that of the configuration, unless it asks for more.
    quiet: LevelFilter,
    config: Config,
}

impl ServerProcess {
    /// The process with this configuration.
    pub(crate) fn new(controls: Controls, config: &Config) -> Self {
        let level = LevelFilter::from(config.debug.log_level);
        ServerProcess { controls, quiet: level.min(LevelFilter::Info), config: config.clone() }
    }
}

impl Platform for ServerProcess {
    fn stop(&self) {
        self.controls.stop();
    }

    fn set_verbosity(&self, level: u32) {
        log::set_max_level(match level {
            0 => self.quiet,
            1 => LevelFilter::Debug,
            _ => LevelFilter::Trace,
        });
    }

    fn reread(&self) -> u64 {
        self.controls.reread()
    }

    fn reread_outcome(&self, number: u64) -> Option<Result<(), String>> {
        self.controls.reread_outcome(number)
    }

    fn certificates_age(&self) -> Option<Duration> {
        self.controls.certificates_age()
    }

    fn memory_limit_set(&self, bytes: u64) {
        let mut config = self.config.clone();
        config.cache.memory = ByteSize(bytes);
        match ::config::print(&config) {
            Ok(text) => self.controls.set_config_text(text),
            Err(error) => log::warn!("/config shows the memory limit of before: {error}"),
        }
    }

    fn memory_freed(&self) {
        self.controls.return_memory();
    }

    fn reserved_descriptors(&self) -> u64 {
        self.controls.reserved_descriptors()
    }

    fn verbosity(&self) -> u32 {
        match log::max_level() {
            LevelFilter::Off | LevelFilter::Error | LevelFilter::Warn | LevelFilter::Info => 0,
            LevelFilter::Debug => 1,
            LevelFilter::Trace => 2,
        }
    }
}
