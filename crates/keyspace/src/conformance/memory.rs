// SPDX-License-Identifier: Apache-2.0
//! RULE-MEMORY: memory is counted as used until it is free.

use super::subject::{Noise, Subject};
use crate::{Keyspace, KeyspaceStats, View};
use values::{Entry, Limits};

/// How far off the quick number may be.
const QUICK_ERROR: u64 = 32 << 10;
/// What an emptied keyspace may keep.
const KEPT: u64 = 256 << 10;

pub(super) fn run<K: Keyspace>(make: &impl Fn() -> K) {
    entries(make);
    comes_back(make);
    large_values(make);
    cleared(make);
    reserved(make);
}

/// The statistics, of which the sums must be right.
#[track_caller]
fn checked<K: Keyspace>(subject: &Subject<K>) -> KeyspaceStats {
    let stats = subject.keyspace.stats();
    let KeyspaceStats {
        entry_bytes, index_bytes, leaving_bytes, reserved_bytes, gap_bytes, ..
    } = stats;
    let parts = entry_bytes + index_bytes + leaving_bytes + reserved_bytes + gap_bytes;
    assert_eq!(stats.used_bytes, parts, "RULE-MEMORY: the sum");
    let quick = subject.keyspace.used_bytes();
    let error = quick.abs_diff(stats.used_bytes);
    assert!(error <= QUICK_ERROR, "RULE-MEMORY: quick {quick}, slow {}", stats.used_bytes);
    stats
}

/// The sum of the entries' memory is right after all kinds of changes.
fn entries<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    let mut noise = Noise::new(5);
    let key = |noise: &mut Noise| (noise.below(400) as u32).to_le_bytes();
    for step in 0..8000 {
        let key = key(&mut noise);
        let len = noise.below(40_000) >> noise.below(16);
        match noise.below(6) {
            0 | 1 => drop(subject.put(0, &key, &vec![b'v'; len])),
            2 => drop(subject.delete(0, &key)),
            3 => {
                let now_ms = subject.now_ms;
                subject.view(&key).set_expiry(0, &key, (len > 9).then_some(now_ms + 1_000_000));
            }
            _ => {
                if let Some(mut entry) = subject.view(&key).get_mut(0, &key) {
                    entry.append(&vec![b'a'; len % 500]);
                }
            }
        }
        if step % 500 == 0 {
            let mut held = 0;
            let view = subject.whole();
            for number in 0..400_u32 {
                held += view.peek(0, &number.to_le_bytes()).map_or(0, Entry::heap_bytes);
            }
            drop(view);
            assert_eq!(checked(&subject).entry_bytes, held as u64, "RULE-MEMORY: entries");
        }
    }
    subject.finish();
}

fn comes_back<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    for number in 0..20_000_u32 {
        subject.put(0, &number.to_le_bytes(), &[7; 100]);
    }
    let full = checked(&subject);
    assert!(full.used_bytes > 20_000 * 100, "RULE-MEMORY: {} in use", full.used_bytes);
    assert!(full.index_bytes < 20_000 * 40, "RULE-MEMORY: {} of index", full.index_bytes);
    for number in 0..20_000_u32 {
        subject.delete(0, &number.to_le_bytes());
    }
    subject.pass(1000);
    let empty = checked(&subject);
    assert_eq!((empty.entry_bytes, empty.leaving_bytes), (0, 0), "RULE-MEMORY: all is deleted");
    assert!(empty.used_bytes < KEPT, "RULE-MEMORY: {} kept", empty.used_bytes);
    subject.finish();
}

/// A large value is freed step by step, and counts until then, however it was removed.
fn large_values<K: Keyspace>(make: &impl Fn() -> K) {
    let limits = Limits::default();
    for way in 0..4 {
        let mut subject = Subject::new(make);
        let mut entry = Entry::new_hash(b"large");
        let mut hash = entry.hash_mut(&limits).expect("it is a hash");
        for field in 0..30_000_u32 {
            hash.set(&field.to_le_bytes(), b"value", subject.now_ms);
        }
        let held = entry.heap_bytes() as u64;
        subject.put_entry(0, entry);
        let now_ms = subject.now_ms;
        let mut view = subject.view(b"large");
        match way {
            0 => {
                let entry = view.take(0, b"large").expect("RULE-READ: it is there");
                view.dispose(entry);
            }
            1 => {
                let old = view.put(Entry::string(b"large", b"small"), 0);
                view.dispose(old.expect("RULE-READ: it is replaced"));
            }
            2 => {
                view.set_expiry(0, b"large", Some(now_ms));
                assert!(view.get(0, b"large").is_none(), "RULE-EXPIRY: a large one");
            }
            _ => {
                drop(view);
                subject.whole().clear(0);
                view = subject.view(b"large");
            }
        }
        assert!(view.get(0, b"large").is_none_or(|entry| entry.len() == 5), "RULE-READ: way {way}");
        drop(view);
        let stats = checked(&subject);
        assert!(stats.leaving_bytes >= held, "RULE-MEMORY: it counts until it is free, way {way}");
        let more = subject.maintain().1;
        let stats = checked(&subject);
        assert!(more && stats.leaving_bytes > held / 2, "RULE-MEMORY: freed in steps, way {way}");
        subject.pass(1000);
        assert_eq!(checked(&subject).leaving_bytes, 0, "RULE-MEMORY: it is free, way {way}");
        subject.finish();
    }
}

fn cleared<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    for number in 0..20_000_u32 {
        subject.put(1, &number.to_le_bytes(), &[7; 100]);
    }
    let full = checked(&subject);
    subject.whole().clear(1);
    let after = checked(&subject);
    assert_eq!(after.used_bytes, full.used_bytes, "RULE-MEMORY: what was cleared counts");
    assert_eq!(after.entry_bytes, 0, "RULE-MEMORY: but it is nobody's");
    subject.maintain();
    let after = checked(&subject);
    assert!(after.leaving_bytes > full.used_bytes / 2, "RULE-MEMORY: freed in steps");
    // What is put meanwhile stays.
    subject.put(1, b"key", b"value");
    subject.pass(1000);
    let after = checked(&subject);
    assert!(after.used_bytes < KEPT, "RULE-MEMORY: {} kept", after.used_bytes);
    assert_eq!(subject.read(1, b"key"), Some(b"value".to_vec()), "RULE-CLEAR: a later one");
    subject.finish();
}

fn reserved<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    let before = checked(&subject).used_bytes;
    subject.keyspace.reserve(1 << 20);
    subject.keyspace.reserve(3 << 20);
    let mut other = subject.another();
    assert_eq!(
        checked(&subject).used_bytes,
        before + (3 << 20),
        "RULE-MEMORY: the last one counts"
    );
    other.keyspace.reserve(1 << 20);
    assert_eq!(checked(&subject).reserved_bytes, 4 << 20, "RULE-MEMORY: one for each handle");
    drop(other);
    assert_eq!(checked(&subject).reserved_bytes, 3 << 20, "RULE-MEMORY: a handle is dropped");
    subject.keyspace.reserve(0);
    assert_eq!(checked(&subject).used_bytes, before, "RULE-MEMORY: given back");
    subject.finish();
}
