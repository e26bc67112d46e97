// SPDX-License-Identifier: Apache-2.0
//! The command line: every parameter by its Redis name, beside the flags that all servers share.
//!
//! As for redis-server, the words behind a flag are its value: `--bind 127.0.0.1 ::1 --port 7000`; the first of them also
//! where it looks like a flag. A name may have its value in the same word, as a line of a file: `"--port 7000"`.

use super::conf::{Directive, Place, merge};
use super::names::{Name, ParameterTable};
use crate::cli::{self, CommonArgs};
use clap::{Arg, ArgAction, ArgMatches, Args as _, Command, FromArgMatches};
use std::ffi::OsString;

/// A parsed command line.
#[derive(Debug)]
pub struct Flags {
    /// The arguments that all servers share.
    pub common: CommonArgs,
    /// Parameters.
    pub directives: Vec<Directive>,
}

impl Flags {
    /// Reads the command line. Ends the process if the command line is wrong or asks only for help.
    #[must_use]
    pub fn parse<N: ParameterTable>(program: Command) -> Self {
        let words = std::env::args_os();
        Self::try_parse::<N>(program, words).unwrap_or_else(|error| cli::refuse(error))
    }

    /// Reads a command line, whose first word is the program.
    pub(super) fn try_parse<N: ParameterTable>(
        program: Command,
        words: impl IntoIterator<Item = OsString>,
    ) -> Result<Self, clap::Error> {
        let matches = command::<N>(program).try_get_matches_from(joined::<N>(words))?;
        let common = CommonArgs::from_arg_matches(&matches)?;
        Ok(Flags { common, directives: directives::<N>(&matches) })
    }
}

/// Blanks the passwords on the command line that other users see; Redis replaces the whole line.
pub fn hide_secrets<N: ParameterTable>() {
    if let Err(problem) = crate::arguments::hide(secret_from::<N>) {
        eprintln!("warning: other users can see the command line, passwords too: {problem}");
    }
}

/// From which byte on a word of the command line is a secret.
pub(super) fn secret_from<N: ParameterTable>(words: &[&[u8]], number: usize) -> Option<usize> {
    let secret = |name: &[u8]| {
        name.strip_prefix(b"--").and_then(N::find).filter(|parameter| parameter.is_secret)
    };
    let word = words[number];
    if let Some(end) = word.iter().position(|byte| *byte == b'=' || byte.is_ascii_whitespace())
        && secret(&word[..end]).is_some()
    {
        return Some(end + 1);
    }
    // The words of a list end at the next flag.
    let flag = words[..number].iter().rposition(|word| word.starts_with(b"--"))?;
    let known = secret(words[flag])?;
    (flag + 1 == number || known.is_list && !word.starts_with(b"--")).then_some(0)
}

/// The values of all flags; those of one that is given several times go together as lines of a file do.
fn directives<N: ParameterTable>(matches: &ArgMatches) -> Vec<Directive> {
    let given = N::all().flat_map(|parameter| {
        let values = matches.get_many::<String>(parameter.name).into_iter().flatten();
        values.map(move |value| Directive { parameter, value: value.clone(), place: Place::Flag })
    });
    merge(given.collect())
}

/// `program` with all flags.
pub fn command<N: ParameterTable>(program: Command) -> Command {
    let version = Arg::new("version")
        .short('v')
        .short_alias('V')
        .long("version")
        .action(ArgAction::Version)
        .help("Print version");
    let about = program.get_about().cloned().unwrap_or_default();
    let command = CommonArgs::augment_args(program.disable_version_flag(true))
        // Set after the arguments, whose documentation would replace it otherwise.
        .about(about)
        .long_about(None)
        .mut_arg("config", |arg| {
            arg.help("Configuration file: TOML, or a redis.conf; defaults apply without one")
        })
        .arg(version)
        .next_help_heading("Parameters, by their Redis names");
    N::all().fold(command, |command, parameter| command.arg(flag(parameter)))
}

/// The flag of a parameter. Those that do nothing here are accepted, but not shown.
fn flag(parameter: Name) -> Arg {
    let Name { name, default, about, .. } = parameter;
    let shown = if default.is_empty() { "\"\"" } else { default };
    Arg::new(name)
        .long(name)
        .value_name("VALUE")
        .help(format!("{} [default: {shown}]", about.trim_end_matches('.')))
        .action(ArgAction::Append)
        .hide(about.is_empty())
}

/// The command line with each parameter and its value in one word, as `--port=7000`.
///
/// Without a value `--save` is one with an empty value, as for redis-server; other names are refused.
fn joined<N: ParameterTable>(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words = words.into_iter().peekable();
    let mut joined = Vec::new();
    while let Some(word) = words.next() {
        let line = word.to_str().and_then(|word| word.strip_prefix("--")).and_then(N::words);
        let mut line = line.unwrap_or_default().into_iter();
        let Some(known) = line.next().and_then(|name| N::find(name.as_bytes())) else {
            joined.push(word);
            continue;
        };
        let mut values: Vec<String> = line.collect();
        let may_be_empty = known.name == "save";
        while let Some(value) = words.peek().and_then(|word| word.to_str())
            && (!value.starts_with("--") || values.is_empty() && !may_be_empty)
            && (values.is_empty() || known.is_list)
        {
            values.push(value.to_owned());
            words.next();
        }
        if values.is_empty() && !may_be_empty {
            joined.push(word);
        } else {
            joined.push(format!("--{}={}", known.name, values.join(" ")).into());
        }
    }
    joined
}
