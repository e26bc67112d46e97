// SPDX-License-Identifier: Apache-2.0
//! The client's side of the wire format: [`Encoder`] writes requests, [`parse`] reads replies.
//!
//! For tests, load generators and client libraries; it uses no sockets.
//!
//! A [`Reply`] borrows the bytes it was parsed from. Aggregates are iterators that parse their elements
//! lazily, so reading allocates nothing; [`Value`] is an owned tree of the same. For large replies that
//! arrive in many pieces, a [`Scanner`] finds the end without starting over each time.
//!
//! ```
//! use protocol_resp::client::{self, Encoder, Reply};
//!
//! let mut wire = Vec::new();
//! Encoder::new(&mut wire).request([&b"HGETALL"[..], b"user"]);
//! assert_eq!(wire, b"*2\r\n$7\r\nHGETALL\r\n$4\r\nuser\r\n");
//!
//! let (reply, consumed) = client::parse(b"%1\r\n$4\r\nname\r\n$3\r\nAda\r\n:7\r\n").unwrap().unwrap();
//! assert_eq!(consumed, 23);
//! let Reply::Map(mut pairs) = reply else { panic!() };
//! assert_eq!(pairs.next(), Some((Reply::Bulk(b"name"), Reply::Bulk(b"Ada"))));
//! ```
//!
//! Files: `encode.rs`: requests; `element.rs`: one line of a reply; `scan.rs`: the end of a reply;
//! `reply.rs`: borrowed replies; `value.rs`: owned replies.

mod element;
mod encode;
mod reply;
mod scan;
mod value;

pub use encode::Encoder;
pub use reply::{Items, Pairs, Reply, parse};
pub use scan::{DEPTH_MAX, Scanner};
pub use value::Value;

/// The server sent something that is not a reply, or aggregates nested more than [`DEPTH_MAX`] deep. The
/// connection cannot be used any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a reply")]
pub struct Unreadable;

#[cfg(test)]
mod tests;
