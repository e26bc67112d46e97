// SPDX-License-Identifier: Apache-2.0
//! RULE-HANDLES: several handles in turn.

use super::subject::Subject;
use crate::{Keyspace, Policy};

pub(super) fn run<K: Keyspace>(make: &impl Fn() -> K) {
    share_everything(make);
    hear_for_themselves(make);
    outlive_each_other(make);
    super::model::run_shared(make);
}

fn share_everything<K: Keyspace>(make: &impl Fn() -> K) {
    let mut first = Subject::new(make);
    let mut second = first.another();
    first.put(0, b"key", b"value");
    assert_eq!(second.read(0, b"key"), Some(b"value".to_vec()), "RULE-HANDLES: an entry");
    second.keyspace.settings().set_policy(Policy::VolatileTtl);
    second.keyspace.settings().set_maxmemory(12_345);
    let settings = first.keyspace.settings();
    let seen = (settings.policy(), settings.maxmemory());
    assert_eq!(seen, (Policy::VolatileTtl, 12_345), "RULE-HANDLES: settings");
    assert_eq!(first.keyspace.stats(), second.keyspace.stats(), "RULE-HANDLES: statistics");
    assert_eq!(first.keyspace.stats().hits, 1, "RULE-HANDLES: another's hits");
    assert_eq!(second.delete(0, b"key"), Some(b"value".to_vec()), "RULE-HANDLES: a take");
    assert_eq!(first.read(0, b"key"), None, "RULE-HANDLES: a take");
    let scopes = (first.keyspace.scope(b"any"), second.keyspace.scope(b"any"));
    assert_eq!(scopes.0, scopes.1, "RULE-HANDLES: the scope of a key");
    first.finish();
}

fn hear_for_themselves<K: Keyspace>(make: &impl Fn() -> K) {
    let mut first = Subject::new(make);
    first.keyspace.settings().add_listener();
    first.put_for(0, b"key", b"value", 10);
    first.now_ms += 10;
    let mut second = first.another();
    assert_eq!(second.read(0, b"key"), None, "RULE-EXPIRY: for both");
    assert_eq!(first.drained(), [], "RULE-GONE: another handle met it");
    assert_eq!(second.drained().len(), 1, "RULE-GONE: this one met it");
    first.finish();
}

fn outlive_each_other<K: Keyspace>(make: &impl Fn() -> K) {
    let mut first = Subject::new(make);
    for number in 0..100_u32 {
        let mut passing = first.another();
        passing.put(0, &number.to_le_bytes(), &[7; 20_000]);
        passing.put_for(1, &number.to_le_bytes(), b"value", 10);
        passing.keyspace.reserve(1 << 20);
    }
    assert_eq!(first.keyspace.stats().reserved_bytes, 0, "RULE-HANDLES: dropped ones");
    for number in 0..100_u32 {
        let read = first.read(0, &number.to_le_bytes());
        assert_eq!(read, Some(vec![7; 20_000]), "RULE-HANDLES: of a dropped one");
    }
    assert_eq!(first.pass(10_000).len(), 100, "RULE-ACTIVE: of dropped ones");
    first.finish();
}
