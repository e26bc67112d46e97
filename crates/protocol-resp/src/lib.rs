// SPDX-License-Identifier: Apache-2.0
//! Redis's protocol: the codec of both directions, the command table, and the service.
//!
//! ```text
//!   bytes ──▶ parse::parse ──▶ Request<'_> ──▶ ... ──▶ reply::Writer ──▶ bytes
//!
//!   client::Encoder ──▶ bytes                bytes ──▶ client::parse ──▶ client::Reply<'_>
//! ```
//!
//! The rooms (top-level modules). Each uses only those above it in this list, which `cargo xtask tidy`
//! checks:
//!
//! * `wire/`: the wire format, for servers and clients: requests and replies, parsed and written.
//!   It contains nothing about single commands.
//! * [`table`]: the command table, and the look-up of names.
//! * `acl/`: users, and what they may do.
//! * [`cluster`]: slots, and which node has them.
//! * `session/`: the state of one connection.
//! * `host/`: the state that all workers share.
//! * `engine/`: admits and runs commands, and serves blocked clients. The command functions are a
//!   parameter of it.
//! * `commands/`: the functions that execute the commands, by group.
//! * [`service`]: all of Redis's types over a keyspace. [`strings`]: strings over any store.
//!
//! Of `wire/` these are public:
//!
//! * [`parse`]: bytes to requests. Most bytes are parsed by `wire/parse/bulk.rs`.
//! * [`reply`]: replies to bytes.
//! * [`client`]: the client's side: writes requests and parses replies.
//! * [`glob`], [`quote`]: patterns of keys and channels; bytes as text that can be read back.
//! * [`Codec`] (`wire/codec.rs`): the wire format alone, for tests and other services.
#![forbid(unsafe_code)]

mod acl;
pub mod cluster;
mod commands;
mod engine;
mod host;
pub mod service;
mod session;
pub mod strings;
pub mod table;
mod wire;

pub use host::command_metrics::METRICS as COMMAND_METRICS;
pub use wire::codec::Codec;
pub use wire::parse::{Args, Request};
pub use wire::reply::{Version, Writer};
pub use wire::{client, glob, parse, quote, reply};
