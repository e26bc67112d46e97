// SPDX-License-Identifier: Apache-2.0
//! The checker finds the faults in histories made by hand, and none in sound ones.

use super::super::Limits;
use super::super::reference::{Flaw, Reference};
use super::check::Checker;
use super::history::{Edit, Made, Op, Record, Seen};
use super::value::Content;
use super::{Allowed, History};
use crate::{Condition, Expiry, StoreError, Version};
use clock::Ticks;
use std::panic::{AssertUnwindSafe, catch_unwind};

const STRICT: Allowed = Allowed { evicts: false, moves: false };
const LENIENT: Allowed = Allowed { evicts: true, moves: true };
const NOW: Ticks = Ticks::from_millis(1_000);

fn version(number: u64) -> Version {
    Version::new(number).expect("not zero")
}

fn made(serial: u64) -> Made {
    Made { content: Content::of(serial), flags: 0, expiry: Expiry::NEVER }
}

/// What a reader of a write sees: the versions of these tests are those of the writes times 10.
fn seen(serial: u64) -> Option<Seen> {
    Some(Seen { made: made(serial), version: version(10 * serial) })
}

fn get(saw: Option<Seen>) -> Op {
    Op::Get { saw }
}

fn put(condition: Condition, serial: u64) -> Op {
    Op::Put { condition, made: made(serial), result: Ok(version(10 * serial)) }
}

fn set(serial: u64) -> Op {
    put(Condition::Always, serial)
}

fn refused(condition: Condition, error: StoreError) -> Op {
    Op::Put { condition, made: made(999), result: Err(error) }
}

fn cas(serial: u64) -> Condition {
    Condition::IfVersion(version(10 * serial))
}

fn touch(saw: Option<Seen>, millis: u64, result: Result<(), StoreError>) -> Op {
    let edit = Edit::Expire(Expiry::at(Ticks::from_millis(millis)));
    Op::Update { saw, edit, result: result.map(|()| saw.map(|seen| seen.version)) }
}

fn count(saw: u64, serial: u64) -> Op {
    let result = Ok(Some(version(10 * serial)));
    Op::Update { saw: seen(saw), edit: Edit::Value(Content::of(serial)), result }
}

const DELETED: Op = Op::Delete { was_there: true };

fn record(thread: u8, called: u64, returned: u64, op: Op) -> Record {
    Record { key: 0, thread, called, returned, now: NOW, until: NOW, op }
}

/// One after the other, by one thread.
fn in_turn(ops: &[Op]) -> Vec<Record> {
    (0..).zip(ops).map(|(at, &op)| record(0, 2 * at, 2 * at + 1, op)).collect()
}

#[track_caller]
fn accepts(allowed: Allowed, records: &[Record]) {
    assert_eq!(Checker::new(allowed).take_in(records), Ok(()));
}

/// The message; also to an engine that may do anything by itself.
#[track_caller]
fn rejects(allowed: Allowed, records: &[Record]) -> String {
    let verdict = Checker::new(allowed).take_in(records);
    verdict.expect_err("no order of these operations is sound")
}

#[test]
fn a_sound_history_passes() {
    let ops = [
        get(None),
        set(1),
        get(seen(1)),
        refused(Condition::IfAbsent, StoreError::Exists),
        put(Condition::IfPresent, 2),
        put(cas(2), 3),
        refused(cas(2), StoreError::Exists),
        count(3, 4),
        get(seen(4)),
        DELETED,
        refused(cas(4), StoreError::NotFound),
        Op::Delete { was_there: false },
        put(Condition::IfAbsent, 5),
    ];
    accepts(STRICT, &in_turn(&ops));
}

#[test]
fn what_overlaps_may_come_in_any_order() {
    // Another thread reads the second value, then the first, while both are being written.
    let reads = [record(2, 2, 3, get(seen(2))), record(2, 4, 5, get(seen(1)))];
    let writes = [record(0, 0, 9, set(1)), record(1, 1, 8, set(2))];
    accepts(STRICT, &[writes, reads].concat());
    let again = record(2, 6, 7, get(seen(2)));
    rejects(LENIENT, &[&writes[..], &reads, &[again]].concat());
}

#[test]
fn a_stale_read_is_found() {
    let text = rejects(LENIENT, &in_turn(&[set(1), set(2), get(seen(1))]));
    assert!(text.contains("[4, 5] thread 0 at 1000 ms: get: value 1"), "{text}");
    assert!(text.contains("written by:\n  [0, 1]"), "{text}");
}

#[test]
fn a_lost_update_is_found() {
    // Two threads count from the same value, and each is told that it has.
    let both = [record(0, 2, 5, count(1, 2)), record(1, 3, 4, count(1, 3))];
    rejects(LENIENT, &[&in_turn(&[set(1)])[..], &both].concat());
}

#[test]
fn a_write_that_was_lost_is_found() {
    rejects(STRICT, &in_turn(&[set(1), get(None)]));
    accepts(LENIENT, &in_turn(&[set(1), get(None)]));
}

#[test]
fn an_item_that_comes_back_is_found() {
    rejects(LENIENT, &in_turn(&[set(1), DELETED, get(seen(1))]));
    rejects(LENIENT, &in_turn(&[set(1), get(None), get(seen(1))]));
    rejects(LENIENT, &in_turn(&[set(1), DELETED, DELETED]));
    let mut checker = Checker::new(LENIENT);
    assert_eq!(checker.take_in(&in_turn(&[set(1)])), Ok(()));
    checker.clear();
    assert!(checker.take_in(&in_turn(&[get(seen(1))])).is_err(), "it was cleared");
}

#[test]
fn a_version_that_lets_two_puts_through_is_found() {
    rejects(LENIENT, &in_turn(&[set(1), put(cas(1), 2), put(cas(1), 3)]));
    let both = [record(0, 2, 5, put(cas(1), 2)), record(1, 3, 4, put(cas(1), 3))];
    rejects(LENIENT, &[&in_turn(&[set(1)])[..], &both].concat());
}

#[test]
fn an_update_that_tells_another_version_is_found() {
    let told = |edit, told| Op::Update { saw: seen(1), edit, result: Ok(told) };
    let write = |told_version| told(Edit::Value(Content::of(2)), told_version);
    accepts(STRICT, &in_turn(&[set(1), write(Some(version(20))), get(seen(2))]));
    rejects(LENIENT, &in_turn(&[set(1), write(Some(version(10))), get(seen(2))]));
    rejects(LENIENT, &in_turn(&[set(1), write(None), get(seen(2))]));
    rejects(STRICT, &in_turn(&[set(1), write(Some(version(19))), get(seen(2))]));
    rejects(LENIENT, &in_turn(&[set(1), told(Edit::Keep, None)]));
    rejects(LENIENT, &in_turn(&[set(1), told(Edit::Delete, Some(version(10)))]));
}

#[test]
fn a_version_of_two_values_is_found() {
    let other = Some(Seen { made: made(2), version: version(10) });
    let text = rejects(LENIENT, &in_turn(&[set(1), set(2), get(other)]));
    assert!(text.starts_with("version a was that of value 1"), "{text}");
}

#[test]
fn a_refused_cas_needs_another_version() {
    let ops = [set(1), refused(cas(1), StoreError::Exists)];
    rejects(STRICT, &in_turn(&ops));
    accepts(LENIENT, &in_turn(&ops));
    // The version it had before it was moved does not come back.
    let moved = Some(Seen { made: made(1), version: version(11) });
    accepts(LENIENT, &in_turn(&[set(1), get(moved), put(Condition::IfPresent, 2)]));
    rejects(STRICT, &in_turn(&[set(1), get(moved)]));
    rejects(LENIENT, &in_turn(&[set(1), get(moved), get(seen(1))]));
    rejects(LENIENT, &in_turn(&[ops[0], ops[1], get(seen(1))]));
}

#[test]
fn a_torn_value_is_found() {
    let torn = Made { content: Content::TORN, ..made(1) };
    let text = rejects(
        LENIENT,
        &in_turn(&[set(1), get(Some(Seen { made: torn, ..seen(1).expect("some") }))]),
    );
    assert!(text.starts_with("a torn value"), "{text}");
}

#[test]
fn a_second_add_is_found() {
    let both = [
        record(0, 0, 3, put(Condition::IfAbsent, 1)),
        record(1, 1, 2, put(Condition::IfAbsent, 2)),
    ];
    rejects(STRICT, &both);
    // Unless the first item was evicted in between.
    accepts(LENIENT, &both);
}

#[test]
fn a_touch_that_is_lost_or_misses_is_found() {
    let later = |millis| {
        let expiry = Expiry::at(Ticks::from_millis(millis));
        Some(Seen { made: Made { expiry, ..made(1) }, version: version(10) })
    };
    accepts(STRICT, &in_turn(&[set(1), touch(seen(1), 2_000, Ok(())), get(later(2_000))]));
    rejects(LENIENT, &in_turn(&[set(1), touch(seen(1), 2_000, Ok(())), get(seen(1))]));
    rejects(LENIENT, &in_turn(&[set(1), touch(seen(1), 2_000, Err(StoreError::NotFound))]));
    rejects(STRICT, &in_turn(&[set(1), touch(None, 2_000, Err(StoreError::NotFound))]));
    accepts(LENIENT, &in_turn(&[set(1), touch(None, 2_000, Err(StoreError::NotFound))]));
    // What has expired is gone without being evicted, and is not found again.
    accepts(STRICT, &in_turn(&[set(1), touch(seen(1), 1_000, Ok(())), get(None)]));
    rejects(LENIENT, &in_turn(&[set(1), touch(seen(1), 1_000, Ok(())), get(later(1_000))]));
    let mut early = in_turn(&[set(1), touch(seen(1), 1_003, Ok(())), get(None)]);
    rejects(STRICT, &early);
    early[2].until = Ticks::from_millis(1_003);
    accepts(STRICT, &early);
}

#[test]
fn an_update_that_removes_what_it_has_not_seen_is_found() {
    // It saw the item before a touch and removed it after.
    let remove = Op::Update { saw: seen(1), edit: Edit::Delete, result: Ok(None) };
    let both = [record(0, 2, 5, remove), record(1, 3, 4, touch(seen(1), 2_000, Ok(())))];
    let later = Made { expiry: Expiry::at(Ticks::from_millis(2_000)), ..made(1) };
    let still = record(1, 6, 7, get(Some(Seen { made: later, version: version(10) })));
    let before = in_turn(&[set(1)]);
    rejects(STRICT, &[&before[..], &both].concat());
    rejects(LENIENT, &[&before[..], &both, &[still]].concat());
}

/// What a history says of an engine with a flaw, in memory that is full or to spare.
fn verdict(flaw: Flaw, is_full: bool) -> String {
    let memory_bytes = if is_full { 1 << 20 } else { 64 << 20 };
    let store = Reference::new(Limits { memory_bytes, value_bytes: 64 << 10 }, flaw);
    let handles = vec![store.clone(), store.clone(), store];
    let history = History { operations: 20_000, ..History::default() };
    let history = if is_full { history.evicts() } else { history };
    match catch_unwind(AssertUnwindSafe(|| history.run(handles))) {
        Ok(()) => "nothing".to_owned(),
        Err(panic) => panic.downcast::<String>().map_or("no text".to_owned(), |text| *text),
    }
}

#[test]
fn flaws_of_an_engine_are_found() {
    let flaws = [
        (Flaw::UnlockedUpdate, true),
        (Flaw::DeletedComeBack, true),
        (Flaw::CountsVersionsPerItem, true),
        (Flaw::TellsOldVersion, true),
        (Flaw::TouchMakesVersion, true),
        (Flaw::NumberKeepsVersion, true),
        (Flaw::RefusalDeletes, false),
    ];
    for (flaw, is_full) in flaws {
        let verdict = verdict(flaw, is_full);
        assert!(verdict.contains("RULE-LINEAR: key"), "{flaw:?}: the kit says {verdict}");
        assert!(verdict.contains("seed 1"), "{flaw:?}: the kit says {verdict}");
    }
    for is_full in [true, false] {
        assert_eq!(verdict(Flaw::None, is_full), "nothing");
    }
}
