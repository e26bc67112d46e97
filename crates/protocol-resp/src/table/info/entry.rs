// SPDX-License-Identifier: Apache-2.0
//! `COMMAND`, `COMMAND INFO`, `COMMAND COUNT`: what must be known to send a command.

use super::{pair, text, words};
use crate::table::key_spec::{Begin, Find, KeySpec};
use crate::table::{Catalogue, CommandId};
use crate::wire::reply::{Output, Writer};

impl Catalogue {
    /// `COMMAND`: the entries of all commands.
    pub fn entries(self, out: &mut Writer<'_, impl Output>) {
        out.array(self.commands().count());
        for command in self.commands() {
            entry(out, self, command);
        }
    }

    /// `COMMAND COUNT`.
    pub fn count(self, out: &mut Writer<'_, impl Output>) {
        out.count(self.commands().count());
    }

    /// `COMMAND INFO name ...`: the entries of these commands, null for what is none; without a name
    /// those of all.
    pub fn some_entries<'n, N>(self, out: &mut Writer<'_, impl Output>, names: N)
    where
        N: ExactSizeIterator<Item = &'n [u8]>,
    {
        if names.len() == 0 {
            return self.entries(out);
        }
        out.array(names.len());
        for name in names {
            match self.find_full(name) {
                Some(command) => entry(out, self, command),
                None => out.null(),
            }
        }
    }
}

/// One command, and its sub-commands inside.
fn entry(out: &mut Writer<'_, impl Output>, catalogue: Catalogue, command: CommandId) {
    let spec = command.spec();
    out.array(10);
    text(out, spec.name);
    out.integer(spec.arity.into());
    words(out, spec.shown_flags().words());
    let (first, last, step) = spec.key_range();
    for place in [first, last, step] {
        out.integer(place.into());
    }
    let categories = spec.categories();
    out.set(categories.words().count());
    for word in categories.words() {
        out.simple(&format!("@{word}"));
    }
    out.set(spec.tips.len());
    for tip in spec.tips {
        text(out, tip);
    }
    out.set(spec.keys.len());
    for rule in spec.keys {
        key_spec(out, rule);
    }
    let subcommands = catalogue.subcommands(command);
    match subcommands.clone().count() {
        // Redis has an empty set here, and arrays elsewhere.
        0 => out.set(0),
        count => out.array(count),
    }
    for subcommand in subcommands {
        entry(out, catalogue, subcommand);
    }
}

fn key_spec(out: &mut Writer<'_, impl Output>, rule: &KeySpec) {
    out.map(if rule.note.is_empty() { 3 } else { 4 });
    if !rule.note.is_empty() {
        pair(out, "notes", rule.note);
    }
    text(out, "flags");
    words(out, rule.flags.words());
    text(out, "begin_search");
    // What begins at an unknown place ends at one, too.
    let find = match rule.begin {
        Begin::Index(index) | Begin::Unless { index, .. } => {
            of_type(out, "index", &[("index", index.into())]);
            rule.find
        }
        Begin::Keyword { word, from } => {
            keyword(out, word, from.into());
            rule.find
        }
        Begin::Option { word, from, is_shown: true, .. } => {
            keyword(out, word, from.into());
            rule.find
        }
        Begin::Behind(end) => {
            keyword(out, end.word, end.shown_from.into());
            rule.find
        }
        Begin::Option { is_shown: false, .. } | Begin::Unknown => {
            of_type(out, "unknown", &[]);
            Find::Unknown
        }
    };
    text(out, "find_keys");
    match find {
        Find::Range { last, step, limit } => of_type(
            out,
            "range",
            &[("lastkey", last.into()), ("keystep", step.into()), ("limit", limit.into())],
        ),
        Find::Count { at, first, step } => of_type(
            out,
            "keynum",
            &[("keynumidx", at.into()), ("firstkey", first.into()), ("keystep", step.into())],
        ),
        Find::Unknown => of_type(out, "unknown", &[]),
    }
}

/// The first half of a key spec that begins behind a word.
fn keyword(out: &mut Writer<'_, impl Output>, word: &str, from: i64) {
    out.map(2);
    pair(out, "type", "keyword");
    text(out, "spec");
    out.map(2);
    pair(out, "keyword", word);
    text(out, "startfrom");
    out.integer(from);
}

/// Half of a key spec: its type and its numbers.
fn of_type(out: &mut Writer<'_, impl Output>, kind: &str, numbers: &[(&str, i64)]) {
    out.map(2);
    pair(out, "type", kind);
    text(out, "spec");
    out.map(numbers.len());
    for (name, number) in numbers {
        text(out, name);
        out.integer(*number);
    }
}
