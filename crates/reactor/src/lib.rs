// SPDX-License-Identifier: Apache-2.0
//! The event loops of a server: they accept connections, read requests, have them executed, and
//! send the replies.
//!
//! ```text
//!              accept                 Newcomer                 events
//!   sockets ──────────▶ Acceptor ──────────────────▶ Worker ─────────────▶ Connection
//!                       (listener thread)  mailbox   (own driver)          fill ─▶ turn ─▶ flush
//! ```
//!
//! Where to look, from the inside out:
//!
//! * [`turn`] (`turn.rs`): the sans-IO loop over requests and its nine rules. Tests, fuzzers and every driver
//!   call it. [`Pipeline`] (`turn/pipeline.rs`): one connection's position in its stream of requests.
//! * `connection.rs`: the states of one connection: read, `turn`, write, and which event it waits
//!   for.
//! * [`Worker`] (`worker.rs`): one event loop over many connections. Its driver ([`Engine`], `engine.rs`) is
//!   epoll (`worker/readiness.rs`) or io_uring (`worker/completions.rs`, `uring/`).
//! * [`Mailbox`] (`mailbox.rs`): how other threads reach a worker, and how its size is bounded
//!   (`mailbox/letters.rs`).
//! * [`Acceptor`] (`acceptor.rs`): accepts at each [`Door`], refuses past the limit, backs off when
//!   descriptors run out, hands each socket to the least loaded worker ([`Census`], `census.rs`).
//! * [`exchange`] (`datagram.rs`): requests that come in UDP datagrams, and the limits of what is answered to
//!   them.
//! * [`Endpoint`] and [`Listener`] (`listener.rs`): what can be listened on.
//! * [`Options`] (`options.rs`): every limit and its default. [`Output`] (`output.rs`): the limits
//!   of unread replies. [`Dials`] (`dials.rs`): the limits that may change while the server runs.
//!   `metrics.rs`: the metrics.
//!
//! `turn` alone, without any socket:
//!
//! ```
//! use buffer::{Pool, RecvBuf, SendBuf};
//! use protocol::{ConnectionId, Context, Control, Directory, ErrorReply, Execute, Malformed};
//! use protocol::{Outbox, Parsed, Protocol};
//! use reactor::{Limits, Pipeline, Turn, turn};
//!
//! /// Every byte is a request, answered with itself.
//! #[derive(Default)]
//! struct Echo;
//!
//! impl Protocol for Echo {
//!     const NAME: &'static str = "echo";
//!     const TOO_MANY_CONNECTIONS: &'static [u8] = b"";
//!     type Request<'a> = u8;
//!     type Cursor = ();
//!
//!     fn parse<'a>(&self, _: &mut (), input: &'a [u8]) -> Result<Parsed<u8>, Malformed> {
//!         Ok(match input.first() {
//!             Some(&request) => Parsed::Request { request, consumed: 1 },
//!             None => Parsed::NeedMore { at_least: 1 },
//!         })
//!     }
//!
//!     fn too_large(&self) -> ErrorReply {
//!         ErrorReply::NONE
//!     }
//! }
//!
//! struct Mirror;
//!
//! impl Execute<Echo> for Mirror {
//!     fn execute(
//!         &mut self,
//!         _: &mut Echo,
//!         request: u8,
//!         out: &mut SendBuf,
//!         _: &mut Context<'_>,
//!     ) -> Control {
//!         out.put(&[request]);
//!         Control::Continue
//!     }
//! }
//!
//! let (mut recv, mut send) = (RecvBuf::new(), SendBuf::new());
//! recv.reserve(5, &mut Pool::new(64, 64, 1));
//! recv.put(b"hello");
//!
//! let (directory, mut outbox) = (Directory::new(), Outbox::new());
//! let now = clock::Clock::system().now();
//! let mut context = Context::new(now, ConnectionId::new(0, 1), &mut outbox, &directory);
//! let limits = Limits::default();
//! let mut pipeline = Pipeline::new(Echo);
//! let next = turn(&mut pipeline, &mut Mirror, &mut recv, &mut send, &limits, &mut context);
//! assert_eq!(next, Turn::NeedInput { at_least: 1 });
//! assert_eq!(send.front(), b"hello");
//! ```
#![deny(unsafe_code)]

mod acceptor;
#[cfg(all(feature = "io-uring", target_os = "linux"))]
mod bell;
mod census;
mod connection;
mod datagram;
mod dials;
mod engine;
mod foreign;
mod listener;
mod mailbox;
mod metrics;
mod options;
mod output;
mod patience;
mod pause;
mod turn;
#[cfg(all(feature = "io-uring", target_os = "linux"))]
mod uring;
mod waker;
mod worker;

pub use acceptor::{Acceptor, AcceptorHandle, Door, OpenError};
pub use census::{Census, Seat};
pub use datagram::exchange;
pub use datagram::metrics::METRICS as DATAGRAM_METRICS;
pub use datagram::{
    AnswerLimits, Cut, DATAGRAM_BYTES, DatagramSocket, HEADER_BYTES, Quota, Refused,
};
pub use dials::Dials;
pub use engine::{Engine, UringSupport};
pub use listener::{Endpoint, Listener};
pub use mailbox::{Mailbox, Message, Newcomer};
pub use metrics::{METRICS, buffers_peak};
pub use options::Options;
pub use output::{Output, OutputLimit};
pub use turn::{BATCH, DISTANCES, Limits, Pipeline, Turn, first_request, turn};
pub use worker::{EventQueue, TURN_CPU_METRICS, Worker};
