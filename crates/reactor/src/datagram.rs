// SPDX-License-Identifier: Apache-2.0
//! Requests that come in UDP datagrams, in the framing that memcached gives them.
//!
//! ```text
//!   recvmmsg ──▶ Arrivals ──▶ exchange: frame ─▶ turn ─▶ SendBuf ─▶ Cut ──▶ Departures ──▶ sendmmsg
//!   (up to 32)                (a pipeline for each datagram)                (up to 32)
//! ```
//!
//! A datagram stands alone: its requests are served from the first byte of its payload to the last, by a
//! protocol value of its own, and what it leaves unfinished is dropped. Its replies are one answer, cut into
//! datagrams of at most [`DATAGRAM_BYTES`].
//!
//! A source address can be forged, so a server that answers datagrams can be made to send to others. Two
//! limits bound what it sends ([`AnswerLimits`]): the size of an answer, and the datagrams that one source is
//! sent in a second.
//!
//! * [`exchange`] (`datagram/exchange.rs`): one datagram and its answer, without a socket. Tests and
//!   fuzzers call it as workers do.
//! * `datagram/frame.rs`: the header before each payload.
//! * [`AnswerLimits`], [`Quota`] (`datagram/quota.rs`): how much is answered.
//! * [`DatagramSocket`] (`datagram/socket.rs`): a bound socket. Each worker has its own.
//! * `datagram/port.rs`: a worker's sockets and its memory for datagrams.
//! * `datagram/many.rs`: many datagrams by one system call. Unsafe code is in this file.
//! * `worker/datagrams.rs`: the turn of a worker that has datagrams to serve.

mod exchange;
mod frame;
#[allow(unsafe_code)]
mod many;
pub(crate) mod metrics;
mod port;
mod quota;
mod socket;

pub use exchange::{Cut, Refused, exchange};
pub use frame::{DATAGRAM_BYTES, HEADER_BYTES};
pub(crate) use port::Ports;
pub use quota::{AnswerLimits, Quota};
pub use socket::DatagramSocket;
