// SPDX-License-Identifier: Apache-2.0
//! [`Outcome`]: the outcome of an operation.

use crate::reply::{Dialect, LoginReply, Refusal};
use buffer::SendBuf;
use protocol::Control;
use storage::Version;

/// The outcome of an operation. It determines the reply and the word in the command log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// A value was found, and has been written.
    Hit,
    /// There was no value to be read, and the reply has been written.
    Miss,
    /// Statistics have been shown.
    Shown,
    /// A list of items has begun, which is sent in pieces.
    Begun,
    /// A watcher: lines follow for as long as it stays.
    Watching,
    /// The reply is told when what was asked for is done.
    Awaited,
    /// A value arrives in pieces. What comes of it is told, also to those who look on, with its last piece.
    Arriving,
    /// It arrives once there is memory for it beside others that do.
    Queued,
    /// The end of a list.
    ListEnd,
    Ok,
    Stored(Version),
    NotStored,
    Exists,
    NotFound,
    Deleted,
    /// Flags and version are those of the item, which a touch does not change.
    Touched(u32, Version),
    /// The number that is stored, and the item's version.
    Number(u64, Version),
    NotANumber,
    TooLarge,
    OutOfMemory,
    StatsReset,
    /// There are no statistics of this topic.
    NoTopic,
    /// Keys are not listed: `stats cachedump`.
    NoKeys,
    /// `stats detail` is not allowed.
    NoPrefixes,
    /// The server does not do it for clients.
    Refused(Refusal),
    /// A step of logging in.
    Login(LoginReply),
    Closed,
}

impl Outcome {
    /// Writes the reply, unless it was written where the outcome was made. Inlined so that a path with a
    /// known outcome has no branch on it.
    #[inline(always)]
    pub(super) fn tell(self, reply: impl Dialect, out: &mut SendBuf) -> Self {
        match self {
            Outcome::Hit
            | Outcome::Miss
            | Outcome::Shown
            | Outcome::Begun
            | Outcome::Watching
            | Outcome::Arriving
            | Outcome::Queued
            | Outcome::Awaited => {}
            Outcome::ListEnd => reply.list_end(out),
            Outcome::Ok => reply.ok(out),
            Outcome::Stored(version) => reply.stored(out, version),
            Outcome::NotStored => reply.not_stored(out),
            Outcome::Exists => reply.exists(out),
            Outcome::NotFound => reply.not_found(out),
            Outcome::Deleted => reply.deleted(out),
            Outcome::Touched(flags, version) => reply.touched(out, flags, version),
            Outcome::Number(number, version) => reply.number(out, number, version),
            Outcome::NotANumber => reply.not_a_number(out),
            Outcome::TooLarge => reply.too_large(out),
            Outcome::OutOfMemory => reply.out_of_memory(out),
            Outcome::StatsReset => reply.stats_reset(out),
            Outcome::NoTopic => reply.no_topic(out),
            Outcome::NoKeys => reply.no_keys(out),
            Outcome::NoPrefixes => reply.no_prefixes(out),
            Outcome::Refused(refusal) => reply.refused(out, refusal),
            Outcome::Login(step) => reply.login(out, step),
            Outcome::Closed => reply.closed(out),
        }
        self
    }

    /// The word for the command log.
    pub(super) fn word(self) -> &'static str {
        match self {
            Outcome::Ok
            | Outcome::Shown
            | Outcome::Begun
            | Outcome::Watching
            | Outcome::Arriving
            | Outcome::Queued
            | Outcome::Awaited
            | Outcome::ListEnd
            | Outcome::StatsReset => "ok",
            Outcome::Hit => "hit",
            Outcome::Miss => "miss",
            Outcome::Stored(_) | Outcome::Number(..) => "stored",
            Outcome::NotStored => "not_stored",
            Outcome::Exists => "exists",
            Outcome::NotFound => "not_found",
            Outcome::Deleted => "deleted",
            Outcome::Touched(..) => "touched",
            Outcome::NotANumber => "not_a_number",
            Outcome::TooLarge => "too_large",
            Outcome::OutOfMemory => "out_of_memory",
            Outcome::NoTopic | Outcome::NoKeys | Outcome::NoPrefixes | Outcome::Refused(_) => {
                "error"
            }
            Outcome::Login(LoginReply::Denied) => "denied",
            Outcome::Login(LoginReply::LongMechanism | LoginReply::NoUsers) => "error",
            Outcome::Login(LoginReply::Admitted | LoginReply::Mechanisms | LoginReply::GoOn) => {
                "ok"
            }
            Outcome::Closed => "closed",
        }
    }

    /// What becomes of the connection.
    #[inline]
    pub(super) fn control(self) -> Control {
        match self {
            Outcome::Closed => Control::Close,
            // A peer that has closed its side has sent the value by then.
            Outcome::Begun | Outcome::Queued => Control::Stream,
            Outcome::Awaited | Outcome::Watching => Control::Block,
            Outcome::Hit
            | Outcome::Miss
            | Outcome::Shown
            | Outcome::Arriving
            | Outcome::ListEnd
            | Outcome::Ok
            | Outcome::Stored(_)
            | Outcome::NotStored
            | Outcome::Exists
            | Outcome::NotFound
            | Outcome::Deleted
            | Outcome::Touched(..)
            | Outcome::Number(..)
            | Outcome::NotANumber
            | Outcome::TooLarge
            | Outcome::OutOfMemory
            | Outcome::StatsReset
            | Outcome::NoTopic
            | Outcome::NoKeys
            | Outcome::NoPrefixes
            | Outcome::Login(_)
            | Outcome::Refused(_) => Control::Continue,
        }
    }
}
