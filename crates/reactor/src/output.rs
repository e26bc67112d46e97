// SPDX-License-Identifier: Apache-2.0
//! [`Output`]: limits of the replies and messages that clients leave unread.

use std::time::Duration;

/// Limits of the replies and messages that clients leave unread.
///
/// A client may write all of its requests before it reads the first reply. So a connection with unread
/// replies is still read and served, and yields to the others after every
/// [`high_water`](crate::Limits::high_water) bytes of replies. Two limits end this: when the worker's memory
/// for it is used up, the connection is held until its client reads; when it passes its own limit, it is
/// closed.
#[derive(Clone, Copy, Debug)]
pub struct Output {
    /// Bytes of buffers that all connections of a worker may hold. Beyond that, connections with more unsent
    /// bytes than the high-water mark are held.
    pub memory: usize,
    /// The limit of connections that get replies only.
    pub replies: OutputLimit,
    /// The limit of connections that others send messages to, see
    /// [`protocol::Protocol::is_subscriber`].
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
    /// A connection with this many unsent bytes is closed at once; they are not sent.
    pub hard: usize,
    /// A connection with at least this many unsent bytes for longer than [`OutputLimit::soft_time`]
    /// is closed.
    pub soft: usize,
    /// How long the soft limit may be exceeded; precise to a second.
    pub soft_time: Duration,
}

impl OutputLimit {
    /// No limit.
    pub const NONE: OutputLimit =
        OutputLimit { hard: usize::MAX, soft: usize::MAX, soft_time: Duration::ZERO };
}
