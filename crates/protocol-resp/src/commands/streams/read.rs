// SPDX-License-Identifier: Apache-2.0
//! XREAD: items behind those that a client has seen, of several streams.

use super::range::reply_items;
use super::request::{After, Request};
use crate::engine::call::Call;
use crate::engine::keys::Keys;
use crate::session::waiting::Wants;
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::{Output, Version, Writer};
use keyspace::View;
use values::{Entry, StreamId, StreamRef, Type};

/// Reads what is new in streams, or waits for something.
pub(crate) fn xread<V: View>(call: &mut Call<'_, V>) -> Done {
    let request = Request::parse(call.args, call.unix_ms(), false)?;
    let mut seen = Vec::new();
    for (key, id) in request.keys.iter().zip(request.ids.iter()) {
        let stream = call.keys.get(key, Type::Stream)?.and_then(Entry::stream);
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
    let mut found: usize = 0;
    for (key, seen) in request.keys.iter().zip(&seen) {
        let stream = keys.peek(key).and_then(Entry::stream);
        if let Some(stream) = stream.filter(|stream| has_news(*stream, *seen)) {
            found = found.saturating_add(1);
            reply_stream(out, key, stream, *seen, request.count);
        }
    }
    if found > 0 {
        end_streams(out, mark, found);
        return Ok(());
    }
    match request.block {
        Some(wait) => {
            let wants = Wants::Read { after: seen.into(), count: request.count };
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
    count: usize,
    out: &mut Writer<'_, O>,
) -> Done {
    let stream = keys.get(key, Type::Stream)?.and_then(Entry::stream).ok_or(Fault::NO_SUCH_KEY)?;
    begin_streams(out, 1);
    reply_stream(out, key, stream, after, count);
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

fn reply_stream<O: Output>(
    out: &mut Writer<'_, O>,
    key: &[u8],
    stream: StreamRef<'_>,
    seen: StreamId,
    count: usize,
) {
    begin_stream(out, key);
    let start = seen.next().unwrap_or(StreamId::MAX);
    reply_items(out, stream.range(start, StreamId::MAX).take(count));
}
