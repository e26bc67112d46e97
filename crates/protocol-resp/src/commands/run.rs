// SPDX-License-Identifier: Apache-2.0
//! From a command to the function that carries it out. The row of a command in the
//! [table] names its function; here the names become calls.

use crate::commands::{lists, sorted_sets, streams};
use crate::engine::call::Call;
use crate::engine::function::Commands;
use crate::engine::keys::Keys;
use crate::host::events::Event;
use crate::session::waiting::{Waiter, Wants};
use crate::table::{self, CommandId};
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::Writer;
use keyspace::View;
use values::Entry;

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

    fn is_ready(waiter: &Waiter, key: &[u8], entry: Option<&Entry>, unix_ms: u64) -> bool {
        match &waiter.wants {
            Wants::Move { many: Some(many), .. } => {
                let list = entry.and_then(Entry::list);
                list.is_some_and(|list| list.len() >= many.least)
            }
            Wants::Pop { .. }
            | Wants::PopMany { .. }
            | Wants::Move { many: None, .. }
            | Wants::PopScored { .. }
            | Wants::PopManyScored { .. } => {
                entry.is_some_and(|entry| entry.data_type() == waiter.of)
            }
            Wants::Read { after, .. } => streams::is_ready(entry, after[waiter.position(key)]),
            Wants::ReadGroup(wait) => streams::is_group_ready(entry, wait, unix_ms),
        }
    }

    fn ready_in(waiter: &Waiter, entry: Option<&Entry>, unix_ms: u64) -> Option<u64> {
        match &waiter.wants {
            Wants::ReadGroup(wait) => streams::claimable_in(entry, wait, unix_ms),
            Wants::Pop { .. }
            | Wants::PopMany { .. }
            | Wants::Move { .. }
            | Wants::PopScored { .. }
            | Wants::PopManyScored { .. }
            | Wants::Read { .. } => None,
        }
    }

    fn serve<'k, V: View>(
        waiter: &'k Waiter,
        unix_ms: u64,
        keys: &mut Keys<'_, V>,
        key: &'k [u8],
        out: &mut Writer<'_, Vec<u8>>,
    ) -> Result<Vec<(&'k [u8], Event)>, Fault> {
        let event = match &waiter.wants {
            Wants::Pop { from } => lists::pop_for(keys, key, *from, None, out)?,
            Wants::PopMany { from, count } => lists::pop_for(keys, key, *from, Some(*count), out)?,
            Wants::Move { from, to, destination, many } => {
                match many {
                    None => {
                        let element = lists::move_element(keys, key, destination, *from, *to)?;
                        out.bulk_or_null(element.as_deref());
                    }
                    Some(many) => {
                        let block =
                            lists::move_elements(keys, key, destination, *from, *to, *many)?;
                        let block = block.unwrap_or_default();
                        out.array(block.len());
                        block.iter().for_each(|element| out.bulk(element));
                    }
                }
                return Ok(lists::events(key, destination, *from, *to).to_vec());
            }
            Wants::PopScored { from } => sorted_sets::pop_for(keys, key, *from, None, out)?,
            Wants::PopManyScored { from, count } => {
                sorted_sets::pop_for(keys, key, *from, Some(*count), out)?
            }
            Wants::Read { after, limits } => {
                let after = after[waiter.position(key)];
                streams::read_for(keys, key, after, *limits, out)?;
                return Ok(Vec::new());
            }
            Wants::ReadGroup(wait) => {
                let event = streams::read_group_for(keys, key, wait, unix_ms, out)?;
                return Ok(event.map(|event| (key, event)).into_iter().collect());
            }
        };
        Ok(vec![(key, event)])
    }
}
