// SPDX-License-Identifier: Apache-2.0
//! The client's side of the wire format: [`Encoder`] writes requests, [`parse`] reads replies.
//!
//! For tests and load generators; it uses no sockets. The meta commands have an encoder and a parser of their
//! own, [`MetaEncoder`] and [`parse_meta`].
//!
//! ```
//! use protocol_memcache::client::{self, Encoder, Reply};
//!
//! let mut wire = Vec::new();
//! Encoder::new(&mut wire).get(&[b"one", b"two"]);
//! assert_eq!(wire, b"get one two\r\n");
//!
//! let (reply, consumed) = client::parse(b"VALUE one 0 5\r\nfirst\r\nEND\r\n").unwrap().unwrap();
//! assert_eq!(consumed, 22);
//! let Reply::Value { key, value, .. } = reply else { panic!() };
//! assert_eq!((key, value), (&b"one"[..], &b"first"[..]));
//! ```

mod encode;
mod meta;
mod reply;

pub use encode::Encoder;
pub use meta::{MetaEncoder, MetaFlags, MetaReply, parse_meta};
pub use reply::{Reply, Unreadable, parse};
