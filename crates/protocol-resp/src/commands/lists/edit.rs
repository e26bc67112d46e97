// SPDX-License-Identifier: Apache-2.0
//! Changing elements in the middle: LSET, LINSERT, LREM, LTRIM.

use super::super::ranges::clamp;
use crate::engine::call::Call;
use crate::host::events::{Class, Event};
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use values::ListMut;

/// Replaces the element at an index.
pub(crate) fn lset<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, index, element) = (call.arg(1), call.arg(2), call.arg(3));
    // There must be a list before the index is looked at.
    let set = call.keys.edit_list_if_any(key, |list| {
        let index = values::parse_i64(index).ok_or(Fault::NOT_INTEGER)?;
        if list.set(index, element) { Ok(()) } else { Err(Fault::INDEX_OUT_OF_RANGE) }
    });
    set?.ok_or(Fault::NO_SUCH_KEY)??;
    call.out.ok();
    call.modified(key, Event::of(Class::LIST, "lset"));
    Ok(())
}

/// Adds an element before or behind another.
pub(crate) fn linsert<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, pivot, element) = (call.arg(1), call.arg(3), call.arg(4));
    let before = match call.arg(2) {
        word if word.eq_ignore_ascii_case(b"before") => true,
        word if word.eq_ignore_ascii_case(b"after") => false,
        _ => return Err(Fault::SYNTAX),
    };
    let inserted = call.keys.edit_list_if_any(key, |list| {
        let is_inserted = match before {
            true => list.insert_before(pivot, element),
            false => list.insert_after(pivot, element),
        };
        is_inserted.then(|| list.len())
    })?;
    match inserted {
        Some(Some(len)) => {
            call.out.count(len);
            call.modified(key, Event::of(Class::LIST, "linsert"));
        }
        Some(None) => call.out.integer(-1),
        None => call.out.integer(0),
    }
    Ok(())
}

/// Removes elements that are equal to one.
pub(crate) fn lrem<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, element) = (call.arg(1), call.arg(3));
    let count = call.integer(2)?;
    if count == i64::MIN {
        return Err(Fault::NOT_NEGATABLE);
    }
    let remove = |list: &mut ListMut<'_>| (list.remove(count, element), list.is_empty());
    let (removed, is_empty) = call.keys.edit_list_if_any(key, remove)?.unwrap_or_default();
    call.out.count(removed);
    if removed > 0 {
        call.modified(key, Event::of(Class::LIST, "lrem"));
    }
    if is_empty {
        call.remove_if_empty(key);
    }
    Ok(())
}

/// Removes all elements but those of a range.
pub(crate) fn ltrim<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    let (start, stop) = (call.integer(2)?, call.integer(3)?);
    let keeps_some = call.keys.edit_list_if_any(key, |list| {
        let kept = clamp(start, stop, list.len());
        if !kept.is_empty() {
            list.trim(kept.clone());
        }
        !kept.is_empty()
    })?;
    call.out.ok();
    if keeps_some.is_some() {
        call.modified(key, Event::of(Class::LIST, "ltrim"));
    }
    if keeps_some == Some(false) {
        // The whole list goes, bit by bit if it is large.
        call.keys.remove(key);
        call.modified(key, Event::DEL);
    }
    Ok(())
}
