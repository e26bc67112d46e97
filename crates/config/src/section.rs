// SPDX-License-Identifier: Apache-2.0
//! [`section!`](crate::section!): a section of a configuration as a table with one row for each key.
//!
//! A row has the key's name, its allowed values, its default and its documentation. The
//! rows generate the struct that a file is read into, the check of its values, the tables of
//! `docs/configuration.md` and the commented files of `packaging/config` ([`crate::page`]).

mod form;
mod row;

pub use form::{Bounded, Form};
pub use row::{Defaults, Row, Spec};

use std::fmt;

/// A section, as pages show it.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name, without brackets.
    pub name: &'static str,
    /// What it is for.
    pub about: String,
    /// Its keys, in the order of the file.
    pub rows: Vec<Row>,
}

/// A section of a configuration.
pub trait Section {
    /// Its name, without brackets.
    const NAME: &'static str;

    /// The section as pages show it.
    fn table() -> Table;

    /// The first rule that a value breaks, as `[section] key` and problem.
    fn problem(&self) -> Option<(&'static str, String)>;
}

/// Defines a section: a struct for its values, with a default for each, and its [`Section`].
///
/// A row is the key's documentation, then `key: Type = default`, then columns, each a method of
/// [`Spec`] and its argument:
///
/// ```
/// use config::{ByteSize, Section};
///
/// config::section! {
///     /// What is kept.
///     pub struct Cache in "cache" {
///         /// Memory for items.
///         pub memory: ByteSize = ByteSize(64 << 20), rule Cache::memory_problem;
///         /// Threads that look after them.
///         pub threads: usize = 1, within 1..=256;
///         /// The file to keep them in.
///         pub file: Option<std::path::PathBuf> = None, example "/var/cache/items";
///     }
/// }
///
/// impl Cache {
///     fn memory_problem(&self) -> Option<String> {
///         (self.memory.0 < 1 << 20).then(|| format!("{} is less than 1MB", self.memory))
///     }
/// }
///
/// let cache = Cache { threads: 300, ..Cache::default() };
/// assert_eq!(cache.problem().unwrap().0, "[cache] threads");
/// assert_eq!(cache.problem().unwrap().1, "300 is not between 1 and 256");
/// assert_eq!(Cache::table().rows[1].takes, "1 to 256");
/// ```
///
/// A list may follow of keys from other programs' files that are accepted without effect, each with the
/// reason: `} without_effect { hash_power: "the index grows by itself"; }`. Each is a field that is never
/// printed, and `warnings` names those that were given.
#[macro_export]
macro_rules! section {
    (
        $(#[doc = $intro:literal])+
        $vis:vis struct $name:ident in $section:literal {$(
            $(#[doc = $about:literal])+
            $field_vis:vis $key:ident: $type:ty = $default:expr $(, $column:ident $value:expr)*;
        )*}
        $(without_effect {$( $idle:ident: $why:literal; )*})?
    ) => {
        $(#[doc = $intro])+
        #[derive(Clone, Debug, ::serde::Serialize, ::serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        $vis struct $name {
            $( $(#[doc = $about])+ $field_vis $key: $type, )*
            $($( #[serde(skip_serializing)] $idle: Option<::serde::de::IgnoredAny>, )*)?
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $( $key: $default, )* $($( $idle: None, )*)? }
            }
        }

        impl $crate::Section for $name {
            const NAME: &'static str = $section;

            fn table() -> $crate::Table {
                let defaults = $crate::Defaults::of(&Self::default());
                let rows = vec![$({
                    let spec = $crate::Spec::<Self, $type>::new()$(.$column($value))*;
                    spec.row(stringify!($key), concat!($($about),+), &defaults)
                }),*];
                let rows = rows.into_iter().flatten().collect();
                $crate::Table { name: $section, about: $crate::Row::sentence(concat!($($intro),+)), rows }
            }

            fn problem(&self) -> Option<(&'static str, String)> {
                None$(.or_else(|| {
                    let spec = $crate::Spec::<Self, $type>::new()$(.$column($value))*;
                    let problem = spec.problem(self, &self.$key)?;
                    Some((concat!("[", $section, "] ", stringify!($key)), problem))
                }))*
            }
        }

        $(impl $name {
            /// What to tell somebody whose file has keys that change nothing.
            $vis fn warnings(&self) -> Vec<String> {
                let keys = [$( (stringify!($idle), self.$idle.is_some(), $why) ),*];
                let given = keys.into_iter().filter(|(_, is_given, _)| *is_given);
                given.map(|(key, _, why)| format!("[{}] {key} has no effect: {why}", $section)).collect()
            }
        })?
    };
}

/// Defines an enum whose values are words of a file, with other spellings behind `|`:
///
/// ```
/// config::choices! {
///     /// Which items go first.
///     #[derive(Default)]
///     pub enum Policy {
///         /// The oldest.
///         #[default]
///         Fifo = "fifo" | "Fifo",
///         /// None.
///         None = "none",
///     }
/// }
///
/// assert_eq!(Policy::Fifo.word(), "fifo");
/// assert_eq!(<Policy as config::Form>::form(), "`\"fifo\"`, `\"none\"`");
/// ```
#[macro_export]
macro_rules! choices {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident {$(
            $(#[$choice_meta:meta])*
            $choice:ident = $word:literal $(| $alias:literal)*,
        )*}
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ::serde::Serialize, ::serde::Deserialize)]
        $vis enum $name {$(
            $(#[$choice_meta])*
            #[serde(rename = $word $(, alias = $alias)*)]
            $choice,
        )*}

        impl $name {
            /// It as files have it.
            #[must_use]
            #[allow(dead_code, reason = "not every program shows the word")]
            $vis const fn word(self) -> &'static str {
                match self {$( $name::$choice => $word, )*}
            }
        }

        impl $crate::Form for $name {
            fn form() -> String {
                [$( concat!("`\"", $word, "\"`") ),*].join(", ")
            }
        }
    };
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}]", self.name)
    }
}
