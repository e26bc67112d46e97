// SPDX-License-Identifier: Apache-2.0
//! From a command to the function that carries it out. The row of a command in the
//! [table] names its function; here the names become calls.

use crate::commands::{lists, sorted_sets};
use crate::engine::call::Call;
use crate::engine::function::Commands;
use crate::engine::keys::Keys;
use crate::host::events::Event;
use crate::session::waiting::Wants;
use crate::table::{self, CommandId, STARTS};
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::Writer;
use keyspace::View;

/// All commands of the table.
#[derive(Debug)]
pub(crate) enum All {}

/// Makes the function that carries out the commands of a group, by the number of the row in it.
macro_rules! group {
    ($group:ident: $( $command:ident = $module:ident :: $function:ident )+) => {
        #[allow(non_upper_case_globals)]
        #[inline]
        fn $group<V: View>(row: usize, call: &mut Call<'_, V>) -> Done {
            enum Row { $($command),+ }
            $( const $command: usize = Row::$command as usize; )+
            match row {
                $( $command => crate::commands::$module::$function(call), )+
                _ => unreachable!("a row of this group"),
            }
        }
    };
}

table::strings::functions!(group strings);
table::hashes::functions!(group hashes);
table::lists::functions!(group lists);
table::sets::functions!(group sets);
table::sorted_sets::functions!(group sorted_sets);
table::generic::functions!(group generic);
table::connection::functions!(group connection);
table::transactions::functions!(group transactions);
table::pubsub::functions!(group pubsub);
table::server::functions!(group server);
table::other::functions!(group other);
table::cluster::functions!(group cluster);

impl Commands for All {
    #[inline]
    fn run<V: View>(id: CommandId, call: &mut Call<'_, V>) -> Done {
        let row = id.index();
        match row {
            _ if row < STARTS[1] => strings(row - STARTS[0], call),
            _ if row < STARTS[2] => hashes(row - STARTS[1], call),
            _ if row < STARTS[3] => lists(row - STARTS[2], call),
            _ if row < STARTS[4] => sets(row - STARTS[3], call),
            _ if row < STARTS[5] => sorted_sets(row - STARTS[4], call),
            _ if row < STARTS[6] => generic(row - STARTS[5], call),
            _ if row < STARTS[7] => connection(row - STARTS[6], call),
            _ if row < STARTS[8] => transactions(row - STARTS[7], call),
            _ if row < STARTS[9] => pubsub(row - STARTS[8], call),
            _ if row < STARTS[10] => server(row - STARTS[9], call),
            _ if row < STARTS[11] => other(row - STARTS[10], call),
            _ => cluster(row - STARTS[11], call),
        }
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
