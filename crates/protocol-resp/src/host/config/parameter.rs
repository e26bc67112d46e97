// SPDX-License-Identifier: Apache-2.0
//! [`Parameter`]: a row of the table of parameters.

use super::Outcome;
use super::kind::{Kind, Value};
use crate::host::Host;

/// A parameter: its name, what it may be, and what becomes of it.
#[derive(Debug)]
pub struct Parameter {
    pub(crate) name: &'static str,
    /// A second name from older versions; empty when there is none.
    pub(crate) alias: &'static str,
    pub(crate) kind: Kind,
    /// Its value when nobody says anything, as it is written.
    pub(crate) default: &'static str,
    /// Where our own configuration file says it, `[section] key`; empty: by its name.
    pub(crate) place: &'static str,
    /// What it is for, in a sentence; empty if nothing goes by it.
    pub(crate) about: &'static str,
    pub(crate) home: Home,
    pub(crate) access: Access,
    /// CONFIG GET shows it only to those who give its whole name.
    pub(crate) is_hidden: bool,
}

/// Whether CONFIG SET may name a parameter at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// It may; whether it changes it is up to its [`Home`].
    Free,
    /// It may not, whatever the value.
    Immutable,
    /// It may if `enable-protected-configs` lets the client.
    Protected,
}

/// Where the value of a parameter is, and who may change it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Home {
    /// It is in force in the server, which is asked for it and told of a change.
    Live { get: fn(&Host) -> Value, set: fn(&Host, &Value) },
    /// It is given when the server starts.
    Start,
    /// Whatever it is, the server behaves the same: it is kept, to be shown.
    Kept,
    /// It is what it is, for this reason.
    Fixed(&'static str),
    /// As [`Home::Fixed`]; but a server can be started with another value, which is not in force:
    /// many a configuration file has one.
    Ignored(&'static str),
    /// As [`Home::Ignored`] at the start; CONFIG SET takes it, too, and CONFIG GET shows it then.
    Unheeded(&'static str),
    /// It is no parameter, but what files say under its name cannot be done, for this reason.
    Directive(&'static str),
}

impl Parameter {
    /// Its name, in lower case.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Its value when nobody says anything, as it is written.
    #[must_use]
    pub fn default(&self) -> &'static str {
        self.default
    }

    /// Where our own configuration file says it, `[section] key`; `None`: by this name.
    #[must_use]
    pub fn place(&self) -> Option<&'static str> {
        Some(self.place).filter(|place| !place.is_empty())
    }

    /// Whether its value can be several words, each an argument of its own on a command line.
    #[must_use]
    pub fn is_list(&self) -> bool {
        matches!(self.kind, Kind::Special(_))
    }

    /// What it is for, in a sentence; empty if nothing goes by it.
    #[must_use]
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Whether it can change while the server runs.
    #[must_use]
    pub fn is_live(&self) -> bool {
        matches!(self.home, Home::Live { .. } | Home::Kept)
    }

    /// Why it has no other value than its default; `None`: it has.
    #[must_use]
    pub fn reason(&self) -> Option<&'static str> {
        match self.home {
            Home::Fixed(why) | Home::Ignored(why) | Home::Unheeded(why) | Home::Directive(why) => {
                Some(why)
            }
            Home::Live { .. } | Home::Start | Home::Kept => None,
        }
    }

    /// Whether a server does not start with another value than its default.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        matches!(self.home, Home::Fixed(_) | Home::Directive(_))
    }

    /// Its second name, from older versions.
    #[must_use]
    pub fn alias(&self) -> Option<&'static str> {
        Some(self.alias).filter(|alias| !alias.is_empty())
    }

    /// What comes of giving it this value when the server starts.
    ///
    /// # Errors
    ///
    /// What is wrong with the value.
    pub fn check(&self, text: &[u8]) -> Result<Outcome, String> {
        let value = self.kind.read(text)?;
        match self.home {
            Home::Fixed(why) | Home::Directive(why) if value != self.default_value() => {
                Err(why.to_owned())
            }
            Home::Ignored(why) | Home::Unheeded(why) if value != self.default_value() => {
                Ok(Outcome::NoEffect(why))
            }
            Home::Live { .. }
            | Home::Start
            | Home::Kept
            | Home::Fixed(_)
            | Home::Directive(_)
            | Home::Ignored(_)
            | Home::Unheeded(_) => Ok(Outcome::Set),
        }
    }

    /// Its value as it is shown, if `text` is one.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub fn canonical(&self, text: &[u8]) -> Result<Vec<u8>, String> {
        self.kind.read(text).map(|value| self.kind.show(&value))
    }

    /// Whether this is its name or its alias, in any case.
    pub(crate) fn is_called(&self, name: &[u8]) -> bool {
        self.names().any(|known| known.as_bytes().eq_ignore_ascii_case(name))
    }

    /// Its name, and its alias if it has one.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> {
        [self.name, self.alias].into_iter().filter(|name| !name.is_empty())
    }

    /// Its value when nobody says anything.
    pub(crate) fn default_value(&self) -> Value {
        let read = self.kind.read(self.default.as_bytes());
        read.expect("the tests read all defaults")
    }

    /// The same, with what it is for.
    pub(super) const fn meaning(self, about: &'static str) -> Self {
        Parameter { about, ..self }
    }

    /// The same, but our own configuration file says it at this place.
    pub(super) const fn at(self, place: &'static str) -> Self {
        Parameter { place, ..self }
    }

    /// The same, but CONFIG SET refuses it.
    pub(super) const fn immutable(self) -> Self {
        Parameter { access: Access::Immutable, ..self }
    }

    /// The same, but CONFIG SET takes it from those only who may change what is protected.
    pub(super) const fn protected(self) -> Self {
        Parameter { access: Access::Protected, ..self }
    }

    /// The same, but hidden.
    pub(super) const fn hidden(self) -> Self {
        Parameter { is_hidden: true, ..self }
    }

    /// The same with a second name.
    pub(super) const fn or(self, alias: &'static str) -> Self {
        Parameter { alias, ..self }
    }
}

const fn row(name: &'static str, kind: Kind, default: &'static str, home: Home) -> Parameter {
    Parameter {
        name,
        alias: "",
        kind,
        default,
        place: "",
        about: "",
        home,
        access: Access::Free,
        is_hidden: false,
    }
}

/// A row with [`Home::Live`].
pub(super) const fn live(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    get: fn(&Host) -> Value,
    set: fn(&Host, &Value),
) -> Parameter {
    row(name, kind, default, Home::Live { get, set })
}

/// A row with [`Home::Start`].
pub(super) const fn start(name: &'static str, kind: Kind, default: &'static str) -> Parameter {
    row(name, kind, default, Home::Start)
}

/// A row with [`Home::Kept`].
pub(super) const fn kept(name: &'static str, kind: Kind, default: &'static str) -> Parameter {
    row(name, kind, default, Home::Kept)
}

/// A row with [`Home::Fixed`].
pub(super) const fn fixed(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    why: &'static str,
) -> Parameter {
    row(name, kind, default, Home::Fixed(why))
}

/// A row with [`Home::Ignored`].
pub(super) const fn ignored(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    why: &'static str,
) -> Parameter {
    row(name, kind, default, Home::Ignored(why))
}

/// A row with [`Home::Unheeded`].
pub(super) const fn unheeded(
    name: &'static str,
    kind: Kind,
    default: &'static str,
    why: &'static str,
) -> Parameter {
    row(name, kind, default, Home::Unheeded(why))
}

/// A row with [`Home::Directive`].
pub(super) const fn directive(name: &'static str, why: &'static str) -> Parameter {
    row(name, Kind::Special(super::special::words), "", Home::Directive(why))
}
