// SPDX-License-Identifier: Apache-2.0
//! PFMERGE.

use super::{PFADD, sketch};
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
    let old = old.map(|entry| entry.text(&mut Digits::new()).to_vec());
    let is_new = old.is_none();
    let mut text = old.unwrap_or_else(sketch::empty);
    if is_dense {
        if Form::of(&text)? == Form::Sparse {
            text = sketch::to_dense(&text)?;
        }
        sketch::set_dense(&mut text, &registers);
    } else {
        // From what is there on, so that the bytes are those of Redis.
        for (index, value) in registers.iter().enumerate().filter(|(_, value)| **value > 0) {
            sketch::raise(&mut text, index, *value, sparse_max)?;
        }
    }
    sketch::forget_cached(&mut text);
    if is_new {
        call.keys.put(Entry::raw_string(to, &text));
    } else if let Some(mut entry) = call.keys.any_mut(to) {
        entry.set_raw_string(&text);
    }
    call.modified(to, PFADD);
    call.out.ok();
    Ok(())
}
