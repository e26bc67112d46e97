// SPDX-License-Identifier: Apache-2.0
//! [`Opt`]: a row of the table of options of `-o`. [`Given`]: an option as it was given.

use super::options::{ALL, EMPTY};
use crate::settings::SectionsMut;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

/// What an option changes.
pub(super) type Change = Box<dyn Fn(&mut SectionsMut<'_>)>;

/// An option: how it is written, and what it does.
#[derive(Debug)]
pub(super) struct Opt {
    /// The name, with `=` and the name of its value if it has one.
    written: &'static str,
    /// The key that it sets, as `[section] key`.
    key: &'static str,
    effect: Effect,
}

#[derive(Debug)]
enum Effect {
    /// It makes a change, if its value is as expected.
    Sets { expected: &'static str, read: fn(&str) -> Option<Change> },
    /// It names a file.
    Path(fn(&mut SectionsMut<'_>, PathBuf)),
    /// It asks for what this server does anyway.
    AsItIs,
    /// It has no effect here, for this reason, and nobody relies on one.
    Nothing(&'static str),
    /// It is refused for this reason, because a user would rely on an effect that does not happen.
    Refused(&'static str),
}

/// A row of an option that sets a key.
pub(super) const fn sets(
    written: &'static str,
    key: &'static str,
    expected: &'static str,
    read: fn(&str) -> Option<Change>,
) -> Opt {
    Opt { written, key, effect: Effect::Sets { expected, read } }
}

/// A row of an option that names a file.
pub(super) const fn path(
    written: &'static str,
    key: &'static str,
    set: fn(&mut SectionsMut<'_>, PathBuf),
) -> Opt {
    Opt { written, key, effect: Effect::Path(set) }
}

/// A row of an option that asks for what this server does anyway.
pub(super) const fn as_it_is(written: &'static str) -> Opt {
    Opt { written, key: "", effect: Effect::AsItIs }
}

/// A row of an option that is accepted and has no effect, for this reason.
pub(super) const fn nothing(written: &'static str, why: &'static str) -> Opt {
    Opt { written, key: "", effect: Effect::Nothing(why) }
}

/// A row of an option that is refused.
pub(super) const fn refused(written: &'static str, why: &'static str) -> Opt {
    Opt { written, key: "", effect: Effect::Refused(why) }
}

impl Opt {
    pub(super) fn name(&self) -> &'static str {
        self.written.split_once('=').map_or(self.written, |(name, _)| name)
    }

    /// The name, with the name of its value.
    pub(super) fn written(&self) -> &'static str {
        self.written
    }

    fn is_called(&self, name: &str) -> bool {
        match self.name().strip_suffix('*') {
            Some(start) => name.starts_with(start),
            None => name == self.name(),
        }
    }

    /// Why it has no effect, if it has none.
    pub(super) fn idle(&self) -> Option<&'static str> {
        match self.effect {
            Effect::Nothing(why) => Some(why),
            Effect::Sets { .. } | Effect::Path(_) | Effect::AsItIs | Effect::Refused(_) => None,
        }
    }

    /// Whether it asks for what this server does anyway.
    pub(super) fn is_as_it_is(&self) -> bool {
        match self.effect {
            Effect::AsItIs => true,
            Effect::Sets { .. } => self.key.is_empty(),
            Effect::Path(_) | Effect::Nothing(_) | Effect::Refused(_) => false,
        }
    }

    /// The option and the reason why it is refused, if it is.
    pub(super) fn refusal(&self) -> Option<(&'static str, &'static str)> {
        match self.effect {
            Effect::Refused(why) => Some((self.written, why)),
            Effect::Sets { .. } | Effect::Path(_) | Effect::AsItIs | Effect::Nothing(_) => None,
        }
    }

    /// Its row of a table in Markdown, if it sets something.
    pub(super) fn markdown(&self) -> Option<String> {
        let Opt { written, key, .. } = self;
        (!key.is_empty()).then(|| format!("| `-o {written}` | `{key}` | |\n"))
    }
}

/// An option with its value.
#[derive(Clone)]
pub(super) struct Given {
    row: &'static Opt,
    name: String,
    value: String,
}

impl FromStr for Given {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, value) = match text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (text, None),
        };
        let row = match text {
            "" => Some(&EMPTY),
            _ => ALL.iter().find(|row| row.is_called(name)),
        };
        let row = row.ok_or("there is no such option of memcached's")?;
        let given = || value.ok_or_else(|| format!("needs a value: {}", row.written));
        match row.effect {
            Effect::Sets { expected, read } => {
                let value = given()?;
                if read(value).is_none() {
                    return Err(format!("expected {expected}"));
                }
            }
            Effect::Path(_) => _ = given()?,
            Effect::Refused(why) => return Err(why.to_owned()),
            Effect::AsItIs | Effect::Nothing(_) => {}
        }
        Ok(Given { row, name: name.to_owned(), value: value.unwrap_or_default().to_owned() })
    }
}

impl Given {
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Overrides the file's setting.
    pub(super) fn apply(&self, sections: &mut SectionsMut<'_>) {
        match self.row.effect {
            Effect::Sets { read, .. } => {
                if let Some(change) = read(&self.value) {
                    change(sections);
                }
            }
            Effect::Path(set) => set(sections, PathBuf::from(&self.value)),
            Effect::AsItIs | Effect::Nothing(_) | Effect::Refused(_) => {}
        }
    }

    /// The option as it was written, if it has no effect.
    pub(super) fn without_effect(&self) -> Option<String> {
        self.row.idle().is_some().then(|| format!("-o {}", self.name))
    }

    /// The option as it was written, if it is about TLS.
    pub(super) fn encrypts(&self) -> Option<&'static str> {
        self.row.key.starts_with("[tls]").then_some(self.row.written)
    }
}

impl fmt::Debug for Given {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "-o {}={}", self.name, self.value)
    }
}
