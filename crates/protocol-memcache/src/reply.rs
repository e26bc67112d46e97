// SPDX-License-Identifier: Apache-2.0
//! [`Dialect`]: writes replies, with one function for each outcome.
//!
//! The service is generic over the dialect and compiled for each, so an operation is implemented
//! once and its reply is written in the dialect of the request. A value of the dialect's type holds
//! everything besides the outcome that a reply depends on: whether the client wants a reply, what
//! it wants to see, what it wants echoed.

pub(crate) mod binary;
pub(crate) mod dump;
pub(crate) mod meta;
pub(crate) mod text;

pub use binary::Binary;
pub use text::Text;

use crate::op::{Get, Listing};
use buffer::SendBuf;
use std::fmt::Display;
use storage::{Item, Version};

/// What the server does not do for the client that asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refusal {
    /// `flush_all`, which is switched off.
    Flush,
    /// The same after what is no time.
    FlushDelay,
    /// `shutdown`, which is not switched on.
    Shutdown,
    /// To read certificates again where there are none.
    NoTls,
    /// To stop in a way that there is not.
    ShutdownMode,
    /// What is not asked for rightly: the reply.
    Wrong(&'static [u8]),
    /// `stats detail` with another word than it has.
    Detail,
    /// A memory limit below this many MiB.
    MemoryTooSmall(u64),
    /// A memory limit above this many MiB.
    MemoryTooLarge(u64),
    /// A memory limit in what can only be bytes.
    MemoryInBytes,
    /// To list the items, which is switched off.
    Dump(Listing),
    /// To list the items to one client more.
    Busy,
    /// To show what happens, which is switched off.
    Watch,
    /// To show it to one client more.
    TooManyWatchers,
    /// What is sent bit by bit, to a client that has no connection.
    Datagram,
}

/// What came of a step of logging in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoginReply {
    /// The client has logged in.
    Admitted,
    /// No user has the password that was given.
    Denied,
    /// The mechanisms of SASL were asked for.
    Mechanisms,
    /// The credentials are to follow.
    GoOn,
    /// The name of the mechanism is longer than any.
    LongMechanism,
    /// Nobody need log in, and nobody can.
    NoUsers,
}

/// Writes the replies to one request.
///
/// No function has a default: a dialect must decide for each outcome what the reply is, and whether
/// there is one (`noreply`, or a quiet request).
///
/// # Values
///
/// A value is copied from the store's memory into the reply, or sent by reference if it is large.
/// [`Dialect::hit`] and [`Dialect::behind_value`] write the bytes around it, inside of the store's
/// closure, so that nothing is copied twice. An atomic step that is retried calls them again and
/// drops what they wrote before.
pub(crate) trait Dialect: Copy {
    /// Whether a reply is lines.
    fn is_text(self) -> bool;

    /// Whether this is one of several replies to the same line, after which [`Dialect::list_end`]
    /// follows.
    fn is_listed(self) -> bool;

    /// Whether a hit sends the value, or only facts about it.
    fn sends_value(self) -> bool;

    /// An item was found: writes everything before the value. If the value is `copied`, also
    /// reserves room for it.
    fn hit(self, bytes: &mut Vec<u8>, get: &Get<'_>, item: &impl Item, copied: bool);
    /// Writes everything after the value of a hit.
    fn behind_value(self, bytes: &mut Vec<u8>);
    /// There is no item to be read.
    fn miss(self, bytes: &mut Vec<u8>, get: &Get<'_>);
    /// All keys of a list have been answered.
    fn list_end(self, out: &mut SendBuf);

    /// A value was stored, and has this version.
    fn stored(self, out: &mut SendBuf, version: Version);
    /// A condition for storing did not hold.
    fn not_stored(self, out: &mut SendBuf);
    /// The item has another CAS number than the one given.
    fn exists(self, out: &mut SendBuf);
    /// There is no item to be changed.
    fn not_found(self, out: &mut SendBuf);
    /// An item was removed.
    fn deleted(self, out: &mut SendBuf);
    /// The expiry of an item with these flags was changed. It keeps its version.
    fn touched(self, out: &mut SendBuf, flags: u32, version: Version);
    /// A number was changed to this one, with a new version.
    fn number(self, out: &mut SendBuf, number: u64, version: Version);
    /// The value to add to or to subtract from is not a number.
    fn not_a_number(self, out: &mut SendBuf);
    /// The item is larger than the store accepts.
    fn too_large(self, out: &mut SendBuf);
    /// There is no room and nothing that may be evicted.
    fn out_of_memory(self, out: &mut SendBuf);

    /// Done, without a result to show.
    fn ok(self, out: &mut SendBuf);
    /// The server's version.
    fn version(self, out: &mut SendBuf, version: &str);
    /// One line of statistics.
    fn stat(self, out: &mut SendBuf, name: &str, value: &dyn Display);
    /// All statistics of a topic have been shown.
    fn stats_end(self, out: &mut SendBuf);
    /// The statistics were set to zero.
    fn stats_reset(self, out: &mut SendBuf);
    /// There are no statistics of this topic.
    fn no_topic(self, out: &mut SendBuf);
    /// Keys are not listed: `stats cachedump`.
    fn no_keys(self, out: &mut SendBuf);
    /// Requests are counted by prefix of key, or no more: `stats detail`.
    fn detail_switched(self, out: &mut SendBuf);
    /// What was counted, as lines.
    fn prefixes(self, out: &mut SendBuf, lines: &[u8]);
    /// `stats detail` is not allowed.
    fn no_prefixes(self, out: &mut SendBuf);
    /// The server does not do what an operator asks for.
    fn refused(self, out: &mut SendBuf, refusal: Refusal);
    /// A step of logging in was taken.
    fn login(self, out: &mut SendBuf, step: LoginReply);
    /// The connection is closed as the client asked.
    fn closed(self, out: &mut SendBuf);
}
