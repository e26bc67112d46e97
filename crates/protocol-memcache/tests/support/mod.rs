// SPDX-License-Identifier: Apache-2.0
//! What the tests share: a small store, a server without sockets, and recorded sessions.

// Each test file is a crate of its own and uses a part of this.
#![allow(dead_code, unreachable_pub)]

pub mod server;
pub mod session;
pub mod store;
