// SPDX-License-Identifier: Apache-2.0
//! [`Spec`]: the columns of a row as they are written. [`Row`]: a row as pages show it.

use super::{Bounded, Form};
use serde::Serialize;
use std::fmt;
use std::ops::RangeInclusive;

/// A key, as pages show it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// The key.
    pub key: String,
    /// What it is for, in sentences.
    pub about: String,
    /// What its values may be, in Markdown.
    pub takes: String,
    /// Its default as written in a file; `None` where absence has a meaning of its own.
    pub default: Option<String>,
    /// What applies without the key, in words, if it has no default.
    pub absent: String,
    /// A value as written in a file, for a key without a default.
    pub example: Option<String>,
}

/// The defaults of a section, as written in a file.
#[derive(Debug)]
pub struct Defaults(toml::Table);

impl Defaults {
    /// Those of `section`.
    ///
    /// # Panics
    ///
    /// When the section cannot be written as TOML.
    #[must_use]
    pub fn of<T: Serialize>(section: &T) -> Self {
        Defaults(toml::Table::try_from(section).expect("a section is a table"))
    }
}

impl Row {
    /// Lines of documentation as one paragraph.
    #[must_use]
    pub fn sentence(lines: &str) -> String {
        lines.split_ascii_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// What is wrong with a value, if something is.
type Judge<T> = Box<dyn Fn(&T) -> Option<String>>;

/// The columns of a row of [`section!`](crate::section!): of a key with values `T` in a section `S`.
#[must_use]
pub struct Spec<S, T> {
    takes: Option<String>,
    absent: &'static str,
    example: Option<String>,
    is_hidden: bool,
    within: Option<Judge<T>>,
    rule: Option<fn(&S) -> Option<String>>,
}

impl<S, T> fmt::Debug for Spec<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spec").field("takes", &self.takes).finish_non_exhaustive()
    }
}

impl<S, T> Default for Spec<S, T> {
    fn default() -> Self {
        Spec {
            takes: None,
            absent: "none",
            example: None,
            is_hidden: false,
            within: None,
            rule: None,
        }
    }
}

impl<S, T: Form> Spec<S, T> {
    /// A row without columns.
    pub fn new() -> Self {
        Spec::default()
    }

    /// `within 1..=256`: the values that are accepted.
    pub fn within(mut self, range: RangeInclusive<T>) -> Self
    where
        T: Bounded + 'static,
    {
        self.takes = Some(T::told(&range));
        self.within =
            Some(Box::new(move |value| (!range.contains(value)).then(|| value.outside(&range))));
        self
    }

    /// `rule Cache::memory_problem`: what is wrong with the value, beside other keys of its section.
    pub fn rule(mut self, problem: fn(&S) -> Option<String>) -> Self {
        self.rule = Some(problem);
        self
    }

    /// `takes "1KB to 1GB"`: what the values may be, in words, where a range does not say it.
    pub fn takes(mut self, words: &str) -> Self {
        self.takes = Some(words.to_owned());
        self
    }

    /// `absent "no limit"`: what applies without the key.
    pub fn absent(mut self, words: &'static str) -> Self {
        self.absent = words;
        self
    }

    /// `example "/var/log/x.log"`: a value for a key that has no default.
    pub fn example<V: Serialize>(mut self, value: V) -> Self {
        self.example = toml::Value::try_from(value).ok().map(|value| value.to_string());
        self
    }

    /// `hidden ()`: no page shows it.
    pub fn hidden(mut self, (): ()) -> Self {
        self.is_hidden = true;
        self
    }

    /// What is wrong with `value` in `section`.
    #[must_use]
    pub fn problem(&self, section: &S, value: &T) -> Option<String> {
        let outside = self.within.as_ref().and_then(|within| within(value));
        outside.or_else(|| self.rule.and_then(|rule| rule(section)))
    }

    /// The row as pages show it; `None` if none does.
    #[must_use]
    pub fn row(self, key: &str, about: &str, defaults: &Defaults) -> Option<Row> {
        (!self.is_hidden).then(|| Row {
            key: key.to_owned(),
            about: Row::sentence(about),
            takes: self.takes.unwrap_or_else(T::form),
            default: defaults.0.get(key).map(toml::Value::to_string),
            absent: self.absent.to_owned(),
            example: self.example,
        })
    }
}
