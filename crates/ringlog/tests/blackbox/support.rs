// SPDX-License-Identifier: Apache-2.0
//! Logging without installing, and reading back.

use std::fs;
use std::path::Path;

use log::{Level, Log, Record};
use ringlog::RingLogger;

/// 2026-01-02T03:04:05.678Z
pub(crate) const NOW_MS: u64 = 1_767_323_045_678;

/// Logs a line at level info.
pub(crate) fn info(logger: &RingLogger, target: &str, message: &str) {
    at(logger, Level::Info, target, message);
}

/// Logs a line.
pub(crate) fn at(logger: &RingLogger, level: Level, target: &str, message: &str) {
    let mut record = Record::builder();
    record.level(level).target(target);
    logger.log(&record.args(format_args!("{message}")).build());
}

/// The messages in a file, without time, level and target; empty if there is no file.
pub(crate) fn messages(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let message = |line: &str| line.split_once(": ").expect("a target and a message").1.to_owned();
    text.lines().map(message).collect()
}
