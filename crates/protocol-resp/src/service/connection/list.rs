// SPDX-License-Identifier: Apache-2.0
//! Descriptions of connections: CLIENT LIST, CLIENT INFO.

use super::super::call::Call;
use super::super::clients::{Client, Names};
use super::super::fault::{Done, Fault};
use super::super::resp::Resp;
use super::auth::USER;
use super::roster::{Kind, Someone, everyone};
use crate::table::CommandId;
use clock::Ticks;
use std::sync::atomic::Ordering::Relaxed;
use storage::keyspace::View;

/// Describes this connection.
pub(crate) fn client_info<V: View>(call: &mut Call<'_, V>) -> Done {
    let mut text = Vec::new();
    describe(&Someone::me(call), call.now.ticks, &mut text);
    call.out.verbatim(b"txt", &text);
    Ok(())
}

/// Describes connections: all, those of a kind, or those with certain numbers.
pub(crate) fn client_list<V: View>(call: &mut Call<'_, V>) -> Done {
    let option = call.args.get(2).map(<[u8]>::to_ascii_lowercase);
    let chosen = match (option.as_deref(), call.args.len()) {
        (None, _) => everyone(call),
        (Some(b"type"), 4) => {
            let kind = Kind::named(call.arg(3))?;
            everyone(call).into_iter().filter(|someone| someone.kind() == kind).collect()
        }
        (Some(b"id"), 4..) => with_ids(call)?,
        _ => return Err(Fault::SYNTAX),
    };
    let mut text = Vec::new();
    for someone in &chosen {
        describe(someone, call.now.ticks, &mut text);
    }
    call.out.verbatim(b"txt", &text);
    Ok(())
}

/// Those with the numbers that the arguments name, in that order and as often.
fn with_ids<V: View>(call: &Call<'_, V>) -> Result<Vec<Someone>, Fault> {
    let ids = call.args.tail(3).iter().map(values::parse_i64);
    let ids: Option<Vec<i64>> = ids.collect();
    let ids = ids.ok_or(Fault::new("ERR Invalid client ID"))?;
    let all = everyone(call);
    let find = |id: i64| {
        let at = all.binary_search_by_key(&id, |someone| someone.id.serial() as i64).ok()?;
        Some(all[at].clone())
    };
    Ok(ids.into_iter().filter_map(find).collect())
}

/// Appends a line in the form of Redis 7.4. What cannot be known here of a connection, such as how
/// full its buffers are, is 0 or -1.
fn describe(someone: &Someone, now: Ticks, text: &mut Vec<u8>) {
    let client = someone.client.as_deref();
    let number = |of: fn(&Client) -> u64| client.map_or(0, of);
    let names = client.map(|client| client.names.lock().clone()).unwrap_or_default();
    let subscriptions =
        |kind: usize| client.map_or(0, |client| client.subscriptions[kind].load(Relaxed));
    let queued = client.filter(|client| client.is(Client::IN_TRANSACTION));
    let queued = queued.map_or(-1, |client| i64::from(client.queued.load(Relaxed)));
    let queued_bytes = number(|client| client.queued_bytes.load(Relaxed));
    let start = format!(
        "id={} addr={} laddr={} fd=-1 name=",
        someone.id.serial(),
        someone.address(),
        someone.local_address(),
    );
    text.extend_from_slice(start.as_bytes());
    text.extend_from_slice(&names.name);
    let middle = format!(
        " age={} idle={} flags={} db={} sub={} psub={} ssub={} multi={queued} watch={} qbuf=0 \
         qbuf-free=0 argv-mem=0 multi-mem={queued_bytes} rbs=0 rbp=0 obl=0 oll=0 omem=0 \
         tot-mem={} events=r cmd={} user={} redir=-1 resp={} lib-name=",
        someone.age(now).as_secs(),
        someone.idle(now).as_secs(),
        flags(someone),
        number(|client| client.db.load(Relaxed).into()),
        subscriptions(0),
        subscriptions(1),
        subscriptions(2),
        number(|client| client.watched.load(Relaxed).into()),
        memory(&names) + queued_bytes,
        client.and_then(last_command).map_or("NULL", |command| command.spec().name),
        USER.escape_ascii(),
        client.map_or(2, |client| client.version.load(Relaxed)),
    );
    text.extend_from_slice(middle.as_bytes());
    text.extend_from_slice(&names.lib_name);
    text.extend_from_slice(b" lib-ver=");
    text.extend_from_slice(&names.lib_version);
    text.push(b'\n');
}

fn last_command(client: &Client) -> Option<CommandId> {
    CommandId::at(client.last_command.load(Relaxed) as usize)
}

/// Bytes that the service keeps for a connection.
fn memory(names: &Names) -> u64 {
    let names = names.name.len() + names.lib_name.len() + names.lib_version.len();
    (size_of::<Resp>() + size_of::<Client>() + names) as u64
}

/// A letter for each state that is not the usual one; `N` for none.
fn flags(someone: &Someone) -> String {
    let mut letters = String::new();
    if let Some(client) = &someone.client {
        let known = [
            (Client::MONITOR, 'O'),
            (Client::SUBSCRIBER, 'P'),
            (Client::IN_TRANSACTION, 'x'),
            (Client::BLOCKED, 'b'),
        ];
        letters.extend(known.iter().filter(|(flag, _)| client.is(*flag)).map(|(_, letter)| letter));
        if client.spoilt.load(Relaxed) {
            letters.push('d');
        }
    }
    if someone.is_unix() {
        letters.push('U');
    }
    if let Some(client) = &someone.client {
        let known = [(Client::NO_EVICT, 'e'), (Client::NO_TOUCH, 'T')];
        letters.extend(known.iter().filter(|(flag, _)| client.is(*flag)).map(|(_, letter)| letter));
    }
    if letters.is_empty() {
        letters.push('N');
    }
    letters
}
