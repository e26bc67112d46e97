// SPDX-License-Identifier: Apache-2.0
//! The command table against redis-server: what `COMMAND` says of every command that both know, and
//! which keys it finds. What differs is in a list, with the reason.
//!
//! * `redis.rs`: a redis-server to ask. * `ours.rs`: our answers as values.
//! * `info.rs`, `docs.rs`, `keys.rs`: `COMMAND INFO`, `COMMAND DOCS`, `COMMAND GETKEYS`.
//! * `states.rs`: what `COMMAND` does not tell: what a redis-server does in each state of a client.

mod docs;
mod info;
mod keys;
mod ours;
mod redis;
mod states;
