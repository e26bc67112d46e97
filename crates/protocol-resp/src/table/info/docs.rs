// SPDX-License-Identifier: Apache-2.0
//! `COMMAND DOCS`: what is written about commands.

use super::{pair, text, words};
use crate::table::bits::Flags;
use crate::table::spec::Spec;
use crate::table::syntax::{Argument, Kind};
use crate::table::{Catalogue, CommandId};
use crate::wire::reply::{Output, Writer};

impl Catalogue {
    /// `COMMAND DOCS name ...`: a map of these commands, without what is none; without a name of
    /// all.
    pub fn docs<'n, N>(self, out: &mut Writer<'_, impl Output>, names: N)
    where
        N: ExactSizeIterator<Item = &'n [u8]>,
    {
        if names.len() == 0 {
            return all_of(out, self, self.commands());
        }
        let mark = out.begin_map();
        let mut found = 0;
        for command in names.filter_map(|name| self.find_full(name)) {
            doc(out, self, command);
            found += 1;
        }
        out.end_map(mark, found);
    }
}

fn all_of<C>(out: &mut Writer<'_, impl Output>, catalogue: Catalogue, commands: C)
where
    C: Iterator<Item = CommandId> + Clone,
{
    out.map(commands.clone().count());
    for command in commands {
        doc(out, catalogue, command);
    }
}

/// The name of a command and the map about it.
fn doc(out: &mut Writer<'_, impl Output>, catalogue: Catalogue, command: CommandId) {
    let spec = command.spec();
    let arguments = spec.arguments();
    let flags = doc_flags(spec);
    let more = [
        flags.is_some(),
        spec.deprecated.is_some(),
        spec.deprecated.is_some(),
        !arguments.is_empty(),
        command.is_container(),
    ];
    text(out, spec.name);
    out.map(4 + more.iter().filter(|there| **there).count());
    pair(out, "summary", spec.summary);
    pair(out, "since", spec.since);
    pair(out, "group", spec.group.name());
    pair(out, "complexity", spec.complexity);
    if let Some(flags) = flags {
        text(out, "doc_flags");
        words(out, [flags].into_iter());
    }
    if let Some(deprecated) = spec.deprecated {
        pair(out, "deprecated_since", deprecated.since);
        pair(out, "replaced_by", deprecated.replaced_by);
    }
    if !arguments.is_empty() {
        text(out, "arguments");
        list(out, &arguments);
    }
    if command.is_container() {
        text(out, "subcommands");
        all_of(out, catalogue, catalogue.subcommands(command));
    }
}

fn doc_flags(spec: &Spec) -> Option<&'static str> {
    if spec.deprecated.is_some() {
        Some("deprecated")
    } else if spec.flags.has(Flags::SYSTEM) {
        Some("syscmd")
    } else {
        None
    }
}

fn list(out: &mut Writer<'_, impl Output>, arguments: &[Argument]) {
    out.array(arguments.len());
    for argument in arguments {
        one(out, argument);
    }
}

fn one(out: &mut Writer<'_, impl Output>, argument: &Argument) {
    let flags = [
        (argument.optional, "optional"),
        (argument.multiple, "multiple"),
        (argument.multiple_token, "multiple_token"),
    ];
    let flags = flags.into_iter().filter(|(set, _)| *set).map(|(_, word)| word);
    let has_parts = matches!(argument.kind, Kind::OneOf | Kind::Block);
    let more = [
        argument.key_spec.is_some(),
        argument.token.is_some(),
        flags.clone().next().is_some(),
        has_parts,
    ];
    out.map(2 + more.iter().filter(|there| **there).count());
    pair(out, "name", &argument.name);
    pair(out, "type", argument.kind.name());
    if let Some(index) = argument.key_spec {
        text(out, "key_spec_index");
        out.count(index);
    }
    if let Some(token) = argument.token {
        pair(out, "token", token);
    }
    if flags.clone().next().is_some() {
        text(out, "flags");
        words(out, flags);
    }
    if has_parts {
        text(out, "arguments");
        list(out, &argument.arguments);
    }
}
