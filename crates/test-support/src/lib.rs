// SPDX-License-Identifier: Apache-2.0
//! What the tests of several crates share. Nothing but tests depends on it.
//!
//! Always there:
//!
//! * [`child`]: servers as child processes, ours or those that they are compared with.
//! * [`counting`]: an allocator that counts, for promises about allocations.
//! * `random`: random numbers, the same for the same seed.
//! * `session`: recorded sessions of memcache clients.
//!
//! With the feature `resp`:
//!
//! * `story`: stories of RESP commands, told to any server.
//!
//! With the feature `server`; nothing here knows a protocol:
//!
//! * `table`: the rows that a story is told on, {1, 2 workers} x every transport.
//! * `client`: a client of any transport that fails rather than hangs.
//! * `certificates`: an authority, and the files of a server.
//! * `daemon`: the built program as a child process whose output is looked at.
//! * `http`: a page of the admin plane.
#![deny(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a test fails by it")]
#![allow(missing_debug_implementations, reason = "no test prints them")]

#[cfg(feature = "server")]
pub mod certificates;
pub mod child;
#[cfg(feature = "server")]
pub mod client;
#[allow(unsafe_code)]
pub mod counting;
#[cfg(feature = "server")]
pub mod daemon;
#[cfg(feature = "server")]
pub mod http;
pub mod random;
pub mod session;
#[cfg(feature = "resp")]
pub mod story;
#[cfg(feature = "server")]
pub mod table;

use std::time::{Duration, Instant};

/// How long a test waits for what must come.
pub const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until `condition` holds.
///
/// # Panics
///
/// When it does not for [`PATIENCE`].
#[track_caller]
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < PATIENCE, "{what}: it does not happen");
        std::thread::sleep(Duration::from_millis(1));
    }
}
