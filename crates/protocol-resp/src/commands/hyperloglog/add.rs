// SPDX-License-Identifier: Apache-2.0
//! PFADD.

use super::{PFADD, sketch};
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use keyspace::View;
use sketch::Form;
use values::{Digits, Entry, Type};

/// Notes elements; the reply is whether the estimate may be another then.
pub(crate) fn pfadd<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, elements) = (call.arg(1), call.args.tail(2));
    let sparse_max = call.keys.limits.hll_sparse_bytes;
    let old = call.keys.get_mut(key, Type::String)?;
    let old = old.map(|mut entry| add(&mut entry, elements, sparse_max)).transpose()?;
    let is_changed = match old {
        Some(is_changed) => is_changed,
        None => {
            let mut text = sketch::empty();
            for element in elements.iter() {
                sketch::add(&mut text, element, sparse_max)?;
            }
            sketch::forget_cached(&mut text);
            call.keys.put(Entry::raw_string(key, &text));
            true
        }
    };
    if is_changed {
        call.modified(key, PFADD);
    }
    call.out.integer(is_changed.into());
    Ok(())
}

/// Adds elements to the HyperLogLog in an entry and returns whether it changed. A dense one is changed in place.
fn add(entry: &mut Entry, elements: Args<'_>, sparse_max: usize) -> Result<bool, Fault> {
    match Form::of(entry.text(&mut Digits::new()))? {
        Form::Dense => Ok(entry.edit_text(|text| {
            let add = |changed, element: &[u8]| sketch::add_dense(text, element) | changed;
            let is_changed = elements.iter().fold(false, add);
            if is_changed {
                sketch::forget_cached(text);
            }
            is_changed
        })),
        Form::Sparse => {
            let mut text = entry.text(&mut Digits::new()).to_vec();
            let mut is_changed = false;
            for element in elements.iter() {
                is_changed |= sketch::add(&mut text, element, sparse_max)?;
            }
            if is_changed {
                sketch::forget_cached(&mut text);
                entry.set_raw_string(&text);
            }
            Ok(is_changed)
        }
    }
}
