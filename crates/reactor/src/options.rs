// SPDX-License-Identifier: Apache-2.0
//! [`Options`]: every limit of a worker and its default.

use crate::{Engine, Limits, Output};
use std::time::Duration;

/// How a worker treats its connections. [`Duration::ZERO`] switches a time limit off.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How the worker learns what its sockets do.
    pub engine: Engine,
    /// Bounds of one connection's requests and replies.
    pub limits: Limits,
    /// Size of a pooled receive block in bytes.
    pub recv_block: usize,
    /// Size of a pooled send block in bytes. Larger than the high-water mark by one copied value, so
    /// that a busy pipeline never makes it grow.
    pub send_block: usize,
    /// Blocks of each kind that wait for use in a worker.
    pub pool_blocks: usize,
    /// How far replies and messages may pile up unread.
    pub output: Output,
    /// Bytes of what other workers have written to this one's connections, past which those that most
    /// was written to are closed: what a worker that is busy with a long request lets pile up.
    pub mail_bytes: usize,
    /// A connection that sends nothing for this long is closed, unless it waits for messages.
    pub idle_timeout: Duration,
    /// A TLS handshake that takes longer is broken off.
    pub handshake_timeout: Duration,
    /// A connection that stops in the middle of a request for this long is closed.
    pub read_timeout: Duration,
    /// A connection that reads none of its replies for this long is closed.
    pub write_timeout: Duration,
    /// A peer that the server has closed, while it was still sending, has this long to close too.
    pub linger_timeout: Duration,
    /// Events taken from the operating system at once.
    pub events: usize,
    /// Longest sleep of a worker, and so the grain of its time limits.
    pub tick: Duration,
    /// How long a turn of the event loop goes on to serve connections. It ends later by what the last
    /// batch of requests takes, and the background work.
    pub turn_time: Duration,
    /// How long a turn of the event loop goes on to begin steps of TLS handshakes. One that signs with an
    /// RSA key takes longer than all else a turn may, and nothing divides it.
    pub handshake_time: Duration,
    /// Steps of background work per turn of the event loop, see
    /// [`protocol::Execute::maintain`].
    pub maintain_budget: usize,
    /// Whether to record the CPU time of each turn of the event loop, at the price of a system call
    /// for each.
    pub turn_cpu_time: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            engine: Engine::default(),
            limits: Limits::default(),
            recv_block: 16 << 10,
            send_block: 66 << 10,
            pool_blocks: 64,
            output: Output::default(),
            mail_bytes: 64 << 20,
            idle_timeout: Duration::ZERO,
            handshake_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(60),
            linger_timeout: Duration::from_secs(2),
            events: 1024,
            tick: Duration::from_millis(100),
            turn_time: Duration::from_micros(500),
            handshake_time: Duration::from_micros(100),
            maintain_budget: 256,
            turn_cpu_time: false,
        }
    }
}
