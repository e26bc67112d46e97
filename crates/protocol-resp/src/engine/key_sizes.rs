// SPDX-License-Identifier: Apache-2.0
//! The sizes of all values, counted when a client asks for them (`INFO keysizes`).
//!
//! Counts that are always right would cost each write: two look-ups of a size, and two counters, which is more than one
//! in a hundred of the instructions of a SET. So nothing is counted until a client asks. Then its worker walks through
//! all databases, a few steps at each turn of its loop, and the client waits while others are served. What changes
//! meanwhile may be counted or not. Clients that ask during a walk wait for the next one, so that a worker walks once
//! at a time.

use crate::engine::service::Engine;
use crate::wire::reply::{Version, Writer};
use bytes::Bytes;
use clock::Now;
use keyspace::{Keyspace, View};
use protocol::{ConnectionId, Outbox, Ticket};
use std::fmt::Write;
use values::{Entry, Type};

/// Steps of a walk at each turn; each visits about as much as fits some cache lines.
const STEPS: usize = 256;

/// The classes of sizes: 0, and one for each power of two.
const CLASSES: usize = 65;

/// What is counted, with its name, in the order of the report.
const KINDS: [(Type, &str); 5] = [
    (Type::String, "strings_sizes"),
    (Type::List, "lists_items"),
    (Type::Set, "sets_items"),
    (Type::Zset, "zsets_items"),
    (Type::Hash, "hashes_items"),
];

/// A client that waits for the sizes.
#[derive(Debug)]
pub(crate) struct Asker {
    pub(crate) id: ConnectionId,
    pub(crate) ticket: Ticket,
    pub(crate) version: Version,
    /// The sections of INFO that come before.
    pub(crate) before: String,
}

impl Asker {
    /// The reply, with the lines of the section.
    fn reply(self, lines: &str) -> Bytes {
        let mut text = self.before;
        let end = if text.is_empty() { "" } else { "\r\n" };
        _ = write!(text, "{end}# Keysizes\r\n{lines}");
        let mut reply = Vec::new();
        Writer::new(&mut reply, self.version).verbatim(b"txt", text.as_bytes());
        Bytes::from(reply)
    }
}

/// The walks of a worker.
#[derive(Debug, Default)]
pub(crate) struct KeySizes {
    walk: Option<Box<Walk>>,
    /// Clients that wait for the walk after the present one.
    next: Vec<Asker>,
}

/// A walk through all databases.
#[derive(Debug)]
struct Walk {
    askers: Vec<Asker>,
    db: usize,
    cursor: u64,
    counts: [[u64; CLASSES]; KINDS.len()],
    /// The lines of the databases that are done.
    lines: String,
}

impl KeySizes {
    /// Leaves a client to wait for the sizes.
    pub(crate) fn ask(&mut self, asker: Asker) {
        self.next.push(asker);
    }

    /// Forgets a client that has ended.
    pub(crate) fn forget(&mut self, id: ConnectionId) {
        self.next.retain(|asker| asker.id != id);
        if let Some(walk) = &mut self.walk {
            walk.askers.retain(|asker| asker.id != id);
        }
    }

    /// Whether there is nothing to do.
    #[inline]
    pub(super) fn is_idle(&self) -> bool {
        self.walk.is_none() && self.next.is_empty()
    }
}

impl Walk {
    fn new(askers: Vec<Asker>) -> Self {
        let counts = [[0; CLASSES]; KINDS.len()];
        Walk { askers, db: 0, cursor: 0, counts, lines: String::new() }
    }

    /// Takes a step; whether it was the last.
    fn step<K: Keyspace>(&mut self, keyspace: &mut K, unix_ms: u64) -> bool {
        if self.db == keyspace.databases() {
            return true;
        }
        let scope = keyspace.scan_scope(self.cursor);
        let counts = &mut self.counts;
        let mut view = keyspace.view(scope, unix_ms);
        self.cursor = view.scan(self.db, self.cursor, &mut |entry| count(counts, entry));
        if self.cursor == 0 {
            drop(view);
            describe(&mut self.lines, self.db, &self.counts);
            self.counts = [[0; CLASSES]; KINDS.len()];
            self.db += 1;
        }
        false
    }
}

fn count(counts: &mut [[u64; CLASSES]; KINDS.len()], entry: &Entry) {
    let kind = KINDS.iter().position(|(of, _)| *of == entry.data_type());
    if let Some(kind) = kind {
        let len = entry.len() as u64;
        counts[kind][(u64::BITS - len.leading_zeros()) as usize] += 1;
    }
}

/// Writes the lines of a database: for each type the classes that have values, each by its least size.
fn describe(lines: &mut String, db: usize, counts: &[[u64; CLASSES]; KINDS.len()]) {
    for ((_, name), counts) in KINDS.iter().zip(counts) {
        let filled = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let classes: Vec<String> =
            filled.map(|(class, count)| format!("{}={count}", least(class))).collect();
        if !classes.is_empty() {
            _ = write!(lines, "db{db}_distrib_{name}:{}\r\n", classes.join(","));
        }
    }
}

/// The least size of a class, in units of 1,024 if it has as many.
fn least(class: usize) -> String {
    let Some(exponent) = class.checked_sub(1) else { return "0".to_owned() };
    let unit = ["", "K", "M", "G", "T", "P", "E"][exponent / 10];
    format!("{}{unit}", 1 << (exponent % 10))
}

impl<K: Keyspace> Engine<K> {
    /// Goes on counting sizes; whether there is more to do.
    #[inline]
    pub(super) fn count_sizes(&mut self, now: Now, outbox: &mut Outbox) -> bool {
        !self.worker.key_sizes.is_idle() && self.walk_on(now, outbox)
    }

    #[cold]
    fn walk_on(&mut self, now: Now, outbox: &mut Outbox) -> bool {
        let Engine { keyspace, worker, .. } = self;
        let sizes = &mut worker.key_sizes;
        let next = &mut sizes.next;
        let walk = sizes.walk.get_or_insert_with(|| Box::new(Walk::new(std::mem::take(next))));
        let is_done =
            walk.askers.is_empty() || (0..STEPS).any(|_| walk.step(keyspace, now.unix_ms));
        if is_done && let Some(walk) = sizes.walk.take() {
            for asker in walk.askers {
                outbox.resume(asker.id, asker.ticket, asker.reply(&walk.lines));
            }
        }
        !self.worker.key_sizes.is_idle()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_named_by_their_least_size() {
        let sizes = [0_u64, 1, 2, 3, 4, 511, 512, 1023, 1024, 1 << 20, 1 << 31, u64::MAX];
        let names = sizes.map(|size| least((u64::BITS - size.leading_zeros()) as usize));
        let expected = ["0", "1", "2", "2", "4", "256", "512", "512", "1K", "1M", "2G", "8E"];
        assert_eq!(names, expected);
    }
}
