// SPDX-License-Identifier: Apache-2.0
//! [`AclLog`]: what users were denied, and who failed to log in (ACL LOG).

use parking_lot::Mutex;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

/// `acllog-max-len`, unless said otherwise.
const LEN_MAX: usize = 128;

/// What is the same within this time is one entry, in milliseconds.
const SAME_WITHIN_MS: u64 = 60_000;

/// Only so many of the latest entries are looked at for one about the same, as in Redis.
const SAME_AMONG: usize = 10;

/// The most bytes that are kept of an object, and of the name of a user that nobody may be.
const OBJECT_MAX: usize = 128;

/// The most bytes that are kept of the description of a client, whose names are as long as it likes.
const CLIENT_MAX: usize = 1024;

/// What was denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DenialKind {
    Auth,
    Command,
    Key,
    Channel,
    Database,
}

impl DenialKind {
    /// The word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            DenialKind::Auth => "auth",
            DenialKind::Command => "command",
            DenialKind::Key => "key",
            DenialKind::Channel => "channel",
            DenialKind::Database => "database",
        }
    }
}

/// Where the command was run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Where {
    TopLevel,
    Transaction,
    #[cfg(feature = "scripts")]
    Script,
}

impl Where {
    /// The word for it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Where::TopLevel => "toplevel",
            Where::Transaction => "multi",
            #[cfg(feature = "scripts")]
            Where::Script => "lua",
        }
    }
}

/// What was denied to whom, without the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Denial {
    pub(crate) reason: DenialKind,
    pub(crate) context: Where,
    /// The command, key, channel or database.
    pub(crate) object: Box<[u8]>,
    pub(crate) user: Box<[u8]>,
}

/// An entry.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    pub(crate) id: u64,
    pub(crate) denial: Denial,
    pub(crate) count: u64,
    /// The description of the client that did it last.
    pub(crate) client: Vec<u8>,
    pub(crate) created_ms: u64,
    pub(crate) updated_ms: u64,
}

/// The latest denials, and their number by reason.
#[derive(Debug)]
pub(crate) struct AclLog {
    pub(crate) len_max: AtomicUsize,
    log: Mutex<Log>,
}

#[derive(Debug, Default)]
struct Log {
    next: u64,
    /// The latest first.
    entries: VecDeque<Entry>,
    counts: [u64; 5],
}

impl Default for AclLog {
    fn default() -> Self {
        AclLog { len_max: AtomicUsize::new(LEN_MAX), log: Mutex::default() }
    }
}

impl AclLog {
    /// Adds a denial, or counts it with an entry about the same.
    pub(crate) fn note(&self, mut denial: Denial, mut client: Vec<u8>, now_ms: u64) {
        for text in [&mut denial.object, &mut denial.user] {
            if text.len() > OBJECT_MAX {
                *text = text[..OBJECT_MAX].into();
            }
        }
        client.truncate(CLIENT_MAX);
        client.shrink_to_fit();
        let mut log = self.log.lock();
        log.counts[denial.reason as usize] += 1;
        let is_same = |entry: &Entry| {
            entry.denial == denial && now_ms.saturating_sub(entry.updated_ms) <= SAME_WITHIN_MS
        };
        let known = log
            .entries
            .iter()
            .take(SAME_AMONG)
            .position(is_same)
            .and_then(|at| log.entries.remove(at));
        let entry = match known {
            Some(entry) => Entry { count: entry.count + 1, client, updated_ms: now_ms, ..entry },
            None => {
                log.next += 1;
                let id = log.next - 1;
                Entry { id, denial, count: 1, client, created_ms: now_ms, updated_ms: now_ms }
            }
        };
        log.entries.push_front(entry);
        log.entries.truncate(self.len_max.load(Relaxed));
    }

    /// Up to `most` of the latest.
    pub(crate) fn latest(&self, most: usize) -> Vec<Entry> {
        self.log.lock().entries.iter().take(most).cloned().collect()
    }

    /// Removes all entries.
    pub(crate) fn clear(&self) {
        self.log.lock().entries.clear();
    }

    /// How often something was denied for this reason.
    pub(crate) fn count(&self, reason: DenialKind) -> u64 {
        self.log.lock().counts[reason as usize]
    }

    /// Counts from 0 again.
    pub(crate) fn reset_counts(&self) {
        self.log.lock().counts = [0; 5];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn denial(object: &str) -> Denial {
        let (object, user) = (object.as_bytes().into(), b"alice"[..].into());
        Denial { reason: DenialKind::Key, context: Where::TopLevel, object, user }
    }

    #[test]
    fn the_same_behind_ten_others_is_another_entry() {
        let log = AclLog::default();
        log.note(denial("a"), Vec::new(), 1_000);
        (0..9).for_each(|other| log.note(denial(&format!("{other}")), Vec::new(), 1_000));
        log.note(denial("a"), Vec::new(), 1_000);
        assert_eq!(log.latest(1)[0].count, 2);
        (0..10).for_each(|other| log.note(denial(&format!("new {other}")), Vec::new(), 1_000));
        log.note(denial("a"), Vec::new(), 1_000);
        assert_eq!(log.latest(1)[0].count, 1);
    }

    #[test]
    fn the_same_within_a_minute_is_one_entry() {
        let log = AclLog::default();
        log.note(denial("a"), b"first".to_vec(), 1_000);
        log.note(denial("b"), Vec::new(), 2_000);
        log.note(denial("a"), b"second".to_vec(), 61_000);
        let entries = log.latest(9);
        let shown: Vec<_> = entries.iter().map(|entry| (entry.id, entry.count)).collect();
        assert_eq!(shown, [(0, 2), (1, 1)], "the latest is first");
        let times = (entries[0].created_ms, entries[0].updated_ms);
        assert_eq!((times, &entries[0].client[..]), ((1_000, 61_000), &b"second"[..]));
        log.note(denial("a"), Vec::new(), 121_001);
        assert_eq!(log.latest(1)[0].id, 2, "later it is another");
        log.len_max.store(1, Relaxed);
        log.note(denial(&"k".repeat(200)), vec![b'c'; 10_000], 121_001);
        assert_eq!(log.latest(9).len(), 1);
        let kept = &log.latest(9)[0];
        assert_eq!((kept.denial.object.len(), kept.client.len()), (OBJECT_MAX, CLIENT_MAX));
        assert_eq!((log.count(DenialKind::Key), log.count(DenialKind::Auth)), (5, 0));
        log.clear();
        assert!(log.latest(9).is_empty());
    }
}
