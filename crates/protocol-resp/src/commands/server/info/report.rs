// SPDX-License-Identifier: Apache-2.0
//! [`Report`]: the text of INFO, section by section, for both services.

use crate::host::stats::Stats;
use crate::table;
use crate::wire::parse::Args;
use std::fmt::Display;

/// Sections in the making.
pub(crate) struct Report<'a, C, F> {
    text: String,
    /// The call of INFO, which knows the server.
    pub(crate) call: &'a C,
    /// What was collected before.
    pub(crate) facts: &'a F,
}

/// A section.
pub(crate) struct Section<C, F> {
    title: &'static str,
    write: Write<C, F>,
    /// INFO without a word shows it.
    is_default: bool,
}

/// Writes the lines of a section.
type Write<C, F> = fn(&mut Report<'_, C, F>);

impl<C, F> Section<C, F> {
    /// A section that is always shown, unless others are named.
    pub(crate) fn of(title: &'static str, write: Write<C, F>) -> Self {
        Section { title, write, is_default: true }
    }

    /// A section that is shown only on request.
    pub(crate) fn on_request(title: &'static str, write: Write<C, F>) -> Self {
        Section { title, write, is_default: false }
    }

    /// Whether the words behind INFO ask for it.
    fn is_meant(&self, words: Args<'_>) -> bool {
        let is = |word: &[u8], name: &str| word.eq_ignore_ascii_case(name.as_bytes());
        let names_it = |word: &[u8]| {
            is(word, self.title)
                || is(word, "all")
                || is(word, "everything")
                || self.is_default && is(word, "default")
        };
        words.iter().any(names_it) || words.is_empty() && self.is_default
    }
}

/// The text of the sections that `words` ask for.
pub(crate) fn report<C, F>(
    call: &C,
    facts: &F,
    words: Args<'_>,
    sections: &[Section<C, F>],
) -> String {
    let mut report = Report { text: String::new(), call, facts };
    for section in sections.iter().filter(|section| section.is_meant(words)) {
        let end = if report.text.is_empty() { "" } else { "\r\n" };
        report.text.push_str(&format!("{end}# {}\r\n", section.title));
        (section.write)(&mut report);
    }
    report.text
}

impl<C, F> Report<'_, C, F> {
    /// A line of a section.
    pub(crate) fn line(&mut self, name: &str, value: impl Display) {
        self.text.push_str(&format!("{name}:{value}\r\n"));
    }

    /// Lines of a section with numbers.
    pub(crate) fn numbers(&mut self, lines: &[(&str, u64)]) {
        for (name, number) in lines {
            self.line(name, number);
        }
    }

    /// Lines about what there is nothing of.
    pub(crate) fn zeros(&mut self, names: &[&str]) {
        for name in names {
            self.line(name, 0);
        }
    }

    /// A number of bytes, and the same for people.
    pub(crate) fn bytes(&mut self, name: &str, bytes: u64) {
        self.line(name, bytes);
        self.line(&format!("{name}_human"), human(bytes));
    }

    /// The lines of the commands that were used.
    pub(crate) fn commands(&mut self, stats: &Stats) {
        for (command, stats) in table::all().zip(stats.commands()) {
            if stats.is_used() {
                self.line(&format!("cmdstat_{}", command.spec().name), stats.describe());
            }
        }
    }
}

/// The number of bytes from which on [`human`] has no unit.
const BEYOND_UNITS: u64 = 1 << 60;

/// A number of bytes with a unit.
pub(super) fn human(bytes: u64) -> String {
    if bytes >= BEYOND_UNITS {
        return format!("{bytes}B");
    }
    let units = ["K", "M", "G", "T", "P"];
    let mut number = bytes as f64;
    let mut unit = None;
    for next in units {
        if number < 1024.0 {
            break;
        }
        number /= 1024.0;
        unit = Some(next);
    }
    unit.map_or_else(|| format!("{bytes}B"), |unit| format!("{number:.2}{unit}"))
}

#[cfg(test)]
mod tests {
    use super::human;

    #[test]
    fn bytes_are_written_as_redis_does() {
        let cases = [
            (0, "0B"),
            (1023, "1023B"),
            (941_232, "919.17K"),
            (1 << 30, "1.00G"),
            ((1 << 60) - 1, "1024.00P"),
            (1 << 60, "1152921504606846976B"),
            (u64::MAX, "18446744073709551615B"),
        ];
        for (bytes, text) in cases {
            assert_eq!(human(bytes), text);
        }
    }
}
