// SPDX-License-Identifier: Apache-2.0
//! PFCOUNT.

use super::{dense, sketch};
use crate::engine::call::Call;
use crate::host::events::Event;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use keyspace::View;
use values::{Digits, Type};

/// Estimates how many different elements were noted, in any of several HyperLogLogs.
pub(crate) fn pfcount<V: View>(call: &mut Call<'_, V>) -> Done {
    let keys = call.args.tail(1);
    let count =
        if keys.len() == 1 { count_one(call, keys.arg(0))? } else { count_all(call, keys)? };
    call.out.integer(count as i64);
    Ok(())
}

/// The estimate of one. It is kept in the string until elements are added, which is a change of the string.
fn count_one<V: View>(call: &mut Call<'_, V>, key: &[u8]) -> Result<u64, Fault> {
    let mut digits = Digits::new();
    let Some(entry) = call.keys.get(key, Type::String)? else {
        call.missed(key);
        return Ok(0);
    };
    let text = entry.text(&mut digits);
    sketch::Form::of(text)?;
    if let Some(cached) = sketch::cached(text) {
        return Ok(cached);
    }
    let count = sketch::count(text)?;
    if let Some(mut entry) = call.keys.get_mut(key, Type::String)? {
        entry.edit_text(|text| sketch::set_cached(text, count));
    }
    call.modified(key, Event::UNTOLD);
    Ok(count)
}

fn count_all<V: View>(call: &mut Call<'_, V>, keys: Args<'_>) -> Result<u64, Fault> {
    let mut registers = sketch::none();
    for key in keys.iter() {
        match call.keys.get(key, Type::String)? {
            Some(entry) => {
                sketch::merge(entry.text(&mut Digits::new()), &mut registers)?;
            }
            None => call.missed(key),
        }
    }
    Ok(sketch::count_registers(&dense::unpack(&*registers)))
}
