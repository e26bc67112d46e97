// SPDX-License-Identifier: Apache-2.0
//! Man pages and completions of shells, made from the flags and the settings of a program, so that they are written
//! once. Only tests use it: they keep the files of `packaging/man` and `packaging/completions` as the tables in code
//! have them ([`config::page::keep`]), and the programs themselves carry none of this.
//!
//! * `man.rs`: section 1, the program and its flags. `settings.rs`: section 5, its configuration file.
//! * `roff.rs`: Markdown, as tables of settings have it, in a man page.
//!
//! ```
//! let command = clap::Command::new("echo").version("1.0").about("Writes arguments");
//! let manual = manual::Manual::new(command).section("EXIT STATUS", &[("0", "They were written.")]);
//! let page = &manual.pages()[0];
//! assert_eq!(page.0, "echo.1");
//! assert!(page.1.contains(".SH \"EXIT STATUS\"\n.TP\n\\fB0\\fR\nThey were written."));
//! ```
#![forbid(unsafe_code)]

mod man;
mod roff;
mod settings;

use clap::Command;
use clap_complete::Shell;
use config::Table;
use config::page::{self, Own};
use std::path::Path;

/// A part of a page of which each entry is a term and what it means.
type Part = (&'static str, Vec<(String, String)>);

/// A program, as its pages tell of it.
#[derive(Debug)]
pub struct Manual<'a> {
    command: Command,
    parts: Vec<Part>,
    tables: Vec<Table>,
    own: &'a [Own],
}

impl<'a> Manual<'a> {
    /// The flags and the documentation of `command`.
    #[must_use]
    pub fn new(mut command: Command) -> Self {
        // Gives subcommands their full names.
        command.build();
        Manual { command, parts: Vec::new(), tables: Vec::new(), own: &[] }
    }

    /// Adds a part of its page of section 1, behind the flags.
    #[must_use]
    pub fn section(mut self, title: &'static str, entries: &[(&str, &str)]) -> Self {
        let entries = entries.iter().map(|(term, text)| ((*term).to_owned(), (*text).to_owned()));
        self.parts.push((title, entries.collect()));
        self
    }

    /// Adds what is so for all servers: the signals, and the files of the package.
    #[must_use]
    pub fn server(self) -> Self {
        let name = self.command.get_name().to_owned();
        let signals = [
            ("SIGTERM, SIGINT", "Drain and stop; a second one ends the process at once."),
            ("SIGHUP", "Open the log files anew, and read certificates and lists of users anew."),
        ];
        let file = format!("/etc/shoebill/{name}.toml");
        let about = format!("What the service reads, see `{name}.toml`(5).");
        self.section("SIGNALS", &signals).section("FILES", &[(&file, &about)])
    }

    /// Adds a page of section 5 about the sections of its configuration file. `own` are defaults that are not
    /// those of the tables.
    #[must_use]
    pub fn settings(mut self, tables: Vec<Table>, own: &'a [Own]) -> Self {
        (self.tables, self.own) = (tables, own);
        self
    }

    /// The man pages: names of files and their texts.
    #[must_use]
    pub fn pages(&self) -> Vec<(String, String)> {
        let mut pages = vec![self.program()];
        if !self.tables.is_empty() {
            pages.push(self.file());
        }
        let subcommands = self.command.get_subcommands();
        pages.extend(subcommands.filter(|command| command.get_name() != "help").map(man::page));
        pages
    }

    /// The completions of shells: names of files, as the shells look for them, and their texts.
    #[must_use]
    pub fn completions(&self) -> Vec<(String, String)> {
        let name = self.command.get_name();
        let files = [
            (Shell::Bash, format!("{name}.bash")),
            (Shell::Zsh, format!("_{name}")),
            (Shell::Fish, format!("{name}.fish")),
        ];
        let written = files.map(|(shell, file)| {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut self.command.clone(), name, &mut text);
            (file, String::from_utf8(text).expect("completions are text"))
        });
        written.into()
    }

    /// Compares the files below the workspace's folder `root` with what follows from the tables, or writes them.
    ///
    /// # Panics
    ///
    /// When a file differs, or cannot be read or written.
    pub fn keep(&self, root: &Path) {
        let man = self.pages().into_iter().map(|page| ("man", page));
        let completions = self.completions().into_iter().map(|page| ("completions", page));
        for (folder, (file, text)) in man.chain(completions) {
            page::keep(&root.join("packaging").join(folder).join(file), |_| text.clone());
        }
    }
}

#[cfg(test)]
mod tests;
