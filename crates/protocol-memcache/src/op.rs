// SPDX-License-Identifier: Apache-2.0
//! [`Op`]: an operation of the store or the server, independent of the dialect of its request.
//!
//! An operation says nothing about the form of the reply: that is the [dialect's](crate::Text) part
//! of a [request](crate::Request).

use crate::exptime::Exptime;
use crate::parse::meta::{Flags, Letters};
use crate::parse::text::set::length;
use crate::parse::text::words::next_word;
use crate::topics::Topics;

/// The longest key in bytes.
pub const KEY_MAX: usize = 250;

/// One operation, borrowed from the receive buffer.
///
/// A line that reads many keys becomes many operations: one [`Op::Get`] per key and one
/// [`Op::ListEnd`]. So a service can prefetch each key, the reply to one request is bounded, and a
/// line of any length needs no buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op<'a> {
    /// Read one key, and touch it if asked to: `get`, `gets`, `gat`, `gats`.
    Get(Get<'a>),
    /// The end of a list of several keys, or of none.
    ListEnd {
        /// Which reading command.
        family: Family,
        /// How many keys the list had.
        keys: u32,
    },
    /// Store, or extend, a value.
    Set(Set<'a>),
    /// A [`Op::Set`] whose value follows in [pieces](Op::Piece).
    Upload(Upload<'a>),
    /// An `ms` whose value follows in pieces. It has no more than a condition.
    UploadMeta(Meta<'a>),
    /// A piece of the value that the last request has announced.
    Piece(Piece<'a>),
    /// A [`Op::Set`] whose value is larger than the server accepts. Its body is dropped unread.
    Oversized {
        /// The key.
        key: &'a [u8],
        /// How it would have been stored.
        mode: Mode,
    },
    /// Remove a key.
    Delete {
        /// The key.
        key: &'a [u8],
        /// Only an item with this CAS number; 0 is any.
        cas: u64,
    },
    /// Add to or subtract from a decimal number.
    Arith(Arith<'a>),
    /// Change when a key expires.
    Touch {
        /// The key.
        key: &'a [u8],
        /// The expiry to set.
        exptime: Exptime,
    },
    /// Make every item unreadable.
    FlushAll {
        /// When; `None` is at once.
        delay: Option<Exptime>,
    },
    /// The same with a delay that is no number: it is refused, and counts all the same.
    BadFlush {
        /// The delay as it was written.
        delay: &'a [u8],
    },
    /// Show statistics.
    Stats {
        /// The topic; empty for the general statistics.
        topic: &'a [u8],
    },
    /// Show the configuration of what clients share.
    Config {
        /// Of what: `cluster`.
        what: &'a [u8],
    },
    /// Count requests by the prefix of their key, or show the counts.
    Detail(Detail),
    /// List the items.
    Dump(Dump<'a>),
    /// Show the client what happens in the server; `None` is something that cannot be watched.
    Watch(Option<Topics>),
    /// Show the version.
    Version,
    /// Nothing but a reply: a setting of memcached's that is accepted for compatibility and has no effect, and
    /// the binary protocol's Noop.
    Noop,
    /// Change the server, for its operator.
    Manage(Manage),
    /// Log in, or find out how.
    Login(Login<'a>),
    /// Close the connection.
    Quit,
    /// A meta command on one key.
    Meta(Meta<'a>),
}

/// What an operator asks of the server as a whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Manage {
    /// Stop the server.
    Shutdown {
        /// Whether the line names a way to stop that there is.
        understood: bool,
    },
    /// Log as much as `-v` given this many times.
    Verbosity(u32),
    /// Read certificates, and what else is read at SIGHUP, again.
    Reread,
    /// Set the memory limit, in MiB.
    MemoryLimit(u32),
}

/// What is asked for by `stats detail`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// To count from now on.
    On,
    /// To count no more; what was counted stays.
    Off,
    /// To show what was counted.
    Dump,
    /// Something that there is not.
    Unknown,
}

impl Detail {
    /// By the word behind `detail`.
    #[must_use]
    pub(crate) fn of(word: &[u8]) -> Self {
        match word {
            b"on" => Detail::On,
            b"off" => Detail::Off,
            b"dump" => Detail::Dump,
            _ => Detail::Unknown,
        }
    }
}

/// A step of logging in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Login<'a> {
    /// With a password.
    Password {
        /// The user.
        user: &'a [u8],
        /// The password.
        password: &'a [u8],
    },
    /// With what is no user and password, or is too long to be.
    Wrong,
    /// With credentials of more bytes than a value may have. They are dropped unread.
    TooLarge,
    /// By SASL, with credentials to follow.
    Begin,
    /// By SASL, in a way whose name is longer than any.
    LongMechanism,
    /// Not yet: the client asks which ways there are.
    Mechanisms,
}

/// A meta command on one key, as it was written: what it asks for is in its flags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meta<'a> {
    /// The line from its key on.
    line: &'a [u8],
    /// The value to store, without its line end.
    pub value: &'a [u8],
    letters: Letters,
    /// Where in `line` the flags begin.
    flags_at: u16,
    key_len: u8,
    /// What to do.
    pub act: Act,
}

impl<'a> Meta<'a> {
    /// The command in a line that begins with its key, and ends with its flags, whose letters these are.
    #[inline]
    pub(crate) fn new(act: Act, line: &'a [u8], key: &[u8], flags: Flags<'_>) -> Self {
        let flags_at = line.len().saturating_sub(flags.text().len());
        let (flags_at, key_len) = (flags_at as u16, key.len() as u8);
        Meta { line, value: b"", letters: flags.letters(), flags_at, key_len, act }
    }

    /// The same command, on another copy of its line.
    pub(crate) fn on(self, line: &[u8]) -> Meta<'_> {
        let Meta { letters, flags_at, key_len, act, .. } = self;
        Meta { line, value: b"", letters, flags_at, key_len, act }
    }

    /// The line from its key on.
    pub(crate) fn line(&self) -> &'a [u8] {
        self.line
    }

    /// Bytes of the value that the line of an `ms` announces.
    pub(crate) fn announced_len(&self) -> usize {
        let mut rest = &self.line[usize::from(self.key_len)..];
        next_word(&mut rest).and_then(length).unwrap_or_default()
    }

    /// The same command with a value.
    #[inline]
    pub(crate) fn with_value(self, value: &'a [u8]) -> Self {
        Meta { value, ..self }
    }

    /// The key as it was written, which is base64 if the flags say so.
    #[inline]
    #[must_use]
    pub fn key(&self) -> &'a [u8] {
        &self.line[..usize::from(self.key_len)]
    }

    /// The flags.
    #[inline]
    #[must_use]
    pub fn flags(&self) -> Flags<'a> {
        Flags::checked(&self.line[usize::from(self.flags_at)..], self.letters)
    }

    /// The key, if the input has it as it is.
    #[inline]
    fn plain_key(&self) -> Option<&'a [u8]> {
        let is_plain = self.act != Act::Noop && !self.letters.has(const { Letters::of(b"b") });
        is_plain.then(|| self.key())
    }
}

/// What a meta command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// `mg`: read a value, or facts about it.
    Get,
    /// `ms`: store a value.
    Set,
    /// `ms` with a value that is larger than the server accepts. Its body is dropped unread.
    SetTooLarge,
    /// `md`: remove an item or mark it as stale.
    Delete,
    /// `ma`: add to or subtract from a decimal number.
    Arith,
    /// `me`: tell what the server knows of an item.
    Describe,
    /// `mn`: reply, and nothing else.
    Noop,
}

/// The arguments of a read of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Get<'a> {
    /// The key.
    pub key: &'a [u8],
    /// The reply shows the item's CAS number.
    pub cas: bool,
    /// The expiry to set.
    pub touch: Option<Exptime>,
}

/// The reading commands, grouped by their metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// `get`
    Get,
    /// `gets`: with CAS numbers.
    Gets,
    /// `gat` and `gats`: they change the expiry.
    Gat,
}

impl Family {
    /// The family of commands that show CAS numbers (`cas`) or change the expiry (`touch`).
    #[inline]
    pub const fn of(cas: bool, touches: bool) -> Self {
        match (touches, cas) {
            (true, _) => Family::Gat,
            (false, true) => Family::Gets,
            (false, false) => Family::Get,
        }
    }
}

/// Which items are listed, and what is told of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dump<'a> {
    /// What is told of each item.
    pub listing: Listing,
    /// The classes whose items are listed: bit `n` stands for class `n`.
    pub classes: u64,
    /// Only items whose key begins with these bytes.
    pub prefix: &'a [u8],
    /// The most items; 0 is no limit.
    pub limit: u32,
    /// The reply, if the line is wrong. Where nothing may be listed, that is told instead.
    pub wrong: Option<&'static [u8]>,
}

impl<'a> Dump<'a> {
    /// A list of all items whose key begins with `prefix`.
    #[must_use]
    pub const fn all(listing: Listing, prefix: &'a [u8]) -> Self {
        Dump { listing, classes: u64::MAX, prefix, limit: 0, wrong: None }
    }

    /// A list that is asked for in a line that is wrong.
    #[must_use]
    pub(crate) const fn wrong(listing: Listing, reply: &'static [u8]) -> Self {
        Dump { wrong: Some(reply), ..Dump::all(listing, b"") }
    }
}

/// The form of a list of items.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// Everything that the server knows of each item: `lru_crawler metadump`.
    Metadump,
    /// A request for each item, to be sent back: `lru_crawler mgdump`.
    Mgdump,
    /// Key, size and expiry, up to 2 MiB in all: `stats cachedump`.
    Cachedump,
}

/// The arguments of a storage command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Set<'a> {
    /// The key.
    pub key: &'a [u8],
    /// The value, without its line end.
    pub value: &'a [u8],
    /// The CAS number that [`Mode::Cas`], [`Mode::Append`] and [`Mode::Prepend`] compare. To the latter two 0
    /// is any number; for all others it is 0.
    pub cas: u64,
    /// The client's opaque flags.
    pub flags: u32,
    /// When the item expires.
    pub exptime: Exptime,
    /// When and how to store.
    pub mode: Mode,
}

impl<'a> Set<'a> {
    /// Stores `value` unconditionally, with no flags and no expiry.
    #[must_use]
    pub const fn new(key: &'a [u8], value: &'a [u8]) -> Self {
        Set { key, value, cas: 0, flags: 0, exptime: Exptime::NEVER, mode: Mode::Set }
    }
}

/// The arguments of a storage command whose value follows in pieces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upload<'a> {
    /// The key.
    pub key: &'a [u8],
    /// Bytes of the value.
    pub value_len: u32,
    /// The CAS number that [`Mode::Cas`] compares.
    pub cas: u64,
    /// The client's opaque flags.
    pub flags: u32,
    /// When the item expires.
    pub exptime: Exptime,
    /// When and how to store.
    pub mode: Mode,
}

impl<'a> Upload<'a> {
    /// The storage command `set` with a value of so many bytes.
    pub(crate) fn of(set: &Set<'a>, value_len: u32) -> Self {
        let &Set { key, value: _, cas, flags, exptime, mode } = set;
        Upload { key, value_len, cas, flags, exptime, mode }
    }

    /// The storage command with its value.
    pub(crate) fn with_value(&self, value: &'a [u8]) -> Set<'a> {
        let &Upload { key, value_len: _, cas, flags, exptime, mode } = self;
        Set { key, value, cas, flags, exptime, mode }
    }
}

/// A piece of a large value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    /// The next bytes; others follow.
    More(&'a [u8]),
    /// The last bytes, with nothing behind them.
    Last(&'a [u8]),
    /// What stands behind the value, and whether it is a line end, as it has to be.
    End(bool),
}

/// When and how a value is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Unconditionally.
    Set,
    /// Only if there is no item.
    Add,
    /// Only if there is an item.
    Replace,
    /// After the existing value.
    Append,
    /// Before the existing value.
    Prepend,
    /// Only if the existing item has the given CAS number.
    Cas,
}

/// The arguments of `incr` and `decr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arith<'a> {
    /// The key.
    pub key: &'a [u8],
    /// By how much.
    pub delta: u64,
    /// Add or subtract.
    pub direction: Direction,
    /// Only an item with this CAS number; 0 is any.
    pub cas: u64,
    /// The number of the item that is made where there is none.
    pub initial: u64,
    /// When that item expires, in the seconds of an [`Exptime`]; [`Arith::NONE`] makes none.
    pub exptime: u32,
}

impl<'a> Arith<'a> {
    /// The expiry time with which no item is made.
    pub const NONE: u32 = u32::MAX;

    /// Changes the number of any item, and makes none.
    #[must_use]
    pub const fn new(key: &'a [u8], delta: u64, direction: Direction) -> Self {
        Arith { key, delta, direction, cas: 0, initial: 0, exptime: Self::NONE }
    }

    /// When the item expires that is made where there is none; `None` if none is made.
    pub(crate) fn creates(&self) -> Option<Exptime> {
        (self.exptime != Self::NONE).then(|| Exptime(self.exptime.into()))
    }
}

/// The direction of `incr` and `decr`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `incr`: wraps at 2^64.
    Up,
    /// `decr`: stops at 0.
    Down,
}

impl<'a> Op<'a> {
    /// Whether it reads the value of its key.
    #[inline]
    pub(crate) fn reads_value(&self) -> bool {
        matches!(self, Op::Get(_) | Op::Meta(Meta { act: Act::Get, .. }))
    }

    /// The key it concerns, if it concerns one and the input has it as it is: not one in base64.
    #[inline]
    pub fn key(&self) -> Option<&'a [u8]> {
        match *self {
            Op::Get(Get { key, .. })
            | Op::Set(Set { key, .. })
            | Op::Upload(Upload { key, .. })
            | Op::Oversized { key, .. }
            | Op::Delete { key, .. }
            | Op::Arith(Arith { key, .. })
            | Op::Touch { key, .. } => Some(key),
            Op::Meta(meta) | Op::UploadMeta(meta) => meta.plain_key(),
            Op::ListEnd { .. }
            | Op::Piece(_)
            | Op::FlushAll { .. }
            | Op::BadFlush { .. }
            | Op::Stats { .. }
            | Op::Detail(_)
            | Op::Config { .. }
            | Op::Dump(_)
            | Op::Watch(_)
            | Op::Version
            | Op::Noop
            | Op::Manage(_)
            | Op::Login(_)
            | Op::Quit => None,
        }
    }
}
