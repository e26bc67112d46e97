// SPDX-License-Identifier: Apache-2.0
//! The options of SET and GETEX.

use super::super::access::{Expiry, Only, StringValue};
use super::super::deadline::Deadline;
use super::compare::{Comparison, Test};
use crate::wire::fault::Fault;
use crate::wire::parse::Args;

/// The options of SET.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SetOptions<'a> {
    pub(crate) only: Only,
    /// A condition on the string before; then there is no other.
    pub(crate) comparison: Option<Comparison<'a>>,
    /// The reply is the string before.
    pub(crate) get: bool,
    pub(crate) expiry: Expiry,
}

impl<'a> SetOptions<'a> {
    /// Those of GETSET.
    pub(crate) const GETSET: Self =
        SetOptions { only: Only::Always, comparison: None, get: true, expiry: Expiry::Never };

    /// Reads the words behind the value. One may be given again, but not one that excludes it.
    #[inline]
    pub(crate) fn parse(words: Args<'a>, unix_ms: u64, command: &str) -> Result<Self, Fault> {
        Self::read(words, unix_ms, command, false)
    }

    /// Reads the words behind the values of MSETEX: those of SET, without GET and comparisons.
    pub(crate) fn parse_for_all(
        words: Args<'a>,
        unix_ms: u64,
        command: &str,
    ) -> Result<Self, Fault> {
        Self::read(words, unix_ms, command, true)
    }

    /// Inlined into SET, where each call costs.
    #[inline(always)]
    fn read(words: Args<'a>, unix_ms: u64, command: &str, for_all: bool) -> Result<Self, Fault> {
        let mut options = SetOptions { get: false, ..Self::GETSET };
        let mut words = words.iter();
        let mut deadline: Option<(Deadline, &[u8])> = None;
        while let Some(word) = words.next() {
            let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
            if is(b"nx") && options.only != Only::IfPresent && options.comparison.is_none() {
                options.only = Only::IfAbsent;
            } else if is(b"xx") && options.only != Only::IfAbsent && options.comparison.is_none() {
                options.only = Only::IfPresent;
            } else if is(b"get") {
                options.get = true;
            } else if is(b"keepttl") && deadline.is_none() {
                options.expiry = Expiry::Keep;
            } else if let Some(unit) = Deadline::option(word)
                && options.expiry == Expiry::Never
                && deadline.is_none_or(|(before, _)| before == unit)
            {
                deadline = Some((unit, words.next().ok_or(Fault::SYNTAX)?));
            } else if let Some(test) = Test::option(word)
                && options.only == Only::Always
                && options.comparison.is_none()
            {
                options.comparison = Some(test.with(words.next().ok_or(Fault::SYNTAX)?));
            } else {
                return Err(Fault::SYNTAX);
            }
        }
        // Only when all options are known to be well formed.
        if for_all && (options.get || options.comparison.is_some()) {
            return Err(Fault::SYNTAX);
        }
        if let Some((unit, number)) = deadline {
            options.expiry = Expiry::At(unit.positive(number, unix_ms, command)?);
        }
        Ok(options)
    }

    /// Whether a string is stored over the one that is there, or where there is none.
    pub(crate) fn allow(&self, old: Option<&impl StringValue>) -> Result<bool, Fault> {
        match self.comparison {
            Some(comparison) => comparison.holds(old),
            None => Ok(self.only.allows(old.is_some())),
        }
    }
}

/// What GETEX does to the expiry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ExpiryChange<'a> {
    Keep,
    Persist,
    /// To the moment that a number means, which has not been read yet.
    Set(Deadline, &'a [u8]),
}

impl<'a> ExpiryChange<'a> {
    /// Reads the words behind the key. One may be given again, but not together with another.
    pub(crate) fn parse(words: Args<'a>) -> Result<Self, Fault> {
        let mut words = words.iter();
        let mut change = ExpiryChange::Keep;
        while let Some(word) = words.next() {
            change = match (Deadline::option(word), change) {
                (None, Self::Keep | Self::Persist) if word.eq_ignore_ascii_case(b"persist") => {
                    Self::Persist
                }
                (Some(unit), Self::Keep) => Self::Set(unit, words.next().ok_or(Fault::SYNTAX)?),
                (Some(unit), Self::Set(before, _)) if unit == before => {
                    Self::Set(unit, words.next().ok_or(Fault::SYNTAX)?)
                }
                _ => return Err(Fault::SYNTAX),
            };
        }
        Ok(change)
    }

    /// The new expiry in unix milliseconds, if it is to be a new one. The number is read here: it is
    /// of no interest to a client whose key is not there.
    pub(crate) fn moment(self, unix_ms: u64, command: &str) -> Result<Option<u64>, Fault> {
        match self {
            Self::Set(unit, number) => unit.positive(number, unix_ms, command).map(Some),
            Self::Keep | Self::Persist => Ok(None),
        }
    }
}
