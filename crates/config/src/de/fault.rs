// SPDX-License-Identifier: Apache-2.0
//! What went wrong while a value was handed to serde, and where.

use std::fmt;
use std::ops::Range;

use serde::de::{self, Expected, Unexpected};

use crate::source::{quoted, shorten};
use crate::suggest::advice;

/// The longest text taken over from another crate, in characters.
const TEXT_CHARS: usize = 240;

/// The error type of the deserializer.
///
/// Serde and the settings' own code make one without a place; the innermost value on the way out
/// adds it.
#[derive(Debug)]
pub(crate) struct Fault(Box<Parts>);

#[derive(Debug)]
struct Parts {
    cause: Cause,
    place: Option<FaultPlace>,
}

/// What is wrong.
#[derive(Debug)]
enum Cause {
    /// The value is not what this says.
    Expected(String),
    /// A key is missing.
    Missing(&'static str),
    /// The same setting is given under two names.
    Twice(&'static str),
    /// A key is not known; seen only where serde hides the fields from the deserializer.
    UnknownKey { key: String, known: &'static [&'static str] },
    /// A name is not in the list of an enum's variants.
    UnknownVariant { given: String, known: &'static [&'static str] },
    /// The setting refuses the value for a reason of its own.
    Refused(String),
}

/// Where it is.
#[derive(Debug)]
pub(crate) struct FaultPlace {
    /// Bytes of the text; `None` for the whole document.
    pub(crate) span: Option<Range<usize>>,
    /// The key, empty at the top level.
    pub(crate) key: String,
    /// The table as messages put it: `in [server]`, `at the top level`.
    pub(crate) table: String,
    /// The value as messages put it: `the integer 5`.
    pub(crate) found: String,
}

impl Fault {
    /// The value should be what `what` says.
    pub(crate) fn expected(what: impl Into<String>) -> Self {
        Cause::Expected(what.into()).into()
    }

    /// Adds the place, unless a value further inside has done so.
    pub(crate) fn at(mut self, place: impl FnOnce() -> FaultPlace) -> Self {
        if self.0.place.is_none() {
            self.0.place = Some(place());
        }
        self
    }

    /// The key serde does not know, if that is what is wrong.
    pub(crate) fn unknown_key(&self) -> Option<&str> {
        match &self.0.cause {
            Cause::UnknownKey { key, .. } => Some(key),
            _ => None,
        }
    }

    /// Bytes of the text; `None` for the whole document.
    pub(crate) fn span(&self) -> Option<Range<usize>> {
        self.0.place.as_ref()?.span.clone()
    }
}

impl From<Cause> for Fault {
    fn from(cause: Cause) -> Self {
        Fault(Box::new(Parts { cause, place: None }))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Parts { cause, place } = &*self.0;
        let (key, table, found) = match place {
            Some(place) => (place.key.as_str(), place.table.as_str(), place.found.as_str()),
            None => ("", "at the top level", "a value"),
        };
        let concerns_value =
            matches!(cause, Cause::Expected(_) | Cause::UnknownVariant { .. } | Cause::Refused(_));
        if concerns_value && !key.is_empty() {
            write!(f, "{key}: ")?;
        }
        match cause {
            Cause::Expected(what) => write!(f, "found {found}, expected {what}"),
            Cause::Refused(why) => write!(f, "{found} is refused: {why}"),
            Cause::UnknownVariant { given, known } => {
                write!(f, "{} is not one of the choices{}", quoted(given, 40), advice(given, known))
            }
            Cause::Missing(name) => write!(f, "missing key {} {table}", quoted(name, 40)),
            Cause::Twice(name) => {
                write!(f, "key {} is given twice {table}, under two names", quoted(name, 40))
            }
            Cause::UnknownKey { key, known } => {
                write!(f, "unknown key {} {table}{}", quoted(key, 40), advice(key, known))
            }
        }
    }
}

impl std::error::Error for Fault {}

impl de::Error for Fault {
    fn custom<T: fmt::Display>(text: T) -> Self {
        Cause::Refused(shorten(&text.to_string(), TEXT_CHARS)).into()
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Fault::expected(shorten(&expected.to_string(), TEXT_CHARS))
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Fault::expected(shorten(&expected.to_string(), TEXT_CHARS))
    }

    fn invalid_length(_: usize, expected: &dyn Expected) -> Self {
        Fault::expected(shorten(&expected.to_string(), TEXT_CHARS))
    }

    fn unknown_variant(given: &str, known: &'static [&'static str]) -> Self {
        Cause::UnknownVariant { given: shorten(given, TEXT_CHARS), known }.into()
    }

    fn unknown_field(key: &str, known: &'static [&'static str]) -> Self {
        Cause::UnknownKey { key: shorten(key, TEXT_CHARS), known }.into()
    }

    fn missing_field(name: &'static str) -> Self {
        Cause::Missing(name).into()
    }

    fn duplicate_field(name: &'static str) -> Self {
        Cause::Twice(name).into()
    }
}
