// SPDX-License-Identifier: Apache-2.0
//! [`Output`]: how far what clients do not read may pile up.

use std::time::Duration;

/// How far what clients do not read may pile up.
///
/// A client may write all of its requests before it reads the first reply. So a connection whose replies
/// wait goes on being read and served, and yields to the others each time it has filled
/// [`high_water`](crate::Limits::high_water) bytes. Two things end that: memory for it runs out, and the
/// connection is held until its client reads; or it passes its own limit, and is closed.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// Bytes of buffers that a worker's connections hold, past which those of them with more unsent bytes
    /// than the high-water mark are held.
    pub memory: usize,
    /// For connections that get replies only.
    pub replies: OutputLimit,
    /// For connections that others send messages to, see [`protocol::Protocol::is_subscriber`].
    pub messages: OutputLimit,
}

impl Default for Output {
    /// 64 MiB of buffers; no limit of replies; messages up to 32 MiB, or 8 MiB for a minute.
    fn default() -> Self {
        Output {
            memory: 64 << 20,
            replies: OutputLimit::NONE,
            messages: OutputLimit {
                hard: 32 << 20,
                soft: 8 << 20,
                soft_time: Duration::from_secs(60),
            },
        }
    }
}

impl Output {
    /// The limit of a connection.
    #[inline]
    pub(crate) fn limit(&self, is_subscriber: bool) -> &OutputLimit {
        if is_subscriber { &self.messages } else { &self.replies }
    }
}

/// Unsent bytes with which a connection is closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutputLimit {
    /// With so many at once. What waits is not sent.
    pub hard: usize,
    /// With so many all the time, for longer than [`OutputLimit::soft_time`].
    pub soft: usize,
    /// To the second.
    pub soft_time: Duration,
}

impl OutputLimit {
    /// Any number.
    pub const NONE: OutputLimit =
        OutputLimit { hard: usize::MAX, soft: usize::MAX, soft_time: Duration::ZERO };
}
