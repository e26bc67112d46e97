// SPDX-License-Identifier: Apache-2.0
//! [`Options`]: every limit of a worker and its default.

use crate::{Engine, Limits, Output};
use std::time::Duration;

/// How a worker treats its connections. [`Duration::ZERO`] switches a time limit off.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// The event engine: epoll or io_uring.
    pub engine: Engine,
    /// Bounds of one connection's requests and replies.
    pub limits: Limits,
    /// Size of a pooled receive block in bytes.
    pub recv_block: usize,
    /// Size of a pooled send block in bytes. Larger than the high-water mark by one copied value, so that the
    /// block never grows for a busy pipeline.
    pub send_block: usize,
    /// Unused blocks of each kind that a worker keeps.
    pub pool_blocks: usize,
    /// How far replies and messages may pile up unread.
    pub output: Output,
    /// Bytes that other workers may have waiting for connections of this worker, for example while it is busy
    /// with a long request. Beyond that, the connections with the most such bytes are closed.
    pub mail_bytes: usize,
    /// A connection that sends nothing for this long is closed, unless it waits for messages.
    pub idle_timeout: Duration,
    /// A TCP connection on which nothing came for this long is asked whether its peer is still there, three times a third of it
    /// apart, and closed if there is no answer: the peer's machine may have gone without a word.
    pub keepalive: Duration,
    /// A TLS handshake that takes longer than this is broken off.
    pub handshake_timeout: Duration,
    /// A connection that stops in the middle of a request for this long is closed; zero: never.
    pub read_timeout: Duration,
    /// A connection that reads none of its replies for this long is closed; zero: never, unless it is being closed already.
    pub write_timeout: Duration,
    /// A peer that was still sending when the server closed has this long to close too.
    pub linger_timeout: Duration,
    /// Events taken from the operating system at once.
    pub events: usize,
    /// The longest sleep of a worker while there is anything to watch over, and so the resolution of its time limits.
    pub tick: Duration,
    /// The longest sleep of a worker with nothing to watch over; no shorter than a tick.
    pub nap: Duration,
    /// For how long a turn of the event loop begins to serve connections. The turn ends later, by the time of
    /// the last batch of requests and of the background work.
    pub turn_time: Duration,
    /// For how long a turn of the event loop begins steps of TLS handshakes, after it has served all others. A step that
    /// signs with an RSA key takes longer than anything else in a turn and cannot be divided.
    pub handshake_time: Duration,
    /// Steps of background work per turn of the event loop, see
    /// [`protocol::Execute::maintain`].
    pub maintain_budget: usize,
    /// Whether to record the CPU time of each turn of the event loop, which costs one system call
    /// per turn.
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
            keepalive: Duration::from_secs(300),
            handshake_timeout: Duration::from_secs(10),
            read_timeout: Duration::from_secs(60),
            write_timeout: Duration::from_secs(60),
            linger_timeout: Duration::from_secs(2),
            events: 1024,
            tick: Duration::from_millis(100),
            nap: Duration::from_secs(1),
            turn_time: Duration::from_micros(500),
            handshake_time: Duration::from_micros(100),
            maintain_budget: 256,
            turn_cpu_time: false,
        }
    }
}
