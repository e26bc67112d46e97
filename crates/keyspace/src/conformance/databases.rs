// SPDX-License-Identifier: Apache-2.0
//! RULE-LEN, RULE-CLEAR, RULE-SWAP: databases as a whole.

use super::subject::Subject;
use crate::{Keyspace, View};

/// Entries of a database in these checks.
const ENTRIES: u32 = 300;

pub(super) fn run<K: Keyspace>(make: &impl Fn() -> K) {
    lengths(make);
    clears(make);
    clears_what_is_due(make);
    swaps(make);
}

fn fill<K: Keyspace>(subject: &mut Subject<K>, db: usize, value: &[u8]) {
    for number in 0..ENTRIES {
        subject.put(db, &number.to_le_bytes(), value);
    }
}

/// Whether a database has what [`fill`] has put there, and nothing else.
fn is_filled<K: Keyspace>(subject: &mut Subject<K>, db: usize, value: &[u8]) -> bool {
    let len = subject.whole().len(db) == ENTRIES as usize;
    let mut numbers = 0..ENTRIES;
    len && numbers.all(|number| subject.read(db, &number.to_le_bytes()).as_deref() == Some(value))
}

fn lengths<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    assert!(subject.whole().is_empty(0), "RULE-LEN: an empty keyspace");
    fill(&mut subject, 0, b"value");
    fill(&mut subject, 0, b"again");
    let key = 7_u32.to_le_bytes();
    let now_ms = subject.now_ms;
    let mut view = subject.whole();
    let lengths = |view: &K::View<'_>| (view.len(0), view.volatile_len(0));
    assert_eq!(lengths(&view), (300, 0), "RULE-LEN: replaced ones count once");
    assert_eq!(view.len(1), 0, "RULE-LEN: another database");
    view.set_expiry(0, &key, Some(now_ms + 10));
    assert_eq!(lengths(&view), (300, 1), "RULE-LEN: set_expiry");
    view.set_expiry(0, &key, Some(now_ms + 20));
    assert_eq!(lengths(&view), (300, 1), "RULE-LEN: set_expiry again");
    let mut entry = view.get_mut(0, &key).expect("RULE-EDIT: it is there");
    entry.set_expiry(None);
    drop(entry);
    assert_eq!(lengths(&view), (300, 0), "RULE-LEN: get_mut");
    view.set_expiry(0, &key, Some(now_ms + 10));
    let entry = view.take(0, &key).expect("RULE-READ: it is there");
    assert_eq!(lengths(&view), (299, 0), "RULE-LEN: taken");
    view.put(entry, 1);
    assert_eq!((view.len(1), view.volatile_len(1)), (1, 1), "RULE-LEN: put elsewhere");
    drop(view);
    let told = subject.pass(10_000).len();
    assert_eq!(told, 1, "RULE-ACTIVE: it moved with its expiry");
    let view = subject.whole();
    assert_eq!((view.len(1), view.volatile_len(1)), (0, 0), "RULE-LEN: expired");
    drop(view);
    subject.finish();
}

fn clears<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    for round in 0..3 {
        fill(&mut subject, 0, b"zero");
        fill(&mut subject, 1, b"one");
        subject.whole().clear(0);
        assert!(subject.whole().is_empty(0), "RULE-CLEAR: round {round}");
        for number in 0..ENTRIES {
            let read = subject.read(0, &number.to_le_bytes());
            assert_eq!(read, None, "RULE-CLEAR: key {number} in round {round}");
        }
        assert!(is_filled(&mut subject, 1, b"one"), "RULE-CLEAR: another database");
        subject.put(0, b"new", b"value");
        subject.pass(100);
        let read = subject.read(0, b"new");
        assert_eq!(read, Some(b"value".to_vec()), "RULE-CLEAR: what came after it");
        subject.keyspace.check_integrity();
    }
    subject.whole().clear(3);
    subject.finish();
}

/// Cleared entries do not expire.
fn clears_what_is_due<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    for number in 0..ENTRIES {
        subject.put_for(0, &number.to_le_bytes(), b"value", 100);
    }
    subject.whole().clear(0);
    assert_eq!(subject.pass(20_000), [], "RULE-CLEAR: what was cleared is not told of");
    assert_eq!(subject.keyspace.stats().expired, 0, "RULE-CLEAR: nor counted as expired");
    subject.finish();
}

fn swaps<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    fill(&mut subject, 0, b"zero");
    fill(&mut subject, 1, b"one");
    subject.put_for(2, b"goes", b"value", 1000);
    subject.whole().swap(0, 1);
    assert!(is_filled(&mut subject, 0, b"one"), "RULE-SWAP: one of them");
    assert!(is_filled(&mut subject, 1, b"zero"), "RULE-SWAP: the other");
    subject.whole().swap(2, 2);
    subject.whole().swap(3, 2);
    subject.whole().swap(3, 0);
    assert!(is_filled(&mut subject, 3, b"one"), "RULE-SWAP: with another");
    let view = subject.whole();
    assert_eq!((view.len(0), view.volatile_len(0)), (1, 1), "RULE-SWAP: lengths");
    drop(view);
    let told = subject.pass(10_000);
    let dbs: Vec<usize> = told.iter().map(|told| told.0).collect();
    assert_eq!(dbs, [0], "RULE-SWAP: it expires where it is now");
    subject.finish();
}
