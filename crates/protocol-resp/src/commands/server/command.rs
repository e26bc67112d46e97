// SPDX-License-Identifier: Apache-2.0
//! COMMAND: what there is to know about commands.

use crate::engine::any_call::{AnyCall, CallParts};
use crate::engine::call::Call;
use crate::table::info::{self, Filter, NoKeys};
use crate::wire::fault::{Done, Fault};
use keyspace::View;

/// Describes all commands.
pub(crate) fn command<'c, C: AnyCall<'c>>(call: &mut C) -> Done {
    C::CATALOGUE.entries(call.parts().out);
    Ok(())
}

/// Counts the commands.
pub(crate) fn command_count<'c, C: AnyCall<'c>>(call: &mut C) -> Done {
    C::CATALOGUE.count(call.parts().out);
    Ok(())
}

/// Describes some of the commands.
pub(crate) fn command_info<'c, C: AnyCall<'c>>(call: &mut C) -> Done {
    let CallParts { args, out, .. } = call.parts();
    C::CATALOGUE.some_entries(out, args.tail(2).iter());
    Ok(())
}

/// Tells what is written about commands.
pub(crate) fn command_docs<'c, C: AnyCall<'c>>(call: &mut C) -> Done {
    let CallParts { args, out, .. } = call.parts();
    C::CATALOGUE.docs(out, args.tail(2).iter());
    Ok(())
}

/// Lists the names of commands.
pub(crate) fn command_list<'c, C: AnyCall<'c>>(call: &mut C) -> Done {
    let CallParts { args, out, .. } = call.parts();
    let words = args.tail(2);
    let filter = Filter::parse(&words).ok_or(Fault::SYNTAX)?;
    C::CATALOGUE.list(out, filter);
    Ok(())
}

/// Finds the keys of a command.
pub(crate) fn command_getkeys<V: View>(call: &mut Call<'_, V>) -> Done {
    info::keys(&mut call.out, &call.args.tail(2)).map_err(|why| fault(&why))
}

/// Finds the keys of a command and what it does to them.
pub(crate) fn command_getkeysandflags<V: View>(call: &mut Call<'_, V>) -> Done {
    info::keys_and_flags(&mut call.out, &call.args.tail(2)).map_err(|why| fault(&why))
}

fn fault(why: &NoKeys) -> Fault {
    Fault::made(format!("ERR {why}"))
}
