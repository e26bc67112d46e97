// SPDX-License-Identifier: Apache-2.0
//! Rules that describe where the keys of a command are among its arguments.
//!
//! A rule has two halves: how to find the first key, and how to go on from there. All positions
//! count from the name of the command, which is argument 0. `keys.rs` applies the rules.

use super::bits::KeyFlags;

/// One rule. Most commands have one, some have several, and each finds keys on its own.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct KeySpec {
    /// Where to begin.
    pub begin: Begin,
    /// Which arguments are keys from there on.
    pub find: Find,
    /// How the command uses these keys.
    pub flags: KeyFlags,
    /// A note for readers, or empty.
    pub note: &'static str,
}

/// The first half of a rule: where to begin.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Begin {
    /// At this argument.
    Index(u8),
    /// Behind a word.
    Keyword {
        /// The word, upper case; clients may write it in any case.
        word: &'static str,
        /// The first argument that may be the word; a negative number counts from the end, and
        /// the search goes backwards then.
        from: i8,
    },
    /// After the last option with this name, if there is one. `COMMAND` has no word for this rule.
    Option {
        /// The option, upper case; clients may write it in any case.
        word: &'static str,
        /// The first argument that may be an option.
        from: u8,
        /// Other options that have values, and how many. A value is no option, whatever it says.
        others: &'static [(&'static str, u8)],
        /// `COMMAND` shows it as [`Begin::Keyword`], and else as unknown, as Redis does.
        is_shown: bool,
    },
    /// At this argument, unless a word is among the options: then the keys are behind that word
    /// ([`Begin::Behind`], in another rule), and this argument is empty.
    Unless {
        /// The argument.
        index: u8,
        /// The word with what it takes to find it.
        word: &'static OptionWord,
    },
    /// Behind a word among the options, after which there are none, if it is there.
    Behind(&'static OptionWord),
    /// Not at a place that a rule can describe: the keys follow from the values of others.
    Unknown,
}

/// A word that ends the options of a command.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct OptionWord {
    /// The word, upper case; clients may write it in any case.
    pub word: &'static str,
    /// The first argument that may be an option.
    pub from: u8,
    /// Other options that have values, and how many. A value is no option, whatever it says.
    pub others: &'static [(&'static str, u8)],
    /// Where `COMMAND` says that the search begins, as in [`Begin::Keyword`].
    pub shown_from: i8,
}

/// The second half of a rule: how to find the keys from there.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Find {
    /// All arguments up to one, or every n-th of them.
    Range {
        /// The last, relative to the first; a negative number counts from the end of the command.
        last: i8,
        /// How far it is from one key to the next.
        step: u8,
        /// If `last` is -1: only so large a part of the arguments, 2 for the first half. 0 and 1
        /// are no limit.
        limit: u8,
    },
    /// As many keys as an argument states.
    Count {
        /// Which argument says how many, relative to where to begin.
        at: u8,
        /// The first key, relative to where to begin.
        first: u8,
        /// How far it is from one key to the next.
        step: u8,
    },
    /// A rule cannot say.
    Unknown,
}

impl KeySpec {
    /// The argument at `index`.
    pub(super) const fn at(index: u8) -> Self {
        Self::range(index, 0, 1)
    }

    /// Every `step`-th argument from `index` to `last`, which counts from `index` or, negative,
    /// from the end.
    pub(super) const fn range(index: u8, last: i8, step: u8) -> Self {
        Self::new(Begin::Index(index), Find::Range { last, step, limit: 0 })
    }

    /// As many as the argument at `index` says, and behind it.
    pub(super) const fn counted(index: u8) -> Self {
        Self::new(Begin::Index(index), Find::Count { at: 0, first: 1, step: 1 })
    }

    /// [`KeySpec::counted`], where each key has a value behind it.
    pub(super) const fn counted_pairs(index: u8) -> Self {
        Self::new(Begin::Index(index), Find::Count { at: 0, first: 1, step: 2 })
    }

    /// The first half of the arguments behind a word; see [`Begin::Keyword`] for `from`.
    pub(super) const fn half_behind(word: &'static str, from: i8) -> Self {
        Self::new(Begin::Keyword { word, from }, Find::Range { last: -1, step: 1, limit: 2 })
    }

    /// The value of an option, see [`Begin::Option`].
    pub(super) const fn option(
        word: &'static str,
        from: u8,
        others: &'static [(&'static str, u8)],
    ) -> Self {
        Self::of_option(Begin::Option { word, from, others, is_shown: false })
    }

    /// The value of an option that `COMMAND` shows.
    pub(super) const fn keyword_option(
        word: &'static str,
        from: u8,
        others: &'static [(&'static str, u8)],
    ) -> Self {
        Self::of_option(Begin::Option { word, from, others, is_shown: true })
    }

    const fn of_option(option: Begin) -> Self {
        Self::new(option, Find::Range { last: 0, step: 1, limit: 0 })
    }

    /// The argument at `index`, see [`Begin::Unless`].
    pub(super) const fn at_unless(index: u8, word: &'static OptionWord) -> Self {
        Self::of_option(Begin::Unless { index, word })
    }

    /// All arguments behind a word, see [`Begin::Behind`].
    pub(super) const fn behind(word: &'static OptionWord) -> Self {
        Self::new(Begin::Behind(word), Find::Range { last: -1, step: 1, limit: 0 })
    }

    /// Keys that follow from the values of others.
    pub(super) const fn unknown() -> Self {
        Self::new(Begin::Unknown, Find::Unknown)
    }

    const fn new(begin: Begin, find: Find) -> Self {
        Self { begin, find, flags: KeyFlags::NONE, note: "" }
    }

    /// The rule with flags and a note.
    pub(super) const fn with(self, flags: KeyFlags, note: &'static str) -> Self {
        Self { flags, note, ..self }
    }

    /// Whether it finds keys, and not something that is only routed like them.
    #[must_use]
    pub const fn is_key(&self) -> bool {
        !self.flags.has(KeyFlags::NOT_KEY)
    }

    /// The first key, the last and the step between keys, if they are at fixed places. The last
    /// counts from the end if it is negative.
    pub(super) fn fixed(&self) -> Option<(i32, i32, i32)> {
        let (
            Begin::Index(first) | Begin::Unless { index: first, .. },
            Find::Range { last, step, .. },
        ) = (self.begin, self.find)
        else {
            return None;
        };
        let (first, last) = (i32::from(first), i32::from(last));
        Some((first, if last < 0 { last } else { first + last }, step.into()))
    }
}
