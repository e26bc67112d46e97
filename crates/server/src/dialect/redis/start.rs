// SPDX-License-Identifier: Apache-2.0
//! How Redis starts: whether in the background, and what it logs when it serves.

use super::names::ParameterTable;
use super::parameters::Parameters;
use crate::settings::{Listen, Sections};

/// Whether the server is to go to the background: `daemonize`, unless a service manager, as `supervised` says,
/// started it and waits for its notification. `has` tells whether a variable is in the environment.
pub fn goes_behind<T: ParameterTable>(
    parameters: &Parameters<T>,
    has: impl Fn(&str) -> bool,
) -> bool {
    let is_supervised = match parameters.get("supervised") {
        "systemd" => has("NOTIFY_SOCKET"),
        "upstart" => has("UPSTART_JOB"),
        "auto" => has("NOTIFY_SOCKET") || has("UPSTART_JOB"),
        _ => false,
    };
    parameters.get("daemonize") == "yes" && !is_supervised
}

/// The lines that Redis logs when it accepts connections, one for each kind of listener. They begin with
/// Redis's mark of the log level, which programs that wait for them may look for.
#[must_use]
pub fn greetings(sections: &Sections<'_>) -> Vec<String> {
    let is_tls = sections.tls.private_key.is_some();
    let mut kinds: Vec<&str> = Vec::new();
    for listen in &sections.server.listen {
        let kind = match listen {
            Listen::Tcp { plain: false, .. } if is_tls => "tls",
            Listen::Tcp { .. } => "tcp",
            Listen::Unix(_) => "unix",
        };
        if !kinds.contains(&kind) {
            kinds.push(kind);
        }
    }
    if sections.server.listen.is_empty() {
        kinds.push(if is_tls { "tls" } else { "tcp" });
    }
    kinds.iter().map(|kind| format!("* Ready to accept connections {kind}")).collect()
}
