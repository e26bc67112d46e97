// SPDX-License-Identifier: Apache-2.0
//! [`Provenance`]: when, where and with what something was measured, for those who read it later.

use serde::Serialize;
use std::env;
use std::fs;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// When, where and with what something was measured.
#[derive(Clone, Debug, Serialize)]
pub struct Provenance {
    /// When it began, in UTC, as RFC 3339 has it.
    pub date: String,
    /// The name of the generator's machine.
    pub host: String,
    /// Its kernel, with version and architecture.
    pub kernel: String,
    /// The model of its CPUs.
    pub cpu: String,
    /// How many of them the system has.
    pub cpus: usize,
    /// The generator and its version.
    pub generator: String,
    /// The servers.
    pub servers: Vec<ServerFacts>,
    /// The whole command line, as a shell takes it.
    pub command: String,
}

/// What is known of a server.
#[derive(Clone, Debug, Serialize)]
pub struct ServerFacts {
    /// Its name in a comparison, or its protocol and address.
    pub name: String,
    /// Its version in its own words; `None` if it does not tell.
    pub version: Option<String>,
}

impl Provenance {
    /// What this machine and this command line are.
    pub fn gather() -> Self {
        let system = rustix::system::uname();
        let part = |text: &std::ffi::CStr| text.to_string_lossy().into_owned();
        let now = OffsetDateTime::now_utc();
        let now = now.replace_nanosecond(0).unwrap_or(now);
        let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        Provenance {
            date: now.format(&Rfc3339).unwrap_or_default(),
            host: part(system.nodename()),
            kernel: format!(
                "{} {} {}",
                part(system.sysname()),
                part(system.release()),
                part(system.machine())
            ),
            cpu: model(&cpus).unwrap_or("unknown model").to_owned(),
            cpus: processors(&cpus),
            generator: format!("cacheperf {}", env!("CARGO_PKG_VERSION")),
            servers: Vec::new(),
            command: command(env::args_os().map(|word| word.to_string_lossy().into_owned())),
        }
    }

    /// The same with the servers that were measured.
    #[must_use]
    pub fn with_servers(self, servers: Vec<ServerFacts>) -> Self {
        Provenance { servers, ..self }
    }

    /// Pairs of a title and what stands there, for people.
    pub(crate) fn rows(&self) -> Vec<(&'static str, String)> {
        let mut rows = vec![("date", self.date.clone())];
        rows.extend(self.servers.iter().map(|server| ("server", server.to_string())));
        rows.push(("generator", self.generator.clone()));
        rows.push(("host", format!("{}, {}", self.host, self.kernel)));
        rows.push(("CPU", format!("{} × {}", self.cpus, self.cpu)));
        rows.push(("command", self.command.clone()));
        rows
    }
}

impl std::fmt::Display for ServerFacts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let version = self.version.as_deref().unwrap_or("unknown");
        write!(f, "{}, version {version}", self.name)
    }
}

/// The model, by `/proc/cpuinfo`.
fn model(cpus: &str) -> Option<&str> {
    let fields = || cpus.lines().filter_map(|line| line.split_once(':'));
    // ARM's kernels have no name for people, but for the whole machine at times.
    let of = |name: &str| {
        let mut values =
            fields().filter(|(key, _)| key.trim() == name).map(|(_, value)| value.trim());
        values.rfind(|value| !value.is_empty())
    };
    ["model name", "Model", "Hardware", "uarch"].into_iter().find_map(of)
}

/// How many CPUs there are, by `/proc/cpuinfo`.
fn processors(cpus: &str) -> usize {
    let known = cpus.lines().filter(|line| line.starts_with("processor")).count();
    if known > 0 { known } else { std::thread::available_parallelism().map_or(1, usize::from) }
}

/// A command line as a shell takes it, the program by its name.
fn command(words: impl Iterator<Item = String>) -> String {
    let words = words.enumerate().map(|(at, word)| match word.rsplit_once('/') {
        Some((_, name)) if at == 0 => name.to_owned(),
        _ => word,
    });
    let words: Vec<String> = words.collect();
    let words = words.iter().map(String::as_str);
    shlex::try_join(words.clone()).unwrap_or_else(|_| words.collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_is_described() {
        let found = Provenance::gather();
        assert!(OffsetDateTime::parse(&found.date, &Rfc3339).is_ok(), "{}", found.date);
        assert!(found.date.ends_with('Z') && !found.date.contains('.'), "{}", found.date);
        assert!(found.kernel.starts_with("Linux "), "{}", found.kernel);
        assert!(found.cpus > 0 && !found.cpu.is_empty() && !found.host.is_empty());
        assert!(found.generator.starts_with("cacheperf 0."), "{}", found.generator);
    }

    #[test]
    fn the_model_is_read_where_it_is_named() {
        let intel =
            "processor\t: 0\nmodel\t\t: 85\nmodel name\t: A CPU @ 2 GHz\n\nprocessor\t: 1\n";
        assert_eq!((model(intel), processors(intel)), (Some("A CPU @ 2 GHz"), 2));
        let arm = "processor\t: 0\nBogoMIPS\t: 50.00\n\nModel\t\t: A Board\n";
        assert_eq!((model(arm), processors(arm)), (Some("A Board"), 1));
        assert_eq!(model("processor : 0\n"), None);
    }

    #[test]
    fn a_command_can_be_run_again() {
        let words = ["/usr/bin/cacheperf", "--html", "a b.html", "-s", "64"].map(str::to_owned);
        assert_eq!(command(words.into_iter()), "cacheperf --html 'a b.html' -s 64");
    }
}
