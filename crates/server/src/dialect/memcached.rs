// SPDX-License-Identifier: Apache-2.0
//! memcached's command line: a row for each flag ([`Flag`]) and for each option of `-o` ([`options`](self)).
//!
//! A row says what a flag does: it sets a key, it has no effect, or it is refused with a reason.
//! A server adds rows of its own to those for the settings that all servers share.
//!
//! * `memcached/flag.rs`: a row. `memcached/flags.rs`: the rows.
//! * `memcached/option.rs`: a row of `-o`. `memcached/options.rs`: the rows.
//! * `memcached/interface.rs`: addresses of `-l`. `memcached/item_size.rs`: sizes of `-I`.

mod flag;
mod flags;
mod interface;
mod item_size;
mod option;
mod options;

pub use flag::{Flag, flag};
pub use interface::Interface;
pub use item_size::item_size;

use crate::cli::{self, CommonArgs};
use crate::settings::{Configuration, Listen};
use crate::{Background, Builder, Error};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args as _, Command, FromArgMatches};
use option::Given;
use std::ffi::OsString;
use std::path::PathBuf;

/// A parsed command line.
#[derive(Debug)]
pub struct Arguments<C> {
    /// The arguments that all servers share.
    pub common: CommonArgs,
    flags: Vec<Flag<C>>,
    matches: ArgMatches,
}

/// What flags can change: the configuration, and how the process runs.
#[derive(Debug)]
pub struct Said<'a, C> {
    /// The configuration.
    pub config: &'a mut C,
    process: ProcessFlags,
    port: u16,
    matches: &'a ArgMatches,
}

/// How the process runs: in the background, as which user, with which limits.
#[derive(Debug, Default)]
struct ProcessFlags {
    goes_behind: bool,
    pid_file: Option<PathBuf>,
    user: Option<String>,
    locks_memory: bool,
    dumps_core: bool,
}

/// The flags of a server: those for shared settings, and `own`, each placed after the flag that it names
/// ([`Flag::after`]).
pub fn flags<C: Configuration>(own: Vec<Flag<C>>) -> Vec<Flag<C>> {
    let mut flags = flags::shared();
    for flag in own {
        let place = flags.iter().position(|other| other.id() == flag.place());
        flags.insert(place.map_or(flags.len(), |place| place + 1), flag);
    }
    flags
}

impl<C: Configuration> Arguments<C> {
    /// Reads the command line. Ends the process if the command line is wrong or asks only for help.
    pub fn parse(command: Command, flags: Vec<Flag<C>>) -> Self {
        Self::try_parse(command, flags, std::env::args_os())
            .unwrap_or_else(|error| cli::refuse(error))
    }

    /// Reads a command line, whose first word is the program.
    ///
    /// # Errors
    ///
    /// clap's message when the command line is wrong or asks for help.
    pub fn try_parse(
        command: Command,
        flags: Vec<Flag<C>>,
        words: impl IntoIterator<Item = OsString>,
    ) -> Result<Self, clap::Error> {
        let about = command.get_about().cloned();
        let command = CommonArgs::augment_args(command);
        // Set after the arguments, whose documentation would replace it otherwise.
        let command = command.about(about.unwrap_or_default()).long_about(None);
        let command = flags.iter().fold(command, |command, flag| command.arg(flag.arg()));
        let matches = command.try_get_matches_from(words)?;
        let common = CommonArgs::from_arg_matches(&matches)?;
        Ok(Arguments { common, flags, matches })
    }

    /// Checks that no flag asks for something that memcached does and this server does not: ignoring such a
    /// flag would do harm.
    ///
    /// # Errors
    ///
    /// When such a flag is given.
    pub fn check(&self) -> Result<(), Error> {
        let given = self.flags.iter().filter(|flag| is_given(&self.matches, flag.id()));
        let refused = given.clone().find_map(Flag::refusal);
        let refused =
            refused.or_else(|| given.clone().find_map(|flag| flag.lacks(&self.options())));
        match refused {
            Some((key, problem)) => Err(Error::Setting { key, problem: problem.to_owned() }),
            None => Ok(()),
        }
    }

    /// A warning, in one line, about the flags that are accepted and have no effect.
    pub fn warning(&self) -> Option<String> {
        let given = self.flags.iter().filter(|flag| is_given(&self.matches, flag.id()));
        let idle = given.filter_map(|flag| flag.without_effect(&self.matches));
        let options = self.options();
        let idle_options = options.iter().filter_map(Given::without_effect);
        let all: Vec<String> = idle.chain(idle_options).collect();
        (!all.is_empty()).then(|| format!("without effect: {}", all.join(", ")))
    }

    /// Overrides `config` with the command line. `port` is the server's default port. Call
    /// [`Start::begin`] on the result.
    pub fn apply(&self, config: &mut C, port: u16) -> Start {
        let process = ProcessFlags::default();
        let mut said = Said { config, process, port, matches: &self.matches };
        for flag in self.flags.iter().filter(|flag| is_given(&self.matches, flag.id())) {
            flag.apply(&mut said);
        }
        for option in self.options() {
            option.apply(&mut said.config.sections_mut());
        }
        said.port();
        Start(said.process)
    }

    /// The options of `-o`, in the order in which they were given.
    fn options(&self) -> Vec<Given> {
        self.matches.get_many::<Given>(flags::EXTENDED).into_iter().flatten().cloned().collect()
    }
}

/// What the command line says about the process.
#[derive(Debug)]
#[must_use = "it has an effect when it begins"]
pub struct Start(ProcessFlags);

impl Start {
    /// Sets on `builder` how the process runs, and goes to the background if asked to.
    ///
    /// # Errors
    ///
    /// When the process cannot go to the background.
    pub fn begin(self, mut builder: Builder) -> Result<Builder, Error> {
        let ProcessFlags { goes_behind, pid_file, user, locks_memory, dumps_core } = self.0;
        if goes_behind {
            builder = builder.background(Background::enter()?);
        }
        if let Some(path) = pid_file {
            builder = builder.pid_file(path);
        }
        if let Some(user) = user {
            builder = builder.user(user);
        }
        if locks_memory {
            builder = builder.lock_memory();
        }
        Ok(if dumps_core { builder.core_dumps() } else { builder })
    }
}

impl<C: Configuration> Said<'_, C> {
    /// The port of memcache: of the command line, of the file, or the default.
    fn port(&mut self) -> u16 {
        *self.config.sections_mut().server.port.get_or_insert(self.port)
    }

    /// Whether the flag with this long name is given.
    fn has(&self, long: &str) -> bool {
        is_given(self.matches, long)
    }

    /// The addresses of `-l`, each once, with another port.
    #[must_use]
    pub fn elsewhere(&self, port: u16) -> Vec<Listen> {
        let mut seen = Vec::new();
        let mut listen = Vec::new();
        for interface in self.matches.get_many::<Interface>(flags::LISTEN).into_iter().flatten() {
            if !seen.contains(&interface.ip()) {
                seen.push(interface.ip());
                listen.push(interface.elsewhere(port));
            }
        }
        listen
    }
}

/// Whether a flag stands on the command line.
fn is_given(matches: &ArgMatches, id: &str) -> bool {
    matches.value_source(id) == Some(ValueSource::CommandLine)
}

/// The flags as tables in Markdown: those that set something, then the names of the others.
#[must_use]
pub fn markdown<C: Configuration>(flags: &[Flag<C>]) -> String {
    let mut text = "| flag | in place of | meaning |\n|---|---|---|\n".to_owned();
    text.extend(flags.iter().filter_map(Flag::markdown));
    text.extend(options::ALL.iter().filter_map(option::Opt::markdown));
    let idle = flags.iter().filter(|flag| flag.is_idle()).map(|flag| format!("`{}`", flag.short()));
    let idle_options = options::ALL.iter().filter(|option| option.is_idle());
    let idle = idle.chain(idle_options.map(|option| format!("`-o {}`", option.name())));
    text.push_str("\nAccepted with a warning, without effect: ");
    text.push_str(&idle.collect::<Vec<_>>().join(", "));
    text.push_str(".\n\n| refused | why |\n|---|---|\n");
    for (flag, why) in flags.iter().filter_map(Flag::refusal) {
        text.push_str(&format!("| `{flag}` | {why} |\n"));
    }
    for (name, why) in options::ALL.iter().filter_map(option::Opt::refusal) {
        text.push_str(&format!("| `-o {name}` | {why} |\n"));
    }
    text
}

/// The flag with which the command line sets a key, if there is one.
#[must_use]
pub fn flag_for<C>(flags: &[Flag<C>], key: &str) -> Option<String> {
    flags.iter().find(|flag| flag.key() == key).map(|flag| flag.short().to_owned())
}
