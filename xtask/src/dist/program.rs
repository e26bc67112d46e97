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
    /// What its configuration must say beside addresses to serve clients from outside.
    pub(super) configuration: &'static str,
}

/// The port of the admin plane.
pub(super) const ADMIN_PORT: u16 = 9999;

/// All that are packaged.
pub(super) const PROGRAMS: &[Program] = &[
    Program {
        name: "segcache",
        package: "shoebill-segcache",
        about: "cache server that speaks memcache",
        description: "Takes memcached's place: its protocols (text, meta, binary, UDP), its flags and its files. Items lie in \
                      segments by their time to live, so an item costs 14 bytes beside key and value, and the memory of \
                      expired ones comes back without a scan.",
        service: Some(Service { port: 11211, configuration: "" }),
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
            configuration: "\n[redis]\nprotected-mode = \"no\"\n",
        }),
    },
    Program {
        name: "pingserver",
        package: "shoebill-pingserver",
        about: "server that answers PING with PONG",
        description: "The smallest server made of Shoebill's crates: a tutorial, and the baseline of measurements.",
        service: Some(Service { port: 12321, configuration: "" }),
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
