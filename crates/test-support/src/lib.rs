// SPDX-License-Identifier: Apache-2.0
//! Helpers that the tests of several crates share. Only tests depend on this crate.
//!
//! Always available:
//!
//! * [`child`]: servers as child processes, ours or those that they are compared with.
//! * [`counting`]: a counting allocator, to test what is promised about allocations.
//! * [`memcached`]: memcached as the oracle of its protocol, of whatever version.
//! * [`memory`]: how much of it is in use.
//! * `random`: random numbers, the same for the same seed.
//! * `session`: recorded sessions of memcache clients.
//!
//! With the feature `resp`:
//!
//! * `story`: scripts of RESP commands and their replies, played against any server.
//!
//! With the feature `server`; these modules are independent of the protocol:
//!
//! * `table`: runs a test on every row of {1, 2 workers} x every transport.
//! * `client`: a client of any transport that fails rather than hangs.
//! * `certificates`: a certificate authority, and the TLS files of a server.
//! * `daemon`: a built server as a child process whose output the test reads.
//! * `http`: a page of the admin plane.
//! * `manager`: a service manager, which servers notify.
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
#[cfg(feature = "server")]
pub mod manager;
pub mod memcached;
pub mod memory;
pub mod random;
pub mod session;
#[cfg(feature = "resp")]
pub mod story;
#[cfg(feature = "server")]
pub mod table;

use std::time::{Duration, Instant};

/// How long a test waits for something that must happen. Only a test that fails waits so long, so it is longer than
/// anything takes on a busy machine, but less than the minute after which servers close connections by themselves.
pub const PATIENCE: Duration = Duration::from_secs(50);

/// Waits until `condition` holds.
///
/// # Panics
///
/// When it does not hold within [`PATIENCE`].
#[track_caller]
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < PATIENCE, "{what}: it does not happen");
        std::thread::sleep(Duration::from_millis(1));
    }
}
