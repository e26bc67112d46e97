// SPDX-License-Identifier: Apache-2.0
//! One peer: a TCP or unix socket, plain or TLS, and its two buffers.
//!
//! A [`Session`] moves bytes between a non-blocking socket and its buffers and does not interpret them. The
//! event loop that owns it calls [`Session::fill`] when the socket is readable, lets the protocol work on
//! [`Session::buffers`], and calls [`Session::flush`].
//!
//! ```text
//!            fill                          turn                         flush
//!  socket ─────────▶ (rustls) ─▶ RecvBuf ───────▶ SendBuf ─▶ (rustls) ─────────▶ socket
//! ```
//!
//! A plain session is a socket and two buffers: `fill` is one `read`, `flush` one `write`. A TLS
//! session puts rustls between; its handshake runs inside `fill` and `flush`, so the event loop
//! treats both alike. No type of rustls appears here: a [`TlsAcceptor`] is made from files.
//!
//! TLS is the feature `tls`, which is off by default, for rustls compiles C. Without it every session is plain,
//! [`TlsAcceptor::new`] refuses with [`Error::BuiltWithout`], and there is no client's side of TLS.
//!
//! ```
//! use buffer::Pool;
//! use mio::{Events, Interest, Poll, Token};
//! use session::{Fill, Flush, Session};
//! use std::io::{Read, Write};
//!
//! # fn main() -> std::io::Result<()> {
//! let mut poll = Poll::new()?;
//! let mut pool = Pool::new(16 << 10, 16 << 10, 8);
//! let (near, mut client) = std::os::unix::net::UnixStream::pair()?;
//! near.set_nonblocking(true)?;
//! let mut session = Session::plain(mio::net::UnixStream::from_std(near).into());
//! let interest = Interest::READABLE | Interest::WRITABLE;
//! poll.registry().register(session.stream(), Token(0), interest)?;
//!
//! client.write_all(b"ping")?;
//! poll.poll(&mut Events::with_capacity(8), None)?;
//! assert_eq!(session.fill(&mut pool, 1)?, Fill::Some { drained: true });
//!
//! let (recv, send) = session.buffers();
//! send.lend(&mut pool);
//! send.put(recv.filled());
//! recv.consume(4);
//! assert_eq!(session.flush(&mut pool)?, Flush::Done);
//! session.release(&mut pool);
//!
//! let mut echo = [0; 4];
//! client.read_exact(&mut echo)?;
//! assert_eq!(&echo, b"ping");
//! # Ok(())
//! # }
//! ```
//!
//! # Which file next
//!
//! - `session.rs`: [`Session`], the plain path, and the choice between it and TLS.
//! - `stream.rs`: [`Stream`], the socket. `wire.rs`: the system calls that move its bytes, counted.
//! - `carried.rs`: sessions whose bytes a driver moves between the socket and memory of its own.
//! - `tls/connection.rs`: the TLS path; `tls/records.rs`: where its records end; `no_tls.rs`: its place in a build without TLS. `tls/acceptor.rs`: certificates, reloading.
//!   `tls/connector.rs`: the client's side, for load generators and tests; `tls/peer.rs`: for servers, to others.
//! - `options.rs`: what an acceptor is made from. `facts.rs`, `tls/x509.rs`: what is told of certificates. `error.rs`: errors in certificates and keys.
//! - `stats.rs`: the metrics.
#![forbid(unsafe_code)]

mod carried;
mod error;
mod facts;
mod options;
mod session;
mod stats;
mod stream;
#[cfg(feature = "tls")]
mod tls;
#[cfg(not(feature = "tls"))]
#[path = "no_tls.rs"]
mod tls;
mod transport;
mod wire;

pub use error::Error;
pub use facts::{AcceptorFacts, CertificateFacts};
pub use options::{ClientAuth, PeerStream, PeerTls, TlsOptions, TlsVersion};
pub use session::{Fill, Flush, Session};
pub use stats::METRICS;
pub use stream::Stream;
pub use tls::{TLS_METRICS, TlsAcceptor, is_not_tls};
#[cfg(feature = "tls")]
pub use tls::{TlsConnector, Trust};
