// SPDX-License-Identifier: Apache-2.0
//! [`Request`]: what the parser finds and the service executes.

use crate::exptime::Exptime;

/// The longest key in bytes.
pub const KEY_MAX: usize = 250;

/// One request, borrowed from the receive buffer.
///
/// A line that reads many keys is as many requests: one [`Request::Read`] per key and one
/// [`Request::End`]. So a service can prefetch each key, what one request writes is bounded, and a
/// line of any length needs no buffer.
///
/// `quiet` is the client's `noreply`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request<'a> {
    /// Read one key, and touch it if `exptime` is there.
    Read {
        /// The key.
        key: &'a [u8],
        /// Which of the four reading commands.
        read: Read,
        /// The expiry to set; of `gat` and `gats`.
        exptime: Option<Exptime>,
        /// It is the only key of its line: the reply ends with `END`.
        only: bool,
    },
    /// The end of a line with several keys, or without any: reply `END`.
    End {
        /// Which of the four reading commands.
        read: Read,
        /// How many keys the line had.
        keys: u32,
    },
    /// Store, or extend, a value.
    Write(Write<'a>),
    /// A write whose value is larger than the server accepts. Its body is dropped unread.
    Oversized {
        /// The key.
        key: &'a [u8],
        /// Which command.
        verb: Verb,
        /// Send no reply.
        quiet: bool,
    },
    /// Remove a key.
    Delete {
        /// The key.
        key: &'a [u8],
        /// Send no reply.
        quiet: bool,
    },
    /// Add to or subtract from a decimal number.
    Arith {
        /// The key.
        key: &'a [u8],
        /// By how much.
        delta: u64,
        /// Add or subtract.
        direction: Direction,
        /// Send no reply.
        quiet: bool,
    },
    /// Change when a key expires.
    Touch {
        /// The key.
        key: &'a [u8],
        /// The expiry to set.
        exptime: Exptime,
        /// Send no reply.
        quiet: bool,
    },
    /// Make every item unreadable.
    FlushAll {
        /// When; `None` is at once.
        delay: Option<Exptime>,
        /// Send no reply.
        quiet: bool,
    },
    /// Tell about the server.
    Stats {
        /// What about; empty for the general statistics.
        topic: &'a [u8],
    },
    /// Tell the version.
    Version,
    /// Accepted for compatibility.
    Verbosity {
        /// Send no reply.
        quiet: bool,
    },
    /// Close the connection.
    Quit,
}

/// The fields of a storage command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write<'a> {
    /// The key.
    pub key: &'a [u8],
    /// The value, without its line end.
    pub value: &'a [u8],
    /// The CAS number that `cas` compares; 0 for all others.
    pub cas: u64,
    /// The client's opaque flags.
    pub flags: u32,
    /// When the item expires.
    pub exptime: Exptime,
    /// Which command.
    pub verb: Verb,
    /// Send no reply.
    pub quiet: bool,
}

/// The reading commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Read {
    /// `get`
    Get,
    /// `gets`: with CAS numbers.
    Gets,
    /// `gat`: touches.
    Gat,
    /// `gats`: touches, with CAS numbers.
    Gats,
}

impl Read {
    /// Whether values are shown with their CAS numbers.
    #[inline]
    pub fn shows_cas(self) -> bool {
        matches!(self, Read::Gets | Read::Gats)
    }

    /// The command's name.
    pub fn name(self) -> &'static str {
        match self {
            Read::Get => "get",
            Read::Gets => "gets",
            Read::Gat => "gat",
            Read::Gats => "gats",
        }
    }
}

/// The storage commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    /// Whatever is there.
    Set,
    /// Only if nothing is there.
    Add,
    /// Only if something is there.
    Replace,
    /// Behind what is there.
    Append,
    /// Before what is there.
    Prepend,
    /// Only if what is there has the given CAS number.
    Cas,
}

impl Verb {
    /// The command's name.
    pub fn name(self) -> &'static str {
        match self {
            Verb::Set => "set",
            Verb::Add => "add",
            Verb::Replace => "replace",
            Verb::Append => "append",
            Verb::Prepend => "prepend",
            Verb::Cas => "cas",
        }
    }
}

/// The way `incr` and `decr` go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `incr`: wraps at 2^64.
    Up,
    /// `decr`: stops at 0.
    Down,
}

impl<'a> Request<'a> {
    /// The key it concerns, if it concerns one.
    #[inline]
    pub fn key(&self) -> Option<&'a [u8]> {
        match *self {
            Request::Read { key, .. }
            | Request::Write(Write { key, .. })
            | Request::Oversized { key, .. }
            | Request::Delete { key, .. }
            | Request::Arith { key, .. }
            | Request::Touch { key, .. } => Some(key),
            _ => None,
        }
    }

    /// The name of its command.
    pub fn verb(&self) -> &'static str {
        match self {
            Request::Read { read, .. } | Request::End { read, .. } => read.name(),
            Request::Write(Write { verb, .. }) | Request::Oversized { verb, .. } => verb.name(),
            Request::Delete { .. } => "delete",
            Request::Arith { direction, .. } => match direction {
                Direction::Up => "incr",
                Direction::Down => "decr",
            },
            Request::Touch { .. } => "touch",
            Request::FlushAll { .. } => "flush_all",
            Request::Stats { .. } => "stats",
            Request::Version => "version",
            Request::Verbosity { .. } => "verbosity",
            Request::Quit => "quit",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_of_requests_fits_the_stack() {
        assert!(size_of::<Request<'_>>() <= 64, "{}", size_of::<Request<'_>>());
    }
}
