// SPDX-License-Identifier: Apache-2.0
//! Many elements from list to list at once: LMOVEM.
//!
//! What is moved comes to stand in the other list as a block. In bulk it keeps the order that it had. One by one, it
//! stands there as if each element had been moved before the next one.

use super::{end, events};
use crate::engine::call::Call;
use crate::engine::keys::Keys;
use crate::session::waiting::MoveMany;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use keyspace::View;
use values::{End, Type};

/// Moves elements from an end of a list to an end of another.
pub(crate) fn lmovem<V: View>(call: &mut Call<'_, V>) -> Done {
    let (from, to) = (end(call.arg(3))?, end(call.arg(4))?);
    let many = parse(call.args.tail(5))?;
    if !move_and_reply(call, from, to, many)? {
        // Null says that there are not as many as there have to be.
        match call.args.get(5) {
            Some(word) if word.eq_ignore_ascii_case(b"exactly") => call.out.null_array(),
            _ => call.out.array(0),
        }
    }
    Ok(())
}

/// `[<COUNT count | EXACTLY count> <OBO | BULK>]`; a single element without it.
pub(super) fn parse(args: Args<'_>) -> Result<MoveMany, Fault> {
    if args.is_empty() {
        return Ok(MoveMany { least: 1, most: 1, one_by_one: true });
    }
    if args.len() != 3 {
        return Err(Fault::SYNTAX);
    }
    let (selector, order) = (args.arg(0), args.arg(2));
    let is_exact = selector.eq_ignore_ascii_case(b"exactly");
    let one_by_one = order.eq_ignore_ascii_case(b"obo");
    let is_known = (is_exact || selector.eq_ignore_ascii_case(b"count"))
        && (one_by_one || order.eq_ignore_ascii_case(b"bulk"));
    if !is_known {
        return Err(Fault::SYNTAX);
    }
    let number = values::parse_i64(args.arg(1)).and_then(|number| usize::try_from(number).ok());
    let number = number.filter(|number| *number > 0);
    let most = number.ok_or(Fault::new("ERR count should be greater than 0"))?;
    Ok(MoveMany { least: if is_exact { most } else { 1 }, most, one_by_one })
}

/// Moves elements and writes them as the reply; false if there are not enough.
pub(super) fn move_and_reply<V: View>(
    call: &mut Call<'_, V>,
    from: End,
    to: End,
    many: MoveMany,
) -> Result<bool, Fault> {
    let (source, destination) = (call.arg(1), call.arg(2));
    let Some(block) = move_elements(&mut call.keys, source, destination, from, to, many)? else {
        return Ok(false);
    };
    call.out.array(block.len());
    block.iter().for_each(|element| call.out.bulk(element));
    for (key, event) in events(source, destination, from, to) {
        call.modified(key, event);
    }
    call.remove_if_empty(source);
    Ok(true)
}

/// Moves elements and returns them in the order in which they stand in the destination; `None` if there are not
/// enough. The source may be left empty.
pub(crate) fn move_elements<V: View>(
    keys: &mut Keys<'_, V>,
    source: &[u8],
    destination: &[u8],
    from: End,
    to: End,
    many: MoveMany,
) -> Result<Option<Vec<Vec<u8>>>, Fault> {
    let is_list = |key| keys.peek(key).map(|entry| entry.data_type() == Type::List);
    match (is_list(source), is_list(destination)) {
        (None, _) => return Ok(None),
        (Some(false), _) | (_, Some(false)) => return Err(Fault::WRONG_TYPE),
        (Some(true), Some(true) | None) => {}
    }
    let taken = keys.edit_list_if_any(source, |list| {
        let count = many.most.min(list.len());
        let mut pop = || list.pop(from, <[u8]>::to_vec);
        (count >= many.least).then(|| (0..count).filter_map(|_| pop()).collect::<Vec<_>>())
    })?;
    let Some(mut block) = taken.flatten() else { return Ok(None) };
    let is_reversed = if many.one_by_one { to == End::Front } else { from == End::Back };
    if is_reversed {
        block.reverse();
    }
    keys.edit_list(destination, |list| match to {
        End::Back => block.iter().for_each(|element| list.push(to, element)),
        End::Front => block.iter().rev().for_each(|element| list.push(to, element)),
    })?;
    Ok(Some(block))
}
