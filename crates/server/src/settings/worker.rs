// SPDX-License-Identifier: Apache-2.0
//! `[worker]`: the event loops.

use super::engine::Engine;
use config::{ByteSize, Span};
use reactor::Options;
use std::time::Duration;

config::section! {
    /// The event loops.
    pub struct Worker in "worker" {
        /// How workers learn what their sockets do. `io_uring` needs Linux 6.0, and containers often
        /// forbid it; `auto` takes it from Linux 6.12 on where it is allowed, and else epoll.
        pub engine: Engine = Engine::default();
        /// Threads that serve connections. One per core that the server may have to itself.
        pub threads: usize = 1, within 1..=256;
        /// Events a worker takes from the operating system at once.
        pub nevent: usize = Options::default().events, within 1..=65_536;
        /// The longest sleep of a worker, or a second for one with nothing to watch over, and the grain of
        /// all time limits: connections are looked at within ten of these.
        pub timeout: Span = Span(Options::default().tick),
            within Span(Duration::from_millis(1))..=Span(Duration::from_secs(10));
        /// Requests a connection is served before others have their turn.
        pub requests_per_turn: usize = Options::default().limits.requests_per_turn,
            within 1..=1_000_000;
        /// Unsent bytes with which a connection lets the others have their turn; or a megabyte, where they are
        /// values by reference.
        pub high_water: ByteSize = ByteSize(Options::default().limits.high_water as u64),
            within ByteSize(1 << 10)..=ByteSize(1 << 30);
        /// Bytes of buffers that all connections may hold before those with more than `high_water` unsent
        /// are not served until they read.
        pub output_memory: Option<ByteSize> = None,
            absent "the server's own", example ByteSize(16 << 20);
        /// Whether to record the CPU time of each turn of the event loops as the metric
        /// `shoebill_turn_cpu_seconds`, which takes a system call for each.
        pub turn_cpu_time: bool = Options::default().turn_cpu_time;
    }
}
