// SPDX-License-Identifier: Apache-2.0
//! Redis's protocol: the codec of both directions, the command table, and the service.
//!
//! ```text
//!   bytes ──▶ parse::parse ──▶ Request<'_> ──▶ ... ──▶ reply::Writer ──▶ bytes
//!
//!   client::Encoder ──▶ bytes                bytes ──▶ client::parse ──▶ client::Reply<'_>
//! ```
//!
//! The rooms, each of which uses those above it in this list and none below (`cargo xtask tidy` checks it):
//!
//! * `wire/`: bytes to requests and replies to bytes, in both directions. It knows no command.
//! * [`table`]: the commands as data, and how a name is looked up.
//! * `session/`: what one connection has set up.
//! * `host/`: what all workers share.
//! * `engine/`: how a command is admitted, run and waited for. It knows no command by its function.
//! * `commands/`: the functions that carry commands out, by group.
//! * [`service`]: all of Redis's types over a keyspace. [`strings`]: strings over any store.
//!
//! Of `wire/` these are public:
//!
//! * [`parse`]: bytes to requests. `wire/parse/bulk.rs` is the path of most bytes.
//! * [`reply`]: replies to bytes.
//! * [`client`]: the other direction of both.
//! * [`glob`], [`quote`]: patterns of keys and channels; bytes as text that can be read back.
//! * [`Codec`] (`wire/codec.rs`): the wire format alone, for tests and other services.
#![forbid(unsafe_code)]

mod commands;
mod engine;
mod host;
pub mod service;
mod session;
pub mod strings;
pub mod table;
mod wire;

pub use wire::codec::Codec;
pub use wire::parse::{Args, Request};
pub use wire::reply::{Version, Writer};
pub use wire::{client, glob, parse, quote, reply};
