// SPDX-License-Identifier: Apache-2.0
//! INFO: the server in numbers, section by section.
//!
//! The names are those of Redis 7.0. Fields that do not apply here are kept if tools read them,
//! with the value that is true here. `process.rs`: what the server is. `memory.rs`: what it takes.
//! `activity.rs`: what it does. `commands.rs`: command by command.

mod activity;
mod commands;
mod memory;
mod process;

use super::facts::Facts;
use crate::engine::call::Call;
use crate::host::Host;
use crate::wire::fault::Done;
use clock::Now;
use keyspace::View;
use std::fmt::Display;

/// Sections in the making.
struct Report<'a> {
    text: String,
    host: &'a Host,
    facts: &'a Facts,
    now: Now,
}

impl Report<'_> {
    /// Begins a section.
    fn title(&mut self, title: &str) {
        let end = if self.text.is_empty() { "" } else { "\r\n" };
        self.text.push_str(&format!("{end}# {title}\r\n"));
    }

    /// A line of a section.
    fn line(&mut self, name: &str, value: impl Display) {
        self.text.push_str(&format!("{name}:{value}\r\n"));
    }

    /// Lines of a section with numbers.
    fn numbers(&mut self, lines: &[(&str, u64)]) {
        for (name, number) in lines {
            self.line(name, number);
        }
    }

    /// Lines about what there is nothing of.
    fn zeros(&mut self, names: &[&str]) {
        for name in names {
            self.line(name, 0);
        }
    }

    /// A number of bytes, and the same for people.
    fn bytes(&mut self, name: &str, bytes: u64) {
        self.line(name, bytes);
        self.line(&format!("{name}_human"), human(bytes));
    }
}

/// A number of bytes with a unit.
pub(crate) fn human(bytes: u64) -> String {
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

/// Writes a section.
type Write = fn(&mut Report<'_>);

/// The sections in order; whether INFO without a word shows them.
static SECTIONS: [(&str, Write, bool); 13] = [
    ("server", process::server, true),
    ("clients", activity::clients, true),
    ("memory", memory::memory, true),
    ("persistence", process::persistence, true),
    ("stats", activity::stats, true),
    ("replication", process::replication, true),
    ("cpu", process::cpu, true),
    ("modules", process::modules, true),
    ("commandstats", commands::commandstats, false),
    ("errorstats", commands::errorstats, true),
    ("latencystats", commands::latencystats, false),
    ("cluster", process::cluster, true),
    ("keyspace", activity::keyspace, true),
];

/// Tells about the server.
pub(crate) fn info<V: View>(call: &mut Call<'_, V>) -> Done {
    let words = call.args.tail(1);
    let is = |word: &[u8], name: &str| word.eq_ignore_ascii_case(name.as_bytes());
    let facts = Facts::of(call);
    let mut report =
        Report { text: String::new(), host: call.host(), facts: &facts, now: call.now };
    for (name, write, is_default) in &SECTIONS {
        let is_meant = |word: &[u8]| {
            is(word, name)
                || is(word, "all")
                || is(word, "everything")
                || *is_default && is(word, "default")
        };
        if words.iter().any(is_meant) || words.is_empty() && *is_default {
            write(&mut report);
        }
    }
    let text = report.text;
    call.out.verbatim(b"txt", text.as_bytes());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::human;

    #[test]
    fn bytes_are_written_as_redis_does() {
        let cases = [(0, "0B"), (1023, "1023B"), (941_232, "919.17K"), (1 << 30, "1.00G")];
        for (bytes, text) in cases {
            assert_eq!(human(bytes), text);
        }
    }
}
