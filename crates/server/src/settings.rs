// SPDX-License-Identifier: Apache-2.0
//! The configuration sections that all servers share.
//!
//! A server's own config struct has one field for each of them and hands them over as
//! [`Sections`]. Names follow Pelikan's where the meaning is the same.

mod engine;
mod listen;
mod log;
mod tls;

pub use engine::Engine;
pub use listen::{Listen, SocketMode};
pub use log::{Debug as DebugLog, Klog, LogLevel};
pub use tls::{ClientAuth, Tls, TlsVersion};

use config::{ByteSize, Span};
use reactor::{Limits, Options, Output};
use serde::{Deserialize, Serialize};
use std::net::IpAddr;
use std::time::Duration;

/// The most lines of a log that may wait: a gigabyte of them.
const QUEUE_LINES_MAX: usize = 1_000_000;

/// All shared sections of one configuration.
#[derive(Clone, Copy, Debug)]
pub struct Sections<'a> {
    /// `[server]`
    pub server: &'a Server,
    /// `[worker]`
    pub worker: &'a Worker,
    /// `[admin]`
    pub admin: &'a Admin,
    /// `[tls]`
    pub tls: &'a Tls,
    /// `[debug]`
    pub debug: &'a DebugLog,
    /// `[klog]`
    pub klog: &'a Klog,
}

/// `[server]`: where to listen and how to treat connections.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Server {
    /// The address to listen on, unless `listen` names some.
    pub host: IpAddr,
    /// The TCP port to listen on; the server's own default when absent.
    pub port: Option<u16>,
    /// Addresses to listen on, instead of `host` and `port`: `127.0.0.1:11211`, `[::1]:11211`,
    /// `notls:127.0.0.1:11212`, `unix:/run/cache.sock`.
    pub listen: Vec<Listen>,
    /// Permission bits of unix sockets, in octal.
    pub socket_mode: SocketMode,
    /// Connections that may wait to be accepted, per listener.
    pub backlog: u32,
    /// Connections served at once; more are told so and closed.
    pub max_connections: usize,
    /// A connection that sends nothing for this long is closed; 0 never.
    pub idle_timeout: Span,
    /// A connection that stops within a request for this long is closed; 0 never.
    pub read_timeout: Span,
    /// A connection that takes none of its replies for this long is closed; 0 never.
    pub write_timeout: Span,
    /// A TLS handshake may take this long.
    pub handshake_timeout: Span,
    /// After a signal to stop, `/ready` says so for this long before anything else happens.
    pub drain_delay: Span,
    /// After a signal to stop, connections have this long to be flushed.
    pub drain_timeout: Span,
}

impl Default for Server {
    fn default() -> Self {
        let options = Options::default();
        Server {
            host: IpAddr::from([127, 0, 0, 1]),
            port: None,
            listen: Vec::new(),
            socket_mode: SocketMode::default(),
            backlog: 1024,
            max_connections: 10_000,
            idle_timeout: Span(options.idle_timeout),
            read_timeout: Span(options.read_timeout),
            write_timeout: Span(options.write_timeout),
            handshake_timeout: Span(options.handshake_timeout),
            drain_delay: Span(Duration::ZERO),
            drain_timeout: Span(Duration::from_secs(10)),
        }
    }
}

/// `[worker]`: the event loops.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Worker {
    /// How they learn what their sockets do: `auto`, `epoll` or `io_uring`.
    pub engine: Engine,
    /// How many threads serve connections.
    pub threads: usize,
    /// Events a worker takes from the operating system at once.
    pub nevent: usize,
    /// Longest sleep of a worker, and the grain of its time limits.
    pub timeout: Span,
    /// Requests a connection is served before others have their turn.
    pub requests_per_turn: usize,
    /// Unsent bytes with which a connection lets others have their turn.
    pub high_water: ByteSize,
    /// Bytes of buffers that connections may hold, over all workers, before those with more than
    /// `high_water` unsent are not served until they read; the server's own default when absent.
    pub output_memory: Option<ByteSize>,
    /// Whether to record the CPU time of each turn of the event loops, which takes a system call.
    pub turn_cpu_time: bool,
}

impl Default for Worker {
    fn default() -> Self {
        let options = Options::default();
        Worker {
            engine: Engine::default(),
            threads: 1,
            nevent: options.events,
            timeout: Span(options.tick),
            requests_per_turn: options.limits.requests_per_turn,
            high_water: ByteSize(options.limits.high_water as u64),
            output_memory: None,
            turn_cpu_time: options.turn_cpu_time,
        }
    }
}

/// `[admin]`: metrics, health and configuration over HTTP.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Admin {
    /// Whether to serve it.
    pub enabled: bool,
    /// The address to listen on.
    pub host: IpAddr,
    /// The TCP port to listen on.
    pub port: u16,
}

impl Default for Admin {
    fn default() -> Self {
        Admin { enabled: true, host: IpAddr::from([127, 0, 0, 1]), port: 9999 }
    }
}

impl Sections<'_> {
    /// What workers are told, with requests of up to `request_bytes`.
    pub(crate) fn options(&self, request_bytes: usize) -> Options {
        let defaults = Options::default();
        let high_water = self.worker.high_water.0 as usize;
        Options {
            limits: Limits {
                request_bytes,
                high_water,
                requests_per_turn: self.worker.requests_per_turn,
            },
            output: Output {
                memory: self.worker.output_memory.map_or(defaults.output.memory, |memory| {
                    usize::try_from(memory.0).unwrap_or(usize::MAX)
                }),
                ..defaults.output
            },
            send_block: high_water + (defaults.send_block - defaults.limits.high_water),
            idle_timeout: self.server.idle_timeout.0,
            read_timeout: self.server.read_timeout.0,
            write_timeout: self.server.write_timeout.0,
            handshake_timeout: self.server.handshake_timeout.0,
            events: self.worker.nevent,
            tick: self.worker.timeout.0,
            turn_cpu_time: self.worker.turn_cpu_time,
            ..defaults
        }
    }

    /// The first rule that a value breaks, as key and problem.
    pub(crate) fn problem(&self) -> Option<(&'static str, String)> {
        let in_range = |key, value: usize, least: usize, most: usize| {
            let problem = format!("{value} is not between {least} and {most}");
            (value < least || value > most).then_some((key, problem))
        };
        let tick = self.worker.timeout.0;
        let tick_problem = (tick < Duration::from_millis(1) || tick > Duration::from_secs(10))
            .then(|| ("[worker] timeout", "is not between 1ms and 10s".to_owned()));
        in_range("[worker] threads", self.worker.threads, 1, 256)
            .or_else(|| in_range("[worker] nevent", self.worker.nevent, 1, 65_536))
            .or(tick_problem)
            .or_else(|| {
                let share = self.worker.requests_per_turn;
                in_range("[worker] requests_per_turn", share, 1, 1_000_000)
            })
            .or_else(|| {
                let mark = self.worker.high_water.0 as usize;
                in_range("[worker] high_water", mark, 1024, 1 << 30)
            })
            .or_else(|| {
                let most = self.server.max_connections;
                in_range("[server] max_connections", most, 1, 1_000_000)
            })
            .or_else(|| {
                let lines = self.debug.log_queue_lines;
                in_range("[debug] log_queue_lines", lines, 1, QUEUE_LINES_MAX)
            })
            .or_else(|| in_range("[klog] queue_lines", self.klog.queue_lines, 1, QUEUE_LINES_MAX))
    }
}
