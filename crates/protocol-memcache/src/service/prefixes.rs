// SPDX-License-Identifier: Apache-2.0
//! `stats detail`: requests counted by the prefix of their key.
//!
//! Each worker counts in a table of its own, behind a lock that only a dump or a reset takes beside it. Whether requests
//! are counted is known to `observe.rs`.

use super::MemcacheService;
use super::observe::with_key;
use super::outcome::Outcome;
use crate::op::{Act, Detail, Op};
use crate::reply::dump::is_plain;
use crate::reply::{Dialect, Refusal};
use crate::request::Request;
use buffer::SendBuf;
use memchr::memchr;
use std::collections::BTreeMap;
use std::io::Write;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use storage::Receive;

/// The most prefixes that a worker counts for. Further ones are not counted; the log says so once.
pub const PREFIXES_MAX: usize = 4096;

/// The counts of all workers.
#[derive(Debug)]
pub(super) struct Prefixes {
    /// What ends a prefix.
    delimiter: u8,
    tables: Mutex<Vec<Arc<Mutex<Table>>>>,
}

/// The table of a worker, once it has counted something.
#[derive(Debug, Default)]
pub(super) struct OwnTable(Option<Arc<Mutex<Table>>>);

/// That of another worker is its own.
impl Clone for OwnTable {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// The counts of a worker, by prefix.
#[derive(Debug, Default)]
struct Table {
    rows: BTreeMap<Box<[u8]>, Counts>,
    /// Whether it was logged that there is no room for more.
    is_full: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    gets: u64,
    hits: u64,
    sets: u64,
    deletes: u64,
}

/// What a request counts as.
#[derive(Clone, Copy, Debug)]
enum Counted {
    Get { hit: bool },
    Set,
    Delete,
}

impl Prefixes {
    pub(super) fn new(delimiter: u8) -> Self {
        Prefixes { delimiter, tables: Mutex::default() }
    }

    pub(super) fn delimiter(&self) -> char {
        char::from(self.delimiter)
    }

    /// Zeroes all counts: `stats reset`.
    pub(super) fn reset(&self) {
        lock(&self.tables).iter().for_each(|table| *lock(table) = Table::default());
    }

    /// The counts of all workers, a line for each prefix.
    fn lines(&self) -> Vec<u8> {
        let mut all: BTreeMap<Box<[u8]>, Counts> = BTreeMap::new();
        for table in lock(&self.tables).iter() {
            for (prefix, counts) in &lock(table).rows {
                match all.get_mut(prefix) {
                    Some(sum) => sum.add(counts),
                    None => drop(all.insert(prefix.clone(), *counts)),
                }
            }
        }
        let mut lines = Vec::new();
        for (prefix, Counts { gets, hits, sets, deletes }) in all {
            lines.extend_from_slice(b"PREFIX ");
            lines.extend_from_slice(&prefix);
            // Writing to a vector cannot fail.
            let _ = write!(lines, " get {gets} hit {hits} set {sets} del {deletes}\r\n");
        }
        lines
    }
}

impl Table {
    fn count(&mut self, prefix: &[u8], counted: Counted) {
        if let Some(counts) = self.rows.get_mut(prefix) {
            counts.count(counted);
        } else if self.rows.len() < PREFIXES_MAX {
            let counts = self.rows.entry(prefix.into()).or_default();
            counts.count(counted);
        } else if !self.is_full {
            self.is_full = true;
            log::warn!(
                "stats detail: there are more than {PREFIXES_MAX} prefixes of keys, and further ones are not counted"
            );
        }
    }
}

impl Counts {
    fn count(&mut self, counted: Counted) {
        match counted {
            Counted::Get { hit } => {
                self.gets += 1;
                self.hits += u64::from(hit);
            }
            Counted::Set => self.sets += 1,
            Counted::Delete => self.deletes += 1,
        }
    }

    fn add(&mut self, more: &Counts) {
        let Counts { gets, hits, sets, deletes } = more;
        self.gets += gets;
        self.hits += hits;
        self.sets += sets;
        self.deletes += deletes;
    }
}

impl Counted {
    /// What a request counts as, if it does: as in memcached those that read, store and remove.
    fn of(op: &Op<'_>, outcome: Outcome) -> Option<Self> {
        let read = Counted::Get { hit: matches!(outcome, Outcome::Hit) };
        Some(match op {
            Op::Get(_) => read,
            Op::Set(_) | Op::Upload(_) | Op::UploadMeta(_) | Op::Oversized { .. } => Counted::Set,
            Op::Delete { .. } => Counted::Delete,
            Op::Meta(meta) => match meta.act {
                Act::Get => read,
                Act::Set | Act::SetTooLarge => Counted::Set,
                Act::Delete => Counted::Delete,
                Act::Arith | Act::Describe | Act::Noop => return None,
            },
            Op::ListEnd { .. }
            | Op::Piece(_)
            | Op::Arith(_)
            | Op::Touch { .. }
            | Op::FlushAll { .. }
            | Op::BadFlush { .. }
            | Op::Stats { .. }
            | Op::Detail(_)
            | Op::Config { .. }
            | Op::Dump(_)
            | Op::Watch(_)
            | Op::Version
            | Op::Noop
            | Op::Manage(_)
            | Op::Login(_)
            | Op::Quit => return None,
        })
    }
}

impl<S: Receive> MemcacheService<S> {
    /// Counts a request that was executed, while requests are counted.
    #[cold]
    #[inline(never)]
    pub(super) fn count_prefix(&mut self, request: &Request<'_>, outcome: Outcome) {
        let Some(counted) = Counted::of(&request.op, outcome) else { return };
        with_key(request, |key| self.count_key(key, counted));
    }

    fn count_key(&mut self, key: &[u8], counted: Counted) {
        let prefixes = &self.shared.prefixes;
        // A key without a prefix is not counted, as in memcached, nor one with a prefix that no line can show.
        let Some(end) = memchr(prefixes.delimiter, key) else { return };
        let prefix = &key[..end];
        if !prefix.is_empty() && !is_plain(prefix) {
            return;
        }
        let table = self.own_table.0.get_or_insert_with(|| {
            let table = Arc::default();
            lock(&prefixes.tables).push(Arc::clone(&table));
            table
        });
        lock(table).count(prefix, counted);
    }

    /// Switches counting on or off, or shows the counts.
    #[cold]
    #[inline(never)]
    pub(super) fn detail<D: Dialect>(
        &mut self,
        detail: Detail,
        reply: D,
        out: &mut SendBuf,
    ) -> Outcome {
        if !self.shared.options.dump {
            return Outcome::NoPrefixes;
        }
        let prefixes = &self.shared.prefixes;
        match detail {
            Detail::On => self.shared.observers.set_counts_prefixes(true),
            Detail::Off => self.shared.observers.set_counts_prefixes(false),
            Detail::Dump => {
                reply.prefixes(out, &prefixes.lines());
                return Outcome::Shown;
            }
            Detail::Unknown => return Outcome::Refused(Refusal::Detail),
        }
        reply.detail_switched(out);
        Outcome::Shown
    }
}

/// No lock is held while another thread waits for something else.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_prefixes_are_counted_than_there_is_room_for() {
        let mut table = Table::default();
        for n in 0..PREFIXES_MAX + 10 {
            table.count(n.to_string().as_bytes(), Counted::Set);
        }
        table.count(b"7", Counted::Delete);
        assert_eq!(table.rows.len(), PREFIXES_MAX);
        assert!(table.is_full);
        assert_eq!(table.rows[&b"7"[..]].deletes, 1);
    }
}
