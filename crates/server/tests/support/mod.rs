// SPDX-License-Identifier: Apache-2.0
//! What the tests of a server share. Nothing here knows a protocol, so a server's own tests include it:
//!
//! ```text
//! #[path = "../../../crates/server/tests/support/mod.rs"]
//! mod support;
//! ```
//!
//! with `rcgen`, `rustls`, `server` and `tempfile` among their dev-dependencies.
//!
//! * [`table`]: the rows that a story is told on, {1, 2 workers} x every transport.
//! * [`client`]: a client of any transport that fails rather than hangs.
//! * [`certificates`]: an authority, and the files of a server.
//! * [`daemon`]: the built program as a child process.
//! * [`http`]: a page of the admin plane.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(unreachable_pub, reason = "a module of several test binaries")]

pub mod certificates;
pub mod client;
pub mod daemon;
pub mod http;
pub mod table;

use std::time::{Duration, Instant};

/// How long a test waits for what must come.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until `condition` holds.
#[track_caller]
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < PATIENCE, "{what}: it does not happen");
        std::thread::sleep(Duration::from_millis(1));
    }
}
