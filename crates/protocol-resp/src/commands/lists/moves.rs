// SPDX-License-Identifier: Apache-2.0
//! From list to list: LMOVE, RPOPLPUSH.

use super::{popped, pushed};
use crate::engine::call::Call;
use crate::engine::keys::Keys;
use crate::host::events::Event;
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use values::{End, Type};

/// Moves an element from an end of a list to an end of another.
pub(crate) fn lmove<V: View>(call: &mut Call<'_, V>) -> Done {
    let (from, to) = (end(call.arg(3))?, end(call.arg(4))?);
    move_or_null(call, from, to)
}

/// Moves the last element of a list to the head of another.
pub(crate) fn rpoplpush<V: View>(call: &mut Call<'_, V>) -> Done {
    move_or_null(call, End::Back, End::Front)
}

fn move_or_null<V: View>(call: &mut Call<'_, V>, from: End, to: End) -> Done {
    let (source, destination) = (call.arg(1), call.arg(2));
    match move_element(&mut call.keys, source, destination, from, to)? {
        Some(element) => {
            call.out.bulk(&element);
            for (key, event) in events(source, destination, from, to) {
                call.modified(key, event);
            }
            call.remove_if_empty(source);
        }
        None => call.out.null(),
    }
    Ok(())
}

/// The events of moving an element, in the order in which they are published.
pub(crate) fn events<'k>(
    source: &'k [u8],
    destination: &'k [u8],
    from: End,
    to: End,
) -> [(&'k [u8], Event); 2] {
    [(destination, pushed(to)), (source, popped(from))]
}

/// The end that `LEFT` or `RIGHT` means.
pub(crate) fn end(word: &[u8]) -> Result<End, Fault> {
    if word.eq_ignore_ascii_case(b"left") {
        Ok(End::Front)
    } else if word.eq_ignore_ascii_case(b"right") {
        Ok(End::Back)
    } else {
        Err(Fault::SYNTAX)
    }
}

/// Moves an element and returns it; `None` if there is no source. The source may be left empty.
pub(crate) fn move_element<V: View>(
    keys: &mut Keys<'_, V>,
    source: &[u8],
    destination: &[u8],
    from: End,
    to: End,
) -> Result<Option<Vec<u8>>, Fault> {
    let is_list = |key| keys.peek(key).map(|entry| entry.data_type() == Type::List);
    match (is_list(source), is_list(destination)) {
        (None, _) => return Ok(None),
        (Some(false), _) | (_, Some(false)) => return Err(Fault::WRONG_TYPE),
        (Some(true), Some(true) | None) => {}
    }
    let element = keys.edit_list_if_any(source, |list| list.pop(from, <[u8]>::to_vec))?.flatten();
    if let Some(element) = &element {
        keys.edit_list(destination, |list| list.push(to, element))?;
    }
    Ok(element)
}
