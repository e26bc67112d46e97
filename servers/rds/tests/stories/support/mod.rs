// SPDX-License-Identifier: Apache-2.0
//! What the tests of `crates/protocol-resp` tell stories with, but for the servers.
#![allow(dead_code, reason = "what those tests use")]

#[path = "../../../../../crates/protocol-resp/tests/commands/support/play.rs"]
pub(crate) mod play;
#[path = "../../../../../crates/protocol-resp/tests/commands/support/remote.rs"]
pub(crate) mod remote;
#[path = "../../../../../crates/protocol-resp/tests/commands/support/script.rs"]
mod script;
#[path = "../../../../../crates/protocol-resp/tests/commands/support/server.rs"]
mod server;
#[path = "../../../../../crates/protocol-resp/tests/commands/support/show.rs"]
mod show;

pub(crate) use server::Server;
