// SPDX-License-Identifier: Apache-2.0
//! XACK and XPENDING: what consumers have not acknowledged.

use super::{ids, look_up, no_key_or_group, stream_mut};
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use crate::wire::reply::Writer;
use keyspace::View;
use values::{PendingItem, StreamConsumer, StreamGroup, StreamId, Type};

/// Acknowledges items.
pub(crate) fn xack<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, group, texts) = (call.arg(1), call.arg(2), call.args.tail(3));
    let limits = call.keys.limits;
    let mut acknowledged = 0;
    look_up(call, key)?;
    if let Some(mut entry) = call.keys.get_mut(key, Type::Stream)?
        && let Some(mut group) = stream_mut(&mut entry, limits)?.group_mut(group)
    {
        // None is acknowledged if one of them is no id.
        texts.iter().try_for_each(|text| ids::exact(text).map(|_| ()))?;
        let ids = texts.iter().filter_map(|text| ids::exact(text).ok());
        acknowledged = ids.filter(|id| group.acknowledge(*id)).count();
    }
    call.worker.changes = call.worker.changes.saturating_add(acknowledged as u64);
    call.out.count(acknowledged);
    Ok(())
}

/// Which pending items a client wants to see.
struct Filter<'c> {
    start: StreamId,
    end: StreamId,
    count: usize,
    consumer: Option<&'c [u8]>,
    idle_ms: u64,
}

impl<'c> Filter<'c> {
    /// Reads `[IDLE ms] start end count [consumer]`.
    fn parse(args: Args<'c>) -> Result<Self, Fault> {
        if !(3..=6).contains(&args.len()) {
            return Err(Fault::SYNTAX);
        }
        let has_idle = args.arg(0).eq_ignore_ascii_case(b"idle");
        let idle_ms = if has_idle { args.integer(1)? } else { 0 };
        let rest = args.tail(if has_idle { 2 } else { 0 });
        if rest.len() < 3 {
            return Err(Fault::SYNTAX);
        }
        let count = usize::try_from(rest.integer(2)?).unwrap_or(0);
        Ok(Filter {
            start: ids::start(rest.arg(0))?,
            end: ids::end(rest.arg(1))?,
            count,
            consumer: rest.get(3),
            idle_ms: u64::try_from(idle_ms).unwrap_or(0),
        })
    }
}

/// Tells what is not acknowledged.
pub(crate) fn xpending<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, name) = (call.arg(1), call.arg(2));
    let filter = match call.args.len() {
        3 => None,
        _ => Some(Filter::parse(call.args.tail(3))?),
    };
    let now = call.unix_ms();
    let Some(entry) = call.keys.get(key, Type::Stream)? else {
        call.missed(key);
        return Err(no_key_or_group(key, name, b""));
    };
    let group = entry.stream().and_then(|stream| stream.group(name));
    let group = group.ok_or_else(|| no_key_or_group(key, name, b""))?;
    match filter {
        Some(filter) => list(&mut call.out, group, &filter, now),
        None => summary(&mut call.out, group),
    }
    Ok(())
}

fn summary(out: &mut Writer<'_>, group: &StreamGroup) {
    out.array(4);
    out.count(group.pending());
    let mut items = group.pending_items(StreamId::MIN..=StreamId::MAX).map(|item| item.id);
    let Some(first) = items.next() else {
        out.null();
        out.null();
        out.null_array();
        return;
    };
    let last = items.next_back().unwrap_or(first);
    ids::reply(out, first);
    ids::reply(out, last);
    let busy = || group.consumers().filter(|consumer| consumer.pending() > 0);
    out.array(busy().count());
    for consumer in busy() {
        out.array(2);
        out.bulk(consumer.name());
        out.bulk(values::Digits::new().format(consumer.pending() as i64));
    }
}

fn list(out: &mut Writer<'_>, group: &StreamGroup, filter: &Filter<'_>, now: u64) {
    let ids = filter.start..=filter.end;
    let consumer = filter.consumer.map(|name| group.consumer(name));
    let mark = out.begin_array();
    let idle_of = |time_ms: u64| now.saturating_sub(time_ms);
    let mut show = |item: PendingItem<'_>| {
        out.array(4);
        ids::reply(out, item.id);
        out.bulk(item.consumer.map_or(b"", StreamConsumer::name));
        // Nobody has it.
        let idle_ms = item.consumer.map_or(-1, |_| idle_of(item.time_ms) as i64);
        out.integer(idle_ms);
        out.integer(item.deliveries as i64);
    };
    let is_idle = |item: &PendingItem<'_>| idle_of(item.time_ms) >= filter.idle_ms;
    let shown = match consumer {
        None => {
            let items = group.pending_items(ids).filter(is_idle);
            items.take(filter.count).map(&mut show).count()
        }
        Some(Some(consumer)) => {
            let items = group.pending_items_of(consumer, ids).filter(is_idle);
            items.take(filter.count).map(&mut show).count()
        }
        Some(None) => 0,
    };
    out.end_array(mark, shown);
}
