// SPDX-License-Identifier: Apache-2.0
//! The history of an engine under test: a [`Record`] for each operation of each thread.

use super::value::Content;
use crate::{Condition, Expiry, StoreError, Version};
use clock::Ticks;
use std::fmt;

/// What a write makes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Made {
    pub(super) content: Content,
    pub(super) flags: u32,
    pub(super) expiry: Expiry,
}

/// What was read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seen {
    pub(super) made: Made,
    pub(super) version: Version,
}

/// What an update decided on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Edit {
    Keep,
    Delete,
    /// Another expiry, the version stays.
    Expire(Expiry),
    /// Another value (a number, or an extended one); flags and expiry stay.
    Value(Content),
    Put(Made),
}

/// An operation and its result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Op {
    Get {
        saw: Option<Seen>,
    },
    Put {
        condition: Condition,
        made: Made,
        result: Result<Version, StoreError>,
    },
    /// `saw` and `edit` are those of the last time that the store asked.
    Update {
        saw: Option<Seen>,
        edit: Edit,
        result: Result<Option<Version>, StoreError>,
    },
    Delete {
        was_there: bool,
    },
}

impl Op {
    /// The versions that the operation has seen and told, each with the value it belongs to.
    pub(super) fn versions(&self) -> impl Iterator<Item = (Version, Content)> {
        let seen = match *self {
            Op::Get { saw } | Op::Update { saw, .. } => saw,
            Op::Put { .. } | Op::Delete { .. } => None,
        };
        let told = match *self {
            Op::Put { result, .. } => result.ok(),
            Op::Update { result, .. } => result.ok().flatten(),
            Op::Get { .. } | Op::Delete { .. } => None,
        };
        let seen = seen.map(|seen| (seen.version, seen.made.content));
        seen.into_iter().chain(told.zip(self.written()))
    }

    /// The value that it has read, if it has read any.
    pub(super) fn read(&self) -> Option<Content> {
        match *self {
            Op::Get { saw } | Op::Update { saw, .. } => saw.map(|seen| seen.made.content),
            Op::Put { .. } | Op::Delete { .. } => None,
        }
    }

    /// The value that it has written, if it has.
    pub(super) fn written(&self) -> Option<Content> {
        match *self {
            Op::Put { made, result: Ok(_), .. } => Some(made.content),
            Op::Update { edit: Edit::Value(content), result: Ok(_), .. } => Some(content),
            Op::Update { edit: Edit::Put(made), result: Ok(_), .. } => Some(made.content),
            _ => None,
        }
    }
}

/// One operation of one thread.
#[derive(Clone, Copy, Debug)]
pub(super) struct Record {
    pub(super) key: u32,
    pub(super) thread: u8,
    /// When it was called and when it had returned: numbers of one counter that all threads share.
    pub(super) called: u64,
    pub(super) returned: u64,
    /// The time that the store was told, and the latest that it may have been told by anybody meanwhile.
    pub(super) now: Ticks,
    pub(super) until: Ticks,
    pub(super) op: Op,
}

impl fmt::Display for Content {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Content::TORN => f.write_str("a torn value"),
            Content(number) if number >> 63 == 0 => write!(f, "value {number}"),
            Content(number) => write!(f, "value {number:x} of several records"),
        }
    }
}

impl fmt::Display for Made {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} flags {}", self.content, self.flags)?;
        match self.expiry.ticks() {
            Some(at) => write!(f, " until {}", at.as_millis()),
            None => Ok(()),
        }
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} version {:x}", self.made, self.version.get())
    }
}

/// What was read, or that nothing was.
struct Read<'a>(&'a Option<Seen>);

impl fmt::Display for Read<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(seen) => write!(f, "{seen}"),
            None => f.write_str("nothing"),
        }
    }
}

impl fmt::Display for Op {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Op::Get { saw } => write!(f, "get: {}", Read(saw)),
            Op::Put { condition, made, result } => {
                match condition {
                    Condition::IfVersion(version) => write!(f, "cas {:x}", version.get())?,
                    other => write!(f, "put {other:?}")?,
                }
                write!(f, " {made}: ")?;
                match result {
                    Ok(version) => write!(f, "version {:x}", version.get()),
                    Err(error) => write!(f, "{error:?}"),
                }
            }
            Op::Update { saw, edit, result } => {
                write!(f, "update saw {}, ", Read(saw))?;
                match edit {
                    Edit::Value(content) => write!(f, "writes {content}")?,
                    Edit::Put(made) => write!(f, "puts {made}")?,
                    other => write!(f, "{other:?}")?,
                }
                write!(f, ": {result:?}")
            }
            Op::Delete { was_there } => write!(f, "delete: {was_there}"),
        }
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Record { thread, called, returned, now, op, .. } = self;
        write!(f, "[{called}, {returned}] thread {thread} at {} ms: {op}", now.as_millis())
    }
}
