// SPDX-License-Identifier: Apache-2.0
//! Commands that wait for elements: BLPOP, BRPOP, BLMPOP, BLMOVE, BLMOVEM, BRPOPLPUSH.

use super::super::options::{count_option, numkeys, timeout};
use super::move_many;
use super::pop::pop_from;
use super::{end, events, move_element};
use crate::engine::call::Call;
use crate::session::waiting::Wants;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use keyspace::View;
use std::time::Duration;
use values::{End, Type};

/// Takes an element from the head of the first list that has one, or waits for one.
pub(crate) fn blpop<V: View>(call: &mut Call<'_, V>) -> Done {
    pop(call, End::Front)
}

/// Takes an element from the tail of the first list that has one, or waits for one.
pub(crate) fn brpop<V: View>(call: &mut Call<'_, V>) -> Done {
    pop(call, End::Back)
}

fn pop<V: View>(call: &mut Call<'_, V>, from: End) -> Done {
    let last = call.args.len().saturating_sub(1);
    let wait = timeout(call.arg(last), call.unix_ms())?;
    let keys = call.args.head(last).tail(1);
    pop_or_wait(call, keys, from, None, wait)
}

/// Takes elements from the first list that has some, or waits for some.
pub(crate) fn blmpop<V: View>(call: &mut Call<'_, V>) -> Done {
    let (keys, rest) = numkeys(call.args.tail(2))?;
    let from = end(rest.get(0).ok_or(Fault::SYNTAX)?)?;
    let count = count_option(rest.tail(1))?;
    let wait = timeout(call.arg(1), call.unix_ms())?;
    pop_or_wait(call, keys, from, Some(count), wait)
}

fn pop_or_wait<V: View>(
    call: &mut Call<'_, V>,
    keys: Args<'_>,
    from: End,
    count: Option<usize>,
    wait: Option<Duration>,
) -> Done {
    for key in keys.iter() {
        if pop_from(call, key, from, count)? {
            return Ok(());
        }
    }
    let wants = match count {
        Some(count) => Wants::PopMany { from, count },
        None => Wants::Pop { from },
    };
    call.block(keys, Type::List, wants, wait);
    Ok(())
}

/// Moves an element from an end of a list to an end of another, or waits for one.
pub(crate) fn blmove<V: View>(call: &mut Call<'_, V>) -> Done {
    let (from, to) = (end(call.arg(3))?, end(call.arg(4))?);
    let wait = timeout(call.arg(5), call.unix_ms())?;
    move_or_wait(call, from, to, wait)
}

/// Moves elements from an end of a list to an end of another, or waits for them.
pub(crate) fn blmovem<V: View>(call: &mut Call<'_, V>) -> Done {
    let (from, to) = (end(call.arg(3))?, end(call.arg(4))?);
    let many = move_many::parse(call.args.tail(6))?;
    let wait = timeout(call.arg(5), call.unix_ms())?;
    if move_many::move_and_reply(call, from, to, many)? {
        return Ok(());
    }
    let (keys, destination) = (call.args.head(2).tail(1), call.arg(2).into());
    let wants = Wants::Move { from, to, destination, many: Some(many) };
    call.block(keys, Type::List, wants, wait);
    Ok(())
}

/// Moves the last element of a list to the head of another, or waits for one.
pub(crate) fn brpoplpush<V: View>(call: &mut Call<'_, V>) -> Done {
    let wait = timeout(call.arg(3), call.unix_ms())?;
    move_or_wait(call, End::Back, End::Front, wait)
}

fn move_or_wait<V: View>(
    call: &mut Call<'_, V>,
    from: End,
    to: End,
    wait: Option<Duration>,
) -> Done {
    let (source, destination) = (call.arg(1), call.arg(2));
    if let Some(element) = move_element(&mut call.keys, source, destination, from, to)? {
        call.out.bulk(&element);
        for (key, event) in events(source, destination, from, to) {
            call.modified(key, event);
        }
        call.remove_if_empty(source);
        return Ok(());
    }
    let keys = call.args.head(2).tail(1);
    let wants = Wants::Move { from, to, destination: destination.into(), many: None };
    call.block(keys, Type::List, wants, wait);
    Ok(())
}
