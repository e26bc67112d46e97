// SPDX-License-Identifier: Apache-2.0
//! Items by their ids: XLEN, XRANGE, XREVRANGE.

use super::ids;
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::{Output, Writer};
use keyspace::View;
use values::{StreamId, StreamItem, Type};

/// Counts the items of a stream.
pub(crate) fn xlen<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(1);
    let len = call.keys.get(key, Type::Stream)?.map(values::Entry::len);
    if len.is_none() {
        call.missed(key);
    }
    call.out.count(len.unwrap_or(0));
    Ok(())
}

/// Reads a range of a stream.
pub(crate) fn xrange<V: View>(call: &mut Call<'_, V>) -> Done {
    let (start, end) = (ids::start(call.arg(2))?, ids::end(call.arg(3))?);
    range(call, start, end, false)
}

/// Reads a range of a stream backwards.
pub(crate) fn xrevrange<V: View>(call: &mut Call<'_, V>) -> Done {
    let (start, end) = (ids::start(call.arg(3))?, ids::end(call.arg(2))?);
    range(call, start, end, true)
}

fn range<V: View>(call: &mut Call<'_, V>, start: StreamId, end: StreamId, rev: bool) -> Done {
    let mut count = usize::MAX;
    for [word, number] in call.args.tail(4).pairs() {
        if !word.eq_ignore_ascii_case(b"count") {
            return Err(Fault::SYNTAX);
        }
        let number = values::parse_i64(number).ok_or(Fault::NOT_INTEGER)?;
        count = usize::try_from(number).unwrap_or(0);
    }
    if !call.args.len().is_multiple_of(2) {
        return Err(Fault::SYNTAX);
    }
    let (key, out) = (call.arg(1), &mut call.out);
    let Some(stream) = call.keys.get(key, Type::Stream)?.and_then(values::Entry::stream) else {
        out.array(0);
        call.missed(key);
        return Ok(());
    };
    match (count, rev) {
        (0, _) => out.null_array(),
        (_, false) => reply_items(out, stream.range(start, end).take(count)),
        (_, true) => reply_items(out, stream.range_rev(start, end).take(count)),
    }
    Ok(())
}

/// Writes items as an array.
pub(super) fn reply_items<'a, O: Output>(
    out: &mut Writer<'_, O>,
    items: impl Iterator<Item = StreamItem<'a>>,
) {
    let mark = out.begin_array();
    let count = items.map(|item| reply_item(out, &item)).count();
    out.end_array(mark, count);
}

/// Writes an item: its id, and its fields and values.
pub(super) fn reply_item<O: Output>(out: &mut Writer<'_, O>, item: &StreamItem<'_>) {
    out.array(2);
    reply_parts(out, item);
}

/// Writes the parts of an item.
pub(super) fn reply_parts<O: Output>(out: &mut Writer<'_, O>, item: &StreamItem<'_>) {
    ids::reply(out, item.id);
    out.array(item.len().saturating_mul(2));
    for (field, value) in item.pairs() {
        out.bulk(&field);
        out.bulk(&value);
    }
}
