// SPDX-License-Identifier: Apache-2.0
//! Looking at elements: LLEN, LINDEX, LRANGE, LPOS.

use super::super::ranges::clamp;
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use keyspace::View;
use std::num::NonZeroI64;

/// Tells the length of a list.
pub(crate) fn llen<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    let found = call.keys.list(key)?.map(|list| list.len());
    call.out.count(found.unwrap_or(0));
    if found.is_none() {
        call.missed(key);
    }
    Ok(())
}

/// Returns the element at an index.
pub(crate) fn lindex<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    let Some(list) = call.keys.list(key)? else {
        call.out.null();
        call.missed(key);
        return Ok(());
    };
    let index = values::parse_i64(call.args.arg(2)).ok_or(Fault::NOT_INTEGER)?;
    call.out.bulk_or_null(list.get(index).as_deref());
    Ok(())
}

/// Returns the elements of a range.
pub(crate) fn lrange<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    let (start, stop) = (call.integer(2)?, call.integer(3)?);
    let Some(list) = call.keys.list(key)? else {
        call.out.array(0);
        call.missed(key);
        return Ok(());
    };
    let range = clamp(start, stop, list.len());
    call.out.array(range.len());
    let out = &mut call.out;
    list.range(range).for_each(|element| out.bulk(&element));
    Ok(())
}

/// The first of the elements that are equal.
const FIRST: NonZeroI64 = NonZeroI64::new(1).expect("1 is not 0");

/// The options of LPOS.
struct Search {
    rank: NonZeroI64,
    /// How many positions to return; `None`: one, and not as an array.
    count: Option<usize>,
    /// How many elements to look at; `None`: all.
    maxlen: Option<usize>,
}

/// Finds the positions of an element.
#[expect(clippy::arithmetic_side_effects, reason = "counts what is in memory")]
pub(crate) fn lpos<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, element) = (call.arg(1), call.arg(2));
    let search = search(call)?;
    let Some(list) = call.keys.list(key)? else {
        match search.count {
            Some(_) => call.out.array(0),
            None => call.out.null(),
        }
        call.missed(key);
        return Ok(());
    };
    let mut positions = list.positions(element, search.rank, search.maxlen);
    match search.count {
        None => match positions.next() {
            Some(position) => call.out.count(position),
            None => call.out.null(),
        },
        Some(count) => {
            let most = if count == 0 { usize::MAX } else { count };
            let mark = call.out.begin_array();
            let mut found = 0;
            for position in positions.take(most) {
                call.out.count(position);
                found += 1;
            }
            call.out.end_array(mark, found);
        }
    }
    Ok(())
}

fn search<V: View>(call: &Call<'_, V>) -> Result<Search, Fault> {
    let mut search = Search { rank: FIRST, count: None, maxlen: None };
    let mut words = call.args.tail(3).iter();
    while let Some(word) = words.next() {
        let value = words.next().ok_or(Fault::SYNTAX)?;
        let number = values::parse_i64(value);
        if word.eq_ignore_ascii_case(b"rank") {
            let rank = number.ok_or(Fault::NOT_INTEGER)?;
            if rank == i64::MIN {
                return Err(Fault::NOT_NEGATABLE);
            }
            search.rank = NonZeroI64::new(rank).ok_or(Fault::new(
                "ERR RANK can't be zero: use 1 to start from the first match, 2 from the second \
                 ... or use negative to start from the end of the list",
            ))?;
        } else if word.eq_ignore_ascii_case(b"count") {
            let count = number.and_then(|number| usize::try_from(number).ok());
            search.count = Some(count.ok_or(Fault::new("ERR COUNT can't be negative"))?);
        } else if word.eq_ignore_ascii_case(b"maxlen") {
            let maxlen = number.and_then(|number| usize::try_from(number).ok());
            let maxlen = maxlen.ok_or(Fault::new("ERR MAXLEN can't be negative"))?;
            search.maxlen = Some(maxlen).filter(|maxlen| *maxlen > 0);
        } else {
            return Err(Fault::SYNTAX);
        }
    }
    Ok(search)
}
