// SPDX-License-Identifier: Apache-2.0
//! RULE-RECEIVE: values that arrive in pieces.
//!
//! Here: what a value is once it is committed. `memory` has what drafts do to memory, `random` a random run beside a
//! plain map, and `shared` several handles and threads.

mod memory;
mod random;
mod shared;

use super::Limits;
use super::conditions::{self, State};
use super::subject::{Noise, Seen, Subject, show};
use crate::{
    Announced, Change, Condition, Draft, Expiry, Item, Marks, Put, Receive, Stats, StoreError,
    Version,
};

pub(super) fn run<S: Receive>(make: &impl Fn(Limits) -> S) {
    in_pieces(make);
    under_any_condition(make);
    as_any_other_item(make);
    around_an_expiry(make);
    over_clears(make);
    memory::run(make);
    random::run(make);
}

pub(super) fn run_shared<S: Receive + Clone + Send>(make: &impl Fn(Limits) -> S) {
    random::run_shared(make);
    shared::run(make);
}

/// A value that is arriving, and what it will be.
struct Arriving<D> {
    draft: D,
    key: Vec<u8>,
    value: Vec<u8>,
    flags: u32,
    expiry: Expiry,
    /// Bytes that have arrived.
    there: usize,
    /// How often some have.
    turns: usize,
}

impl<D: Draft> Arriving<D> {
    /// Announces a value. The condition is for the end.
    #[track_caller]
    fn try_begin<S>(subject: &mut Subject<S>, put: Put<'_>) -> Result<Self, StoreError>
    where
        S: Receive<Draft = D>,
    {
        let Put { key, value, flags, expiry, .. } = put;
        let now = subject.now();
        let announced = Announced::new(key, value.len()).flags(flags).expiry(expiry);
        let draft = subject.store.begin(announced, now);
        subject.settle();
        subject.check_limit();
        let (key, value) = (key.to_vec(), value.to_vec());
        Ok(Arriving { draft: draft?, key, value, flags, expiry, there: 0, turns: 0 })
    }

    /// Announces a value that fits.
    #[track_caller]
    fn begin<S: Receive<Draft = D>>(subject: &mut Subject<S>, put: Put<'_>) -> Self {
        let arriving = Self::try_begin(subject, put);
        let error = arriving.as_ref().err();
        assert!(error.is_none(), "RULE-RECEIVE: {} fits, but: {error:?}", show(put.value));
        arriving.unwrap_or_else(|_| unreachable!("checked above"))
    }

    fn left(&self) -> usize {
        self.value.len() - self.there
    }

    /// Sends up to `bytes` more.
    #[track_caller]
    fn try_more<S>(&mut self, subject: &mut Subject<S>, bytes: usize) -> Result<(), StoreError>
    where
        S: Receive<Draft = D>,
    {
        let end = self.there + bytes.min(self.left());
        // Every other piece goes to its place, if there is one, and what is left is appended.
        if self.turns.is_multiple_of(2) {
            self.place(subject, end);
        }
        self.turns += 1;
        let (piece, now) = (&self.value[self.there..end], subject.now());
        let result = subject.store.append(&mut self.draft, piece, now);
        self.there = end;
        subject.settle();
        subject.check_limit();
        result
    }

    /// Writes the bytes up to `end` to their place, or as many as it has, but for the last one.
    #[track_caller]
    fn place<S: Receive<Draft = D>>(&mut self, subject: &mut Subject<S>, end: usize) {
        let (most, now) = (end - self.there, subject.now());
        let Some(place) = subject.store.place(&mut self.draft, most, now) else { return };
        assert!((1..=most).contains(&place.len()), "RULE-RECEIVE: a place of {}", place.len());
        let n = place.len() - 1;
        place[..n].copy_from_slice(&self.value[self.there..self.there + n]);
        place[n..].fill(b'?');
        subject.store.placed(&mut self.draft, n);
        self.there += n;
    }

    /// Sends up to `bytes` more, for which there is room.
    #[track_caller]
    fn more<S: Receive<Draft = D>>(&mut self, subject: &mut Subject<S>, bytes: usize) {
        let (there, result) = (self.there, self.try_more(subject, bytes));
        assert_eq!(result, Ok(()), "RULE-RECEIVE: {} after {there}", show(&self.value));
    }

    /// Commits a value that has arrived.
    #[track_caller]
    fn try_commit<S>(
        self,
        subject: &mut Subject<S>,
        condition: Condition,
    ) -> Result<Version, StoreError>
    where
        S: Receive<Draft = D>,
    {
        let now = subject.now();
        let result = subject.store.commit(self.draft, condition, now);
        subject.settle();
        subject.check_limit();
        result
    }

    /// What must be read once it is committed with `version`.
    fn seen(&self, version: Version) -> Seen {
        let &Arriving { ref value, flags, expiry, .. } = self;
        Seen { value: value.clone(), flags, expiry, version, marks: Marks::NONE }
    }

    /// Commits a value that nothing stands against, and reads it back.
    #[track_caller]
    fn commit<S>(self, subject: &mut Subject<S>, condition: Condition) -> Version
    where
        S: Receive<Draft = D>,
    {
        let (key, now) = (self.key.clone(), subject.now());
        let before = subject.read(&key).map(|seen| seen.version);
        let mut expected = self.seen(Version::new(1).expect("not zero"));
        let value = show(&self.value);
        let result = self.try_commit(subject, condition);
        assert!(result.is_ok(), "RULE-RECEIVE: {} = {value} fits, but: {result:?}", show(&key));
        let version = result.expect("checked above");
        expected.version = version;
        assert_ne!(Some(expected.version), before, "RULE-RECEIVE: a new version");
        let expected = (!expected.expiry.is_past(now)).then_some(expected);
        let was_read = subject.store.peek(&key, now).map(|item| item.was_read());
        subject.settle();
        assert_ne!(was_read, Some(true), "RULE-RECEIVE: {} was not read yet", show(&key));
        let seen = subject.read(&key);
        assert_eq!(seen, expected, "RULE-RECEIVE: {} just after its commit", show(&key));
        version
    }
}

/// Sends a value in pieces of `bytes`.
#[track_caller]
fn send<S: Receive>(subject: &mut Subject<S>, put: Put<'_>, bytes: usize) -> Arriving<S::Draft> {
    let mut arriving = Arriving::begin(subject, put);
    while arriving.left() > 0 {
        arriving.more(subject, bytes);
    }
    arriving
}

/// Values of all sizes in pieces of all sizes, over items and over nothing: nothing is to be seen before the end.
fn in_pieces<S: Receive>(make: &impl Fn(Limits) -> S) {
    const SIZES: [usize; 9] = [0, 1, 20, 1_500, 16_383, 16_384, 40_000, 200_000, 1 << 20];
    let mut subject = Subject::new(make, Limits::ROOMY);
    let mut noise = Noise::new(21);
    for piece in [1, 7, 1_000, 65_536, usize::MAX] {
        for size in SIZES.into_iter().filter(|size| size / piece < 20_000) {
            let (key, value) = (size.to_string().into_bytes(), noise.bytes(size));
            let expiry = if piece == 7 { subject.within(60_000) } else { Expiry::NEVER };
            let put = Put::new(&key, &value).flags(noise.next() as u32).expiry(expiry);
            let before = subject.read(&key);
            let counts = |Stats { items, stored, evicted, .. }| [items, stored, evicted];
            let [items, stored, evicted] = counts(subject.stats());
            let mut arriving = Arriving::begin(&mut subject, put);
            arriving.more(&mut subject, 0);
            for step in 0.. {
                if step % 200 == 0 || arriving.left() == 0 {
                    assert_eq!(subject.read(&key), before, "RULE-RECEIVE: before the commit");
                    let counts = counts(subject.stats());
                    assert_eq!(counts, [items, stored, evicted], "RULE-RECEIVE: a draft counts");
                }
                if arriving.left() == 0 {
                    break;
                }
                arriving.more(&mut subject, piece);
            }
            arriving.commit(&mut subject, Condition::Always);
            let items = items + u64::from(before.is_none());
            let counts = counts(subject.stats());
            assert_eq!(counts, [items, stored + 1, evicted], "RULE-RECEIVE: one was stored");
        }
    }
    subject.finish();
}

/// Each condition holds or not at the commit, whatever held when the value was announced.
fn under_any_condition<S: Receive>(make: &impl Fn(Limits) -> S) {
    for state in conditions::STATES {
        for which in 0..conditions::CASES {
            for size in [11, 40_000] {
                let mut subject = Subject::new(make, Limits::ROOMY);
                let value = vec![b'c'; size];
                let put = Put::new(b"key", &value).flags(3);
                let early = send(&mut subject, put, 9_000);
                let version = conditions::bring(&mut subject, state);
                let late = send(&mut subject, put, 9_000);
                let (condition, refusal) = conditions::case(state, version, which);
                let refused = refusal.is_some();
                for arriving in [early, late].into_iter().take(1 + usize::from(refused)) {
                    match refusal {
                        Some(error) => refuse(&mut subject, arriving, condition, error, state),
                        None => drop(arriving.commit(&mut subject, condition)),
                    }
                }
                subject.finish();
            }
        }
    }
}

#[track_caller]
fn refuse<S: Receive>(
    subject: &mut Subject<S>,
    arriving: Arriving<S::Draft>,
    condition: Condition,
    error: StoreError,
    state: State,
) {
    let before = subject.read(b"key");
    let result = arriving.try_commit(subject, condition);
    assert_eq!(result, Err(error), "RULE-RECEIVE: {condition:?} on {state:?}");
    assert_eq!(subject.read(b"key"), before, "RULE-RECEIVE: an item after {error:?}");
}

/// Once committed an item is like any other: it can be changed, pinned, replaced and deleted.
fn as_any_other_item<S: Receive>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    let mut noise = Noise::new(22);
    let mut pins = Vec::new();
    for size in [0, 5, 1_000, 16_384, 100_000, (1 << 20) - 2] {
        let value = noise.bytes(size);
        let put = Put::new(b"key", &value).flags(7);
        let commit = |subject: &mut Subject<S>, condition| {
            send(subject, put, 30_000).commit(subject, condition)
        };
        let first = commit(&mut subject, Condition::IfAbsent);
        let change = Change::Extend { before: b"<", after: b">" };
        let seen = subject.change(b"key", change).expect("RULE-RECEIVE: there is an item");
        assert_eq!(seen.map(|seen| seen.version), Some(first), "RULE-RECEIVE: what is extended");
        let extended = subject.live(b"key");
        let wanted = [b"<", &value[..], b">"].concat();
        assert!(extended.value == wanted && extended.flags == 7, "RULE-RECEIVE: {extended:?}");
        commit(&mut subject, Condition::IfVersion(extended.version));
        let now = subject.now();
        let pin = subject.store.get(b"key", now).expect("just written").pin();
        subject.settle();
        pins.extend(pin.map(|pin| (pin, value.clone())));
        commit(&mut subject, Condition::IfPresent);
        subject.set(b"key", b"small");
        commit(&mut subject, Condition::Always);
        assert!(subject.delete(b"key"), "RULE-RECEIVE: there was an item to delete");
        assert_eq!(subject.read(b"key"), None, "RULE-RECEIVE: it was deleted");
        for (pin, value) in &pins {
            assert!(pin == value, "RULE-PIN: {} instead of {}", show(pin), show(value));
        }
    }
    subject.finish();
}

/// An expiry may pass before the value has arrived, or at any moment after.
fn around_an_expiry<S: Receive>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    for (size, left) in [(10, 1), (40_000, 1), (10, 0), (40_000, 0)] {
        let value = vec![b'e'; size];
        for over_item in [false, true] {
            subject.delete(b"key");
            let before = over_item.then(|| subject.set(b"key", b"old"));
            let put = Put::new(b"key", &value).expiry(subject.within(50));
            let [one, other] = [(); 2].map(|()| send(&mut subject, put, 7_000));
            subject.advance(50 - left);
            if over_item {
                let result = other.try_commit(&mut subject, Condition::IfAbsent);
                assert_eq!(result, Err(StoreError::Exists), "RULE-RECEIVE: its expiry aside");
                let seen = subject.read(b"key").map(|seen| seen.version);
                assert_eq!(seen, before, "RULE-RECEIVE: refused, whatever its expiry");
            }
            // Expects to read nothing back if its expiry has passed.
            one.commit(&mut subject, Condition::Always);
            subject.advance(left);
            assert_eq!(subject.read(b"key"), None, "RULE-RECEIVE: its expiry has passed");
            assert!(!subject.delete(b"key"), "RULE-RECEIVE: no live item");
        }
    }
    let put = Put::new(b"key", b"lasts");
    let lasting = send(&mut subject, put, 2);
    subject.write(Put::new(b"key", b"short").expiry(subject.within(5)));
    lasting.commit(&mut subject, Condition::IfPresent);
    subject.advance(100_000);
    assert_eq!(subject.live(b"key").value, b"lasts", "RULE-RECEIVE: without an expiry");
    subject.finish();
}

/// A draft is no item: clears leave it alone, however many. Once committed it is one.
fn over_clears<S: Receive>(make: &impl Fn(Limits) -> S) {
    let mut subject = Subject::new(make, Limits::ROOMY);
    for (size, clears) in [(10, 1), (40_000, 1), (1 << 20, 1), (10, 300), (40_000, 300)] {
        let value = vec![b'v'; size];
        subject.set(b"key", b"old");
        let mut arriving = ["key", "other"].map(|key| {
            Arriving::begin(&mut subject, Put::new(key.as_bytes(), &value).flags(clears))
        });
        for one in &mut arriving {
            one.more(&mut subject, size / 2);
        }
        for _ in 0..clears {
            subject.set(b"key", b"old");
            subject.clear();
        }
        for mut one in arriving {
            one.more(&mut subject, size);
            one.commit(&mut subject, Condition::IfAbsent);
        }
        for _ in 0..100 {
            subject.expire(64);
        }
        for key in [&b"key"[..], b"other"] {
            let seen = subject.live(key);
            assert!(seen.value == value, "RULE-RECEIVE: committed after {clears} clears");
        }
        subject.clear();
        for key in [&b"key"[..], b"other"] {
            assert_eq!(subject.read(key), None, "RULE-RECEIVE: cleared after its commit");
        }
        subject.drain(0);
    }
    subject.finish();
}
