// SPDX-License-Identifier: Apache-2.0
//! Descriptions of connections: CLIENT LIST, CLIENT INFO.

use super::filter::Filter;
use super::selection::all_clients;
use crate::engine::any_call::{AnyCall, CallParts};
use crate::session::listed_client::{ListedClient, describe};
use crate::wire::fault::{Done, Fault};

/// Describes this connection.
pub(crate) fn client_info<'c, C: AnyCall<'c>>(call: &mut C) -> Done {
    let mut parts = call.parts();
    let me: Vec<_> = parts.client.map(ListedClient::of).into_iter().collect();
    write::<C>(&me, &mut parts);
    Ok(())
}

/// Describes connections: all, those with certain numbers, or those that meet conditions.
pub(crate) fn client_list<'c, C: AnyCall<'c>>(call: &mut C) -> Done {
    let parts = call.parts();
    let (args, me, now) = (parts.args, parts.id, parts.now);
    let is_ids = args.len() > 3 && args.arg(2).eq_ignore_ascii_case(b"id");
    let invalid = Fault::new("ERR Invalid client ID");
    let chosen = match with_ids(&parts).filter(|_| is_ids) {
        Some(chosen) => chosen,
        None if is_ids && values::parse_i64(args.arg(3)).is_none() => return Err(invalid),
        None => {
            let filter = Filter::parse(call, args.tail(2), false);
            // What is no condition is then taken for a number.
            let is_number = |fault: &Fault| *fault == Fault::SYNTAX && is_ids;
            let filter = filter.map_err(|fault| if is_number(&fault) { invalid } else { fault })?;
            let mut all = all_clients(&call.parts());
            all.retain(|listed| filter.matches(listed, me, now));
            all
        }
    };
    write::<C>(&chosen, &mut call.parts());
    Ok(())
}

/// Replies with a line for each.
fn write<'c, C: AnyCall<'c>>(chosen: &[ListedClient], parts: &mut CallParts<'_, 'c>) {
    let mut text = Vec::new();
    let me = parts.client.map(|client| client.id);
    for listed in chosen {
        let is_me = Some(listed.id) == me;
        let running = if is_me { parts.args.request_bytes() } else { 0 };
        describe(listed, C::CONNECTION_BYTES, running, parts.now, &mut text);
        text.push(b'\n');
    }
    parts.out.verbatim(b"txt", &text);
}

/// Those with the numbers that the arguments behind `ID` name, in that order and as often; `None` if they are
/// no numbers.
fn with_ids(parts: &CallParts<'_, '_>) -> Option<Vec<ListedClient>> {
    let ids = parts.args.tail(3).iter().map(values::parse_i64);
    let ids: Vec<i64> = ids.collect::<Option<_>>()?;
    let all = all_clients(parts);
    let find = |id: i64| {
        let at = all.binary_search_by_key(&id, |listed| listed.id.serial() as i64).ok()?;
        Some(all[at].clone())
    };
    Some(ids.into_iter().filter_map(find).collect())
}
