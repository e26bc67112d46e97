// SPDX-License-Identifier: Apache-2.0
//! Channels: SUBSCRIBE and its relatives, PUBLISH, PUBSUB.

use super::dispatch::too_many_arguments;
use crate::engine::call::Call;
use crate::session::subscriptions::{Kind, Subscriptions};
use crate::wire::fault::{Done, Fault};
use crate::wire::glob;
use keyspace::View;

/// Starts listening to channels.
pub(crate) fn subscribe<V: View>(call: &mut Call<'_, V>) -> Done {
    begin(call, Kind::Channel, b"subscribe")
}

/// Starts listening to the channels that match patterns.
pub(crate) fn psubscribe<V: View>(call: &mut Call<'_, V>) -> Done {
    begin(call, Kind::Pattern, b"psubscribe")
}

/// Starts listening to shard channels.
pub(crate) fn ssubscribe<V: View>(call: &mut Call<'_, V>) -> Done {
    if call.in_transaction {
        return Err(Fault::new("ERR SSUBSCRIBE isn't allowed for a DENY BLOCKING client"));
    }
    begin(call, Kind::Shard, b"ssubscribe")
}

/// Stops listening to channels, all of them if none is named.
pub(crate) fn unsubscribe<V: View>(call: &mut Call<'_, V>) -> Done {
    end(call, Kind::Channel, b"unsubscribe")
}

/// Stops listening to patterns, all of them if none is named.
pub(crate) fn punsubscribe<V: View>(call: &mut Call<'_, V>) -> Done {
    end(call, Kind::Pattern, b"punsubscribe")
}

/// Stops listening to shard channels, all of them if none is named.
pub(crate) fn sunsubscribe<V: View>(call: &mut Call<'_, V>) -> Done {
    end(call, Kind::Shard, b"sunsubscribe")
}

/// One push for each name.
fn begin<V: View>(call: &mut Call<'_, V>, kind: Kind, word: &[u8]) -> Done {
    let (id, version) = (call.id, call.conn.version);
    let new = || Box::new(Subscriptions::new(id, version));
    let mut subscriptions = call.conn.subscriptions.take().unwrap_or_else(new);
    for name in call.args.tail(1).iter() {
        call.key_events().channels().subscribe(&mut subscriptions, kind, name);
        confirm(call, word, Some(name), subscriptions.count(kind));
    }
    call.conn.subscriptions = Some(subscriptions);
    call.conn.note_subscriptions();
    Ok(())
}

/// One push for each name; one without a name when there is nothing to stop.
fn end<V: View>(call: &mut Call<'_, V>, kind: Kind, word: &[u8]) -> Done {
    let Some(mut subscriptions) = call.conn.subscriptions.take() else {
        for name in call.args.tail(1).iter() {
            confirm(call, word, Some(name), 0);
        }
        if call.args.len() == 1 {
            confirm(call, word, None, 0);
        }
        return Ok(());
    };
    let named: Vec<Box<[u8]>> = if call.args.len() > 1 {
        call.args.tail(1).iter().map(Box::from).collect()
    } else {
        subscriptions.names(kind).iter().cloned().collect()
    };
    for name in &named {
        call.key_events().channels().unsubscribe(&mut subscriptions, kind, name);
        confirm(call, word, Some(name), subscriptions.count(kind));
    }
    if named.is_empty() {
        confirm(call, word, None, subscriptions.count(kind));
    }
    call.conn.subscriptions = Some(subscriptions).filter(|left| !left.is_empty());
    call.conn.note_subscriptions();
    Ok(())
}

fn confirm<V: View>(call: &mut Call<'_, V>, word: &[u8], name: Option<&[u8]>, count: usize) {
    call.conn.has_pushed = true;
    call.out.push(3);
    call.out.bulk(word);
    call.out.bulk_or_null(name);
    call.out.count(count);
}

/// Stops listening to everything, without a word.
pub(crate) fn leave<V: View>(call: &mut Call<'_, V>) {
    if let Some(subscriptions) = call.conn.subscriptions.take() {
        call.key_events().channels().leave(&subscriptions);
    }
    call.conn.note_subscriptions();
}

/// Sends a message to a channel.
pub(crate) fn publish<V: View>(call: &mut Call<'_, V>) -> Done {
    let sent = call.key_events().channels().publish(call.arg(1), call.arg(2), call.outbox);
    call.out.count(sent);
    Ok(())
}

/// Sends a message to a shard channel.
pub(crate) fn spublish<V: View>(call: &mut Call<'_, V>) -> Done {
    let sent = call.key_events().channels().publish_shard(call.arg(1), call.arg(2), call.outbox);
    call.out.count(sent);
    Ok(())
}

/// Lists the channels that have listeners.
pub(crate) fn pubsub_channels<V: View>(call: &mut Call<'_, V>) -> Done {
    list(call, Kind::Channel)
}

/// Lists the shard channels that have listeners.
pub(crate) fn pubsub_shardchannels<V: View>(call: &mut Call<'_, V>) -> Done {
    list(call, Kind::Shard)
}

fn list<V: View>(call: &mut Call<'_, V>, kind: Kind) -> Done {
    if call.args.len() > 3 {
        return Err(too_many_arguments(call));
    }
    let pattern = call.args.get(2);
    let is_meant = |name: &[u8]| pattern.is_none_or(|pattern| glob::matches(pattern, name));
    let names = call.key_events().channels().names(kind, is_meant);
    call.out.array(names.len());
    for name in &names {
        call.out.bulk(name);
    }
    Ok(())
}

/// Counts the patterns that are listened to.
pub(crate) fn pubsub_numpat<V: View>(call: &mut Call<'_, V>) -> Done {
    call.out.count(call.key_events().channels().len(Kind::Pattern));
    Ok(())
}

/// Counts the listeners of channels.
pub(crate) fn pubsub_numsub<V: View>(call: &mut Call<'_, V>) -> Done {
    count(call, Kind::Channel)
}

/// Counts the listeners of shard channels.
pub(crate) fn pubsub_shardnumsub<V: View>(call: &mut Call<'_, V>) -> Done {
    count(call, Kind::Shard)
}

/// In RESP3 a flat array, too.
fn count<V: View>(call: &mut Call<'_, V>, kind: Kind) -> Done {
    let names = call.args.tail(2);
    call.out.array(names.len() * 2);
    for name in names.iter() {
        call.out.bulk(name);
        call.out.count(call.key_events().channels().listeners(kind, name));
    }
    Ok(())
}
