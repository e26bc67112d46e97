// SPDX-License-Identifier: Apache-2.0
//! `[debug]` and `[klog]`: the log and the command log.

use config::{ByteSize, Span};
use log::LevelFilter;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::Duration;

/// `[debug]`: what the server tells about itself. Reopened on SIGHUP.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Debug {
    /// The least important lines that are written.
    pub log_level: LogLevel,
    /// The file to write; standard error when absent.
    pub log_file: Option<PathBuf>,
    /// The file is rotated when it is larger; 0 never.
    pub log_max_size: ByteSize,
    /// The file is rotated when it is older; 0 never.
    pub log_rotation_interval: Span,
    /// Rotated files that are kept.
    pub log_max_keep_files: u32,
    /// Lines that may wait to be written; more are dropped and counted.
    pub log_queue_lines: usize,
}

impl Default for Debug {
    fn default() -> Self {
        Debug {
            log_level: LogLevel::Info,
            log_file: None,
            log_max_size: ByteSize(100 << 20),
            log_rotation_interval: Span(Duration::from_secs(24 * 60 * 60)),
            log_max_keep_files: 7,
            log_queue_lines: 1024,
        }
    }
}

/// `[klog]`: a line per sampled request. Off unless a file is named. Reopened on SIGHUP.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Klog {
    /// The file to write.
    pub file: Option<PathBuf>,
    /// The file is rotated when it is larger; 0 never.
    pub max_size: ByteSize,
    /// Rotated files that are kept.
    pub max_keep_files: u32,
    /// One request in this many is written; 0 none.
    pub sample: u64,
    /// Lines that may wait to be written; more are dropped and counted.
    pub queue_lines: usize,
}

impl Default for Klog {
    fn default() -> Self {
        Klog {
            file: None,
            max_size: ByteSize(1 << 30),
            max_keep_files: 3,
            sample: 100,
            queue_lines: 16_384,
        }
    }
}

/// How important a line of the log is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogLevel {
    /// Nothing at all.
    Off,
    /// Something failed.
    Error,
    /// Something is wrong and was coped with.
    Warn,
    /// What an operator wants to know.
    #[default]
    Info,
    /// What helps to find a problem.
    Debug,
    /// Everything.
    Trace,
}

impl From<LogLevel> for LevelFilter {
    fn from(level: LogLevel) -> LevelFilter {
        match level {
            LogLevel::Off => LevelFilter::Off,
            LogLevel::Error => LevelFilter::Error,
            LogLevel::Warn => LevelFilter::Warn,
            LogLevel::Info => LevelFilter::Info,
            LogLevel::Debug => LevelFilter::Debug,
            LogLevel::Trace => LevelFilter::Trace,
        }
    }
}
