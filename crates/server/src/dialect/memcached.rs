// SPDX-License-Identifier: Apache-2.0
//! memcached's command line: a row for each flag ([`Flag`]) and for each option of `-o` ([`options`](self)).
//!
//! A row says what a flag does: it sets a key, it has no effect and nobody relies on one, or it is refused with
//! a reason. A server adds rows of its own to those for the settings that all servers share. As with memcached's
//! own reader of flags, the last of several counts, long names may be shortened, and whatever follows a
//! flag that has a value is the value.
//!
//! * `memcached/flag.rs`: a row. `memcached/flags.rs`: the rows.
//! * `memcached/option.rs`: a row of `-o`. `memcached/options.rs`: the rows.
//! * `memcached/port.rs`: the port of `-p`.
//! * `memcached/interface.rs`: addresses of `-l`. `memcached/item_size.rs`: sizes of `-I`.
//! * `memcached/conf.rs`: a `memcached.conf`, which is a file of flags.
//! * `memcached/wrong.rs`: what is said of a wrong command line. `memcached/codes.rs`: with which exit code.

mod codes;
mod conf;
mod flag;
mod flags;
mod interface;
mod item_size;
mod option;
mod options;
mod port;
mod wrong;

pub use flag::{Flag, flag};
pub use interface::Interface;
pub use item_size::item_size;
pub use port::Port;
pub use wrong::Wrong;

use crate::cli::{self, CommonArgs};
use crate::settings::{ClientAuth, Configuration, Listen};
use crate::{Background, Builder, Error};
use clap::parser::ValueSource;
use clap::{ArgMatches, Args as _, Command, FromArgMatches};
use conf::Conf;
use option::Given;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// A parsed command line.
#[derive(Debug)]
pub struct Arguments<C> {
    /// The arguments that all servers share.
    pub common: CommonArgs,
    flags: Vec<Flag<C>>,
    matches: ArgMatches,
    /// Lines of a `memcached.conf` without effect, by their first word.
    idle_lines: Vec<String>,
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
/// ([`Flag::after`]), and in place of the shared one with its name if there is one.
pub fn flags<C: Configuration>(own: Vec<Flag<C>>) -> Vec<Flag<C>> {
    let mut flags = flags::shared();
    for flag in own {
        flags.retain(|other| other.id() != flag.id());
        let place = flags.iter().position(|other| other.id() == flag.place());
        flags.insert(place.map_or(flags.len(), |place| place + 1), flag);
    }
    flags
}

/// `command` with the arguments that all servers share, and with `flags`.
pub fn command_with<C>(command: Command, flags: &[Flag<C>]) -> Command {
    let about = command.get_about().cloned();
    let command = CommonArgs::augment_args(command);
    // Set after the arguments, whose documentation would replace it otherwise.
    let command = command.about(about.unwrap_or_default()).long_about(None);
    let command = command.args_override_self(true).infer_long_args(true);
    flags.iter().fold(command, |command, flag| command.arg(flag.arg()))
}

impl<C: Configuration> Arguments<C> {
    /// Reads the command line. Ends the process if the command line is wrong or asks only for help, the
    /// version or the licence.
    pub fn parse(command: Command, flags: Vec<Flag<C>>) -> Self {
        let title = format!("{} {}", command.get_name(), command.get_version().unwrap_or_default());
        match Self::try_parse(command, flags, std::env::args_os()) {
            Ok(args) if is_given(&args.matches, flags::LICENSE) => {
                cli::print(&format!("{title}\n\n{LICENCE}\n"));
                std::process::exit(0)
            }
            Ok(args) => args,
            Err(Wrong::Shown(text)) => text.exit(),
            Err(Wrong::Refused { message, code }) => {
                eprintln!("error: {message}");
                std::process::exit(code.into())
            }
        }
    }

    /// Reads a command line, whose first word is the program. If it names a `memcached.conf`, the flags of that
    /// file come before its own.
    ///
    /// # Errors
    ///
    /// When the command line is wrong, or asks for help or the version.
    pub fn try_parse(
        command: Command,
        flags: Vec<Flag<C>>,
        words: impl IntoIterator<Item = OsString>,
    ) -> Result<Self, Wrong> {
        let command = command_with(command, &flags);
        let words: Vec<OsString> = words.into_iter().collect();
        let read = |words: Vec<OsString>| {
            let matches = command.clone().try_get_matches_from(words)?;
            Ok((CommonArgs::from_arg_matches(&matches)?, matches))
        };
        let wrong = |error| Wrong::new(error, &flags);
        let (mut common, mut matches) = read(words.clone()).map_err(wrong)?;
        let conf = common.config.as_deref().and_then(Conf::read);
        let Conf { words: of_file, idle: idle_lines } = conf.unwrap_or_default();
        if !of_file.is_empty() || !idle_lines.is_empty() {
            let (program, own) = words.split_at(words.len().min(1));
            let all = [program, &of_file, own].concat();
            (common, matches) = read(all).map_err(wrong)?;
            common.config = None;
        }
        Ok(Arguments { common, flags, matches, idle_lines })
    }

    /// One line about the flags that are accepted and have no effect, if there are any.
    pub fn notice(&self) -> Option<String> {
        let idle = self.given().filter(|flag| flag.idle().is_some());
        let idle = idle.map(|flag| flag.short().to_owned());
        let options = self.options();
        let idle_options = options.iter().filter_map(Given::without_effect);
        let all: Vec<String> =
            idle.chain(idle_options).chain(self.idle_lines.iter().cloned()).collect();
        (!all.is_empty()).then(|| format!("accepted, no effect: {}", all.join(", ")))
    }

    /// Overrides `config` with the command line. `port` is the server's default port. Call
    /// [`Start::begin`] on the result.
    ///
    /// # Errors
    ///
    /// When a flag asks for something that memcached does and this server does not, because ignoring it would
    /// do harm; or when something is missing that must go with a flag.
    pub fn apply(&self, config: &mut C, port: u16) -> Result<Start, Error> {
        let refused = |(key, problem): (&'static str, &str)| Error::setting((key, problem.into()));
        if let Some(refusal) = self.given().find_map(Flag::refusal) {
            return Err(refused(refusal));
        }
        let options = self.options();
        if !is_given(&self.matches, flags::ENCRYPT)
            && let Some(option) = options.iter().find_map(Given::encrypts)
        {
            return Err(refused(("-o", &format!("{option} needs -Z"))));
        }
        let process = ProcessFlags::default();
        let mut said = Said { config, process, port, matches: &self.matches };
        for flag in self.given() {
            flag.apply(&mut said);
        }
        for option in &options {
            option.apply(&mut said.config.sections_mut());
        }
        said.port();
        said.settle_tls(&options).map_err(refused)?;
        let process = said.process;
        match self.given().find_map(|flag| flag.lacks(config)) {
            Some(lack) => Err(refused(lack)),
            None => Ok(Start(process)),
        }
    }

    /// The exit code of the server's `main`, which is memcached's. Prints the error, if there is one; one about a
    /// setting is told as one about the flag that set it.
    pub fn exit_code(&self, result: Result<(), Error>) -> ExitCode {
        match result.map_err(|error| self.named(error)) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                cli::report(&error);
                codes::of(&error).into()
            }
        }
    }

    /// An error about a setting, told as one about the flag that set it.
    #[must_use]
    pub fn named(&self, error: Error) -> Error {
        match error {
            Error::Setting { key, problem } => {
                match self.given().find(|flag| flag.key() == key).map(Flag::short) {
                    Some(flag) => Error::setting((flag, format!("{key}: {problem}"))),
                    None => Error::Setting { key, problem },
                }
            }
            other => other,
        }
    }

    /// The flags of the command line.
    fn given(&self) -> impl Iterator<Item = &Flag<C>> {
        self.flags.iter().filter(|flag| is_given(&self.matches, flag.id()))
    }

    /// The options of `-o`, in the order in which they were given.
    fn options(&self) -> Vec<Given> {
        self.matches.get_many::<Given>(flags::EXTENDED).into_iter().flatten().cloned().collect()
    }
}

/// The variable of the environment that names the file for the ports.
const PORT_FILE: &str = "MEMCACHED_PORT_FILENAME";

/// What the command line says about the process.
#[derive(Debug)]
#[must_use = "it has an effect when it begins"]
pub struct Start(ProcessFlags);

impl Start {
    /// Sets on `builder` how the process runs, and goes to the background if asked to. As for memcached, the environment
    /// may name a file for the ports.
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
        if let Some(path) = std::env::var_os(PORT_FILE) {
            builder = builder.port_file(path);
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
    #[must_use]
    pub fn has(&self, long: &str) -> bool {
        is_given(self.matches, long)
    }

    /// As with memcached, the file of the certificates has the key, too, unless another one is named, and
    /// authorities are not looked at with `ssl_verify_mode=0`. Without a mode they are refused, for whoever names
    /// them relies on them.
    fn settle_tls(&mut self, options: &[Given]) -> Result<(), (&'static str, &'static str)> {
        let has = |name: &str| options.iter().any(|given| given.name() == name);
        let tls = self.config.sections_mut().tls;
        if has("ssl_chain_cert") && !has("ssl_key") {
            tls.private_key.clone_from(&tls.certificate_chain);
        }
        if has("ssl_ca_cert") && tls.client_auth == ClientAuth::None {
            if !has("ssl_verify_mode") {
                return Err(("-o ssl_ca_cert", "checks no client: add ssl_verify_mode=2"));
            }
            tls.ca_file = None;
        }
        Ok(())
    }

    /// The addresses of `-l`, each once, with another port.
    #[must_use]
    pub fn elsewhere(&self, port: u16) -> Vec<Listen> {
        let mut seen = Vec::new();
        let mut listen = Vec::new();
        for interface in self.matches.get_many::<Interface>(flags::LISTEN).into_iter().flatten() {
            for ip in interface.ips() {
                if !seen.contains(ip) {
                    seen.push(*ip);
                    listen.push(interface.listen(*ip, port));
                }
            }
        }
        listen
    }
}

/// Whether a flag stands on the command line.
fn is_given(matches: &ArgMatches, id: &str) -> bool {
    matches.value_source(id) == Some(ValueSource::CommandLine)
}

/// What `-i` prints.
const LICENCE: &str =
    "Licensed under the Apache License, Version 2.0: https://www.apache.org/licenses/LICENSE-2.0";

/// The flags as tables in Markdown: those that have an effect, those that have none, and those that are refused.
#[must_use]
pub fn markdown<C: Configuration>(flags: &[Flag<C>]) -> String {
    let mut text = "| flag | in place of | meaning |\n|---|---|---|\n".to_owned();
    text.extend(flags.iter().filter_map(Flag::markdown));
    text.extend(options::ALL.iter().filter_map(option::Opt::markdown));
    let as_it_is = options::ALL.iter().filter(|option| option.is_as_it_is());
    let names: Vec<_> = as_it_is.map(|option| format!("`-o {}`", option.written())).collect();
    text.push_str("\nThese ask for what is so anyway: ");
    text.push_str(&names.join(", "));
    text.push_str(".\n\n| accepted, no effect | why |\n|---|---|\n");
    let flags_idle =
        flags.iter().filter_map(|flag| Some((format!("`{}`", flag.short()), flag.idle()?)));
    let options_idle = options::ALL
        .iter()
        .filter_map(|option| Some((format!("`-o {}`", option.name()), option.idle()?)));
    // A row for each reason.
    let mut rows: Vec<(&str, Vec<String>)> = Vec::new();
    for (name, why) in flags_idle.chain(options_idle) {
        match rows.iter_mut().find(|(other, _)| *other == why) {
            Some((_, names)) => names.push(name),
            None => rows.push((why, vec![name])),
        }
    }
    for (why, names) in rows {
        text.push_str(&format!("| {} | {why} |\n", names.join(", ")));
    }
    text.push_str("\n| refused | why |\n|---|---|\n");
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
