// SPDX-License-Identifier: Apache-2.0
//! The caller's half: an implementation of [`log::Log`] that only fills buffers.

use std::fmt::Write;
use std::sync::Arc;

use log::{Level, LevelFilter, Metadata, Record};

use crate::error::Error;
use crate::ring::Ring;
use crate::targets::{OneIn, Targets};
use crate::timestamp;

/// The logger behind `log::info!` and its sisters. Made by [`Builder`](crate::Builder).
///
/// Logging a line costs reading the time, formatting, and two operations on lock-free queues.
#[derive(Debug)]
pub struct RingLogger {
    pub(crate) ring: Arc<Ring>,
    pub(crate) level: LevelFilter,
    /// Target to index of the output; targets without a rule go to output 0.
    pub(crate) routes: Targets<usize>,
    pub(crate) samples: Targets<OneIn>,
}

impl RingLogger {
    /// Makes this the logger of the process and sets the level of the `log` macros.
    ///
    /// # Errors
    ///
    /// [`Error::AlreadyInstalled`] when the process has a logger.
    pub fn install(self) -> Result<(), Error> {
        let level = self.level;
        log::set_boxed_logger(Box::new(self)).map_err(|_| Error::AlreadyInstalled)?;
        log::set_max_level(level);
        Ok(())
    }
}

impl log::Log for RingLogger {
    /// Raising the level of the `log` macros later raises this one.
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.level() <= self.level.max(log::max_level())
    }

    fn log(&self, record: &Record<'_>) {
        let target = record.target();
        if !self.enabled(record.metadata())
            || self.samples.find(target).is_some_and(|sample| !sample.admits())
        {
            return;
        }
        let Some(mut slot) = self.ring.take() else {
            return;
        };
        let line = &mut slot.line;
        line.start(timestamp::unix_ms_now());
        line.put(level_name(record.level()).as_bytes());
        // An error says that the line is full; its end shows that already.
        let _ = write!(line, "{target}: {}", record.args());
        line.finish();
        slot.submit(self.routes.find(target).copied().unwrap_or(0));
    }

    /// Does nothing: the drain writes, and the caller must not wait for it.
    fn flush(&self) {}
}

/// The level padded to one width, so that targets line up.
fn level_name(level: Level) -> &'static str {
    match level {
        Level::Error => "ERROR ",
        Level::Warn => "WARN  ",
        Level::Info => "INFO  ",
        Level::Debug => "DEBUG ",
        Level::Trace => "TRACE ",
    }
}
