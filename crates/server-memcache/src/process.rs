// SPDX-License-Identifier: Apache-2.0
//! [`MemcacheProcess`]: the process, as commands see and change it.

use log::LevelFilter;
use protocol_memcache::Platform;
use server::Controls;
use std::fmt;
use std::time::Duration;

/// What `/config` shows under a memory limit of so many bytes.
type Shown = Box<dyn Fn(u64) -> Result<String, config::Error> + Send + Sync>;

/// The process, as the service sees it.
pub struct MemcacheProcess {
    controls: Controls,
    /// The level of the log without `-v`: that of the configuration, unless it asks for more.
    quiet: LevelFilter,
    shown: Shown,
}

impl MemcacheProcess {
    /// The process with these controls, the level of the log in its configuration, and what `/config` is to show
    /// when clients have set the memory limit to so many bytes.
    #[must_use]
    pub fn new(
        controls: Controls,
        level: LevelFilter,
        shown: impl Fn(u64) -> Result<String, config::Error> + Send + Sync + 'static,
    ) -> Self {
        let quiet = level.min(LevelFilter::Info);
        MemcacheProcess { controls, quiet, shown: Box::new(shown) }
    }
}

impl fmt::Debug for MemcacheProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MemcacheProcess").field("quiet", &self.quiet).finish_non_exhaustive()
    }
}

impl Platform for MemcacheProcess {
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
        match (self.shown)(bytes) {
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

#[cfg(test)]
mod tests {
    use super::*;
    use server::Builder;

    /// One test, because the level is that of the whole program.
    #[test]
    fn verbosity_is_memcacheds_and_never_less_than_the_configuration_has() {
        let process = |level| {
            let controls = Builder::new("mine", "1.0.0").controls();
            MemcacheProcess::new(controls, level, |bytes| Ok(bytes.to_string()))
        };
        let quiet = process(LevelFilter::Warn);
        for (level, filter) in
            [(2, LevelFilter::Trace), (1, LevelFilter::Debug), (0, LevelFilter::Warn)]
        {
            quiet.set_verbosity(level);
            assert_eq!((quiet.verbosity(), log::max_level()), (level, filter));
        }
        process(LevelFilter::Trace).set_verbosity(0);
        assert_eq!(log::max_level(), LevelFilter::Info);
    }
}
