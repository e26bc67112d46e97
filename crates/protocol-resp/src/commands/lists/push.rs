// SPDX-License-Identifier: Apache-2.0
//! Adding elements at the ends: LPUSH, RPUSH, LPUSHX, RPUSHX.

use super::pushed;
use crate::engine::call::Call;
use crate::wire::fault::Done;
use crate::wire::parse::Args;
use keyspace::View;
use values::{End, ListMut};

/// Adds elements at the head of a list, which is made if there is none.
pub(crate) fn lpush<V: View>(call: &mut Call<'_, V>) -> Done {
    push(call, End::Front)
}

/// Adds elements at the tail of a list, which is made if there is none.
pub(crate) fn rpush<V: View>(call: &mut Call<'_, V>) -> Done {
    push(call, End::Back)
}

/// Adds elements at the head of a list that is there.
pub(crate) fn lpushx<V: View>(call: &mut Call<'_, V>) -> Done {
    push_if_present(call, End::Front)
}

/// Adds elements at the tail of a list that is there.
pub(crate) fn rpushx<V: View>(call: &mut Call<'_, V>) -> Done {
    push_if_present(call, End::Back)
}

fn push_if_present<V: View>(call: &mut Call<'_, V>, at: End) -> Done {
    let (key, elements) = (call.arg(1), call.args.tail(2));
    let len = call.keys.edit_list_if_any(key, |list| add(list, at, elements))?;
    call.out.count(len.unwrap_or(0));
    if len.is_some() {
        call.modified(key, pushed(at));
    }
    Ok(())
}

#[inline]
fn push<V: View>(call: &mut Call<'_, V>, at: End) -> Done {
    let (key, elements) = (call.arg(1), call.args.tail(2));
    let len = call.keys.edit_list(key, |list| add(list, at, elements))?;
    call.out.count(len);
    call.modified(key, pushed(at));
    Ok(())
}

/// Adds elements at an end; how many there are then.
#[inline]
fn add(list: &mut ListMut<'_>, at: End, elements: Args<'_>) -> usize {
    if elements.len() > 1 {
        list.announce(elements.len(), elements.iter().map(<[u8]>::len).sum());
    }
    for element in elements.iter() {
        list.push(at, element);
    }
    list.len()
}
