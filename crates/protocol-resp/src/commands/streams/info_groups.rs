// SPDX-License-Identifier: Apache-2.0
//! XINFO: what is known of consumer groups and consumers.

use super::{ids, no_group};
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::Writer;
use keyspace::View;
use values::{Entry, StreamConsumer, StreamGroup, StreamId, StreamRef, Type};

/// Describes the consumer groups of a stream.
pub(crate) fn xinfo_groups<V: View>(call: &mut Call<'_, V>) -> Done {
    let key = call.arg(2);
    let out = &mut call.out;
    let Some(stream) = call.keys.get(key, Type::Stream)?.and_then(Entry::stream) else {
        call.missed(key);
        return Err(Fault::NO_SUCH_KEY);
    };
    out.array(stream.groups_len());
    for group in stream.groups() {
        out.map(6);
        out.bulk(b"name");
        out.bulk(group.name());
        out.bulk(b"consumers");
        out.count(group.consumers_len());
        out.bulk(b"pending");
        out.count(group.pending());
        progress(out, stream, group);
    }
    Ok(())
}

/// Up to where a group has read.
fn progress(out: &mut Writer<'_>, stream: StreamRef<'_>, group: &StreamGroup) {
    out.bulk(b"last-delivered-id");
    ids::reply(out, group.last_id());
    out.bulk(b"entries-read");
    integer_or_null(out, group.read().map(|read| read as i64));
    out.bulk(b"lag");
    integer_or_null(out, stream.lag(group));
}

fn integer_or_null(out: &mut Writer<'_>, number: Option<i64>) {
    match number {
        Some(number) => out.integer(number),
        None => out.null(),
    }
}

/// Describes the consumers of a group.
pub(crate) fn xinfo_consumers<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, name, now) = (call.arg(2), call.arg(3), call.unix_ms());
    let out = &mut call.out;
    let Some(stream) = call.keys.get(key, Type::Stream)?.and_then(Entry::stream) else {
        call.missed(key);
        return Err(Fault::NO_SUCH_KEY);
    };
    let group = stream.group(name).ok_or_else(|| no_group(key, name))?;
    out.array(group.consumers_len());
    for consumer in group.consumers() {
        out.map(4);
        out.bulk(b"name");
        out.bulk(consumer.name());
        out.bulk(b"pending");
        out.count(consumer.pending());
        out.bulk(b"idle");
        out.integer(now.saturating_sub(consumer.seen_ms()) as i64);
        out.bulk(b"inactive");
        let inactive = consumer.active_ms().map(|active| now.saturating_sub(active) as i64);
        out.integer(inactive.unwrap_or(-1));
    }
    Ok(())
}

/// Writes all groups of a stream in full, with up to `count` pending items each.
pub(super) fn reply_groups(out: &mut Writer<'_>, stream: StreamRef<'_>, count: usize) {
    out.array(stream.groups_len());
    for group in stream.groups() {
        let given_back = group.given_back();
        out.map(if given_back > 0 { 8 } else { 7 });
        out.bulk(b"name");
        out.bulk(group.name());
        progress(out, stream, group);
        out.bulk(b"pel-count");
        out.count(group.pending());
        if given_back > 0 {
            out.bulk(b"nacked-count");
            out.count(given_back);
        }
        out.bulk(b"pending");
        let mark = out.begin_array();
        let items = group.pending_items(StreamId::MIN..=StreamId::MAX).take(count);
        let shown = items.map(|item| {
            out.array(4);
            ids::reply(out, item.id);
            out.bulk(item.consumer.map_or(b"", StreamConsumer::name));
            out.integer(item.time_ms as i64);
            out.integer(item.deliveries as i64);
        });
        let shown = shown.count();
        out.end_array(mark, shown);
        out.bulk(b"consumers");
        out.array(group.consumers_len());
        group.consumers().for_each(|consumer| reply_consumer(out, group, consumer, count));
    }
}

fn reply_consumer(
    out: &mut Writer<'_>,
    group: &StreamGroup,
    consumer: &StreamConsumer,
    count: usize,
) {
    out.map(5);
    out.bulk(b"name");
    out.bulk(consumer.name());
    out.bulk(b"seen-time");
    out.integer(consumer.seen_ms() as i64);
    out.bulk(b"active-time");
    out.integer(consumer.active_ms().map_or(-1, |active| active as i64));
    out.bulk(b"pel-count");
    out.count(consumer.pending());
    out.bulk(b"pending");
    let mark = out.begin_array();
    let items = group.pending_items_of(consumer, StreamId::MIN..=StreamId::MAX).take(count);
    let shown = items.map(|item| {
        out.array(3);
        ids::reply(out, item.id);
        out.integer(item.time_ms as i64);
        out.integer(item.deliveries as i64);
    });
    let shown = shown.count();
    out.end_array(mark, shown);
}
