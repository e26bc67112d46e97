// SPDX-License-Identifier: Apache-2.0
//! [`Flag`]: a row of the table of flags.

use super::Said;
use clap::builder::ValueParser;
use clap::{Arg, ArgAction, ArgMatches};
use std::fmt;

/// A change that a flag makes, given its parsed value.
type Change<C> = Box<dyn Fn(&mut Said<'_, C>, &ArgMatches)>;

/// A flag: how it is written, what it is for, and what it does.
pub struct Flag<C> {
    /// With a dash.
    short: &'static str,
    arg: Arg,
    about: &'static str,
    /// The key that it sets, as `[section] key`; empty if it sets none, or several.
    key: &'static str,
    /// The flag of the shared table after which it is placed.
    after: &'static str,
    effect: Effect<C>,
}

/// What a flag does.
enum Effect<C> {
    /// It changes something.
    Sets(Change<C>),
    /// It asks for what this server does anyway.
    AsItIs,
    /// It turns on a feature for which something else must be set, too.
    Needs { is_met: fn(&C) -> bool, problem: &'static str },
    /// It has no effect here, for this reason, and nobody relies on one.
    Nothing(&'static str),
    /// It is refused for this reason, because a user would rely on an effect that does not happen.
    Refused(&'static str),
}

/// A flag: `short` with its dash, or the same as `--long` if it has no other
/// name. Until a further column says what it does, it asks for what this server does anyway.
#[must_use]
pub fn flag<C>(short: &'static str, long: &'static str) -> Flag<C> {
    let arg = Arg::new(if long.is_empty() { short } else { long }).hide(true);
    let arg = arg.action(ArgAction::SetTrue);
    let arg = match short.strip_prefix('-').and_then(|rest| rest.chars().next()) {
        Some(letter) if letter != '-' => arg.short(letter),
        Some(_) | None => arg,
    };
    let arg = if long.is_empty() { arg } else { arg.long(long) };
    Flag { short, arg, about: "", key: "", after: "", effect: Effect::AsItIs }
}

impl<C> Flag<C> {
    /// It has a value, which the help calls by this name and `parser` reads.
    #[must_use]
    pub fn value(mut self, name: &'static str, parser: impl Into<ValueParser>) -> Self {
        self.arg = self.arg.value_name(name).value_parser(parser.into()).action(ArgAction::Set);
        // The next word is the value, as for getopt: an error names both.
        self.arg = self.arg.allow_hyphen_values(true);
        self
    }

    /// What it is for, as the help shows it; a flag without is hidden.
    #[must_use]
    pub fn about(mut self, about: &'static str) -> Self {
        self.arg = self.arg.help(about).hide(false);
        self.about = about;
        self
    }

    /// The key that it sets, as `[section] key`.
    #[must_use]
    pub fn over(mut self, key: &'static str) -> Self {
        self.key = key;
        self
    }

    /// It is placed after this flag, which is given by its long name.
    #[must_use]
    pub fn after(mut self, long: &'static str) -> Self {
        self.after = long;
        self
    }

    /// It makes this change with its value, which is of type `T`.
    #[must_use]
    pub fn sets<T>(mut self, set: fn(&mut Said<'_, C>, T)) -> Self
    where
        T: Clone + Send + Sync + 'static,
        C: 'static,
    {
        let id = self.id().to_owned();
        self.effect = Effect::Sets(Box::new(move |said, matches| {
            if let Some(value) = matches.get_one::<T>(&id) {
                set(said, value.clone());
            }
        }));
        self
    }

    /// It may be given several times, each time with several values separated by commas. It makes this
    /// change with all of them.
    #[must_use]
    pub fn sets_all<T>(mut self, set: fn(&mut Said<'_, C>, Vec<T>)) -> Self
    where
        T: Clone + Send + Sync + 'static,
        C: 'static,
    {
        self.arg = self.arg.action(ArgAction::Append).value_delimiter(',');
        let id = self.id().to_owned();
        self.effect = Effect::Sets(Box::new(move |said, matches| {
            set(said, matches.get_many::<T>(&id).into_iter().flatten().cloned().collect());
        }));
        self
    }

    /// It makes this change with the number of times that it was given.
    #[must_use]
    pub fn counts(mut self, set: fn(&mut Said<'_, C>, u8)) -> Self
    where
        C: 'static,
    {
        self.arg = self.arg.action(ArgAction::Count);
        let id = self.id().to_owned();
        self.effect =
            Effect::Sets(Box::new(move |said, matches| set(said, matches.get_count(&id))));
        self
    }

    /// It has no value and makes this change.
    #[must_use]
    pub fn does(mut self, change: fn(&mut Said<'_, C>)) -> Self
    where
        C: 'static,
    {
        self.effect = Effect::Sets(Box::new(move |said, _| change(said)));
        self
    }

    /// Something in the configuration must go with it. If that is missing, `problem` is the error.
    #[must_use]
    pub fn needs(mut self, is_met: fn(&C) -> bool, problem: &'static str) -> Self {
        self.effect = Effect::Needs { is_met, problem };
        self
    }

    /// It is accepted and has no effect, for this reason.
    #[must_use]
    pub fn without_effect(mut self, why: &'static str) -> Self {
        self.effect = Effect::Nothing(why);
        self
    }

    /// It is refused for this reason.
    #[must_use]
    pub fn refused(mut self, why: &'static str) -> Self {
        self.effect = Effect::Refused(why);
        self
    }

    pub(super) fn id(&self) -> &str {
        self.arg.get_id().as_str()
    }

    pub(super) fn arg(&self) -> Arg {
        self.arg.clone()
    }

    pub(super) fn place(&self) -> &'static str {
        self.after
    }

    pub(super) fn key(&self) -> &'static str {
        self.key
    }

    pub(super) fn short(&self) -> &'static str {
        self.short
    }

    pub(super) fn apply(&self, said: &mut Said<'_, C>) {
        match &self.effect {
            Effect::Sets(set) => {
                let matches = said.matches;
                set(said, matches);
            }
            Effect::AsItIs | Effect::Needs { .. } | Effect::Nothing(_) | Effect::Refused(_) => {}
        }
    }

    /// The flag and the reason why it is refused, if it is.
    pub(super) fn refusal(&self) -> Option<(&'static str, &'static str)> {
        match self.effect {
            Effect::Refused(why) => Some((self.short, why)),
            Effect::Sets(_) | Effect::AsItIs | Effect::Needs { .. } | Effect::Nothing(_) => None,
        }
    }

    /// The flag and the problem, if something is missing in `config` that must go with it.
    pub(super) fn lacks(&self, config: &C) -> Option<(&'static str, &'static str)> {
        match self.effect {
            Effect::Needs { is_met, problem } => (!is_met(config)).then_some((self.short, problem)),
            Effect::Sets(_) | Effect::AsItIs | Effect::Nothing(_) | Effect::Refused(_) => None,
        }
    }

    /// Why it has no effect, if it has none.
    pub(super) fn idle(&self) -> Option<&'static str> {
        match self.effect {
            Effect::Nothing(why) => Some(why),
            Effect::Sets(_) | Effect::AsItIs | Effect::Needs { .. } | Effect::Refused(_) => None,
        }
    }

    /// Its row of a table in Markdown, if the help shows it.
    pub(super) fn markdown(&self) -> Option<String> {
        let Flag { short, arg, about, key, .. } = self;
        let names = arg.get_value_names().map(|names| names[0].to_string());
        let value = names.map_or_else(String::new, |name| format!(" {name}"));
        let long = arg.get_long().unwrap_or_default();
        let both = format!("--{long}") != *short;
        let written = if long.is_empty() {
            format!("`{short}{value}`")
        } else if both {
            format!("`{short}`, `--{long}{value}`")
        } else {
            format!("`--{long}{value}`")
        };
        let key = if key.is_empty() { String::new() } else { format!("`{key}`") };
        (!about.is_empty()).then(|| format!("| {written} | {key} | {about} |\n"))
    }
}

impl<C> fmt::Debug for Flag<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Flag").field("short", &self.short).finish_non_exhaustive()
    }
}
