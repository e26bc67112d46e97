// SPDX-License-Identifier: Apache-2.0
//! What bytes are requests: the codec behind a server of three commands, beside Redis.
//!
//! * `script.rs`: recorded sessions, and the files in `sessions` that hold them.
//! * `toy.rs`: the server.
//! * `played.rs`: plays the sessions, whole and in pieces; the contract of a codec.
//! * `oracle.rs`: the sessions and generated input, answered by the toy and by redis-server alike.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod oracle;
mod played;
mod script;
mod toy;
