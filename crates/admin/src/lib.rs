// SPDX-License-Identifier: Apache-2.0
//! The control plane: metrics, health and configuration over HTTP, on a thread of its own.
//!
//! A server has one thread named `admin`. It answers operators and their machines (Prometheus,
//! load balancers, `curl`) and does the periodic work that no worker should do, such as giving
//! memory back to the system. It handles no cache request and takes no lock that a worker waits for, so a stuck or
//! hostile admin client does not slow the workers. This is the only crate that uses tokio.
//!
//! ```
//! use admin::{Admin, Readiness, State};
//! use std::io::{Read, Write};
//! use std::net::TcpStream;
//! use std::time::Duration;
//!
//! let readiness = Readiness::new();
//! let admin = Admin::builder("pingserver", "0.1.0")
//!     .listen("127.0.0.1:0".parse()?)
//!     .config_text("[server]\nport = 12321\n")
//!     .ready(readiness.clone())
//!     .task(Duration::from_millis(100), || { /* give memory back */ })
//!     .spawn()?;
//! readiness.set(State::Ready);
//!
//! let mut client = TcpStream::connect(admin.address().expect("it listens"))?;
//! client.write_all(b"GET /ready HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")?;
//! let mut response = String::new();
//! client.read_to_string(&mut response)?;
//! assert!(response.starts_with("HTTP/1.1 200 OK\r\n"));
//! assert!(response.ends_with("\r\n\r\nready\n"));
//!
//! admin.stop()?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Routes
//!
//! GET and HEAD; any other method is answered 405, any other path 404 with this list.
//!
//! | path | answer |
//! |---|---|
//! | `/` | the routes |
//! | `/config` | the effective configuration, TOML |
//! | `/health` | 200 `ok` while the process lives |
//! | `/metrics` | Prometheus text 0.0.4 |
//! | `/metrics.json` | the same as JSON |
//! | `/ready` | 200 `ready`, or 503 `starting` or `draining`: see [`Readiness`] |
//! | `/vars` | `name: value`, sorted |
//! | `/version` | name and version |
//!
//! # How it flows
//!
//! `builder` binds the socket and starts the thread; [`AdminHandle`] ends it. `thread` is the
//! loop: stop, then due tasks (`schedule`), then closed connections, then new ones (`accept`,
//! which rests after errors). Each connection is a local task in `connection`: hyper speaks HTTP
//! over a `wire`, which reports every read and write to a `pace`, which sets the deadline. The table
//! in `routes` maps a request to a function in `pages`, which writes the page from the
//! `page_data`. `stats` has the metrics of the control plane itself.
//!
//! # What a client cannot do
//!
//! | attempt | what happens |
//! |---|---|
//! | open many connections | past [`Builder::connections_max`] each is closed at once |
//! | send nothing, or headers a byte at a time | closed after [`Builder::header_timeout`] |
//! | send long or many headers | 431 past 8 KiB or 64 fields, then closed |
//! | send garbage | 400, then closed |
//! | send a body | it is not read; the response closes the connection |
//! | read slowly or never | closed after [`Builder::request_timeout`]; one page in memory at most |
//! | keep a connection open without a request | closed after [`Builder::idle_timeout`] |
//! | pipeline without end | one page per turn, so that tasks and other clients get their turn |
#![forbid(unsafe_code)]

mod accept;
mod builder;
mod connection;
mod error;
mod handle;
mod negotiate;
mod pace;
mod page_data;
mod pages;
mod readiness;
mod routes;
mod schedule;
mod stats;
mod thread;
mod wire;

pub use builder::Builder;
pub use error::Error;
pub use handle::AdminHandle;
pub use page_data::ConfigText;
pub use readiness::{Readiness, State};
pub use stats::METRICS;

/// The control plane of one server. See the [crate's documentation](crate).
#[derive(Clone, Copy, Debug)]
pub struct Admin;

impl Admin {
    /// Starts to describe the admin thread of the server called `name` in `version`.
    pub fn builder(name: &str, version: &str) -> Builder {
        Builder::new(name, version)
    }
}
