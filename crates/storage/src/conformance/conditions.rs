// SPDX-License-Identifier: Apache-2.0
//! RULE-CONDITION and RULE-REFUSED: every condition in every state an item can be in.

use super::Limits;
use super::subject::Subject;
use crate::{Condition, Put, Store, StoreError, Version};

/// How a key came to have an item, or none.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum State {
    NeverWritten,
    Live,
    Overwritten,
    Expired,
    Deleted,
    Cleared,
}

pub(super) const STATES: [State; 6] = [
    State::NeverWritten,
    State::Live,
    State::Overwritten,
    State::Expired,
    State::Deleted,
    State::Cleared,
];

/// How many cases there are in each state.
pub(super) const CASES: usize = 6;

pub(super) fn run<S: Store>(make: &impl Fn(Limits) -> S) {
    for state in STATES {
        // A state is made anew for each condition: those that hold write, and so end it.
        for which in 0..CASES {
            let mut subject = Subject::new(make, Limits::ROOMY);
            let version = bring(&mut subject, state);
            try_one(&mut subject, state, version, which);
            subject.finish();
        }
    }
}

/// Brings the key into `state`; the version its last item has or had.
pub(super) fn bring<S: Store>(subject: &mut Subject<S>, state: State) -> Version {
    let first = subject.set(b"neighbour", b"stays");
    let put = Put::new(b"key", b"first").flags(1);
    match state {
        State::NeverWritten => first,
        State::Live => subject.write(put),
        State::Overwritten => {
            subject.write(put);
            subject.write(Put::new(b"key", b"second").flags(2))
        }
        State::Expired => {
            let version = subject.write(put.expiry(subject.within(10)));
            subject.advance(10);
            version
        }
        State::Deleted => {
            let version = subject.write(put);
            assert!(subject.delete(b"key"), "RULE-DELETE: a live item was there");
            version
        }
        State::Cleared => {
            let version = subject.write(put);
            subject.store.clear();
            version
        }
    }
}

/// A condition, and how it is refused according to [`Condition`] if it is.
pub(super) fn case(
    state: State,
    version: Version,
    which: usize,
) -> (Condition, Option<StoreError>) {
    let live = matches!(state, State::Live | State::Overwritten);
    let near = Version::new(version.get() ^ 1).or(Version::new(2)).expect("one is not zero");
    let far = Version::new(version.get() ^ (1 << 63)).expect("a version has other bits");
    let missing = if live { None } else { Some(StoreError::NotFound) };
    let mismatch = if live { StoreError::Exists } else { StoreError::NotFound };
    match which {
        0 => (Condition::Always, None),
        1 => (Condition::IfAbsent, live.then_some(StoreError::Exists)),
        2 => (Condition::IfPresent, missing),
        3 => (Condition::IfVersion(version), missing),
        4 => (Condition::IfVersion(near), Some(mismatch)),
        _ => (Condition::IfVersion(far), Some(mismatch)),
    }
}

/// Tries a conditional put and compares with what must come of it.
fn try_one<S: Store>(subject: &mut Subject<S>, state: State, version: Version, which: usize) {
    let (condition, refusal) = case(state, version, which);
    let rule = match state {
        State::Expired => "RULE-EXPIRY",
        State::Cleared => "RULE-CLEAR",
        _ => "RULE-CONDITION",
    };
    let put = Put::new(b"key", b"conditional").flags(3).condition(condition);
    match refusal {
        Some(error) => subject.refused(put, error, rule),
        None => {
            let result = subject.put(put);
            assert!(result.is_ok(), "{rule}: {condition:?} on {state:?}: {result:?}");
            let seen = subject.live(b"key");
            assert_eq!(seen.value, b"conditional", "RULE-READ: {condition:?} on {state:?}");
            assert_eq!(Ok(seen.version), result, "RULE-READ: the version as it was returned");
        }
    }
    if state != State::Cleared {
        assert_eq!(subject.live(b"neighbour").value, b"stays", "RULE-READ: another key's item");
    }
}
