// SPDX-License-Identifier: Apache-2.0
//! Code that the benchmarks and the cost tests of the workspace share.
//!
//! * `criterion/`: benchmarks of single layers: `parse`, `compose`, `store`, `turn`. Run one with
//!   `cargo bench -p benches --bench turn`.
//! * `tests/`: costs that are promised, counted: heap allocations per request.
//! * `scripts/`: measurements of whole servers: memory, system calls of a pipeline, hostile clients, and
//!   what requests cost against `baseline.json`.
//! * [`Connection`] (`connection.rs`): a connection without a socket, which serves bytes through
//!   `reactor::turn` as a worker does.
//! * [`Unprefetched`] (`unprefetched.rs`): a service without its prefetches, to measure what they gain.
//! * [`storebench`]: the program that measures a storage engine in its own process.
//! * [`pauses`]: the program that measures the longest steps of the keyspace of `rds`.
//! * [`trace`]: its mode that replays recorded requests.
//! * [`workers`]: the program that measures two workers of `rds` against one.
//! * [`history`]: the program that checks histories of concurrent clients. [`hostile`]: the program that sends
//!   hostile commands. [`child`], [`checks`]: servers and arguments for both.
//! * [`workload`]: keys, requests and filled stores.
//!
//! ```
//! use benches::Connection;
//! use protocol_ping::{PingProtocol, PingService};
//!
//! let mut connection = Connection::new(PingProtocol, PingService);
//! assert_eq!(connection.serve(b"PING\r\nPING\r\n"), b"PONG\r\nPONG\r\n".len());
//! ```
#![forbid(unsafe_code)]

pub mod checks;
pub mod child;
mod connection;
pub mod history;
pub mod hostile;
pub mod pauses;
pub mod storebench;
pub mod trace;
mod unprefetched;
pub mod workers;
pub mod workload;

pub use connection::Connection;
pub use unprefetched::Unprefetched;
