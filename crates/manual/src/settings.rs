// SPDX-License-Identifier: Apache-2.0
//! Section 5: the configuration file of a program.

use crate::{Manual, roff};
use clap_mangen::roff::{Roff, bold, roman};
use config::Row;
use config::page::{Own, Unset};

impl Manual<'_> {
    /// The page of the configuration file.
    pub(crate) fn file(&self) -> (String, String) {
        let name = self.command.get_name();
        let version = self.command.get_version().unwrap_or_default();
        let mut page = Roff::new();
        let (title, source) =
            (format!("{name}.toml").to_uppercase(), format!("shoebill {version}"));
        page.control("TH", [title.as_str(), "5", roff::NONE, source.as_str(), "Shoebill"]);
        roff::heading(&mut page, "NAME");
        page.text([roman(format!("{name}.toml - configuration of {name}"))]);
        roff::heading(&mut page, "DESCRIPTION");
        page.text(roff::line(&format!(
            "A file in TOML, which `{name}` reads at its start. Every key may be left out; an unknown one is an error. \
             Sizes are written `\"64MB\"` (powers of 1024) or as a number of bytes, durations `\"250ms\"`, `\"30s\"`, \
             `\"5m\"`, `\"1h\"`, `\"7d\"` or as a number of milliseconds. Flags of the command line override the file."
        )));
        page.control("PP", []).text(roff::line(&format!(
            "`{name} --check-config FILE` says what is wrong in a file, `{name} --print-config FILE` what it comes to."
        )));
        for table in &self.tables {
            roff::heading(&mut page, &table.to_string().to_uppercase());
            if !table.about.is_empty() {
                page.text(roff::line(&table.about));
            }
            for row in &table.rows {
                let key = format!("{table} {}", row.key);
                key_of(&mut page, row, self.own.iter().find(|own| own.key == key));
            }
        }
        roff::heading(&mut page, "SEE ALSO");
        page.text([bold(name), roman("(1)")]);
        (format!("{name}.toml.5"), page.render())
    }
}

/// A key: what it may be, what it is for, and what applies without it.
fn key_of(page: &mut Roff, row: &Row, own: Option<&Own>) {
    let mut term = vec![bold(row.key.as_str())];
    if !row.takes.is_empty() {
        term.push(roman(" = "));
        term.extend(roff::line(&row.takes));
    }
    let unset = match Unset::of(row, own) {
        Unset::Value(value) => format!("Default: `{value}`"),
        Unset::Words(words) => format!("Without it: {words}."),
    };
    roff::entry(page, term, &[row.about.clone(), unset]);
}
