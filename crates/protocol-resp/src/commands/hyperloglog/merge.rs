// SPDX-License-Identifier: Apache-2.0
//! PFMERGE.

use super::{PFADD, Packed, dense, sketch};
use crate::engine::call::Call;
use crate::wire::fault::Done;
use keyspace::View;
use sketch::Form;
use values::{Digits, Entry, Type};

/// Notes in one HyperLogLog what was noted in several.
pub(crate) fn pfmerge<V: View>(call: &mut Call<'_, V>) -> Done {
    let (to, sparse_max) = (call.arg(1), call.keys.limits.hll_sparse_bytes);
    let (mut registers, mut is_dense) = (sketch::none(), false);
    for key in call.args.tail(1).iter() {
        match call.keys.get(key, Type::String)? {
            Some(entry) => {
                let form = sketch::merge(entry.text(&mut Digits::new()), &mut registers)?;
                is_dense |= form == Form::Dense;
            }
            None => call.missed(key),
        }
    }
    let old = call.keys.get_mut(to, Type::String)?;
    let merged = old.map(|mut entry| merge_into(&mut entry, &registers, is_dense, sparse_max));
    if merged.transpose()?.is_none() {
        let mut text = sketch::empty();
        raise_all(&mut text, &registers, is_dense, sparse_max)?;
        call.keys.put(Entry::raw_string(to, &text));
    }
    call.modified(to, PFADD);
    call.out.ok();
    Ok(())
}

/// Raises the registers of the HyperLogLog in an entry to all that were found, its own among them. A dense one is
/// changed in place.
fn merge_into(entry: &mut Entry, registers: &Packed, is_dense: bool, sparse_max: usize) -> Done {
    let mut digits = Digits::new();
    let text = entry.text(&mut digits);
    if Form::of(text)? == Form::Dense {
        entry.edit_text(|text| {
            sketch::set_dense(text, registers);
            sketch::forget_cached(text);
        });
        return Ok(());
    }
    let mut text = text.to_vec();
    raise_all(&mut text, registers, is_dense, sparse_max)?;
    entry.set_raw_string(&text);
    Ok(())
}

/// The same in a text that is a sparse one, which becomes dense if another was.
fn raise_all(text: &mut Vec<u8>, registers: &Packed, is_dense: bool, sparse_max: usize) -> Done {
    if is_dense {
        *text = sketch::to_dense(text)?;
        sketch::set_dense(text, registers);
    } else {
        // From what is there on, so that the bytes are those of Redis.
        let registers = dense::unpack(registers);
        for (index, value) in registers.iter().enumerate().filter(|(_, value)| **value > 0) {
            sketch::raise(text, index, *value, sparse_max)?;
        }
    }
    sketch::forget_cached(text);
    Ok(())
}
