// SPDX-License-Identifier: Apache-2.0
//! [`Parameter`]: a row of the table of parameters.

use super::Outcome;
use super::kind::{Kind, Value};
use crate::host::Host;
use crate::table::SECRET_PARAMETERS;

/// A parameter: its name, its allowed values, and the effect of its value.
#[derive(Debug)]
pub struct Parameter {
    pub(crate) name: &'static str,
    /// A second name from older versions; empty when there is none.
    pub(crate) alias: &'static str,
    pub(crate) kind: Kind,
    /// Its default value, as text.
    pub(crate) default: &'static str,
    /// Its place in our own configuration file, `[section] key`; empty if it has its own name
    /// there.
    pub(crate) place: &'static str,
    /// One sentence on its purpose; empty if it is accepted but unused.
    pub(crate) about: &'static str,
    pub(crate) home: Home,
    pub(crate) access: Access,
    /// CONFIG GET shows it only when asked for its whole name.
    pub(crate) is_hidden: bool,
}

/// Whether CONFIG SET accepts a parameter at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// It does; whether the value changes depends on the parameter's [`Home`].
    Free,
    /// It does not, whatever the value.
    Immutable,
    /// It does if `enable-protected-configs` allows it to the client.
    Protected,
}

/// Where the value of a parameter is stored, and how it changes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Home {
    /// The server uses it: the value is read from there, and changes are applied there.
    Live { get: fn(&Host) -> Value, set: fn(&Host, &Value) },
    /// It is set when the server starts and does not change.
    Start,
    /// Accepted but unused: the value is stored only to be shown.
    Kept,
    /// It cannot have another value than its default, for this reason.
    Fixed(&'static str),
    /// As [`Home::Fixed`], but a server may be started with another value, which has no effect,
    /// because many configuration files contain one.
    Ignored(&'static str),
    /// As [`Home::Ignored`] at the start. CONFIG SET accepts other values too, and CONFIG GET shows
    /// them.
    Unheeded(&'static str),
    /// Not a parameter but a directive of configuration files, which is applied when the server starts.
    Written { set: fn(&Host, &Value) },
    /// Not a parameter but a directive of configuration files that is not supported, for this
    /// reason.
    Directive(&'static str),
}

impl Parameter {
    /// Its name, in lower case.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Its default value, as text.
    #[must_use]
    pub fn default(&self) -> &'static str {
        self.default
    }

    /// Its place in our own configuration file, `[section] key`; `None` if it has this name there.
    #[must_use]
    pub fn place(&self) -> Option<&'static str> {
        Some(self.place).filter(|place| !place.is_empty())
    }

    /// Whether its value can be several words, each an argument of its own on a command line.
    #[must_use]
    pub fn is_list(&self) -> bool {
        matches!(self.kind, Kind::Words(_))
    }

    /// Whether the values of its lines in a file are joined, up to the last that is empty; of others the last one counts.
    #[must_use]
    pub fn adds_up(&self) -> bool {
        matches!(self.name, "client-output-buffer-limit" | "save" | "user")
    }

    /// Whether its value is a password, or has passwords in it.
    #[must_use]
    pub fn is_secret(&self) -> bool {
        self.name == "user" || SECRET_PARAMETERS.contains(&self.name)
    }

    /// One sentence on its purpose; empty if it is accepted but unused.
    #[must_use]
    pub fn about(&self) -> &'static str {
        self.about
    }

    /// Whether it can change while the server runs.
    #[must_use]
    pub fn is_live(&self) -> bool {
        matches!(self.home, Home::Live { .. } | Home::Kept)
    }

    /// Why it cannot have another value than its default; `None` if it can.
    #[must_use]
    pub fn reason(&self) -> Option<&'static str> {
        match self.home {
            Home::Fixed(why) | Home::Ignored(why) | Home::Unheeded(why) | Home::Directive(why) => {
                Some(why)
            }
            Home::Live { .. } | Home::Start | Home::Kept | Home::Written { .. } => None,
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

    /// The effect of giving it this value when the server starts.
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
            | Home::Written { .. }
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

    /// Its default value.
    pub(crate) fn default_value(&self) -> Value {
        let read = self.kind.read(self.default.as_bytes());
        read.expect("the tests read all defaults")
    }

    /// The same, with a sentence on its purpose.
    pub(super) const fn meaning(self, about: &'static str) -> Self {
        Parameter { about, ..self }
    }

    /// The same, at this place in our own configuration file.
    pub(super) const fn at(self, place: &'static str) -> Self {
        Parameter { place, ..self }
    }

    /// The same, but CONFIG SET refuses it.
    pub(super) const fn immutable(self) -> Self {
        Parameter { access: Access::Immutable, ..self }
    }

    /// The same, but CONFIG SET accepts it only from clients that may change protected parameters.
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

/// A row with [`Home::Written`].
pub(super) const fn written(name: &'static str, kind: Kind, set: fn(&Host, &Value)) -> Parameter {
    row(name, kind, "", Home::Written { set })
}

/// A row with [`Home::Directive`].
pub(super) const fn directive(name: &'static str, why: &'static str) -> Parameter {
    row(name, Kind::Words(super::special::words), "", Home::Directive(why))
}
