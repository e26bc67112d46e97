// SPDX-License-Identifier: Apache-2.0
//! `HELP` of a container: its sub-commands, a line for the arguments and one for the summary.

use crate::reply::{Output, Writer};
use crate::table::CommandId;
use crate::table::spec::Spec;

/// `CLIENT HELP`, `CONFIG HELP`, ...: the answer for the container of that name.
pub fn help(out: &mut Writer<'_, impl Output>, container: CommandId) {
    let spec = container.spec();
    // Alone, it must do something itself.
    let alone = spec.accepts(1);
    out.array(1 + 2 * (usize::from(alone) + container.subcommands().len()));
    out.simple(&format!(
        "{} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
        spec.title()
    ));
    if alone {
        lines(out, "(no subcommand)", spec);
    }
    let is_help = |subcommand: &CommandId| subcommand.spec().word() == "help";
    let others = container.subcommands().filter(|subcommand| !is_help(subcommand));
    for subcommand in others.chain(container.subcommands().filter(is_help)) {
        let spec = subcommand.spec();
        lines(out, &format!("{} {}", spec.word().to_uppercase(), spec.usage()), spec);
    }
}

fn lines(out: &mut Writer<'_, impl Output>, usage: &str, spec: &Spec) {
    out.simple(usage.trim_end());
    out.simple(&format!("    {}", spec.summary));
}
