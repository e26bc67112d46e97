// SPDX-License-Identifier: Apache-2.0
//! [`Program`]: a row for each program that is packaged.

/// A program.
#[derive(Debug)]
pub(super) struct Program {
    /// The name of its file.
    pub(super) name: &'static str,
    /// The cargo package that it is built from.
    pub(super) package: &'static str,
    /// What it is, in a line.
    pub(super) about: &'static str,
    /// What it is, in sentences.
    pub(super) description: &'static str,
    /// How it is run as a service, if it is one.
    pub(super) service: Option<Service>,
}

/// What a container has to know of a server.
#[derive(Debug)]
pub(super) struct Service {
    /// Its port.
    pub(super) port: u16,
    /// The port of its admin plane where it is installed: each has its own, so that they run on one machine.
    pub(super) admin_port: u16,
    /// What its configuration must say beside addresses to serve clients from outside.
    pub(super) configuration: &'static str,
}

/// The port of the admin plane by default, and in an image.
pub(super) const ADMIN_PORT: u16 = 9999;

impl Service {
    /// The file with all settings, `text`, as it is installed; `None` if it does not have the admin port's default.
    pub(super) fn installed(&self, text: &str) -> Option<String> {
        if self.admin_port == ADMIN_PORT {
            return Some(text.to_owned());
        }
        let (before, after) = text.split_once(&format!("\nport = {ADMIN_PORT}\n"))?;
        let port = self.admin_port;
        Some(format!(
            "{before}\n# Without it: {ADMIN_PORT}; the packages of our servers have different ones.\nport = {port}\n{after}"
        ))
    }
}

/// All that are packaged.
pub(super) const PROGRAMS: &[Program] = &[
    Program {
        name: "segcache",
        package: "shoebill-segcache",
        about: "cache server that speaks memcache",
        description: "Takes memcached's place: its protocols (text, meta, binary, UDP), its flags and its files. Items lie in \
                      segments by their time to live, so an item costs 14 bytes beside key and value, and the memory of \
                      expired ones comes back without a scan.",
        service: Some(Service { port: 11211, admin_port: 9999, configuration: "" }),
    },
    Program {
        name: "rds",
        package: "shoebill-rds",
        about: "cache server that speaks Redis's protocol",
        description: "Takes Redis's place for caching: its commands, Lua scripts, users and client-side caching, and its \
                      configuration file. It keeps nothing over a restart and has no replicas.",
        // Who publishes the port of a container decides who may connect, as in Redis's own image.
        service: Some(Service {
            port: 6379,
            admin_port: 9998,
            configuration: "\n[redis]\nprotected-mode = \"no\"\n",
        }),
    },
    Program {
        name: "pingserver",
        package: "shoebill-pingserver",
        about: "server that answers PING with PONG",
        description: "The smallest server made of Shoebill's crates: a tutorial, and the baseline of measurements.",
        service: Some(Service { port: 12321, admin_port: 9997, configuration: "" }),
    },
    Program {
        name: "cacheperf",
        package: "shoebill-cacheperf",
        about: "load generator for caches",
        description: "Loads servers that speak memcache or Redis's protocol, at a rate or as fast as they answer, and reports \
                      latencies as text, JSON or a page. Compares servers, and finds the highest rate that meets a bound.",
        service: None,
    },
];

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn installed_servers_have_admin_ports_of_their_own() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../packaging/config");
        let mut ports = Vec::new();
        for Program { name, service, .. } in PROGRAMS {
            let Some(service) = service else { continue };
            let text = std::fs::read_to_string(folder.join(format!("{name}.toml"))).expect(name);
            let installed = service.installed(&text).expect(name);
            let (_, admin) = installed.split_once("\n[admin]\n").expect(name);
            let line = admin.lines().find(|line| line.starts_with("port = ")).expect(name);
            assert_eq!(line, format!("port = {}", service.admin_port), "{name}");
            ports.push(line.to_owned());
        }
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 3, "{ports:?}");
    }
}
