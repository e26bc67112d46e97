// SPDX-License-Identifier: Apache-2.0
//! Redis's parameters that set the same as a key of a shared section: a row for each.

use super::listening;
use crate::settings::{LogLevel, Sections, SectionsMut, SocketMode};
use config::Span;
use std::path::PathBuf;
use std::time::Duration;

/// A parameter and the key of a section that sets the same.
#[derive(Debug)]
struct Shared {
    name: &'static str,
    /// Sets the key, from a value of the right kind.
    set: fn(&mut SectionsMut<'_>, &str),
    /// What the parameter shows.
    get: fn(&Sections<'_>) -> String,
}

static ROWS: [Shared; 8] = [
    Shared {
        name: "unixsocketperm",
        set: |sections, value| {
            let mode = u32::from_str_radix(value, 8).expect("a value of the right kind");
            sections.server.socket_mode =
                if mode == 0 { SocketMode::default() } else { SocketMode(mode) };
        },
        get: |sections| format!("{:o}", sections.server.socket_mode.0),
    },
    Shared {
        name: "tcp-backlog",
        set: |sections, value| sections.server.backlog = number(value) as u32,
        get: |sections| sections.server.backlog.to_string(),
    },
    Shared {
        name: "io-threads",
        set: |sections, value| sections.worker.threads = number(value) as usize,
        get: |sections| sections.worker.threads.to_string(),
    },
    Shared {
        name: "maxclients",
        set: |sections, value| sections.server.max_connections = number(value) as usize,
        get: |sections| sections.server.max_connections.to_string(),
    },
    Shared {
        name: "timeout",
        set: |sections, value| {
            sections.server.idle_timeout = Span(Duration::from_secs(number(value)));
        },
        get: |sections| sections.server.idle_timeout.0.as_secs().to_string(),
    },
    Shared {
        name: "tcp-keepalive",
        set: |sections, value| {
            sections.server.keepalive = Span(Duration::from_secs(number(value)));
        },
        get: |sections| sections.server.keepalive.0.as_secs().to_string(),
    },
    Shared {
        name: "loglevel",
        set: |sections, value| {
            sections.debug.log_level = match value {
                "debug" => LogLevel::Trace,
                "verbose" => LogLevel::Debug,
                "warning" => LogLevel::Warn,
                "nothing" => LogLevel::Off,
                _ => LogLevel::Info,
            }
        },
        get: |sections| {
            let word = match sections.debug.log_level {
                LogLevel::Trace => "debug",
                LogLevel::Debug => "verbose",
                LogLevel::Info => "notice",
                LogLevel::Warn | LogLevel::Error => "warning",
                LogLevel::Off => "nothing",
            };
            word.to_owned()
        },
    },
    Shared {
        name: "logfile",
        set: |sections, value| {
            sections.debug.log_file = (!value.is_empty()).then(|| value.into());
        },
        get: |sections| shown_path(sections.debug.log_file.as_ref()),
    },
];

fn number(value: &str) -> u64 {
    value.parse().expect("a value of the right kind")
}

pub(super) fn shown_path(path: Option<&PathBuf>) -> String {
    path.map_or_else(String::new, |path| path.display().to_string())
}

/// Sets the key that belongs to a parameter, from a value of the right type.
pub(super) fn set(sections: &mut SectionsMut<'_>, name: &str, value: &str) {
    let row = ROWS.iter().find(|row| row.name == name).expect("it has its place in a section");
    (row.set)(sections, value);
}

/// The sections' settings as Redis's parameters; `port` is the server's default port.
#[must_use]
pub fn shown(sections: &Sections<'_>, port: u16) -> Vec<(&'static str, String)> {
    let mut shown = listening::shown(sections, port);
    shown.extend(ROWS.iter().map(|row| (row.name, (row.get)(sections))));
    shown
}
