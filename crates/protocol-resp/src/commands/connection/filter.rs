// SPDX-License-Identifier: Apache-2.0
//! [`Filter`]: which connections CLIENT LIST and CLIENT KILL mean, with the conditions of Redis and of Valkey 9.

use crate::engine::any_call::AnyCall;
use crate::session::client::{Client, Names};
use crate::session::listed_client::{FLAGS, Kind, ListedClient, flags};
use crate::wire::fault::Fault;
use crate::wire::parse::Args;
use clock::Ticks;
use protocol::ConnectionId;
use std::collections::HashSet;
use std::mem::discriminant;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;

/// Those that meet all conditions.
#[derive(Debug, Default)]
pub(super) struct Filter<'a> {
    conditions: Vec<Rule<'a>>,
    /// The connection that asks is not meant.
    skips_me: bool,
}

/// A condition that must hold, or must not.
#[derive(Debug, PartialEq, Eq)]
struct Rule<'a> {
    holds: bool,
    condition: Condition<'a>,
}

#[derive(Debug, PartialEq, Eq)]
enum Condition<'a> {
    Ids(HashSet<u64>),
    Kind(Kind),
    Address(&'a [u8]),
    LocalAddress(&'a [u8]),
    /// The address without its port.
    Host(&'a [u8]),
    User(&'a [u8]),
    Name(&'a [u8]),
    LibName(&'a [u8]),
    LibVersion(&'a [u8]),
    Database(u32),
    /// All of these letters are among its flags.
    Flags(&'a [u8]),
    /// It has these capabilities, each a letter.
    Capabilities(&'a [u8]),
    /// It has been there for so many seconds.
    Age(u64),
    /// It has sent nothing for so many seconds.
    Idle(u64),
}

impl<'a> Filter<'a> {
    /// All connections, or all others.
    pub(super) fn all(skips_me: bool) -> Self {
        Filter { skips_me, ..Filter::default() }
    }

    /// The connection from an address.
    pub(super) fn of_address(address: &'a [u8]) -> Self {
        let mut filter = Filter::default();
        filter.add(true, Condition::Address(address));
        filter
    }

    /// Reads conditions, a word and its value each; behind `ID` may be several numbers.
    pub(super) fn parse<'c>(
        call: &impl AnyCall<'c>,
        args: Args<'a>,
        skips_me: bool,
    ) -> Result<Self, Fault> {
        let mut filter = Filter::all(skips_me);
        let mut at = 0;
        while at < args.len() {
            let word = args.arg(at).to_ascii_lowercase();
            let value = args.get(at + 1).ok_or(Fault::SYNTAX)?;
            at += 2;
            if word == b"skipme" {
                filter.skips_me = yes_or_no(value)?;
                continue;
            }
            let (holds, name) = match word.strip_prefix(b"not-") {
                Some(b"maxage" | b"idle") => return Err(Fault::SYNTAX),
                Some(name) => (false, name),
                None => (true, &word[..]),
            };
            if name == b"id" {
                let mut ids = HashSet::new();
                if holds || values::parse_i64(value).is_some() {
                    ids.insert(id(value)?);
                } else {
                    // Valkey takes it for the next condition.
                    at -= 1;
                }
                while let Some(next) = args.get(at).filter(|next| values::parse_i64(next).is_some())
                {
                    ids.insert(id(next)?);
                    at += 1;
                }
                filter.add_ids(holds, ids);
                continue;
            }
            filter.add(holds, condition(call, holds, name, value)?);
        }
        Ok(filter)
    }

    /// Adds a condition; of one kind the last one counts.
    fn add(&mut self, holds: bool, condition: Condition<'a>) {
        let kind = discriminant(&condition);
        self.conditions.retain(|rule| rule.holds != holds || discriminant(&rule.condition) != kind);
        self.conditions.push(Rule { holds, condition });
    }

    /// Adds numbers; they are those of all lists together.
    fn add_ids(&mut self, holds: bool, more: HashSet<u64>) {
        for rule in &mut self.conditions {
            if let (Condition::Ids(ids), true) = (&mut rule.condition, rule.holds == holds) {
                return ids.extend(more);
            }
        }
        self.add(holds, Condition::Ids(more));
    }

    /// Whether a connection is meant.
    pub(super) fn matches(&self, listed: &ListedClient, me: ConnectionId, now: Ticks) -> bool {
        let holds = |rule: &Rule<'_>| rule.condition.is_met(listed, now) == rule.holds;
        !(self.skips_me && listed.id == me) && self.conditions.iter().all(holds)
    }
}

impl Condition<'_> {
    fn is_met(&self, listed: &ListedClient, now: Ticks) -> bool {
        let named = |wanted: &[u8], which: fn(&Names) -> &[u8]| {
            let client = listed.client.as_ref();
            let is = |client: &Arc<Client>| *which(&client.names.lock()) == *wanted;
            !wanted.is_empty() && client.is_some_and(is)
        };
        let db = |client: &Client| client.db.load(Relaxed);
        match *self {
            Condition::Ids(ref ids) => ids.contains(&listed.id.serial()),
            Condition::Kind(kind) => listed.kind() == kind,
            Condition::Address(wanted) => listed.address().as_bytes() == wanted,
            Condition::LocalAddress(wanted) => listed.local_address().as_bytes() == wanted,
            Condition::Host(wanted) => {
                host(&listed.address()).is_some_and(|host| host.as_bytes() == wanted)
            }
            Condition::User(wanted) => *listed.user_name() == *wanted,
            Condition::Name(wanted) => named(wanted, |names| &names.name),
            Condition::LibName(wanted) => named(wanted, |names| &names.lib_name),
            Condition::LibVersion(wanted) => named(wanted, |names| &names.lib_version),
            Condition::Database(wanted) => listed.client.as_deref().map_or(0, db) == wanted,
            Condition::Flags(letters) => {
                let shown = flags(listed);
                letters.iter().all(|letter| shown.as_bytes().contains(letter))
            }
            Condition::Capabilities(letters) => letters.is_empty() || follows(listed),
            Condition::Age(seconds) => listed.age(now).as_secs() >= seconds,
            Condition::Idle(seconds) => listed.idle(now).as_secs() >= seconds,
        }
    }
}

/// The condition that a word and its value mean.
fn condition<'a, 'c>(
    call: &impl AnyCall<'c>,
    holds: bool,
    name: &[u8],
    value: &'a [u8],
) -> Result<Condition<'a>, Fault> {
    Ok(match name {
        b"type" => Condition::Kind(Kind::named(value)?),
        b"addr" => Condition::Address(value),
        b"laddr" => Condition::LocalAddress(value),
        b"ip" => Condition::Host(value),
        b"user" if call.has_user(value) => Condition::User(value),
        b"user" => return Err(Fault::made([b"ERR No such user '", value, b"'"].concat())),
        b"name" => Condition::Name(value),
        b"lib-name" => Condition::LibName(value),
        b"lib-ver" => Condition::LibVersion(value),
        b"db" => {
            let what = if holds { "DB" } else { "NOT-DB" };
            Condition::Database(database(call, what, value)?)
        }
        b"flags" if value.iter().all(|letter| FLAGS.contains(letter)) => Condition::Flags(value),
        b"flags" => {
            let which = if holds { "provided" } else { "NOT-FLAGS" };
            let text = format!("ERR Unknown flags found in the {which} filter: ");
            return Err(Fault::made([text.as_bytes(), value].concat()));
        }
        b"capa" if value.iter().all(|letter| *letter == b'r') => Condition::Capabilities(value),
        b"capa" => {
            let which = if holds { "provided" } else { "NOT-CAPA" };
            let text = format!("ERR Unknown capa found in the {which} filter: ");
            return Err(Fault::made([text.as_bytes(), value].concat()));
        }
        b"maxage" => Condition::Age(seconds("maxage", value)?),
        b"idle" => Condition::Idle(seconds("idle", value)?),
        _ => return Err(Fault::SYNTAX),
    })
}

/// Whether a client has the only capability there is, `r`: it follows redirections.
fn follows(listed: &ListedClient) -> bool {
    listed.client.as_ref().is_some_and(|client| client.is(Client::FOLLOWS))
}

/// An address without its port and brackets; `None` if it has no port, as that of a socket of the file system.
fn host(address: &str) -> Option<&str> {
    let (host, _) = address.rsplit_once(':').filter(|(_, port)| *port != "0")?;
    Some(host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(host))
}

fn yes_or_no(value: &[u8]) -> Result<bool, Fault> {
    match value.to_ascii_lowercase().as_slice() {
        b"yes" => Ok(true),
        b"no" => Ok(false),
        _ => Err(Fault::SYNTAX),
    }
}

fn id(value: &[u8]) -> Result<u64, Fault> {
    let id = values::parse_i64(value).filter(|id| *id > 0);
    id.map(|id| id as u64).ok_or(Fault::new("ERR client-id should be greater than 0"))
}

fn seconds(name: &str, value: &[u8]) -> Result<u64, Fault> {
    match values::parse_i64(value) {
        None => Err(Fault::made(format!("ERR {name} is not an integer or out of range"))),
        Some(seconds @ 1..) => Ok(seconds as u64),
        Some(_) => Err(Fault::made(format!("ERR {name} should be greater than 0"))),
    }
}

fn database<'c>(call: &impl AnyCall<'c>, what: &str, value: &[u8]) -> Result<u32, Fault> {
    let number = values::parse_i64(value).and_then(|number| i32::try_from(number).ok());
    let unread = || Fault::made(format!("ERR {what} is not an integer or out of range"));
    let number = number.ok_or_else(unread)?;
    let known = u32::try_from(number).ok().filter(|number| (*number as usize) < call.databases());
    let last = call.databases().saturating_sub(1);
    known.ok_or_else(|| Fault::made(format!("ERR {what} number should be between 0 and {last}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::Peer;

    #[test]
    fn a_host_is_an_address_without_its_port() {
        assert_eq!(host("127.0.0.1:50002"), Some("127.0.0.1"));
        assert_eq!(host("[::1]:50002"), Some("::1"));
        assert_eq!(host("unix"), None);
        assert_eq!(host("/run/rds.sock:0"), None, "a socket of the file system has no port");
    }

    #[test]
    fn who_came_by_a_socket_of_the_file_system_has_no_host_not_even_an_empty_one() {
        let now = Ticks::from_millis(0);
        let id = |serial| ConnectionId::new(0, serial);
        let listed = |serial, remote: &str| {
            ListedClient::of_peer(Arc::new(Peer::new(id(serial), remote.into(), "tcp:0", now)))
        };
        let all = [listed(1, "unix:/run/rds.sock"), listed(2, "tcp:127.0.0.1:50002")];
        let found = |holds, host| {
            let mut filter = Filter::default();
            filter.add(holds, Condition::Host(host));
            let found = all.iter().filter(|listed| filter.matches(listed, id(9), now));
            found.map(|listed| listed.id.serial()).collect::<Vec<_>>()
        };
        assert_eq!((found(true, b""), found(false, b"")), (vec![], vec![1, 2]));
        assert_eq!((found(true, b"127.0.0.1"), found(false, b"127.0.0.1")), (vec![2], vec![1]));
    }
}
