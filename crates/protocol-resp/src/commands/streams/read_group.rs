// SPDX-License-Identifier: Apache-2.0
//! XREADGROUP: the next items of streams for a consumer, or those that it has not acknowledged.
//!
//! With CLAIM it gets first what other consumers have had for too long, the oldest first, and each item with how long
//! it was idle and how often it was delivered. Who waits then is looked at again when the next item may be claimed
//! (`claimable_in`).

use super::limits::Room;
use super::range::{reply_item, reply_parts};
use super::read::{begin_stream, begin_streams, end_streams};
use super::request::{After, Request};
use super::{event, ids, stream_mut};
use crate::engine::call::Call;
use crate::engine::keys::Keys;
use crate::host::events::Event;
use crate::session::waiting::{GroupWait, Wants};
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::{Output, Writer};
use keyspace::View;
use values::{Entry, StreamId, StreamItem, Type};

/// After how many milliseconds a client that waits and claims what was idle for less is looked at again.
const LOOK_AGAIN_MS: u64 = 100;

/// There is no such key, or it has no such group.
fn no_such_group(key: &[u8], group: &[u8]) -> Fault {
    super::no_key_or_group(key, group, b" in XREADGROUP with GROUP option")
}

/// What a consumer wants of a stream.
#[derive(Clone, Copy, Debug)]
enum Part {
    /// Items that the group has not read.
    News,
    /// Items behind this one that the consumer has not acknowledged.
    Pending(StreamId),
}

impl Part {
    fn parse(text: &[u8]) -> Result<Self, Fault> {
        match After::parse(text)? {
            After::Id(StreamId::MAX) | After::Group => Ok(Part::News),
            After::Id(id) => Ok(Part::Pending(id)),
            After::Last | After::BeforeLast => Err(Fault::made(format!(
                "ERR The {0} ID is meaningless in the context of XREADGROUP: you want to read the \
                 history of this consumer by specifying a proper ID, or use the > ID to get new \
                 messages. The {0} ID would just return an empty result set.",
                text.escape_ascii()
            ))),
        }
    }
}

/// For whom items are read.
#[derive(Clone, Copy, Debug)]
struct Reader<'c> {
    group: &'c [u8],
    consumer: &'c [u8],
    no_ack: bool,
    claim_ms: Option<u64>,
    now_ms: u64,
}

/// Gives a consumer the next items of streams, or waits for some.
pub(crate) fn xreadgroup<V: View>(call: &mut Call<'_, V>) -> Done {
    let request = Request::parse(call.args, call.unix_ms(), true)?;
    let Some((group, consumer)) = request.group else { return Err(Fault::SYNTAX) };
    let mut parts = Vec::new();
    for (key, id) in request.keys.iter().zip(request.ids.iter()) {
        let Some(entry) = call.keys.get(key, Type::Stream)? else {
            call.missed(key);
            return Err(no_such_group(key, group));
        };
        if entry.stream().is_none_or(|stream| stream.group(group).is_none()) {
            return Err(no_such_group(key, group));
        }
        parts.push(Part::parse(id)?);
    }
    let Request { limits, no_ack, claim_ms, .. } = request;
    let now_ms = call.unix_ms();
    let reader = Reader { group, consumer, no_ack, claim_ms, now_ms };
    let mut room = Room::new(limits, call.out.version());
    let mark = call.out.begin_array();
    let mut found: usize = 0;
    for (key, part) in request.keys.iter().zip(parts) {
        if room.is_full() {
            break;
        }
        let read = read(&mut call.keys, key, part, &reader, &mut room, &mut call.out)?;
        found = found.saturating_add(read.is_there.into());
        if read.has_new_consumer {
            call.noted(key, event("xgroup-createconsumer"));
        }
    }
    if found > 0 {
        end_streams(&mut call.out, mark, found);
        call.worker.changes = call.worker.changes.saturating_add(found as u64);
        return Ok(());
    }
    match request.block {
        Some(wait) => {
            let (group, consumer) = (group.into(), consumer.into());
            let wait_for = GroupWait { group, consumer, limits, no_ack, claim_ms };
            let wants = Wants::ReadGroup(Box::new(wait_for));
            call.block(request.keys, Type::Stream, wants, (!wait.is_zero()).then_some(wait));
        }
        None => call.out.null_array(),
    }
    Ok(())
}

/// What was read of a stream.
struct Read {
    /// Something was written.
    is_there: bool,
    has_new_consumer: bool,
}

/// Reads a stream for a consumer and writes what there is.
fn read<V: View, O: Output>(
    keys: &mut Keys<'_, V>,
    key: &[u8],
    part: Part,
    reader: &Reader<'_>,
    room: &mut Room,
    out: &mut Writer<'_, O>,
) -> Result<Read, Fault> {
    let Reader { group: name, consumer, no_ack, claim_ms, now_ms } = *reader;
    let limits = keys.limits;
    let missing = || no_such_group(key, name);
    let mut entry = keys.get_mut(key, Type::Stream)?.ok_or_else(missing)?;
    let mut stream = stream_mut(&mut entry, limits)?;
    let mut group = stream.group_mut(name).ok_or_else(missing)?;
    let (consumer, has_new_consumer) = group.see(consumer, now_ms);
    let claims = |idle_ms| group.claimable_ms(idle_ms).is_some_and(|from| from <= now_ms);
    let may_claim = matches!(part, Part::News) && claim_ms.is_some_and(claims);
    let is_there = matches!(part, Part::Pending(_)) || group.has_news() || may_claim;
    if !is_there {
        return Ok(Read { is_there, has_new_consumer });
    }
    let start = out.begin_array();
    begin_stream(out, key);
    room.fits(|out| begin_stream(out, key));
    let (mark, most) = (out.begin_array(), room.items());
    let given = match part {
        Part::News => {
            let claimed = claim_ms.map_or(0, |idle_ms| {
                group.deliver_oldest(consumer, most, idle_ms, now_ms, |item, pending| {
                    let idle_ms = now_ms.saturating_sub(pending.time_ms);
                    let is_taken =
                        room.takes(|out| reply_claimed(out, &item, idle_ms, pending.deliveries));
                    if is_taken {
                        reply_claimed(out, &item, idle_ms, pending.deliveries);
                    }
                    is_taken
                })
            });
            let left = if room.is_full() { 0 } else { most.saturating_sub(claimed) };
            let news = group.deliver(consumer, left, now_ms, no_ack, |item| {
                let is_taken = room.takes(|out| reply_new(out, &item, claim_ms));
                if is_taken {
                    reply_new(out, &item, claim_ms);
                }
                is_taken
            });
            claimed.saturating_add(news)
        }
        Part::Pending(seen) => {
            let first = seen.next().unwrap_or(StreamId::MAX);
            group.deliver_again(consumer, first, most, now_ms, |id, item| {
                let is_taken = room.takes(|out| reply_pending(out, id, item.as_ref()));
                if is_taken {
                    reply_pending(out, id, item.as_ref());
                }
                is_taken
            })
        }
    };
    if given == 0 && room.is_full() {
        // What there is has no room.
        out.undo(start);
        return Ok(Read { is_there: false, has_new_consumer });
    }
    out.end_array(mark, given);
    if given > 0 {
        group.set_active(consumer, now_ms);
    }
    Ok(Read { is_there, has_new_consumer })
}

/// Writes an item that nobody was given before.
fn reply_new<O: Output>(out: &mut Writer<'_, O>, item: &StreamItem<'_>, claim_ms: Option<u64>) {
    match claim_ms {
        Some(_) => reply_claimed(out, item, 0, 0),
        None => reply_item(out, item),
    }
}

/// Writes an item that the consumer has not acknowledged, or that it was deleted.
fn reply_pending<O: Output>(out: &mut Writer<'_, O>, id: StreamId, item: Option<&StreamItem<'_>>) {
    match item {
        Some(item) => reply_item(out, item),
        None => {
            out.array(2);
            ids::reply(out, id);
            out.null_array();
        }
    }
}

/// Writes an item of a reply to a client that claims: with how long it was idle, and how often it was delivered
/// before.
fn reply_claimed<O: Output>(
    out: &mut Writer<'_, O>,
    item: &StreamItem<'_>,
    idle_ms: u64,
    deliveries: u64,
) {
    out.array(4);
    reply_parts(out, item);
    out.integer(idle_ms as i64);
    out.integer(deliveries as i64);
}

/// In how many milliseconds the next item may be claimed by a consumer that waits for that.
pub(crate) fn claimable_in(entry: Option<&Entry>, wait: &GroupWait, now_ms: u64) -> Option<u64> {
    let idle_ms = wait.claim_ms?;
    let stream = entry.and_then(Entry::stream)?;
    let group = stream.group(&wait.group)?;
    // What is given to another consumer from now on can be claimed after that time.
    let due = stream.claimable_ms(group, idle_ms).map(|due| due.saturating_sub(now_ms).max(1));
    Some(due.unwrap_or(u64::MAX).min(idle_ms.max(LOOK_AGAIN_MS)))
}

/// Whether a consumer that waits gets anything of the stream; an error counts.
pub(crate) fn is_group_ready(entry: Option<&Entry>, wait: &GroupWait, now_ms: u64) -> bool {
    let stream = entry.and_then(Entry::stream);
    let Some((stream, group)) =
        stream.and_then(|stream| Some((stream, stream.group(&wait.group)?)))
    else {
        return true;
    };
    let due = wait.claim_ms.and_then(|idle_ms| stream.claimable_ms(group, idle_ms));
    stream.last().is_some_and(|last| last.id > group.last_id())
        || due.is_some_and(|due| due <= now_ms)
}

/// Writes the reply to a consumer that waited, and returns what has happened by that.
pub(crate) fn read_group_for<V: View, O: Output>(
    keys: &mut Keys<'_, V>,
    key: &[u8],
    wait: &GroupWait,
    now_ms: u64,
    out: &mut Writer<'_, O>,
) -> Result<Option<Event>, Fault> {
    let GroupWait { group, consumer, limits, no_ack, claim_ms } = wait;
    let (no_ack, claim_ms) = (*no_ack, *claim_ms);
    let reader = Reader { group, consumer, no_ack, claim_ms, now_ms };
    let mut room = Room::new(*limits, out.version());
    if keys
        .get(key, Type::Stream)?
        .and_then(Entry::stream)
        .is_none_or(|stream| stream.group(group).is_none())
    {
        return Err(no_such_group(key, group));
    }
    begin_streams(out, 1);
    let read = read(keys, key, Part::News, &reader, &mut room, out)?;
    Ok(read.has_new_consumer.then_some(event("xgroup-createconsumer")))
}
