// SPDX-License-Identifier: Apache-2.0
//! What all containers of sub-commands have in common: HELP, and what is said of unknown ones.

use super::call::Call;
use super::fault::{Done, Fault};
use crate::table::{self, CommandId, Spec};
use storage::keyspace::View;

/// Bytes of an unknown name that are quoted back.
const QUOTED_MAX: usize = 128;

/// A container by itself, whose arity asks for a sub-command.
pub(crate) fn unknown_subcommand<V: View>(call: &mut Call<'_, V>) -> Done {
    Err(Fault::arity(call.spec.name))
}

/// Lists the sub-commands of a container.
pub(crate) fn help<V: View>(call: &mut Call<'_, V>) -> Done {
    let Some(container) = table::find(call.arg(0)) else { return Err(Fault::SYNTAX) };
    let title = container.spec().title();
    let lines = 2 * container.subcommands().len() + 1;
    call.out.array(lines);
    call.out.simple(&format!("{title} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:"));
    for command in container.subcommands() {
        let spec = command.spec();
        let syntax = spec.syntax;
        let space = if syntax.is_empty() { "" } else { " " };
        call.out.simple(&format!("{}{space}{syntax}", spec.word().to_uppercase()));
        call.out.simple(&format!("    {}", spec.summary));
    }
    Ok(())
}

/// The error for a sub-command that its container does not have.
#[cold]
pub(crate) fn no_such_subcommand(container: CommandId, name: &[u8]) -> Fault {
    wrong_subcommand("unknown subcommand", container.spec(), name)
}

/// The error of a sub-command that takes more arguments than some, but fewer than it was given.
#[cold]
pub(crate) fn too_many_arguments<V: View>(call: &Call<'_, V>) -> Fault {
    let what = "unknown subcommand or wrong number of arguments for";
    let container = table::find(call.arg(0)).map_or(call.spec, CommandId::spec);
    wrong_subcommand(what, container, call.arg(1))
}

fn wrong_subcommand(what: &str, container: &Spec, name: &[u8]) -> Fault {
    let mut text = format!("ERR {what} '").into_bytes();
    text.extend_from_slice(super::admission::shown(name, QUOTED_MAX));
    text.extend_from_slice(format!("'. Try {} HELP.", container.title()).as_bytes());
    Fault::made(text)
}

/// The error for a sub-command with more arguments than it can do anything with.
#[cold]
pub(crate) fn wrong_arguments<V>(call: &Call<'_, V>) -> Fault {
    let mut text = b"ERR unknown subcommand or wrong number of arguments for '".to_vec();
    text.extend_from_slice(call.args.arg(1));
    text.extend_from_slice(b"'. Try ");
    text.extend_from_slice(&call.args.arg(0).to_ascii_uppercase());
    text.extend_from_slice(b" HELP.");
    Fault::made(text)
}
