// SPDX-License-Identifier: Apache-2.0
//! The arguments of writes: [`Put`] with its [`Condition`], and the [`Change`] an update decides
//! on.

use crate::{Expiry, Marks, Version};

/// An item to write and the condition under which to write it.
///
/// ```
/// use storage::{Condition, Put};
///
/// let put = Put::new(b"key", b"value").flags(1).condition(Condition::IfAbsent);
/// assert_eq!(put.value, b"value");
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Put<'a> {
    /// The key.
    pub key: &'a [u8],
    /// The value, stored byte for byte.
    pub value: &'a [u8],
    /// The client's opaque flags; 0 unless set.
    pub flags: u32,
    /// When the item stops being readable; never unless set.
    pub expiry: Expiry,
    /// When to write at all; always unless set.
    pub condition: Condition,
}

impl<'a> Put<'a> {
    /// Writes `value` under `key`: no flags, no expiry, no condition.
    #[must_use]
    pub const fn new(key: &'a [u8], value: &'a [u8]) -> Self {
        Put { key, value, flags: 0, expiry: Expiry::NEVER, condition: Condition::Always }
    }

    /// Sets the client's flags.
    #[must_use]
    pub const fn flags(mut self, flags: u32) -> Self {
        self.flags = flags;
        self
    }

    /// Sets the expiry.
    #[must_use]
    pub const fn expiry(mut self, expiry: Expiry) -> Self {
        self.expiry = expiry;
        self
    }

    /// Sets the condition.
    #[must_use]
    pub const fn condition(mut self, condition: Condition) -> Self {
        self.condition = condition;
        self
    }
}

/// When a [`Put`] takes place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Whatever is there (memcache `set`).
    Always,
    /// Only if there is no live item (`add`, `SET NX`); else `Exists`.
    IfAbsent,
    /// Only if there is a live item (`replace`, `SET XX`); else `NotFound`.
    IfPresent,
    /// Only if the live item has this version (`cas`); else `Exists`, or `NotFound` without one.
    IfVersion(Version),
}

/// What an update does to the item it saw.
#[derive(Clone, Copy, Debug)]
pub enum Change<'v> {
    /// Leave it as it is.
    Keep,
    /// Leave it missing, for it was to be read: the engine learns what its clients look for. Else as [`Change::Keep`].
    Miss,
    /// Remove it; nothing happens without an item.
    Delete,
    /// Change its expiry and nothing else: the version stays (`touch`, `gat`). Needs an item.
    Expire(Expiry),
    /// Replace its value by a number; flags and expiry stay (`incr`, `decr`). Needs an item.
    Number(Digits),
    /// Put bytes before and after its value; flags and expiry stay (`prepend`, `append`). Needs an
    /// item.
    Extend {
        /// What comes before the present value.
        before: &'v [u8],
        /// What comes after it.
        after: &'v [u8],
    },
    /// Write a whole item, present or not.
    Put {
        /// The value.
        value: &'v [u8],
        /// The client's flags.
        flags: u32,
        /// The expiry.
        expiry: Expiry,
    },
    /// Change what is known of it besides its content: the version stays. Needs an item.
    Amend(Amend),
    /// Write it anew, in part or as a whole: the general form of [`Change::Number`], [`Change::Extend`] and
    /// [`Change::Put`]. Needs an item unless it has a whole value.
    Write(Write<'v>),
}

impl<'v> Change<'v> {
    /// The same change in its most general form, so that an engine has fewer to implement:
    /// [`Change::Keep`], [`Change::Delete`], [`Change::Amend`] or [`Change::Write`].
    #[inline]
    #[must_use]
    pub fn general(self) -> Self {
        match self {
            Change::Expire(expiry) => Change::Amend(Amend::touch(expiry)),
            Change::Number(digits) => Change::Write(Write::new(Content::Number(digits))),
            Change::Extend { before, after } => {
                Change::Write(Write::new(Content::Around { before, after }))
            }
            Change::Put { value, flags, expiry } => Change::Write(Write {
                flags: Some(flags),
                expiry: Some(expiry),
                ..Write::new(Content::Whole(value))
            }),
            Change::Miss => Change::Keep,
            Change::Keep | Change::Delete | Change::Amend(_) | Change::Write(_) => self,
        }
    }
}

/// Changes to what is known of an item besides its content.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amend {
    /// The expiry, if it changes.
    pub expiry: Option<Expiry>,
    /// The marks, if they change.
    pub marks: Option<Marks>,
    /// Counts as a read of the item, as [`Store::get`](crate::Store::get) does.
    pub read: bool,
    /// Has the engine note from now on when the item is read. This may cost memory.
    pub timed: bool,
}

impl Amend {
    /// Changes the expiry, and counts as a read: [`Change::Expire`].
    #[inline]
    #[must_use]
    pub fn touch(expiry: Expiry) -> Self {
        Amend { expiry: Some(expiry), read: true, ..Amend::default() }
    }
}

/// An item to be written in place of the one that an update saw. What is `None` stays as it is.
#[derive(Clone, Copy, Debug)]
pub struct Write<'v> {
    /// The value.
    pub content: Content<'v>,
    /// The client's flags; of a new item 0.
    pub flags: Option<u32>,
    /// The expiry; of a new item never.
    pub expiry: Option<Expiry>,
    /// The version, for a client that makes its own; else the engine makes one.
    pub version: Option<Version>,
    /// The marks. They stay with [`Content::Same`] and [`Content::Number`], as does whether the item was read; another
    /// value has none unless they are given here.
    pub marks: Option<Marks>,
}

impl<'v> Write<'v> {
    /// Writes this value; everything else stays.
    #[must_use]
    pub const fn new(content: Content<'v>) -> Self {
        Write { content, flags: None, expiry: None, version: None, marks: None }
    }
}

/// The value of a [`Write`].
#[derive(Clone, Copy, Debug)]
pub enum Content<'v> {
    /// The value that it has.
    Same,
    /// A number in its place.
    Number(Digits),
    /// The value that it has, with bytes before and after it.
    Around {
        /// What comes before the present value.
        before: &'v [u8],
        /// What comes after it.
        after: &'v [u8],
    },
    /// Another value.
    Whole(&'v [u8]),
}

impl Content<'_> {
    /// Whether the item stays what it was to its readers: its marks stay, and whether it was read.
    #[inline]
    #[must_use]
    pub const fn is_the_same_item(&self) -> bool {
        match self {
            Content::Same | Content::Number(_) => true,
            Content::Around { .. } | Content::Whole(_) => false,
        }
    }
}

/// A short value made inside an update, such as a counter's digits: up to 24 bytes, on the stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Digits {
    bytes: [u8; Digits::MAX],
    len: u8,
}

impl Digits {
    /// The most bytes it holds: a `u64` in decimal needs 20.
    pub const MAX: usize = 24;

    /// Holds `text`.
    ///
    /// # Panics
    ///
    /// When `text` is longer than [`Digits::MAX`].
    #[must_use]
    pub fn new(text: &[u8]) -> Self {
        assert!(text.len() <= Self::MAX, "a number of {} bytes", text.len());
        let mut bytes = [0; Self::MAX];
        bytes[..text.len()].copy_from_slice(text);
        Digits { bytes, len: text.len() as u8 }
    }

    /// The bytes it was made of.
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_hold_any_u64() {
        let text = u64::MAX.to_string();
        assert_eq!(Digits::new(text.as_bytes()).as_bytes(), text.as_bytes());
        assert_eq!(Digits::new(b"").as_bytes(), b"");
    }

    #[test]
    #[should_panic(expected = "a number of 25 bytes")]
    fn digits_refuse_more_than_they_hold() {
        let _ = Digits::new(&[b'1'; 25]);
    }
}
