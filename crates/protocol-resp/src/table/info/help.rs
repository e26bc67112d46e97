// SPDX-License-Identifier: Apache-2.0
//! `HELP` of a container: its sub-commands, a line for the arguments and one for the summary.

use crate::table::spec::Spec;
use crate::table::{Catalogue, CommandId, Flags};
use crate::wire::reply::{Output, Writer};

impl Catalogue {
    /// `CLIENT HELP`, `CONFIG HELP`, ...: the answer for a container.
    pub fn help(self, out: &mut Writer<'_, impl Output>, container: CommandId) {
        let spec = container.spec();
        // Alone, it must do something itself.
        let alone = spec.accepts(1);
        let subcommands = self.subcommands(container);
        out.array(1 + 2 * (usize::from(alone) + subcommands.clone().count()));
        out.simple(&format!(
            "{} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
            spec.title()
        ));
        if alone {
            lines(out, "(no subcommand)", spec);
        }
        let is_help = |subcommand: &CommandId| subcommand.spec().flags.has(Flags::HELP);
        let others = subcommands.clone().filter(|subcommand| !is_help(subcommand));
        for subcommand in others.chain(subcommands.filter(is_help)) {
            let spec = subcommand.spec();
            lines(out, &format!("{} {}", spec.word().to_uppercase(), spec.usage()), spec);
        }
    }
}

fn lines(out: &mut Writer<'_, impl Output>, usage: &str, spec: &Spec) {
    out.simple(usage.trim_end());
    out.simple(&format!("    {}", spec.summary));
}
