// SPDX-License-Identifier: Apache-2.0
//! The ping protocol: the shortest complete path through every layer.
//!
//! A client sends `PING` and a line end; the server answers `PONG` and a line end. Nothing is
//! stored, nothing is configured. The crate serves as the tutorial for adding a protocol, to be
//! read top to bottom, and as the baseline against which the cost of every other protocol is
//! measured.
//!
//! ```text
//!   client:  PING\r\n          server:  PONG\r\n
//!   client:  anything else\r\n  server:  ERROR\r\n
//! ```
//!
//! # How a protocol is made
//!
//! 1. **Define the request.** Here it is [`Ping`], an empty type. In a richer protocol it is an enum whose
//!    variants borrow keys and values from the input.
//! 2. **Find requests in bytes**: `codec.rs` implements [`protocol::Protocol`] for [`PingProtocol`]. Parsing
//!    reads a slice and returns how many bytes the request took, or that more are needed. It never copies,
//!    allocates or panics, whatever the bytes are.
//! 3. **Answer them**: `service.rs` implements [`protocol::Execute`] for [`PingService`]. A reply is
//!    written straight into the connection's send buffer.
//! 4. **Write the client's side too**: `client.rs` writes requests and reads replies, for tests and load
//!    generators.
//! 5. **Count what an operator needs to see**: `metrics.rs`.
//! 6. **Test it** with one call of [`protocol::conformance::check`] (see `codec.rs`), then with tests that
//!    send bytes and compare the bytes that come back (see `service.rs`).
//!
//! A server is then a few lines of wiring: `servers/pingserver/src/main.rs`.
//! `docs/life-of-a-request.md` describes what happens between the socket and these two traits.
//!
//! ```
//! use protocol::{Parsed, Protocol};
//! use protocol_ping::{Ping, PingProtocol};
//!
//! let parsed = PingProtocol.parse(&mut (), b"PING\r\nPING\r\n");
//! assert_eq!(parsed, Ok(Parsed::Request { request: Ping, consumed: 6 }));
//! ```

// Clients send numbers, and arithmetic on them must not wrap. This lint covers all modules of the crate: an
// operation that could overflow is allowed only with a reason why it cannot.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
#![forbid(unsafe_code)]

pub mod client;
mod codec;
mod metrics;
mod service;

pub use codec::{LINE_MAX, Ping, PingProtocol};
pub use metrics::METRICS;
pub use service::PingService;
