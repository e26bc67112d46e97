// SPDX-License-Identifier: Apache-2.0
//! XREAD: items behind those that a client has seen, of several streams.

use super::limits::Room;
use super::look_up;
use super::range::reply_item;
use super::request::{After, Request};
use crate::engine::call::Call;
use crate::engine::keys::Keys;
use crate::session::waiting::{ReadLimits, Wants};
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::{Output, Version, Writer};
use keyspace::View;
use values::{Entry, StreamId, StreamRef, Type};

/// Reads what is new in streams, or waits for something.
pub(crate) fn xread<V: View>(call: &mut Call<'_, V>) -> Done {
    let request = Request::parse(call.args, call.unix_ms(), false)?;
    let mut seen = Vec::new();
    for (key, id) in request.keys.iter().zip(request.ids.iter()) {
        look_up(call, key)?;
        let stream = call.keys.peek(key).and_then(Entry::stream);
        seen.push(match After::parse(id)? {
            After::Id(id) => id,
            After::Last => stream.map_or(StreamId::MIN, StreamRef::last_id),
            After::BeforeLast => {
                let last = stream.and_then(StreamRef::last).map(|item| item.id);
                last.and_then(StreamId::previous).unwrap_or_default()
            }
            After::Group => {
                return Err(Fault::new(
                    "ERR The > ID can be specified only when calling XREADGROUP using the GROUP \
                     <group> <consumer> option.",
                ));
            }
        });
    }
    let (keys, out) = (&mut call.keys, &mut call.out);
    let mark = out.begin_array();
    let mut room = Room::new(request.limits, out.version());
    let mut found: usize = 0;
    for (key, seen) in request.keys.iter().zip(&seen) {
        if room.is_full() {
            break;
        }
        let stream = keys.peek(key).and_then(Entry::stream);
        if let Some(stream) = stream.filter(|stream| has_news(*stream, *seen)) {
            let is_part = reply_stream(out, key, stream, *seen, &mut room);
            found = found.saturating_add(is_part.into());
        }
    }
    if found > 0 {
        end_streams(out, mark, found);
        return Ok(());
    }
    match request.block {
        Some(wait) => {
            let wants = Wants::Read { after: seen.into(), limits: request.limits };
            call.block(request.keys, Type::Stream, wants, (!wait.is_zero()).then_some(wait));
        }
        None => call.out.null_array(),
    }
    Ok(())
}

/// Whether there are items behind an id.
fn has_news(stream: StreamRef<'_>, seen: StreamId) -> bool {
    seen < stream.last_id() && stream.last().is_some_and(|item| item.id > seen)
}

/// Whether a client that waits for items behind `after` gets any of the stream.
pub(crate) fn is_ready(entry: Option<&Entry>, after: StreamId) -> bool {
    entry.and_then(Entry::stream).is_some_and(|stream| has_news(stream, after))
}

/// Writes the reply to a client that waited for items behind `after`.
pub(crate) fn read_for<V: View, O: Output>(
    keys: &mut Keys<'_, V>,
    key: &[u8],
    after: StreamId,
    limits: ReadLimits,
    out: &mut Writer<'_, O>,
) -> Done {
    let stream = keys.get(key, Type::Stream)?.and_then(Entry::stream).ok_or(Fault::NO_SUCH_KEY)?;
    begin_streams(out, 1);
    let mut room = Room::new(limits, out.version());
    reply_stream(out, key, stream, after, &mut room);
    Ok(())
}

/// Begins a reply with so many streams.
pub(super) fn begin_streams<O: Output>(out: &mut Writer<'_, O>, count: usize) {
    match out.version() {
        Version::Resp2 => out.array(count),
        Version::Resp3 => out.map(count),
    }
}

/// Makes a reply of the `count` streams that were written since `mark`.
pub(super) fn end_streams<O: Output>(out: &mut Writer<'_, O>, mark: O::Mark, count: usize) {
    match out.version() {
        Version::Resp2 => out.end_array(mark, count),
        Version::Resp3 => out.end_map(mark, count),
    }
}

/// Begins the part of a stream: its key, behind which come its items.
pub(super) fn begin_stream<O: Output>(out: &mut Writer<'_, O>, key: &[u8]) {
    if out.version() == Version::Resp2 {
        out.array(2);
    }
    out.bulk(key);
}

/// Writes the items of a stream behind `seen` for which there is room; whether there are any.
fn reply_stream<O: Output>(
    out: &mut Writer<'_, O>,
    key: &[u8],
    stream: StreamRef<'_>,
    seen: StreamId,
    room: &mut Room,
) -> bool {
    let start = out.begin_array();
    begin_stream(out, key);
    room.fits(|out| begin_stream(out, key));
    let (mark, mut given) = (out.begin_array(), 0_usize);
    let first = seen.next().unwrap_or(StreamId::MAX);
    for item in stream.range(first, StreamId::MAX).take(room.items()) {
        if !room.takes(|out| reply_item(out, &item)) {
            break;
        }
        reply_item(out, &item);
        given = given.saturating_add(1);
    }
    if given > 0 {
        out.end_array(mark, given);
    } else {
        out.undo(start);
    }
    given > 0
}
