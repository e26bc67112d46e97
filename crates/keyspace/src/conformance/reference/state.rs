// SPDX-License-Identifier: Apache-2.0
//! [`State`]: the state that the handles of a reference keyspace share.

use super::Flaw;
use crate::{Gone, KeyspaceStats, Policy, Reason, Settings, Use};
use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};
use values::{Entry, Keyed, Limits, Remains};

/// Entries in the order of their keys' hashes, which are never 0.
type Database = BTreeMap<(u64, Vec<u8>), Entry>;

/// Entries that are compared for an eviction.
const SAMPLES: usize = 20;

#[derive(Debug)]
pub(super) struct State {
    pub(super) databases: Vec<Database>,
    pub(super) entry_bytes: u64,
    /// Nothing is due before this.
    next_due: u64,
    leaving: Vec<Remains>,
    /// Counts, and what is leaving and reserved.
    pub(super) stats: KeyspaceStats,
    random: u64,
    flaw: Flaw,
}

pub(super) fn place(key: &[u8]) -> (u64, Vec<u8>) {
    let mut hasher = DefaultHasher::new();
    key.hash(&mut hasher);
    (hasher.finish() | 1, key.to_vec())
}

impl State {
    pub(super) fn new(databases: usize, flaw: Flaw) -> Self {
        State {
            databases: vec![(); databases].into_iter().map(|()| Database::new()).collect(),
            entry_bytes: 0,
            next_due: u64::MAX,
            leaving: Vec::new(),
            stats: KeyspaceStats::default(),
            random: 1,
            flaw,
        }
    }

    /// The next random number, of 31 bits.
    pub(super) fn chance(&mut self) -> u64 {
        self.random = self.random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        self.random >> 33
    }

    pub(super) fn used(&self) -> u64 {
        self.entry_bytes + self.stats.leaving_bytes + self.stats.reserved_bytes
    }

    pub(super) fn len(&self, db: usize) -> usize {
        self.databases[db].len()
    }

    pub(super) fn volatile_len(&self, db: usize) -> usize {
        let counts =
            |entry: &&Entry| entry.expiry().is_some() || self.flaw == Flaw::CountsAllVolatile;
        self.databases[db].values().filter(counts).count()
    }

    pub(super) fn is_past(&self, entry: &Entry, unix_ms: u64) -> bool {
        is_past(self.flaw, entry, unix_ms)
    }

    pub(super) fn note_due(&mut self, due: Option<u64>) {
        self.next_due = self.next_due.min(due.unwrap_or(u64::MAX));
    }

    pub(super) fn insert(&mut self, db: usize, entry: Entry) -> Option<Entry> {
        self.entry_bytes += entry.heap_bytes() as u64;
        self.note_due(entry.due());
        let old = self.databases[db].insert(place(entry.key()), entry)?;
        self.entry_bytes -= old.heap_bytes() as u64;
        Some(old)
    }

    pub(super) fn remove(&mut self, db: usize, key: &[u8]) -> Option<Entry> {
        let entry = self.databases[db].remove(&place(key))?;
        self.entry_bytes -= entry.heap_bytes() as u64;
        Some(entry)
    }

    pub(super) fn count_expired(&mut self) {
        self.stats.expired += 1 + u64::from(self.flaw == Flaw::CountsExpiredTwice);
    }

    pub(super) fn discard(&mut self, entry: Entry) {
        if entry.is_large() && self.flaw != Flaw::FreesAtOnce {
            self.stats.leaving_bytes += entry.heap_bytes() as u64;
            self.leaving.push(Remains::from(entry));
        }
    }

    pub(super) fn clear(&mut self, db: usize) {
        for entry in std::mem::take(&mut self.databases[db]).into_values() {
            self.entry_bytes -= entry.heap_bytes() as u64;
            self.stats.leaving_bytes += entry.heap_bytes() as u64;
            self.leaving.push(Remains::from(entry));
        }
    }

    pub(super) fn is_leaving(&self) -> bool {
        !self.leaving.is_empty()
    }

    /// Frees something. Returns whether there was anything to free.
    pub(super) fn free(&mut self, budget: usize) -> bool {
        if self.flaw == Flaw::LeaksCleared || !self.is_leaving() {
            return false;
        }
        for _ in 0..budget {
            let Some(mut remains) = self.leaving.pop() else { break };
            self.stats.leaving_bytes -= remains.heap_bytes() as u64;
            // A step for each piece of a large value would take the tests an hour.
            if !remains.free_some(16) {
                self.stats.leaving_bytes += remains.heap_bytes() as u64;
                self.leaving.push(remains);
            }
        }
        true
    }

    /// Removes up to `budget` due entries. Returns whether there is more.
    pub(super) fn expire(
        &mut self,
        unix_ms: u64,
        budget: usize,
        gone: &mut dyn FnMut(Gone<'_>),
    ) -> bool {
        let now_ms = if self.flaw == Flaw::ExpiresLive { unix_ms + 1000 } else { unix_ms };
        let budget = if self.flaw == Flaw::IgnoresBudget { usize::MAX } else { budget };
        if self.next_due > now_ms || self.flaw == Flaw::ActiveNever {
            return false;
        }
        let mut due = Vec::new();
        let mut next_due = u64::MAX;
        for (db, database) in self.databases.iter().enumerate() {
            for entry in database.values() {
                match entry.due() {
                    Some(due_ms) if due_ms <= now_ms => due.push((db, entry.key().to_vec())),
                    due_ms => next_due = next_due.min(due_ms.unwrap_or(u64::MAX)),
                }
            }
        }
        self.next_due = next_due;
        let mut left = budget;
        let mut is_done = true;
        for (db, key) in due {
            is_done = left > 0 && self.expire_one(db, &key, now_ms, &mut left, gone);
            if !is_done {
                break;
            }
        }
        if !is_done {
            self.next_due = 0;
        }
        !is_done
    }

    /// Removes a due entry, or its due fields. Returns whether nothing of it is due any more.
    fn expire_one(
        &mut self,
        db: usize,
        key: &[u8],
        unix_ms: u64,
        left: &mut usize,
        gone: &mut dyn FnMut(Gone<'_>),
    ) -> bool {
        let flaw = self.flaw;
        let entry = self.databases[db].get_mut(&place(key)).expect("it is due");
        let mut tell = |reason, fields: &[_]| gone(Gone { db, key, reason, fields });
        if is_past(flaw, entry, unix_ms) {
            tell(Reason::Expired, &[]);
            self.count_expired();
            *left -= 1;
        } else {
            if flaw == Flaw::KeepsFields {
                return true;
            }
            let (limits, before) = (Limits::default(), entry.heap_bytes() as u64);
            let mut hash = entry.hash_mut(&limits).expect("only hashes have parts that expire");
            let mut names = Vec::new();
            let note = |field: &[u8]| names.push(Box::from(field));
            let removed = hash.remove_expired(unix_ms, *left, note);
            let (after, due) = (entry.heap_bytes() as u64, entry.due());
            let is_empty = entry.is_empty();
            self.entry_bytes = self.entry_bytes - before + after;
            self.stats.expired_fields += removed as u64;
            *left = left.saturating_sub(removed);
            if removed > 0 {
                tell(Reason::FieldExpired, &names);
            }
            if !is_empty || flaw == Flaw::KeepsEmptied {
                self.note_due(due);
                return due.is_none_or(|due| due > unix_ms);
            }
            tell(Reason::Emptied, &[]);
        }
        if let Some(entry) = self.remove(db, key) {
            self.discard(entry);
        }
        true
    }

    /// Evicts an entry. Returns whether there was one to evict.
    pub(super) fn evict(
        &mut self,
        settings: &Settings,
        unix_ms: u64,
        gone: &mut dyn FnMut(Gone<'_>),
    ) -> bool {
        let policy = settings.policy();
        if policy == Policy::NoEviction {
            return false;
        }
        let first = self.chance() as usize % self.databases.len();
        let from = (self.chance() << 33, Vec::new());
        let order = (first..self.databases.len()).chain(0..first);
        for db in order {
            let database = &self.databases[db];
            let may_go = |(_, entry): &(_, &Entry)| {
                !policy.is_volatile() || entry.expiry().is_some() || self.flaw == Flaw::EvictsAny
            };
            let around = database.range(from.clone()..).chain(database.range(..from.clone()));
            let mut samples = around.filter(may_go).take(SAMPLES);
            let best = if self.flaw == Flaw::EvictsBlindly {
                samples.next()
            } else {
                samples.max_by_key(|(_, entry)| score(policy, settings, entry, unix_ms))
            };
            let Some((_, best)) = best else { continue };
            let (key, is_past) = (best.key().to_vec(), self.is_past(best, unix_ms));
            let entry = self.remove(db, &key).expect("it was just there");
            let reason = if is_past { Reason::Expired } else { Reason::Evicted };
            match reason {
                Reason::Expired => self.count_expired(),
                _ => self.stats.evicted += u64::from(self.flaw != Flaw::CountsNoEvictions),
            }
            gone(Gone { db, key: &key, reason, fields: &[] });
            self.discard(entry);
            return true;
        }
        false
    }
}

fn is_past(flaw: Flaw, entry: &Entry, unix_ms: u64) -> bool {
    let Some(expiry) = entry.expiry() else { return false };
    match flaw {
        Flaw::ExpiresLate => expiry < unix_ms,
        Flaw::ExpiresBySecond => expiry / 1000 <= unix_ms / 1000,
        _ => expiry <= unix_ms,
    }
}

/// The higher, the sooner an entry is evicted.
fn score(policy: Policy, settings: &Settings, entry: &Entry, unix_ms: u64) -> u64 {
    match policy {
        Policy::VolatileTtl => u64::MAX - entry.expiry().unwrap_or(u64::MAX),
        _ if policy.counts_uses() => 255 - count(settings, entry.access(), unix_ms),
        _ => idle_ms(entry.access(), unix_ms),
    }
}

/// The access of an entry that is used now, and had another access before.
pub(super) fn used(settings: &Settings, before: Option<u32>, unix_ms: u64, random: u64) -> u32 {
    if !settings.policy().counts_uses() {
        return (unix_ms / 1000) as u32;
    }
    let count = before.map_or(5, |access| count(settings, access, unix_ms));
    let rarity = count.saturating_sub(5) * u64::from(settings.lfu_log_factor()) + 1;
    let grows = before.is_some() && count < 255 && random.is_multiple_of(rarity);
    ((unix_ms / 60_000) as u32) << 8 | (count + u64::from(grows)) as u32
}

/// The access of an entry that was used so much, if the policy goes by that.
pub(super) fn access_of(settings: &Settings, used: Use, unix_ms: u64) -> Option<u32> {
    match (used, settings.policy().counts_uses()) {
        (Use::IdleMs(idle), false) => Some((unix_ms.saturating_sub(idle) / 1000) as u32),
        (Use::Frequency(count), true) => Some(((unix_ms / 60_000) as u32) << 8 | u32::from(count)),
        (Use::IdleMs(_), true) | (Use::Frequency(_), false) => None,
    }
}

pub(super) fn idle_ms(access: u32, unix_ms: u64) -> u64 {
    u64::from(((unix_ms / 1000) as u32).wrapping_sub(access) & 0xff_ffff) * 1000
}

pub(super) fn count(settings: &Settings, access: u32, unix_ms: u64) -> u64 {
    let minutes = ((unix_ms / 60_000) as u32).wrapping_sub(access >> 8) & 0xffff;
    let decayed = minutes.checked_div(settings.lfu_decay_time()).unwrap_or(0);
    u64::from((access & 0xff).saturating_sub(decayed))
}
