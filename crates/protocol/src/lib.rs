// SPDX-License-Identifier: Apache-2.0
//! The contract between bytes and requests, and a kit that tests a protocol against it.
//!
//! A protocol is two things. A codec, [`Protocol`], finds requests in the bytes that arrived, without
//! copying or allocating. A service, [`Execute`], carries each request out and writes its reply
//! straight into the connection's send buffer. Neither knows sockets, threads or TLS: the `turn`
//! loop of the `reactor` crate calls them with bytes, and so do tests and fuzzers.
//!
//! ```text
//!   bytes ──▶ Protocol::parse ──▶ Request<'_> ──▶ Execute::execute ──▶ bytes
//!             (&self, cursor)     borrows input   (&mut service,
//!                                                  &mut connection state)
//! ```
//!
//! Where to look:
//!
//! * [`Protocol`], [`Parsed`], [`Malformed`] (`codec.rs`): the codec's side.
//! * [`Execute`], [`Control`], [`Context`], [`Ending`] (`execute.rs`): the service's side. [`Stage`]: how far one of its
//!   prefetches goes.
//! * [`Outbox`] (`outbox.rs`): messages and commands for *other* connections, on any worker.
//! * [`Either`] (`either.rs`): two protocols in one server. [`Sharing`] (`sharing.rs`): their services over
//!   one store.
//! * [`Directory`] (`directory.rs`): who is connected, for commands that list connections.
//! * [`conformance`]: `conformance::check(..)` tests a new codec in one call.
//!
//! The codec of a protocol in which `x` is a request and everything else is an error:
//!
//! ```
//! use protocol::{ErrorReply, Malformed, Parsed, Protocol};
//!
//! #[derive(Default)]
//! struct X;
//!
//! impl Protocol for X {
//!     const NAME: &'static str = "x";
//!     const TOO_MANY_CONNECTIONS: &'static [u8] = b"busy\n";
//!     type Request<'a> = ();
//!     type Cursor = ();
//!
//!     fn parse<'a>(&self, _: &mut (), input: &'a [u8]) -> Result<Parsed<()>, Malformed> {
//!         match input.first() {
//!             None => Ok(Parsed::NeedMore { at_least: 1 }),
//!             Some(b'x') => Ok(Parsed::Request { request: (), consumed: 1 }),
//!             Some(_) => Err(Malformed::skip(ErrorReply::fixed(b"not an x\n"), 1)),
//!         }
//!     }
//!
//!     fn too_large(&self) -> ErrorReply {
//!         ErrorReply::fixed(b"too long\n")
//!     }
//! }
//!
//! protocol::conformance::check(X::default, &[b"xx", b"axa"]);
//! ```
#![forbid(unsafe_code)]

mod codec;
pub mod conformance;
mod directory;
mod either;
mod execute;
mod foreign;
mod outbox;
mod sharing;

pub use codec::{ErrorReply, Malformed, Parsed, Protocol};
pub use directory::{Directory, Peer};
pub use either::Either;
pub use execute::{Buffers, Context, Control, Ending, Execute};
pub use foreign::{FirstBytes, Foreign};
pub use outbox::{ConnectionId, Errand, Outbox, SHARED_MIN, Ticket};
pub use prefetch::Stage;
pub use sharing::{ExecuteOn, Lend, Sharing};
