// SPDX-License-Identifier: Apache-2.0
//! RULE-USE: idle times and use counts of entries.

use super::subject::Subject;
use crate::{Keyspace, Policy, Use, View};
use values::Entry;

/// An idle time may be so much longer or shorter.
const RESOLUTION_MS: u64 = 1000;

pub(super) fn run<K: Keyspace>(make: &impl Fn() -> K) {
    idle_times(make);
    changes(make);
    untouched(make);
    frequencies(make);
}

#[track_caller]
fn idle_ms<K: Keyspace>(subject: &mut Subject<K>, key: &[u8]) -> u64 {
    let view = subject.view(key);
    let entry = view.peek(0, key).expect("RULE-READ: it is there");
    assert_eq!(view.frequency(entry), None, "RULE-USE: no counts under this policy");
    view.idle_ms(entry).expect("RULE-USE: an idle time under this policy")
}

fn is_about(idle_ms: u64, expected_ms: u64) -> bool {
    idle_ms.abs_diff(expected_ms) <= RESOLUTION_MS
}

fn idle_times<K: Keyspace>(make: &impl Fn() -> K) {
    for policy in [Policy::NoEviction, Policy::AllkeysLru, Policy::VolatileTtl] {
        let mut subject = Subject::new(make);
        subject.keyspace.settings().set_policy(policy);
        subject.put(0, b"key", b"value");
        assert!(is_about(idle_ms(&mut subject, b"key"), 0), "RULE-USE: a new one");
        subject.now_ms += 86_400_000;
        assert!(is_about(idle_ms(&mut subject, b"key"), 86_400_000), "RULE-USE: a day");
        subject.read(0, b"key");
        assert!(is_about(idle_ms(&mut subject, b"key"), 0), "RULE-USE: it was read");
        subject.now_ms += 10_000;
        drop(subject.view(b"key").get_mut(0, b"key"));
        assert!(is_about(idle_ms(&mut subject, b"key"), 0), "RULE-USE: it was edited");
        subject.now_ms += 10_000;
        subject.put(0, b"key", b"other");
        assert!(is_about(idle_ms(&mut subject, b"key"), 0), "RULE-USE: it was replaced");
        subject.view(b"key").set_use(0, b"key", Use::IdleMs(3_600_000));
        subject.view(b"key").set_use(0, b"key", Use::Frequency(7));
        subject.view(b"none").set_use(0, b"none", Use::IdleMs(1));
        assert!(is_about(idle_ms(&mut subject, b"key"), 3_600_000), "RULE-USE: it was set");
        subject.finish();
    }
}

/// Under a policy that ignores reads, only changes are uses.
fn changes<K: Keyspace>(make: &impl Fn() -> K) {
    for policy in [Policy::AllkeysLrm, Policy::VolatileLrm] {
        let mut subject = Subject::new(make);
        subject.keyspace.settings().set_policy(policy);
        subject.put(0, b"key", b"value");
        subject.now_ms += 10_000;
        subject.read(0, b"key");
        assert!(is_about(idle_ms(&mut subject, b"key"), 10_000), "RULE-USE: it was only read");
        drop(subject.view(b"key").get_mut(0, b"key"));
        assert!(is_about(idle_ms(&mut subject, b"key"), 0), "RULE-USE: it was edited");
        subject.now_ms += 10_000;
        subject.put(0, b"key", b"other");
        assert!(is_about(idle_ms(&mut subject, b"key"), 0), "RULE-USE: it was replaced");
        subject.finish();
    }
}

fn untouched<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    subject.put(0, b"key", b"value");
    subject.now_ms += 10_000;
    let mut view = subject.view(b"key");
    view.set_touch(false);
    assert!(view.get(0, b"key").is_some() && view.get_mut(0, b"key").is_some());
    drop(view);
    assert!(is_about(idle_ms(&mut subject, b"key"), 10_000), "RULE-USE: an untouching view");
    assert!(subject.view(b"key").glance(0, b"key").is_some(), "RULE-READ");
    assert!(is_about(idle_ms(&mut subject, b"key"), 10_000), "RULE-USE: it was looked at");
    assert!(subject.view(b"key").get(0, b"key").is_some(), "RULE-READ");
    assert!(is_about(idle_ms(&mut subject, b"key"), 0), "RULE-USE: the next view touches again");
    subject.finish();
}

fn frequencies<K: Keyspace>(make: &impl Fn() -> K) {
    let mut subject = Subject::new(make);
    subject.keyspace.settings().set_policy(Policy::AllkeysLfu);
    subject.put(0, b"often", b"value");
    subject.put(0, b"seldom", b"value");
    let count = |subject: &mut Subject<K>, key: &[u8]| {
        let view = subject.view(key);
        let entry = view.peek(0, key).expect("RULE-READ: it is there");
        assert_eq!(view.idle_ms(entry), None, "RULE-USE: no idle times under this policy");
        view.frequency(entry).expect("RULE-USE: a count under this policy")
    };
    assert_eq!(count(&mut subject, b"seldom"), 5, "RULE-USE: a new one");
    for _ in 0..20_000 {
        subject.read(0, b"often");
    }
    let often = count(&mut subject, b"often");
    assert!((30..150).contains(&often), "RULE-USE: {often} after 20 000 uses");
    subject.put(0, b"often", b"other");
    assert!(count(&mut subject, b"often") >= often, "RULE-USE: a replaced one goes on");
    subject.now_ms += 3 * 60_000;
    assert_eq!(count(&mut subject, b"seldom"), 2, "RULE-USE: three minutes later");
    subject.keyspace.settings().set_lfu_decay_time(0);
    assert_eq!(count(&mut subject, b"seldom"), 5, "RULE-USE: without a decay");
    subject.keyspace.settings().set_lfu_log_factor(0);
    for _ in 0..300 {
        subject.read(0, b"seldom");
    }
    assert_eq!(count(&mut subject, b"seldom"), 255, "RULE-USE: every use counts, up to 255");
    subject.view(b"seldom").set_use(0, b"seldom", Use::Frequency(77));
    subject.view(b"seldom").set_use(0, b"seldom", Use::IdleMs(3_600_000));
    assert_eq!(count(&mut subject, b"seldom"), 77, "RULE-USE: it was set");
    let access = subject.view(b"seldom").peek(0, b"seldom").map(Entry::access);
    subject.view(b"seldom").peek(0, b"seldom");
    assert_eq!(subject.view(b"seldom").peek(0, b"seldom").map(Entry::access), access);
    subject.finish();
}
