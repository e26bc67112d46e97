// SPDX-License-Identifier: Apache-2.0
//! COMMAND: what there is to know about commands.

use crate::service::call::Call;
use crate::service::fault::{Done, Fault};
use crate::table::info::{self, Filter, NoKeys};
use storage::keyspace::View;

/// Describes all commands.
pub(crate) fn command<V: View>(call: &mut Call<'_, V>) -> Done {
    info::all(&mut call.out);
    Ok(())
}

/// Counts the commands.
pub(crate) fn command_count<V: View>(call: &mut Call<'_, V>) -> Done {
    info::count(&mut call.out);
    Ok(())
}

/// Describes some of the commands.
pub(crate) fn command_info<V: View>(call: &mut Call<'_, V>) -> Done {
    info::some(&mut call.out, call.args.tail(2).iter());
    Ok(())
}

/// Tells what is written about commands.
pub(crate) fn command_docs<V: View>(call: &mut Call<'_, V>) -> Done {
    info::docs(&mut call.out, call.args.tail(2).iter());
    Ok(())
}

/// Lists the names of commands.
pub(crate) fn command_list<V: View>(call: &mut Call<'_, V>) -> Done {
    let words = call.args.tail(2);
    let filter = Filter::parse(&words).ok_or(Fault::SYNTAX)?;
    info::list(&mut call.out, filter);
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
