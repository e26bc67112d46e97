// SPDX-License-Identifier: Apache-2.0
//! From a command to the function that carries it out. The row of a command in the
//! [table] names its function; here the names become calls.

use crate::commands::{lists, sorted_sets};
use crate::engine::call::Call;
use crate::engine::function::Commands;
use crate::engine::keys::Keys;
use crate::host::events::Event;
use crate::session::waiting::Wants;
use crate::table::{self, CommandId};
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::Writer;
use keyspace::View;

/// All commands of the table.
#[derive(Debug)]
pub(crate) enum All {}

/// Makes [`dispatch`].
macro_rules! dispatch {
    ($($command:ident $name:literal = $module:ident :: $function:ident)+) => {
        /// Calls the function of a command.
        #[inline]
        fn dispatch<V: View>(id: CommandId, call: &mut Call<'_, V>) -> Done {
            match id {
                $( CommandId::$command => crate::commands::$module::$function(call), )+
            }
        }
    };
}

table::all_commands!(dispatch);

impl Commands for All {
    #[inline]
    fn run<V: View>(id: CommandId, call: &mut Call<'_, V>) -> Done {
        dispatch(id, call)
    }

    fn serve<'k, V: View>(
        wants: &'k Wants,
        keys: &mut Keys<'_, V>,
        key: &'k [u8],
        out: &mut Writer<'_, Vec<u8>>,
    ) -> Result<Vec<(&'k [u8], Event)>, Fault> {
        let event = match wants {
            Wants::Pop { from } => lists::pop_for(keys, key, *from, None, out)?,
            Wants::PopMany { from, count } => lists::pop_for(keys, key, *from, Some(*count), out)?,
            Wants::Move { from, to, destination } => {
                let element = lists::move_element(keys, key, destination, *from, *to)?;
                out.bulk_or_null(element.as_deref());
                return Ok(lists::events(key, destination, *from, *to).to_vec());
            }
            Wants::PopScored { from } => sorted_sets::pop_for(keys, key, *from, None, out)?,
            Wants::PopManyScored { from, count } => {
                sorted_sets::pop_for(keys, key, *from, Some(*count), out)?
            }
        };
        Ok(vec![(key, event)])
    }
}
