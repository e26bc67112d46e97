// SPDX-License-Identifier: Apache-2.0
//! Descriptions of connections: CLIENT LIST, CLIENT INFO.

use super::selection::all_clients;
use crate::engine::any_call::{AnyCall, CallParts};
use crate::session::listed_client::{Kind, ListedClient, describe};
use crate::wire::fault::{Done, Fault};

/// Describes this connection.
pub(crate) fn client_info<'c, C: AnyCall<'c>>(call: &mut C) -> Done {
    let mut parts = call.parts();
    let me: Vec<_> = parts.client.map(ListedClient::of).into_iter().collect();
    write::<C>(&me, &mut parts);
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
        text.push(b'\n');
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
