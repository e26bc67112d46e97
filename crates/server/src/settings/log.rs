// SPDX-License-Identifier: Apache-2.0
//! `[debug]` and `[klog]`: the log and the command log.

use config::{ByteSize, Span};
use log::LevelFilter;
use std::path::PathBuf;
use std::time::Duration;

/// The most lines of a log that may wait: a gigabyte of them.
const QUEUE_LINES_MAX: usize = 1_000_000;

config::section! {
    /// The log: what the server tells about itself. Opened anew on SIGHUP.
    pub struct Debug in "debug" {
        /// The least important lines that are written.
        pub log_level: LogLevel = LogLevel::Info;
        /// The file to write. Its folder must exist.
        pub log_file: Option<PathBuf> = None,
            absent "standard error", example "/var/log/shoebill/server.log";
        /// The file is rotated when it is larger; 0 never.
        pub log_max_size: ByteSize = ByteSize(100 << 20);
        /// The file is rotated when its first line is older; 0 never.
        pub log_rotation_interval: Span = Span(Duration::from_secs(24 * 60 * 60));
        /// Rotated files that stay: `x.log.1` is the youngest.
        pub log_max_keep_files: u32 = 7;
        /// Lines that may wait to be written; more are dropped and counted in `shoebill_log_lines_total`.
        pub log_queue_lines: usize = 1024, within 1..=QUEUE_LINES_MAX;
    }
}

config::section! {
    /// The command log: a line per sampled request. Off unless `file` is named and `sample` is not 0. Opened
    /// anew on SIGHUP.
    pub struct Klog in "klog" {
        /// The file to write. Its folder must exist.
        pub file: Option<PathBuf> = None, example "/var/log/shoebill/commands.log";
        /// The file is rotated when it is larger; 0 never.
        pub max_size: ByteSize = ByteSize(1 << 30);
        /// Rotated files that stay.
        pub max_keep_files: u32 = 3;
        /// Of each worker's requests, one in this many is written; 0 none.
        pub sample: u64 = 100;
        /// Lines that may wait to be written; more are dropped and counted in `shoebill_log_lines_total`.
        pub queue_lines: usize = 16_384, within 1..=QUEUE_LINES_MAX;
    }
}

config::choices! {
    /// How important a line of the log is.
    #[derive(Default, PartialOrd, Ord)]
    pub enum LogLevel {
        /// Nothing at all.
        Off = "off",
        /// Something failed.
        Error = "error",
        /// Something is wrong and was coped with.
        Warn = "warn",
        /// What an operator wants to know.
        #[default]
        Info = "info",
        /// What helps to find a problem.
        Debug = "debug",
        /// Everything.
        Trace = "trace",
    }
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
