// SPDX-License-Identifier: Apache-2.0
//! XINFO: what is known of a stream.

use super::ids;
use super::info_groups::reply_groups;
use super::range::{reply_item, reply_items};
use crate::commands::dispatch::wrong_arguments;
use crate::engine::call::Call;
use crate::wire::fault::{Done, Fault};
use crate::wire::reply::Writer;
use keyspace::View;
use values::{Entry, StreamId, StreamItem, StreamRef, Type};

/// Items that are shown in full unless a client says otherwise.
const SHOWN: usize = 10;

/// How many counters there are of messages that may come again.
const MESSAGE_COUNTERS: usize = 6;

/// Describes a stream.
pub(crate) fn xinfo_stream<V: View>(call: &mut Call<'_, V>) -> Done {
    // Wrong options are an error of a stream only.
    let shown = shown(call);
    let key = call.arg(2);
    let out = &mut call.out;
    let Some(stream) = call.keys.get(key, Type::Stream)?.and_then(Entry::stream) else {
        call.missed(key);
        return Err(Fault::NO_SUCH_KEY);
    };
    let known = stream.idempotence().map_or(0, |_| MESSAGE_COUNTERS);
    match shown? {
        Some(count) => {
            out.map(known.saturating_add(9));
            counters(out, stream);
            out.bulk(b"entries");
            reply_items(out, stream.range(StreamId::MIN, StreamId::MAX).take(count));
            out.bulk(b"groups");
            reply_groups(out, stream, count);
        }
        None => {
            out.map(known.saturating_add(10));
            counters(out, stream);
            out.bulk(b"groups");
            out.count(stream.groups_len());
            out.bulk(b"first-entry");
            item_or_null(out, stream.first());
            out.bulk(b"last-entry");
            item_or_null(out, stream.last());
        }
    }
    Ok(())
}

/// How many items are shown in full; `None`: only a summary.
fn shown<V: View>(call: &Call<'_, V>) -> Result<Option<usize>, Fault> {
    let options = call.args.tail(3);
    let Some(word) = options.get(0) else { return Ok(None) };
    let is_known = word.eq_ignore_ascii_case(b"full")
        && match options.get(1) {
            Some(word) => options.len() == 3 && word.eq_ignore_ascii_case(b"count"),
            None => true,
        };
    if !is_known {
        return Err(wrong_arguments(call));
    }
    Ok(Some(match options.get(2) {
        None => SHOWN,
        Some(_) => match usize::try_from(options.integer(2)?) {
            Ok(0) => usize::MAX,
            Ok(count) => count,
            Err(_) => SHOWN,
        },
    }))
}

/// What both replies begin with.
fn counters(out: &mut Writer<'_>, stream: StreamRef<'_>) {
    let nodes = stream.nodes();
    out.bulk(b"length");
    out.count(stream.len());
    out.bulk(b"radix-tree-keys");
    out.count(nodes);
    out.bulk(b"radix-tree-nodes");
    out.count(nodes.saturating_add(1));
    out.bulk(b"last-generated-id");
    ids::reply(out, stream.last_id());
    out.bulk(b"max-deleted-entry-id");
    ids::reply(out, stream.max_deleted_id());
    out.bulk(b"entries-added");
    out.integer(stream.added() as i64);
    out.bulk(b"recorded-first-entry-id");
    ids::reply(out, stream.first_id());
    if let Some(known) = stream.idempotence() {
        let limits = known.limits();
        let counters: [(&[u8], u64); MESSAGE_COUNTERS] = [
            (b"idmp-duration", limits.seconds.into()),
            (b"idmp-maxsize", limits.messages.into()),
            (b"pids-tracked", known.producers() as u64),
            (b"iids-tracked", known.messages() as u64),
            (b"iids-added", known.added()),
            (b"iids-duplicates", known.duplicates()),
        ];
        for (name, value) in counters {
            out.bulk(name);
            out.integer(value as i64);
        }
    }
}

fn item_or_null(out: &mut Writer<'_>, item: Option<StreamItem<'_>>) {
    match item {
        Some(item) => reply_item(out, &item),
        None => out.null(),
    }
}
