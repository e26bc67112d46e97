// SPDX-License-Identifier: Apache-2.0
//! What the functions of string and key commands need of a service: [`StringAccess`] and [`KeyAccess`].
//!
//! The functions are written once, over these traits, and compiled for each implementation:
//!
//! * `access/keyspace.rs`: over a keyspace with values of all types. It reports changes to the clients
//!   that watch keys, wait for them or subscribe to events.
//! * `strings/access.rs`: over a store of items that memcache clients use, too. It keeps their flags, and
//!   retries what another worker has changed meanwhile.
//!
//! `access/ahead.rs`: one key of many after the other, prefetched in groups.

mod ahead;
mod keyspace;

pub(crate) use ahead::visit_ahead;

use crate::engine::any_call::AnyCall;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use crate::wire::reply::Writer;
use bytes::Bytes;
use values::Digits;

/// When a string is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Only {
    Always,
    IfAbsent,
    IfPresent,
}

impl Only {
    /// Whether a string is stored, where one is there or not.
    pub(crate) fn allows(self, is_there: bool) -> bool {
        match self {
            Only::Always => true,
            Only::IfAbsent => !is_there,
            Only::IfPresent => is_there,
        }
    }
}

/// When a string that is stored expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expiry {
    Never,
    /// At a moment in unix milliseconds.
    At(u64),
    /// As what was there before.
    Keep,
}

/// What a command does to a key after it has seen what is there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum KeyChange {
    /// Nothing.
    Keep,
    /// It lets the key expire at a moment in unix milliseconds, which is not past.
    Expire(u64),
    /// It takes the expiry away.
    Persist,
    /// It removes the key.
    Remove,
}

/// What a command does to a string after it has seen the one that is there.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Change<'v> {
    /// It replaces it.
    Put(&'v [u8], Expiry),
    /// It leaves the value as it is.
    Key(KeyChange),
}

/// The keys of a service, whatever their values are.
pub(crate) trait KeyAccess<'c>: AnyCall<'c> {
    /// Removes a key; returns whether it was there.
    fn remove(&mut self, key: &[u8]) -> bool;

    /// Whether a key is there (EXISTS).
    fn contains(&mut self, key: &[u8]) -> bool;

    /// Whether a key is there, which counts as a use of it (TOUCH).
    fn touch(&mut self, key: &[u8]) -> bool;

    /// The name of the type of a value.
    fn type_name(&mut self, key: &[u8]) -> Option<&'static str>;

    /// When a key expires, in unix milliseconds, `Some(None)` for never; `None` if there is no key.
    fn expiry(&mut self, key: &[u8]) -> Option<Option<u64>>;

    /// Changes a key that is there in one atomic step. `decide` sees when it expires; it may be called
    /// again. Returns whether there was a key and a change.
    fn change_key(
        &mut self,
        key: &[u8],
        decide: impl FnMut(Option<u64>) -> KeyChange,
    ) -> Result<bool, Fault>;
}

/// A number that is there, as its text, and whether it expires.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Number<'a> {
    pub(crate) text: &'a [u8],
    pub(crate) has_expiry: bool,
}

/// A number to store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NewNumber {
    Integer(i64),
    /// A number with a fraction.
    Float(String),
}

/// What a command does to a number after it has seen the one that is there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Counted {
    /// Nothing.
    Keep,
    /// It replaces it.
    Put(NewNumber, Until),
    /// It removes the key, if it is there.
    Remove,
}

/// What becomes of the expiry of a number that is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// It stays.
    Keep,
    /// It is a moment in unix milliseconds, which is not past.
    At(u64),
    /// There was one, and it is taken away.
    Persist,
}

/// A string that is there.
pub(crate) trait StringValue {
    /// Whether the service counts what replies hold of its strings, those without an entry once, so that nothing of it counts
    /// as memory of the clients.
    const COUNTS_HELD: bool;

    /// The text; an integer may be formatted into `digits`.
    fn text<'a>(&'a self, digits: &'a mut Digits) -> &'a [u8];

    /// How many bytes the text has.
    fn len(&self) -> usize;

    /// The text by reference count, if it is so large that this is worth more than a copy.
    fn pin(&self) -> Option<Bytes>;

    /// Whether it expires.
    fn has_expiry(&self) -> bool;
}

/// The strings of a service.
///
/// Each function is one atomic step, and reports what the service reports of it. An error is either that
/// of a value of another type, or tells why the service cannot do what it is asked for.
pub(crate) trait StringAccess<'c>: AnyCall<'c> {
    /// A string that is there.
    type Value<'v>: StringValue;

    /// Shows a string to `see`, which writes the reply. The only error is that of another type. Counts as
    /// a read.
    fn read(
        &mut self,
        key: &[u8],
        see: impl FnOnce(Option<Self::Value<'_>>, &mut Writer<'c>),
    ) -> Done;

    /// Reads a string and changes it in one atomic step. `decide` writes the reply; if it is called again,
    /// that reply has been undone. Counts as a read.
    fn read_and_change<'v>(
        &mut self,
        key: &[u8],
        decide: impl FnMut(Option<Self::Value<'_>>, &mut Writer<'c>) -> Result<Change<'v>, Fault>,
    ) -> Done;

    /// [`StringAccess::read_and_change`] for a command that shows nothing of the string: it does not count as a
    /// read.
    fn compare_and_change<'v>(
        &mut self,
        key: &[u8],
        decide: impl FnMut(Option<Self::Value<'_>>, &mut Writer<'c>) -> Result<Change<'v>, Fault>,
    ) -> Done;

    /// How long a string is, 0 if there is none, for a command that may write it.
    fn len_of(&mut self, key: &[u8]) -> Result<usize, Fault>;

    /// Stores a string in place of whatever is under a key; returns whether the condition was met.
    fn put(&mut self, key: &[u8], value: &[u8], expiry: Expiry, only: Only) -> Result<bool, Fault>;

    /// Stores pairs of keys and values if the condition is met by all of the keys; returns whether it did.
    fn put_all(&mut self, pairs: Args<'_>, expiry: Expiry, only: Only) -> Result<bool, Fault>;

    /// Appends to a string, or stores it if there is none; returns the new length.
    fn append(&mut self, key: &[u8], more: &[u8]) -> Result<usize, Fault>;

    /// Overwrites a string from `offset` on, with zeros between its end and there; returns the new length.
    fn overwrite(&mut self, key: &[u8], offset: usize, with: &[u8]) -> Result<usize, Fault>;

    /// Replaces an integer by what `change` makes of it, or stores `first` if there is none. Returns the
    /// new one.
    fn change_integer(
        &mut self,
        key: &[u8],
        first: i64,
        change: impl Fn(i64) -> Result<i64, Fault>,
    ) -> Result<i64, Fault>;

    /// Replaces the text of a number by what `change` makes of it; returns the new one. `change` may be
    /// called again.
    fn change_number(
        &mut self,
        key: &[u8],
        change: impl FnMut(Option<&[u8]>) -> Result<String, Fault>,
    ) -> Result<String, Fault>;

    /// Replaces a number by what `decide` makes of it, in one atomic step; returns what `decide` says further.
    /// `decide` may be called again.
    fn count<R>(
        &mut self,
        key: &[u8],
        decide: impl FnMut(Option<Number<'_>>) -> Result<(Counted, R), Fault>,
    ) -> Result<R, Fault>;
}
