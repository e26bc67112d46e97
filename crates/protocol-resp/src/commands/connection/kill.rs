// SPDX-License-Identifier: Apache-2.0
//! Closing connections: CLIENT KILL.

use super::selection::all_clients;
use crate::engine::any_call::{AnyCall, CallParts};
use crate::session::client::Client;
use crate::session::listed_client::{Kind, ListedClient};
use crate::wire::fault::{Done, Fault};
use crate::wire::parse::Args;
use clock::Ticks;
use protocol::{ConnectionId, Control};

/// Which connections are meant: those that meet all conditions.
#[derive(Debug, Default, PartialEq, Eq)]
struct Filter<'a> {
    id: Option<u64>,
    kind: Option<Kind>,
    address: Option<&'a [u8]>,
    local_address: Option<&'a [u8]>,
    seconds: Option<u64>,
    user: Option<&'a [u8]>,
    skips_me: bool,
}

impl<'a> Filter<'a> {
    /// Reads pairs of words.
    fn parse(args: Args<'a>) -> Result<Self, Fault> {
        let mut filter = Filter { skips_me: true, ..Filter::default() };
        let mut words = args.iter();
        while let Some(word) = words.next() {
            let value = words.next().ok_or(Fault::SYNTAX)?;
            match word.to_ascii_lowercase().as_slice() {
                b"id" => filter.id = Some(id(value)?),
                b"type" => filter.kind = Some(Kind::named(value)?),
                b"addr" => filter.address = Some(value),
                b"laddr" => filter.local_address = Some(value),
                b"maxage" => filter.seconds = Some(seconds(value)?),
                b"user" => filter.user = Some(value),
                b"skipme" if value.eq_ignore_ascii_case(b"yes") => filter.skips_me = true,
                b"skipme" if value.eq_ignore_ascii_case(b"no") => filter.skips_me = false,
                _ => return Err(Fault::SYNTAX),
            }
        }
        Ok(filter)
    }

    fn matches(&self, listed: &ListedClient, me: ConnectionId, now: Ticks) -> bool {
        let is = |wanted: Option<&[u8]>, address: fn(&ListedClient) -> String| {
            wanted.is_none_or(|wanted| wanted == address(listed).as_bytes())
        };
        self.id.is_none_or(|id| listed.id.serial() == id)
            && self.kind.is_none_or(|kind| listed.kind() == kind)
            && is(self.address, ListedClient::address)
            && is(self.local_address, ListedClient::local_address)
            && self.seconds.is_none_or(|seconds| listed.age(now).as_secs() >= seconds)
            && self.user.is_none_or(|user| *listed.user_name() == *user)
            && !(self.skips_me && listed.id == me)
    }
}

fn id(value: &[u8]) -> Result<u64, Fault> {
    let id = values::parse_i64(value).filter(|id| *id > 0);
    id.map(|id| id as u64).ok_or(Fault::new("ERR client-id should be greater than 0"))
}

fn seconds(value: &[u8]) -> Result<u64, Fault> {
    let seconds = values::parse_i64(value);
    match seconds.ok_or(Fault::new("ERR maxage is not an integer or out of range"))? {
        seconds @ 1.. => Ok(seconds as u64),
        _ => Err(Fault::new("ERR maxage should be greater than 0")),
    }
}

/// Closes connections: that with an address, or those that meet conditions.
pub(crate) fn client_kill<'c>(call: &mut impl AnyCall<'c>) -> Done {
    let parts = call.parts();
    let (args, me, now) = (parts.args, parts.id, parts.now);
    let by_address = args.len() == 3;
    let filter = if by_address {
        Filter { address: Some(args.arg(2)), ..Filter::default() }
    } else {
        Filter::parse(args.tail(2))?
    };
    if let Some(user) = filter.user.filter(|user| !call.has_user(user)) {
        return Err(Fault::made([b"ERR No such user '", user, b"'"].concat()));
    }
    let mut meant = all_clients(&call.parts());
    meant.retain(|listed| filter.matches(listed, me, now));
    for listed in &meant {
        kill(call, listed);
    }
    let CallParts { out, .. } = call.parts();
    match (by_address, meant.len()) {
        (true, 0) => return Err(Fault::new("ERR No such client")),
        (true, _) => out.ok(),
        (false, killed) => out.count(killed),
    }
    Ok(())
}

/// Closes a connection; that of the command once it has its reply.
pub(crate) fn kill<'c>(call: &mut impl AnyCall<'c>, listed: &ListedClient) {
    let CallParts { id, control, outbox, .. } = call.parts();
    if listed.id == id {
        *control = Control::Close;
        return;
    }
    outbox.close(listed.id);
    if let Some(client) = &listed.client {
        client.set(Client::CLOSING, true);
        // It is gone from here on: nothing may be taken for it from the keys it waits for.
        let waiting = client.waiting.lock().take();
        if let Some(waiting) = waiting {
            call.stop_waiting(&waiting);
        }
    }
}
