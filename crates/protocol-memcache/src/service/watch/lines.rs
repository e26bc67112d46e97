// SPDX-License-Identifier: Apache-2.0
//! The lines that watchers are shown, in memcached's form.

use super::super::MemcacheService;
use super::super::meta::mode;
use super::super::observe::with_key;
use super::super::outcome::Outcome;
use crate::exptime::Exptime;
use crate::metrics;
use crate::op::{Act, Arith, Meta, Mode, Op, Set, Upload};
use crate::reply::dump::uri;
use crate::reply::meta::exptime;
use crate::request::{Form, Request};
use crate::topics::Topics;
use clock::Now;
use protocol::{Context, Ending, Peer};
use std::io::Write;
use storage::{Evicted, Item, Receive};

/// The item of a request's key before the request.
#[derive(Clone, Copy, Debug)]
pub(in crate::service) struct Found {
    /// Its class.
    class: u32,
    /// Bytes of its value.
    size: usize,
    /// Seconds that it still lives; 0 if it does not expire.
    ttl: u64,
}

/// A write, as it is shown.
struct Stored {
    status: &'static str,
    command: &'static str,
    ttl: u64,
    size: usize,
}

impl<S: Receive> MemcacheService<S> {
    /// Finds the item of a request's key, which does not count as a read.
    pub(in crate::service) fn find_watched(
        &mut self,
        request: &Request<'_>,
        now: Now,
    ) -> Option<Found> {
        with_key(request, |key| self.find(key, now)).flatten()
    }

    fn find(&mut self, key: &[u8], now: Now) -> Option<Found> {
        let item = self.store.peek(key, now.ticks)?;
        let ttl = item.expiry().ticks().map_or(0, |at| at.since(now.ticks).as_secs());
        Some(Found { class: item.class(), size: item.value().len(), ttl })
    }

    /// Writes the lines about a request that was executed.
    pub(in crate::service) fn show_request(
        &mut self,
        found: Option<Found>,
        request: &Request<'_>,
        outcome: Outcome,
        context: &Context<'_>,
    ) {
        with_key(request, |key| {
            self.show_fetch(key, found, context);
            if let Some(stored) = stored(request, found, outcome, context.now) {
                self.show_store(key, &stored, context);
            }
            if let (Some(found), Some(command)) = (found, deletes(request, outcome)) {
                self.show_deletion(key, found, command, context.now);
            }
        });
    }

    fn show_fetch(&mut self, key: &[u8], found: Option<Found>, context: &Context<'_>) {
        let status = if found.is_some() { "found" } else { "not_found" };
        let Found { class, size, ttl: _ } = found.unwrap_or(Found { class: 0, size: 0, ttl: 0 });
        let cfd = context.connection.serial();
        self.show(Topics::FETCHERS, context.now, |line| {
            line.extend_from_slice(b"type=item_get key=");
            uri(key, line);
            let _ = writeln!(line, " status={status} clsid={class} cfd={cfd} size={size}");
        });
    }

    fn show_store(&mut self, key: &[u8], stored: &Stored, context: &Context<'_>) {
        let class = self.find(key, context.now).map_or(0, |found| found.class);
        let &Stored { status, command, ttl, size } = stored;
        let cfd = context.connection.serial();
        self.show(Topics::MUTATIONS, context.now, |line| {
            line.extend_from_slice(b"type=item_store key=");
            uri(key, line);
            let _ = write!(line, " status={status} cmd={command} ttl={ttl}");
            let _ = writeln!(line, " clsid={class} cfd={cfd} size={size}");
        });
    }

    fn show_deletion(&mut self, key: &[u8], found: Found, command: &str, now: Now) {
        let Found { class, size, ttl: _ } = found;
        self.show(Topics::DELETIONS, now, |line| {
            line.extend_from_slice(b"type=deleted key=");
            uri(key, line);
            let _ = writeln!(line, " cmd={command} clsid={class} size={size}");
        });
    }

    /// Has the store note what it evicts while anybody watches that, and writes a line for each.
    pub(in crate::service) fn show_evicted(&mut self, now: Now) {
        let is_watched = self.shared.observers.watch(Topics::EVICTIONS);
        if self.own_watch.notes_evicted != is_watched {
            self.own_watch.notes_evicted = is_watched;
            self.store.note_evicted(is_watched);
        }
        if !is_watched {
            return;
        }
        let mut all = Vec::new();
        let lost = self.store.take_evicted(&mut |evicted| all.push(evicted));
        metrics::LOG_WORKER_DROPPED.add(lost);
        for Evicted { key, value_len, class, was_read, expiry, used_at } in all {
            let fetched = if was_read { "yes" } else { "no" };
            let idle = now.ticks.since(used_at).as_secs();
            self.show(Topics::EVICTIONS, now, |line| {
                line.extend_from_slice(b"type=eviction key=");
                uri(&key, line);
                let _ = write!(line, " fetch={fetched} ttl=");
                let _ = match expiry.ticks() {
                    Some(at) => write!(line, "{}", at.since(now.ticks).as_secs()),
                    None => write!(line, "-1"),
                };
                let _ = writeln!(line, " la={idle} clsid={class} size={value_len}");
            });
        }
    }

    /// Writes the line about a connection that has come.
    #[cold]
    pub(in crate::service) fn show_opened(&mut self, peer: &Peer, now: Now) {
        self.show(Topics::CONNEVENTS, now, |line| {
            line.extend_from_slice(b"type=conn_new ");
            remote(&peer.remote, line);
            let _ = writeln!(line, " cfd={}", peer.id.serial());
        });
    }

    /// Writes the line about a connection that has ended.
    #[cold]
    pub(in crate::service) fn show_closed(&mut self, peer: &Peer, ending: Ending, now: Now) {
        let reason = reason(ending);
        self.show(Topics::CONNEVENTS, now, |line| {
            line.extend_from_slice(b"type=conn_close ");
            remote(&peer.remote, line);
            let _ = writeln!(line, " reason={reason} cfd={}", peer.id.serial());
        });
    }

    /// Adds a line, whose beginning is the same for all, if anybody wants to see it.
    fn show(&mut self, topics: Topics, now: Now, write: impl FnOnce(&mut Vec<u8>)) {
        if !self.shared.observers.watch(topics) {
            return;
        }
        let number = self.shared.watchers.next_line();
        let (seconds, millis) = (now.unix_ms / 1000, now.unix_ms % 1000);
        self.chores_wait = true;
        self.own_watch.ring.push(topics, number, |line| {
            // Writing to a vector cannot fail, here and elsewhere.
            let _ = write!(line, "ts={seconds}.{millis:03}000 gid={number} ");
            write(line);
        });
    }
}

/// The write that a request was; `None` if it was none.
fn stored(
    request: &Request<'_>,
    found: Option<Found>,
    outcome: Outcome,
    now: Now,
) -> Option<Stored> {
    let (mode, exptime, size) = match request.op {
        Op::Set(Set { mode, exptime, value, .. }) => (mode, exptime, value.len()),
        Op::Upload(Upload { mode, exptime, value_len, .. }) => (mode, exptime, value_len as usize),
        Op::UploadMeta(meta) => (mode(&meta.flags()), expires(&meta), meta.announced_len()),
        Op::Oversized { mode, .. } => (mode, Exptime::NEVER, 0),
        Op::Meta(meta) => match meta.act {
            Act::Set => (mode(&meta.flags()), expires(&meta), meta.value.len()),
            Act::SetTooLarge => (mode(&meta.flags()), expires(&meta), 0),
            Act::Arith if found.is_none() => (Mode::Add, expires_made(&meta), digits(outcome)?),
            Act::Get | Act::Delete | Act::Arith | Act::Describe | Act::Noop => return None,
        },
        Op::Arith(Arith { exptime, .. }) if found.is_none() => {
            (Mode::Add, Exptime(exptime.into()), digits(outcome)?)
        }
        Op::Get(_)
        | Op::Piece(_)
        | Op::ListEnd { .. }
        | Op::Delete { .. }
        | Op::Arith(_)
        | Op::Touch { .. }
        | Op::FlushAll { .. }
        | Op::BadFlush { .. }
        | Op::Stats { .. }
        | Op::Detail(_)
        | Op::Dump(_)
        | Op::Config { .. }
        | Op::Watch(_)
        | Op::Version
        | Op::Noop
        | Op::Manage(_)
        | Op::Login(_)
        | Op::Quit => return None,
    };
    let status = match outcome {
        Outcome::NotStored => "not_stored",
        Outcome::Exists => "exists",
        Outcome::NotFound => "not_found",
        Outcome::TooLarge => "too_large",
        Outcome::OutOfMemory => "no_memory",
        _ => "stored",
    };
    let extends = matches!(mode, Mode::Append | Mode::Prepend);
    let (ttl, size) = match found {
        Some(found) if extends && status == "stored" => (found.ttl, found.size + size),
        _ => (exptime.expiry(now).ticks().map_or(0, |at| at.since(now.ticks).as_secs()), size),
    };
    Some(Stored { status, command: name(mode), ttl, size })
}

/// Digits of the number that a request has made; `None` if it has made none.
fn digits(outcome: Outcome) -> Option<usize> {
    match outcome {
        Outcome::Number(number, _) => Some(itoa::Buffer::new().format(number).len()),
        _ => None,
    }
}

fn expires(meta: &Meta<'_>) -> Exptime {
    meta.flags().argument(b'T').map_or(Exptime::NEVER, exptime)
}

fn expires_made(meta: &Meta<'_>) -> Exptime {
    meta.flags().argument(b'N').map_or(Exptime::NEVER, exptime)
}

fn name(mode: Mode) -> &'static str {
    match mode {
        Mode::Set => "set",
        Mode::Add => "add",
        Mode::Replace => "replace",
        Mode::Append => "append",
        Mode::Prepend => "prepend",
        Mode::Cas => "cas",
    }
}

/// The command by which a request has removed an item, if it has. memcached shows those of text alone.
fn deletes(request: &Request<'_>, outcome: Outcome) -> Option<&'static str> {
    let is_stale = |meta: &Meta<'_>| meta.flags().argument(b'I').is_some();
    match request.op {
        _ if outcome != Outcome::Deleted => None,
        Op::Delete { .. } => matches!(request.form, Form::Text(_)).then_some("delete"),
        Op::Meta(ref meta) => (!is_stale(meta)).then_some("md"),
        _ => None,
    }
}

/// memcached's name for the reason of an end.
fn reason(ending: Ending) -> &'static str {
    match ending {
        Ending::Normal => "normal",
        Ending::Idle => "idle_timeout",
        Ending::Error => "error",
        Ending::Shutdown => "shutdown",
    }
}

/// Where a connection comes from: its address, port and transport.
fn remote(remote: &str, line: &mut Vec<u8>) {
    let (scheme, address) = remote.split_once(':').unwrap_or((remote, ""));
    let (host, port) = match scheme {
        "unix" => ("unix", "0"),
        _ => address.rsplit_once(':').unwrap_or((address, "0")),
    };
    let transport = if scheme == "unix" { "local" } else { "tcp" };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    let _ = write!(line, "rip={host} rport={port} transport={transport}");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_shown_in_parts() {
        for (shown, expected) in [
            ("tcp:127.0.0.1:40112", "rip=127.0.0.1 rport=40112 transport=tcp"),
            ("tcp6:[::1]:40112", "rip=::1 rport=40112 transport=tcp"),
            ("unix:/a:b", "rip=unix rport=0 transport=local"),
        ] {
            let mut line = Vec::new();
            remote(shown, &mut line);
            assert_eq!(String::from_utf8_lossy(&line), expected);
        }
    }
}
