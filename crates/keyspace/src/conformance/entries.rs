// SPDX-License-Identifier: Apache-2.0
//! RULE-READ, RULE-EDIT, RULE-PREFETCH: entries one by one.

use super::subject::{Subject, text};
use crate::Stage;
use crate::{Keyspace, View};
use values::{Entry, Limits, Type};

pub(super) fn run<K: Keyspace>(make: &impl Fn() -> K) {
    reads(make);
    databases_are_apart(make);
    replaces(make);
    takes(make);
    edits(make);
    edits_expiry(make);
    any_type_and_size(make);
    many(make);
    prefetches(make);
}

fn reads<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    assert_eq!(subject.read(0, b"key"), None, "RULE-READ: an empty keyspace");
    assert_eq!(subject.put(0, b"key", b"value"), None, "RULE-READ: nothing to replace");
    assert_eq!(subject.read(0, b"key"), Some(b"value".to_vec()), "RULE-READ");
    for key in [&b""[..], b"k", b"key ", b"KEY", b"key\0"] {
        assert_eq!(subject.read(0, key), None, "RULE-READ: {}", key.escape_ascii());
        assert_eq!(subject.put(0, key, key), None, "RULE-READ: {}", key.escape_ascii());
        assert_eq!(subject.read(0, key), Some(key.to_vec()), "RULE-READ: {}", key.escape_ascii());
    }
    assert_eq!(subject.read(0, b"key"), Some(b"value".to_vec()), "RULE-READ: beside others");
    subject.finish();
}

fn databases_are_apart<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    let last = subject.keyspace.databases() - 1;
    subject.put(0, b"key", b"zero");
    subject.put(last, b"key", b"last");
    assert_eq!(subject.read(0, b"key"), Some(b"zero".to_vec()), "RULE-READ: database 0");
    assert_eq!(subject.read(last, b"key"), Some(b"last".to_vec()), "RULE-READ: the last");
    assert_eq!(subject.read(1, b"key"), None, "RULE-READ: database 1");
    assert_eq!(subject.delete(0, b"key"), Some(b"zero".to_vec()), "RULE-READ: database 0");
    assert_eq!(subject.read(last, b"key"), Some(b"last".to_vec()), "RULE-READ: the last");
    subject.finish();
}

fn replaces<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    subject.put(2, b"key", b"one");
    assert_eq!(subject.put(2, b"key", b"two"), Some(b"one".to_vec()), "RULE-READ: replaced");
    assert_eq!(subject.read(2, b"key"), Some(b"two".to_vec()), "RULE-READ: the new one");
    subject.put_for(2, b"key", b"three", 1000);
    let expiry = Some(subject.now_ms + 1000);
    let mut view = subject.view(b"key");
    let seen = view.get(2, b"key").map(Entry::expiry);
    assert_eq!(seen, Some(expiry), "RULE-READ: the expiry of what was put");
    drop(view);
    subject.put(2, b"key", b"four");
    let seen = subject.view(b"key").peek(2, b"key").map(Entry::expiry);
    assert_eq!(seen, Some(None), "RULE-READ: an expiry does not outlive its entry");
    subject.finish();
}

fn takes<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    assert_eq!(subject.delete(0, b"key"), None, "RULE-READ: nothing to take");
    subject.put(0, b"key", b"value");
    let mut view = subject.view(b"key");
    let entry = view.take(0, b"key").expect("RULE-READ: it is there to be taken");
    assert!(view.peek(0, b"key").is_none(), "RULE-READ: it was taken");
    // Elsewhere it is as it was.
    assert!(view.put(entry, 3).is_none(), "RULE-READ: nothing to replace");
    drop(view);
    assert_eq!(subject.read(3, b"key"), Some(b"value".to_vec()), "RULE-READ: moved");
    assert_eq!(subject.read(0, b"key"), None, "RULE-READ: moved away");
    subject.finish();
}

fn edits<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    assert!(subject.view(b"key").get_mut(0, b"key").is_none(), "RULE-EDIT: nothing to edit");
    subject.put(0, b"key", b"a");
    for more in [&b"b"[..], &[b'c'; 100], &[b'd'; 100_000]] {
        let mut view = subject.view(b"key");
        let mut entry = view.get_mut(0, b"key").expect("RULE-EDIT: it is there");
        assert_eq!(entry.key(), b"key", "RULE-EDIT: the key of what is edited");
        entry.append(more);
        let expected = text(&entry);
        drop(entry);
        assert_eq!(view.peek(0, b"key").map(text), Some(expected), "RULE-EDIT: seen at once");
    }
    let value = subject.read(0, b"key").expect("RULE-EDIT: it is there");
    assert_eq!((value.len(), &value[..3]), (100_102, &b"abc"[..]), "RULE-EDIT: what is read");
    let mut view = subject.view(b"key");
    view.get_mut(0, b"key").expect("RULE-EDIT: it is there").set_integer(7);
    view.get_mut(0, b"key").expect("RULE-EDIT: it is there").set_range(1, b"8");
    drop(view);
    assert_eq!(subject.read(0, b"key"), Some(b"78".to_vec()), "RULE-EDIT: two in a row");
    subject.finish();
}

fn edits_expiry<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    let now_ms = subject.now_ms;
    subject.put(0, b"key", b"value");
    let mut view = subject.whole();
    assert!(!view.set_expiry(0, b"none", Some(now_ms + 1)), "RULE-EDIT: no such key");
    for expiry in [Some(now_ms + 10), None, None, Some(now_ms + 90_000), Some(now_ms + 20)] {
        assert!(view.set_expiry(0, b"key", expiry), "RULE-EDIT: there is one");
        let seen = view.peek(0, b"key").map(|entry| (text(entry), entry.expiry()));
        assert_eq!(seen, Some((b"value".to_vec(), expiry)), "RULE-EDIT: set_expiry");
    }
    let mut entry = view.get_mut(0, b"key").expect("RULE-EDIT: it is there");
    entry.set_expiry(Some(now_ms + 30));
    drop(entry);
    drop(view);
    subject.now_ms = now_ms + 29;
    assert_eq!(subject.read(0, b"key"), Some(b"value".to_vec()), "RULE-EDIT: before its expiry");
    subject.now_ms = now_ms + 30;
    assert_eq!(subject.read(0, b"key"), None, "RULE-EDIT: an expiry set by get_mut");
    subject.finish();
}

fn any_type_and_size<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    let limits = Limits::default();
    let long_key = [b'k'; 70_000];
    subject.put(0, &long_key, b"value");
    assert_eq!(subject.read(0, &long_key), Some(b"value".to_vec()), "RULE-READ: a long key");
    let mut hash = Entry::new_hash(b"hash");
    for field in 0..1000_u32 {
        let mut hash = hash.hash_mut(&limits).expect("it is a hash");
        hash.set(&field.to_le_bytes(), b"value", subject.now_ms);
    }
    subject.put_entry(1, hash);
    let mut view = subject.view(b"hash");
    let hash = view.get(1, b"hash").expect("RULE-READ: it is there");
    assert_eq!((hash.data_type(), hash.len()), (Type::Hash, 1000), "RULE-READ: a large hash");
    let mut entry = view.get_mut(1, b"hash").expect("RULE-EDIT: it is there");
    let mut hash = entry.hash_mut(&limits).expect("RULE-EDIT: it is a hash");
    hash.remove(&7_u32.to_le_bytes(), 0);
    drop(entry);
    assert_eq!(view.peek(1, b"hash").map(Entry::len), Some(999), "RULE-EDIT: a large hash");
    drop(view);
    subject.finish();
}

fn many<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    let key = |number: u32| format!("key:{number}").into_bytes();
    for number in 0..5000 {
        subject.put(0, &key(number), &number.to_le_bytes());
    }
    subject.keyspace.check_integrity();
    for number in (0..5000).step_by(3) {
        subject.delete(0, &key(number));
    }
    subject.keyspace.check_integrity();
    for number in 0..5000_u32 {
        let expected = (number % 3 != 0).then(|| number.to_le_bytes().to_vec());
        assert_eq!(subject.read(0, &key(number)), expected, "RULE-READ: key {number} of many");
    }
    subject.finish();
}

fn prefetches<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    for number in 0..3000_u32 {
        subject.put(1, &number.to_le_bytes(), &[7; 2000]);
    }
    let mut set = Entry::new_set(b"set");
    let limits = Limits::default();
    let mut members = set.set_mut(&limits).expect("it is a set");
    (0..3000_u32).for_each(|number| assert!(members.add(&number.to_le_bytes())));
    subject.put_entry(1, set);
    let before = subject.keyspace.stats();
    for number in 0..4000_u32 {
        subject.keyspace.prefetch_element(1, b"set", &number.to_le_bytes());
        subject.keyspace.prefetch_element(1, &number.to_le_bytes(), b"element");
    }
    let names: Vec<_> = (0..4000_u32).map(u32::to_le_bytes).collect();
    for stage in Stage::ALL {
        for name in &names {
            subject.keyspace.prefetch(1, name, stage);
        }
    }
    for some in names.chunks(12) {
        for stage in Stage::ALL {
            let names = some.iter().map(|name| &name[..]);
            if !subject.keyspace.prefetch_all(1, names, stage) {
                break;
            }
        }
    }
    subject.whole().prefetch(1, names.iter().map(|name| &name[..]));
    assert_eq!(subject.keyspace.stats(), before, "RULE-PREFETCH: the statistics");
    let read = subject.read(1, &9_u32.to_le_bytes());
    assert_eq!(read, Some(vec![7; 2000]), "RULE-PREFETCH: an entry");
    subject.finish();
}
