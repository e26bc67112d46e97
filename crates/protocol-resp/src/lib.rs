// SPDX-License-Identifier: Apache-2.0
//! Redis's protocol: the codec of both directions, the command table, and the service.
//!
//! ```text
//!   bytes ──▶ parse::parse ──▶ Request<'_> ──▶ ... ──▶ reply::Writer ──▶ bytes
//!
//!   client::Encoder ──▶ bytes                bytes ──▶ client::parse ──▶ client::Reply<'_>
//! ```
//!
//! Where to look:
//!
//! * [`parse`]: bytes to requests. `parse/bulk.rs` is the path of most bytes.
//! * [`reply`]: replies to bytes.
//! * [`table`]: the commands as data.
//! * [`service`]: all of Redis's types over a keyspace. [`strings`]: strings over any store.
//! * [`glob`], [`quote`]: patterns of keys and channels; bytes as text that can be read back.
//! * [`client`]: the other direction of both.
//! * [`Codec`] (`codec.rs`): the wire format alone, for tests and other services.
#![forbid(unsafe_code)]

pub mod client;
mod codec;
pub mod glob;
pub mod parse;
pub mod quote;
pub mod reply;
pub mod service;
pub mod strings;
pub mod table;

pub use codec::Codec;
pub use parse::{Args, Request};
pub use reply::{Version, Writer};
