// SPDX-License-Identifier: Apache-2.0
//! What the tests share: a small store, and a server without sockets.

// Each test file is a crate of its own and uses a part of this.
#![allow(dead_code, unreachable_pub)]

pub mod server;
pub mod store;
