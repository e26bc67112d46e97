// SPDX-License-Identifier: Apache-2.0
//! The first and the last members: ZPOPMIN, ZPOPMAX, ZMPOP.

use super::super::options::{count_option, numkeys};
use super::event;
use super::shape::Shape;
use crate::engine::call::Call;
use crate::engine::keys::Keys;
use crate::host::events::Event;
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::{Output, Version, Writer};
use keyspace::View;
use values::{End, ZsetMut};

/// Takes the members with the lowest scores.
pub(crate) fn zpopmin<V: View>(call: &mut Call<'_, V>) -> Done {
    pop(call, End::Front)
}

/// Takes the members with the highest scores.
pub(crate) fn zpopmax<V: View>(call: &mut Call<'_, V>) -> Done {
    pop(call, End::Back)
}

fn pop<V: View>(call: &mut Call<'_, V>, from: End) -> Done {
    if call.args.len() > 3 {
        return Err(Fault::SYNTAX);
    }
    let key = call.arg(1);
    let count = call.args.get(2).map(|text| {
        let count = values::parse_i64(text).and_then(|count| usize::try_from(count).ok());
        count.ok_or(Fault::NOT_POSITIVE)
    });
    let count = count.transpose()?;
    // Without a count, the reply is not wrapped in an array.
    let shape = match (count, call.out.version()) {
        (Some(_), Version::Resp3) => Shape::Pairs,
        (Some(_), Version::Resp2) | (None, _) => Shape::Flat,
    };
    let (out, count) = (&mut call.out, count.unwrap_or(1));
    let popped = call.keys.edit_zset_if_any(key, |set| {
        let popped = count.min(set.len());
        shape.begin(out, popped);
        take(set, from, popped, shape, out);
        (popped > 0, set.is_empty())
    })?;
    match popped {
        Some((true, is_empty)) => tell(call, key, from, is_empty),
        Some((false, _)) => {}
        None => call.out.array(0),
    }
    Ok(())
}

/// Takes so many members out, which are there, and writes them.
fn take<O: Output>(
    set: &mut ZsetMut<'_>,
    from: End,
    count: usize,
    shape: Shape,
    out: &mut Writer<'_, O>,
) {
    for _ in 0..count {
        let write = |member: &[u8], score| shape.write(out, member, score);
        match from {
            End::Front => set.pop_min(write),
            End::Back => set.pop_max(write),
        };
    }
}

/// Members were taken.
fn popped(from: End) -> Event {
    event(if from == End::Front { "zpopmin" } else { "zpopmax" })
}

fn tell<V: View>(call: &mut Call<'_, V>, key: &[u8], from: End, is_empty: bool) {
    call.modified(key, popped(from));
    if is_empty {
        call.remove_if_empty(key);
    }
}

/// The end that `MIN` or `MAX` means.
pub(super) fn end(word: Option<&[u8]>) -> Result<End, Fault> {
    match word {
        Some(word) if word.eq_ignore_ascii_case(b"min") => Ok(End::Front),
        Some(word) if word.eq_ignore_ascii_case(b"max") => Ok(End::Back),
        _ => Err(Fault::SYNTAX),
    }
}

/// Takes members of the first of several sorted sets that has some.
pub(crate) fn zmpop<V: View>(call: &mut Call<'_, V>) -> Done {
    let (keys, rest) = numkeys(call.args.tail(1))?;
    let from = end(rest.get(0))?;
    let count = count_option(rest.tail(1))?;
    for key in keys.iter() {
        if pop_from(call, key, from, Some(count))? {
            return Ok(());
        }
    }
    call.out.null_array();
    Ok(())
}

/// Takes members of a sorted set and writes them with its key; whether there is one.
pub(super) fn pop_from<V: View>(
    call: &mut Call<'_, V>,
    key: &[u8],
    from: End,
    count: Option<usize>,
) -> Result<bool, Fault> {
    match take_with_key(&mut call.keys, key, from, count, &mut call.out)? {
        Some(is_empty) => {
            tell(call, key, from, is_empty);
            Ok(true)
        }
        None => Ok(false),
    }
}

/// Takes members for a client that waits, and writes its reply: the key with the member and its
/// score, or with up to `count` of them. What has happened to the key by that.
pub(crate) fn pop_for<V: View, O: Output>(
    keys: &mut Keys<'_, V>,
    key: &[u8],
    from: End,
    count: Option<usize>,
    out: &mut Writer<'_, O>,
) -> Result<Event, Fault> {
    match take_with_key(keys, key, from, count, out)? {
        Some(_) => Ok(popped(from)),
        None => Err(Fault::NO_SUCH_KEY),
    }
}

/// Takes members and writes them with their key. Whether none are left; `None` if there is no such
/// key, when nothing is written.
fn take_with_key<V: View, O: Output>(
    keys: &mut Keys<'_, V>,
    key: &[u8],
    from: End,
    count: Option<usize>,
    out: &mut Writer<'_, O>,
) -> Result<Option<bool>, Fault> {
    keys.edit_zset_if_any(key, |set| {
        if let Some(count) = count {
            let count = count.min(set.len());
            out.array(2);
            out.bulk(key);
            Shape::Pairs.begin(out, count);
            take(set, from, count, Shape::Pairs, out);
        } else {
            out.array(3);
            out.bulk(key);
            take(set, from, 1, Shape::Flat, out);
        }
        set.is_empty()
    })
}
