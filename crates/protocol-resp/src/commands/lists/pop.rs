// SPDX-License-Identifier: Apache-2.0
//! Taking elements from the ends: LPOP, RPOP, LMPOP.

use super::super::options::{count_option, numkeys};
use super::{end, popped};
use crate::engine::call::Call;
use crate::engine::keys::Keys;
use crate::host::events::Event;
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::{Output, Writer};
use keyspace::View;
use values::{End, ListMut};

/// Takes elements from the head of a list.
pub(crate) fn lpop<V: View>(call: &mut Call<'_, V>) -> Done {
    pop(call, End::Front)
}

/// Takes elements from the tail of a list.
pub(crate) fn rpop<V: View>(call: &mut Call<'_, V>) -> Done {
    pop(call, End::Back)
}

fn pop<V: View>(call: &mut Call<'_, V>, from: End) -> Done {
    let key = call.arg(1);
    if call.args.len() > 3 {
        return Err(Fault::arity(call.spec.name));
    }
    let count = call.args.get(2).map(positive).transpose()?;
    let out = &mut call.out;
    let popped = call.keys.edit_list_if_any(key, |list| {
        match count {
            Some(count) => pop_some(list, from, count, out),
            None => _ = list.pop(from, |element| out.bulk(element)),
        }
        list.is_empty()
    })?;
    match (popped, count) {
        (Some(_), Some(0)) => {}
        (Some(is_empty), _) => tell(call, key, from, is_empty),
        (None, Some(_)) => call.out.null_array(),
        (None, None) => call.out.null(),
    }
    Ok(())
}

/// Says that elements were taken, and removes a list that is left empty.
fn tell<V: View>(call: &mut Call<'_, V>, key: &[u8], from: End, is_empty: bool) {
    call.modified(key, popped(from));
    if is_empty {
        call.remove_if_empty(key);
    }
}

fn positive(text: &[u8]) -> Result<usize, Fault> {
    let number = values::parse_i64(text).and_then(|number| usize::try_from(number).ok());
    number.ok_or(Fault::NOT_POSITIVE)
}

/// Takes up to `count` elements and writes them as an array.
fn pop_some<O: Output>(list: &mut ListMut<'_>, from: End, count: usize, out: &mut Writer<'_, O>) {
    let count = count.min(list.len());
    out.array(count);
    for _ in 0..count {
        list.pop(from, |element| out.bulk(element));
    }
}

/// Takes elements from the first of several lists that has some.
pub(crate) fn lmpop<V: View>(call: &mut Call<'_, V>) -> Done {
    let (keys, rest) = numkeys(call.args.tail(1))?;
    let from = end(rest.get(0).ok_or(Fault::SYNTAX)?)?;
    let count = count_option(rest.tail(1))?;
    for key in keys.iter() {
        if pop_from(call, key, from, Some(count))? {
            return Ok(());
        }
    }
    call.out.null_array();
    Ok(())
}

/// Takes elements of a list and writes them with its key; whether there is one.
pub(super) fn pop_from<V: View>(
    call: &mut Call<'_, V>,
    key: &[u8],
    from: End,
    count: Option<usize>,
) -> Result<bool, Fault> {
    match pop_with_key(&mut call.keys, key, from, count, &mut call.out)? {
        Some(is_empty) => {
            tell(call, key, from, is_empty);
            Ok(true)
        }
        None => Ok(false),
    }
}

/// Takes elements for a client that waits, and writes its reply: the key with one element, or with
/// up to `count`. What has happened to the key by that.
pub(crate) fn pop_for<V: View, O: Output>(
    keys: &mut Keys<'_, V>,
    key: &[u8],
    from: End,
    count: Option<usize>,
    out: &mut Writer<'_, O>,
) -> Result<Event, Fault> {
    match pop_with_key(keys, key, from, count, out)? {
        Some(_) => Ok(popped(from)),
        None => Err(Fault::NO_SUCH_KEY),
    }
}

/// Takes elements and writes them with their key. Whether none are left; `None` if there is no such
/// key, when nothing is written.
fn pop_with_key<V: View, O: Output>(
    keys: &mut Keys<'_, V>,
    key: &[u8],
    from: End,
    count: Option<usize>,
    out: &mut Writer<'_, O>,
) -> Result<Option<bool>, Fault> {
    keys.edit_list_if_any(key, |list| {
        out.array(2);
        out.bulk(key);
        match count {
            Some(count) => pop_some(list, from, count, out),
            None => _ = list.pop(from, |element| out.bulk(element)),
        }
        list.is_empty()
    })
}
