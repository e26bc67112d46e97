// SPDX-License-Identifier: Apache-2.0
//! The command line: every parameter by its Redis name, beside the flags that all servers share.
//!
//! As for redis-server, the words behind a flag are its value: `--bind 127.0.0.1 ::1 --port 7000`.

use crate::directive::{Directive, Place};
use crate::parameters::SECRETS;
use clap::{Arg, ArgAction, ArgMatches, Args as _, Command, FromArgMatches};
use protocol_resp::service::config::{Parameter, parameter, parameters};
use server::cli::CommonArgs;
use std::ffi::OsString;

pub(crate) const NAME: &str = "rds";
pub(crate) const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What the command line says.
#[derive(Debug)]
pub(crate) struct Args {
    pub(crate) common: CommonArgs,
    pub(crate) directives: Vec<Directive>,
}

impl Args {
    /// Reads the command line, and ends the process if there is no more to do or nothing can be done.
    pub(crate) fn parse() -> Self {
        Self::try_parse(std::env::args_os()).unwrap_or_else(|error| server::cli::refuse(error))
    }

    /// Blanks passwords in what other users see of the command line, as Redis does with all of it.
    pub(crate) fn hide_secrets() {
        if let Err(problem) = server::arguments::hide(secret_from) {
            eprintln!("warning: other users can see the command line, passwords too: {problem}");
        }
    }

    /// Reads a command line, whose first word is the program.
    fn try_parse(words: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let matches = command().try_get_matches_from(joined(words))?;
        let common = CommonArgs::from_arg_matches(&matches)?;
        Ok(Args { common, directives: directives(&matches) })
    }
}

/// From where on a word of the command line is a secret.
fn secret_from(words: &[&[u8]], number: usize) -> Option<usize> {
    let secret = |name: &[u8]| {
        let parameter = name.strip_prefix(b"--").and_then(parameter)?;
        (SECRETS.contains(&parameter.name()) || parameter.name() == "user").then_some(parameter)
    };
    let word = words[number];
    if let Some(equals) = word.iter().position(|byte| *byte == b'=')
        && secret(&word[..equals]).is_some()
    {
        return Some(equals + 1);
    }
    // The words of a list go on to the next flag.
    let flag = words[..number].iter().rposition(|word| word.starts_with(b"--"))?;
    let known = secret(words[flag])?;
    (flag + 1 == number || known.is_list() && !word.starts_with(b"--")).then_some(0)
}

fn directives(matches: &ArgMatches) -> Vec<Directive> {
    let given = parameters().filter_map(|parameter| {
        let value = matches.get_one::<String>(parameter.name())?.clone();
        Some(Directive { parameter, value, place: Place::Flag })
    });
    given.collect()
}

fn command() -> Command {
    let version = Arg::new("version")
        .short('v')
        .short_alias('V')
        .long("version")
        .action(ArgAction::Version)
        .help("Print version");
    let command = Command::new(NAME).version(VERSION).disable_version_flag(true);
    let command = CommonArgs::augment_args(command)
        // After the arguments, whose own documentation would take its place.
        .about("A Redis replacement for caching")
        .long_about(None)
        .mut_arg("config", |arg| {
            arg.help("Configuration file: TOML, or a redis.conf; defaults apply without one")
        })
        .arg(version)
        .next_help_heading("Parameters, by their Redis names");
    parameters().fold(command, |command, parameter| command.arg(flag(parameter)))
}

/// The flag of a parameter. Those that do nothing here are accepted, but not shown.
fn flag(parameter: &'static Parameter) -> Arg {
    let default = parameter.default();
    let shown = if default.is_empty() { "\"\"" } else { default };
    Arg::new(parameter.name())
        .long(parameter.name())
        .value_name("VALUE")
        .help(format!("{} [default: {shown}]", parameter.about().trim_end_matches('.')))
        .overrides_with(parameter.name())
        .hide(parameter.about().is_empty())
}

/// The command line with each parameter and its value in one word, as `--port=7000`.
fn joined(words: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut words = words.into_iter().peekable();
    let mut joined = Vec::new();
    while let Some(word) = words.next() {
        let name = word.to_str().and_then(|word| word.strip_prefix("--"));
        let Some(known) = name.and_then(|name| parameter(name.as_bytes())) else {
            joined.push(word);
            continue;
        };
        let mut values: Vec<String> = Vec::new();
        while let Some(value) = words.peek().and_then(|word| word.to_str())
            && !value.starts_with("--")
            && (values.is_empty() || known.is_list())
        {
            values.push(value.to_owned());
            words.next();
        }
        if values.is_empty() {
            joined.push(word);
        } else {
            joined.push(format!("--{}={}", known.name(), values.join(" ")).into());
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<Args, clap::Error> {
        Args::try_parse(words.iter().map(OsString::from))
    }

    fn given(words: &[&str]) -> Vec<(&'static str, String)> {
        let args = parse(words).expect("a right command line");
        args.directives.iter().map(|it| (it.parameter.name(), it.value.clone())).collect()
    }

    #[test]
    fn the_words_behind_a_flag_are_its_value() {
        let words = ["rds", "--bind", "127.0.0.1", "-::1", "--port", "7000", "--save", ""];
        let expected = [("bind", "127.0.0.1 -::1"), ("port", "7000"), ("save", "")];
        let expected: Vec<_> = expected.map(|(name, value)| (name, value.to_owned())).into();
        let mut seen = given(&words);
        seen.sort();
        assert_eq!(seen, expected);
        assert_eq!(given(&["rds", "--list-max-listpack-size", "-1"])[0].1, "-1");
        assert_eq!(given(&["rds", "--port=1", "--port", "2"]), [("port", "2".to_owned())]);
        assert_eq!(
            given(&["rds", "--hash-max-ziplist-entries", "5"])[0].0,
            "hash-max-listpack-entries"
        );
    }

    #[test]
    fn a_file_may_come_before_or_after() {
        for words in [["rds", "x.conf", "--port", "1"], ["rds", "--port", "1", "x.conf"]] {
            let args = parse(&words).expect("a right command line");
            assert_eq!(args.common.config.as_deref(), Some("x.conf".as_ref()));
            assert_eq!(args.directives.len(), 1);
        }
    }

    #[test]
    fn what_is_no_flag_is_refused() {
        for words in [&["rds", "--prot", "1"][..], &["rds", "--port"], &["rds", "a", "b"]] {
            assert!(parse(words).is_err(), "{words:?}");
        }
    }

    #[test]
    fn secrets_are_found_wherever_they_stand() {
        let line = "rds --requirepass one --port 2 --masterauth=three --user default on >four --hz 5 \
                    --REQUIREPASS -- --port";
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let secrets = (0..words.len()).filter_map(|number| {
            let place = secret_from(&words, number)?;
            Some(String::from_utf8_lossy(&words[number][place..]).into_owned())
        });
        assert_eq!(secrets.collect::<Vec<_>>(), ["one", "three", "default", "on", ">four", "--"]);
    }

    #[test]
    fn help_shows_what_does_something() {
        let help = command().render_help().to_string();
        for flag in ["--maxmemory <", "--check-config", "--tls-cert-file <", "--admin-port <"] {
            assert!(help.contains(flag), "{flag} is not in\n{help}");
        }
        assert!(!help.contains("--repl-timeout"), "it does nothing here");
    }
}
