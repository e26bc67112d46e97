// SPDX-License-Identifier: Apache-2.0
//! Shared by all containers of sub-commands: HELP, and the errors for unknown sub-commands.

use crate::engine::any_call::{AnyCall, CallParts};
use crate::engine::call::Call;
use crate::engine::unknown::wrong_subcommand;
use crate::table::{self, CommandId};
use crate::wire::fault::{Done, Fault};
use keyspace::View;

/// A container by itself, whose arity asks for a sub-command.
pub(crate) fn unknown_subcommand<'c>(call: &mut impl AnyCall<'c>) -> Done {
    Err(Fault::arity(call.parts().spec.name))
}

/// Lists the sub-commands of a container.
pub(crate) fn help<'c, C: AnyCall<'c>>(call: &mut C) -> Done {
    let CallParts { args, out, .. } = call.parts();
    let container = table::find(args.arg(0)).ok_or(Fault::SYNTAX)?;
    C::CATALOGUE.help(out, container);
    Ok(())
}

/// The error of a sub-command that takes more arguments than some, but fewer than it was given.
#[cold]
pub(crate) fn too_many_arguments<V: View>(call: &Call<'_, V>) -> Fault {
    let what = "unknown subcommand or wrong number of arguments for";
    let container = table::find(call.arg(0)).map_or(call.spec, CommandId::spec);
    wrong_subcommand(what, container, call.arg(1))
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
