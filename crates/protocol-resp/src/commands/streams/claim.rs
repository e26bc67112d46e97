// SPDX-License-Identifier: Apache-2.0
//! XCLAIM and XAUTOCLAIM: items that another consumer has are given to one who will care for them.

use super::range::reply_item;
use super::{event, ids, look_up, no_key_or_group, stream_mut};
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use crate::wire::reply::Writer;
use keyspace::View;
use values::{Claim, Claimed, ConsumerNumber, StreamGroupMut, StreamId, StreamItem, Type};

/// How many pending items XAUTOCLAIM looks at for each that it may return.
const LOOKED_AT: usize = 10;

/// The options of XCLAIM.
#[derive(Debug, Default)]
struct Options {
    /// Since when the items are to be the consumer's, in unix milliseconds.
    time: Option<i64>,
    deliveries: Option<u64>,
    force: bool,
    just_id: bool,
    last_id: Option<StreamId>,
}

impl Options {
    fn parse(mut args: Args<'_>, now: u64) -> Result<Self, Fault> {
        let mut options = Options::default();
        while let Some(word) = args.get(0) {
            let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
            let number = |error: &'static str| {
                args.get(1).and_then(values::parse_i64).ok_or(Fault::new(error))
            };
            let mut taken = 2;
            if is(b"force") {
                (options.force, taken) = (true, 1);
            } else if is(b"justid") {
                (options.just_id, taken) = (true, 1);
            } else if args.len() < 2 {
                return Err(unknown(word));
            } else if is(b"idle") {
                let idle = number("ERR Invalid IDLE option argument for XCLAIM")?;
                options.time = (now as i64).checked_sub(idle);
            } else if is(b"time") {
                options.time = Some(number("ERR Invalid TIME option argument for XCLAIM")?);
            } else if is(b"retrycount") {
                let count = number("ERR Invalid RETRYCOUNT option argument for XCLAIM")?;
                options.deliveries = u64::try_from(count).ok();
            } else if is(b"lastid") {
                options.last_id = Some(ids::exact(args.arg(1))?);
            } else {
                return Err(unknown(word));
            }
            args = args.tail(taken);
        }
        Ok(options)
    }

    /// Since when the items are to be the consumer's: not later than now.
    fn time_ms(&self, now: u64) -> u64 {
        self.time.and_then(|time| u64::try_from(time).ok()).map_or(now, |time| time.min(now))
    }
}

fn unknown(word: &[u8]) -> Fault {
    let parts: [&[u8]; 3] = [b"ERR Unrecognized XCLAIM option '", word, b"'"];
    Fault::made(parts.concat())
}

fn idle_min(text: &[u8], command: &str) -> Result<u64, Fault> {
    let number = values::parse_i64(text);
    let error = || Fault::made(format!("ERR Invalid min-idle-time argument for {command}"));
    Ok(u64::try_from(number.ok_or_else(error)?).unwrap_or(0))
}

/// Claims items by their ids.
pub(crate) fn xclaim<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, name, consumer) = (call.arg(1), call.arg(2), call.arg(3));
    let Some(entry) = call.keys.get(key, Type::Stream)? else {
        call.missed(key);
        return Err(no_key_or_group(key, name, b""));
    };
    if entry.stream().is_none_or(|stream| stream.group(name).is_none()) {
        return Err(no_key_or_group(key, name, b""));
    }
    let idle_ms_min = idle_min(call.arg(4), "XCLAIM")?;
    let texts = call.args.tail(5);
    let ids = texts.iter().take_while(|text| ids::exact(text).is_ok()).count();
    let now_ms = call.unix_ms();
    let options = Options::parse(texts.tail(ids), now_ms)?;
    let (limits, out) = (call.keys.limits, &mut call.out);
    let Some(mut entry) = call.keys.get_mut(key, Type::Stream)? else { return Ok(()) };
    let mut stream = stream_mut(&mut entry, limits)?;
    let Some(mut group) = stream.group_mut(name) else { return Ok(()) };
    if let Some(last) = options.last_id.filter(|last| *last > group.last_id()) {
        let read = group.read();
        group.set_last_id(last, read);
    }
    let (consumer, is_new) = group.see(consumer, now_ms);
    let claim = Claim {
        consumer,
        idle_ms_min,
        now_ms,
        time_ms: options.time_ms(now_ms),
        deliveries: options.deliveries,
        counts: !options.just_id,
        force: options.force,
    };
    let mark = out.begin_array();
    let mut claimed: usize = 0;
    for id in texts.head(ids).iter().filter_map(|text| ids::exact(text).ok()) {
        if let Claimed::Item(item) = group.claim(id, &claim) {
            reply(out, &item, options.just_id);
            claimed = claimed.saturating_add(1);
        }
    }
    out.end_array(mark, claimed);
    drop(group);
    drop(entry);
    if is_new {
        call.noted(key, event("xgroup-createconsumer"));
    }
    call.worker.changes = call.worker.changes.saturating_add(claimed as u64);
    Ok(())
}

fn reply(out: &mut Writer<'_>, item: &StreamItem<'_>, just_id: bool) {
    if just_id { ids::reply(out, item.id) } else { reply_item(out, item) }
}

/// What XAUTOCLAIM asks for.
struct Sweep {
    start: StreamId,
    idle_ms_min: u64,
    count: usize,
    just_id: bool,
}

impl Sweep {
    fn parse(args: Args<'_>) -> Result<Self, Fault> {
        let idle_ms_min = idle_min(args.arg(0), "XAUTOCLAIM")?;
        let start = ids::start(args.arg(1))?;
        let mut sweep = Sweep { start, idle_ms_min, count: 100, just_id: false };
        let mut options = args.tail(2);
        while let Some(word) = options.get(0) {
            if word.eq_ignore_ascii_case(b"count") && options.len() > 1 {
                let count = options.integer(1).ok().filter(|count| *count > 0);
                let largest = i64::MAX.checked_div(16).unwrap_or(0);
                let count = count.filter(|count| *count <= largest);
                let count = count.ok_or(Fault::new("ERR COUNT must be > 0"))?;
                sweep.count = usize::try_from(count).unwrap_or(usize::MAX);
                options = options.tail(2);
            } else if word.eq_ignore_ascii_case(b"justid") {
                sweep.just_id = true;
                options = options.tail(1);
            } else {
                return Err(Fault::SYNTAX);
            }
        }
        Ok(sweep)
    }

    /// Claims items and writes the reply; whether anything was changed.
    fn run(
        &self,
        group: &mut StreamGroupMut<'_>,
        consumer: ConsumerNumber,
        now_ms: u64,
        out: &mut Writer<'_>,
    ) -> bool {
        let claim = Claim {
            consumer,
            idle_ms_min: self.idle_ms_min,
            now_ms,
            time_ms: now_ms,
            deliveries: None,
            counts: !self.just_id,
            force: false,
        };
        let whole = out.begin_array();
        let mark = out.begin_array();
        let (mut claimed, mut deleted): (usize, Vec<StreamId>) = (0, Vec::new());
        let mut left = self.count;
        let mut next = group.next_pending(self.start);
        let mut looked_at = self.count.saturating_mul(LOOKED_AT);
        while let Some(id) = next.filter(|_| left > 0 && looked_at > 0) {
            match group.claim(id, &claim) {
                Claimed::Item(item) => {
                    reply(out, &item, self.just_id);
                    claimed = claimed.saturating_add(1);
                    left = left.saturating_sub(1);
                }
                Claimed::Deleted => {
                    deleted.push(id);
                    left = left.saturating_sub(1);
                }
                Claimed::Kept => {}
            }
            looked_at = looked_at.saturating_sub(1);
            next = id.next().and_then(|next| group.next_pending(next));
        }
        out.end_array(mark, claimed);
        let cursor = next.unwrap_or(StreamId::MIN);
        insert_cursor(out, whole, cursor);
        out.array(deleted.len());
        deleted.iter().for_each(|id| ids::reply(out, *id));
        claimed > 0 || !deleted.is_empty()
    }
}

/// Puts the beginning of the reply, which is known only in the end, where it belongs.
fn insert_cursor(out: &mut Writer<'_>, mark: buffer::Mark, cursor: StreamId) {
    let mut head = Vec::new();
    let mut writer = Writer::new(&mut head, out.version());
    writer.array(3);
    ids::reply(&mut writer, cursor);
    out.out().insert(mark, &head);
}

/// Claims the items that their consumers have had for some time.
pub(crate) fn xautoclaim<V: View>(call: &mut Call<'_, V>) -> Done {
    let (key, name, consumer) = (call.arg(1), call.arg(2), call.arg(3));
    let sweep = Sweep::parse(call.args.tail(4))?;
    let now_ms = call.unix_ms();
    look_up(call, key)?;
    let (limits, out) = (call.keys.limits, &mut call.out);
    let missing = || no_key_or_group(key, name, b"");
    let mut entry = call.keys.get_mut(key, Type::Stream)?.ok_or_else(missing)?;
    let mut stream = stream_mut(&mut entry, limits)?;
    let mut group = stream.group_mut(name).ok_or_else(missing)?;
    let (consumer, is_new) = group.see(consumer, now_ms);
    let has_changed = sweep.run(&mut group, consumer, now_ms, out);
    drop(group);
    drop(entry);
    if is_new {
        call.noted(key, event("xgroup-createconsumer"));
    }
    call.worker.changes = call.worker.changes.saturating_add(has_changed.into());
    Ok(())
}
