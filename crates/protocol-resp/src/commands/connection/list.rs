// SPDX-License-Identifier: Apache-2.0
//! Descriptions of connections: CLIENT LIST, CLIENT INFO.

use super::auth::USER;
use super::selection::{Kind, ListedClient, all_clients};
use super::tracking::redirection;
use crate::engine::any_call::{AnyCall, CallParts};
use crate::session::client::{Client, Names};
use crate::session::memory::MemoryKind;
use crate::table::CommandId;
use crate::wire::fault::{Done, Fault};
use clock::Ticks;
use std::sync::atomic::Ordering::Relaxed;

/// Describes this connection.
pub(crate) fn client_info<'c, C: AnyCall<'c>>(call: &mut C) -> Done {
    let mut parts = call.parts();
    let me = ListedClient::me(&parts);
    write::<C>(&[me], &mut parts);
    Ok(())
}

/// Describes connections: all, those of a kind, or those with certain numbers.
pub(crate) fn client_list<'c, C: AnyCall<'c>>(call: &mut C) -> Done {
    let mut parts = call.parts();
    let args = parts.args;
    let option = args.get(2).map(<[u8]>::to_ascii_lowercase);
    let chosen = match (option.as_deref(), args.len()) {
        (None, _) => all_clients(&parts),
        (Some(b"type"), 4) => {
            let kind = Kind::named(args.arg(3))?;
            all_clients(&parts).into_iter().filter(|listed| listed.kind() == kind).collect()
        }
        (Some(b"id"), 4..) => with_ids(&parts)?,
        _ => return Err(Fault::SYNTAX),
    };
    write::<C>(&chosen, &mut parts);
    Ok(())
}

/// Replies with a line for each.
fn write<'c, C: AnyCall<'c>>(chosen: &[ListedClient], parts: &mut CallParts<'_, 'c>) {
    let mut text = Vec::new();
    for listed in chosen {
        describe(listed, C::CONNECTION_BYTES, parts.now, &mut text);
    }
    parts.out.verbatim(b"txt", &text);
}

/// Those with the numbers that the arguments name, in that order and as often.
fn with_ids(parts: &CallParts<'_, '_>) -> Result<Vec<ListedClient>, Fault> {
    let ids = parts.args.tail(3).iter().map(values::parse_i64);
    let ids: Option<Vec<i64>> = ids.collect();
    let ids = ids.ok_or(Fault::new("ERR Invalid client ID"))?;
    let all = all_clients(parts);
    let find = |id: i64| {
        let at = all.binary_search_by_key(&id, |listed| listed.id.serial() as i64).ok()?;
        Some(all[at].clone())
    };
    Ok(ids.into_iter().filter_map(find).collect())
}

/// Appends a line in the form of Redis 7.4. What cannot be known here of a connection, such as its
/// descriptor, is 0 or -1.
fn describe(listed: &ListedClient, state_bytes: usize, now: Ticks, text: &mut Vec<u8>) {
    let client = listed.client.as_deref();
    let number = |of: fn(&Client) -> u64| client.map_or(0, of);
    let subscriptions =
        |kind: usize| client.map_or(0, |client| client.subscriptions[kind].load(Relaxed));
    let queued = client.filter(|client| client.is(Client::IN_TRANSACTION));
    let queued = queued.map_or(-1, |client| i64::from(client.queued.load(Relaxed)));
    let queued_bytes = number(|client| client.memory.get(MemoryKind::Queue));
    let (input, output) = (listed.input_bytes(), listed.output_bytes());
    let held = number(|client| client.memory.total());
    let start = format!(
        "id={} addr={} laddr={} fd=-1 name=",
        listed.id.serial(),
        listed.address(),
        listed.local_address(),
    );
    text.extend_from_slice(start.as_bytes());
    append_name(client, |names| &names.name, text);
    let middle = format!(
        " age={} idle={} flags={} db={} sub={} psub={} ssub={} multi={queued} watch={} \
         qbuf={input} qbuf-free=0 argv-mem=0 multi-mem={queued_bytes} rbs=0 rbp=0 obl=0 oll=0 \
         omem={output} tot-mem={} events=r cmd={} user={} redir={} resp={} lib-name=",
        listed.age(now).as_secs(),
        listed.idle(now).as_secs(),
        flags(listed),
        number(|client| client.db.load(Relaxed).into()),
        subscriptions(0),
        subscriptions(1),
        subscriptions(2),
        number(|client| client.watched.load(Relaxed).into()),
        state_bytes as u64 + held + input + output,
        client.and_then(last_command).map_or("NULL", |command| command.spec().name),
        USER.escape_ascii(),
        client.map_or(-1, redirection),
        client.map_or(2, |client| client.version.load(Relaxed)),
    );
    text.extend_from_slice(middle.as_bytes());
    append_name(client, |names| &names.lib_name, text);
    text.extend_from_slice(b" lib-ver=");
    append_name(client, |names| &names.lib_version, text);
    text.push(b'\n');
}

/// Appends one of the names of a client.
fn append_name(client: Option<&Client>, which: fn(&Names) -> &[u8], text: &mut Vec<u8>) {
    if let Some(client) = client {
        text.extend_from_slice(which(&client.names.lock()));
    }
}

fn last_command(client: &Client) -> Option<CommandId> {
    CommandId::at(client.last_command.load(Relaxed) as usize)
}

/// A letter for each state that is not the usual one; `N` for none.
fn flags(listed: &ListedClient) -> String {
    let mut letters = String::new();
    if let Some(client) = &listed.client {
        let known = [
            (Client::MONITOR, 'O'),
            (Client::SUBSCRIBER, 'P'),
            (Client::IN_TRANSACTION, 'x'),
            (Client::BLOCKED, 'b'),
            (Client::TRACKING, 't'),
            (Client::REDIRECT_BROKEN, 'R'),
            (Client::BROADCAST, 'B'),
        ];
        letters.extend(known.iter().filter(|(flag, _)| client.is(*flag)).map(|(_, letter)| letter));
        if client.spoilt.load(Relaxed) {
            letters.push('d');
        }
    }
    if listed.is_unix() {
        letters.push('U');
    }
    if let Some(client) = &listed.client {
        let known = [(Client::NO_EVICT, 'e'), (Client::NO_TOUCH, 'T')];
        letters.extend(known.iter().filter(|(flag, _)| client.is(*flag)).map(|(_, letter)| letter));
    }
    if letters.is_empty() {
        letters.push('N');
    }
    letters
}
