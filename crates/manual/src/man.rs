// SPDX-License-Identifier: Apache-2.0
//! Section 1: a program and its flags.

use crate::{Manual, roff};
use clap::Command;
use clap_mangen::Man;
use clap_mangen::roff::{Roff, bold, roman};

impl Manual<'_> {
    /// The page of the program.
    pub(crate) fn program(&self) -> (String, String) {
        let (name, mut page) = page(&self.command);
        let mut more = Roff::new();
        for (title, entries) in &self.parts {
            roff::heading(&mut more, title);
            for (term, text) in entries {
                roff::entry(&mut more, vec![bold(term)], std::slice::from_ref(text));
            }
        }
        let others = self.command.get_subcommands().filter(|command| command.get_name() != "help");
        let mut others: Vec<_> = others.map(|command| (full_name(command), "(1)")).collect();
        if !self.tables.is_empty() {
            others.push((format!("{}.toml", self.command.get_name()), "(5)"));
        }
        if !others.is_empty() {
            roff::heading(&mut more, "SEE ALSO");
            let mut words = Vec::new();
            for (number, (name, section)) in others.into_iter().enumerate() {
                if number > 0 {
                    words.push(roman(", "));
                }
                words.extend([bold(name), roman(section)]);
            }
            more.text(words);
        }
        page.push_str(&more.render());
        (name, roff::once(&page))
    }
}

/// The page of a command: what it is for, how it is called, its flags and its subcommands.
pub(crate) fn page(command: &Command) -> (String, String) {
    let name = full_name(command);
    let man = Man::new(command.clone())
        .title(name.to_uppercase())
        .section("1")
        .date(roff::NONE)
        .manual("Shoebill")
        .source(format!("shoebill {}", command.get_version().unwrap_or_default()).trim_end());
    let mut text = Vec::new();
    let written = man
        .render_title(&mut text)
        .and_then(|()| man.render_name_section(&mut text))
        .and_then(|()| man.render_synopsis_section(&mut text))
        .and_then(|()| man.render_description_section(&mut text))
        .and_then(|()| man.render_options_section(&mut text));
    written.expect("memory takes what is written");
    (format!("{name}.1"), roff::once(&String::from_utf8(text).expect("a page is text")))
}

/// The name of a command with those that it belongs to, such as `cacheperf-sweep`.
fn full_name(command: &Command) -> String {
    command.get_display_name().unwrap_or(command.get_name()).to_owned()
}
