// SPDX-License-Identifier: Apache-2.0
//! The sequential specification of a store: the state of one key, and what each operation does to
//! it.
//!
//! A store does two things by itself, at any moment and unseen. It drops items: every store those that
//! have expired by some handle's time, one that evicts any item. And a store that moves items may give
//! a moved item another version. The checker assumes either only when an operation shows that it has
//! happened, which is equivalent to assuming it at the moment when it did.

use super::Allowed;
use super::history::{Edit, Made, Op, Record, Seen};
use super::value::Content;
use crate::{Condition, StoreError, Version};
use std::collections::HashMap;

/// Which value each version of a key belongs to.
pub(super) type Owners = HashMap<Version, Content>;

/// The state of a key.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum State {
    Absent,
    Present(Stored),
}

/// An item.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Stored {
    made: Made,
    /// `None` while nobody was told.
    version: Option<Version>,
    /// Versions that it had before it was moved, and that must not come back.
    former: Vec<Version>,
}

impl State {
    /// Just after a write.
    fn written(made: Made, version: Version) -> Self {
        let version = Some(version);
        State::Present(Stored { made, version, former: Vec::new() })
    }
}

/// One operation as it meets a state.
pub(super) struct Step<'a> {
    pub(super) record: &'a Record,
    pub(super) allowed: Allowed,
    pub(super) owners: &'a Owners,
}

impl Step<'_> {
    /// The state after the operation; `None` if it cannot have the result it has in this state.
    pub(super) fn apply(&self, state: &State) -> Option<State> {
        match self.record.op {
            Op::Get { saw } => self.look(state, saw),
            Op::Delete { was_there: true } => self.live(state).map(|_| State::Absent),
            Op::Delete { was_there: false } => self.miss(state),
            Op::Put { condition, made, result } => self.put(state, condition, made, result),
            Op::Update { saw, edit, result } => self.update(state, saw, edit, result),
        }
    }

    fn put(
        &self,
        state: &State,
        condition: Condition,
        made: Made,
        result: Result<Version, StoreError>,
    ) -> Option<State> {
        let after = |version| State::written(made, version);
        match (condition, result) {
            (_, Err(StoreError::OutOfMemory)) => Some(state.clone()),
            (Condition::Always, Ok(version)) => Some(after(version)),
            (Condition::IfAbsent, Ok(version)) => self.miss(state).map(|_| after(version)),
            (Condition::IfAbsent, Err(StoreError::Exists)) => {
                self.live(state).map(|_| state.clone())
            }
            (Condition::IfPresent, Ok(version)) => self.live(state).map(|_| after(version)),
            (Condition::IfPresent | Condition::IfVersion(_), Err(StoreError::NotFound)) => {
                self.miss(state)
            }
            (Condition::IfVersion(wanted), Ok(version)) => {
                self.has_version(self.live(state)?, wanted).map(|_| after(version))
            }
            (Condition::IfVersion(wanted), Err(StoreError::Exists)) => {
                self.has_another(self.live(state)?, wanted)
            }
            _ => None,
        }
    }

    fn update(
        &self,
        state: &State,
        saw: Option<Seen>,
        edit: Edit,
        result: Result<Option<Version>, StoreError>,
    ) -> Option<State> {
        let before = self.look(state, saw)?;
        let seen = saw.map(|seen| seen.version);
        match (result, edit, before) {
            (Err(StoreError::OutOfMemory), _, before) => Some(before),
            (Ok(told), Edit::Keep, before) if told == seen => Some(before),
            (Err(StoreError::NotFound), Edit::Expire(_) | Edit::Value(_), before) => {
                saw.is_none().then_some(before)
            }
            (Ok(None), Edit::Delete, _) => Some(State::Absent),
            (Ok(Some(told)), Edit::Put(made), _) => Some(State::written(made, told)),
            (Ok(Some(told)), Edit::Expire(expiry), State::Present(mut stored))
                if seen == Some(told) =>
            {
                stored.made.expiry = expiry;
                Some(State::Present(stored))
            }
            (Ok(Some(told)), Edit::Value(content), State::Present(stored)) if saw.is_some() => {
                Some(State::written(Made { content, ..stored.made }, told))
            }
            _ => None,
        }
    }

    /// The live item, if there is one.
    fn live<'s>(&self, state: &'s State) -> Option<&'s Stored> {
        match state {
            State::Present(stored) if !stored.made.expiry.is_past(self.record.now) => Some(stored),
            _ => None,
        }
    }

    /// Finds nothing: there is nothing live, or it was dropped just before.
    fn miss(&self, state: &State) -> Option<State> {
        let Some(stored) = self.live(state) else { return Some(state.clone()) };
        let has_expired = stored.made.expiry.is_past(self.record.until);
        (self.allowed.evicts || has_expired).then_some(State::Absent)
    }

    /// Finds what `saw` says.
    fn look(&self, state: &State, saw: Option<Seen>) -> Option<State> {
        let Some(Seen { made, version }) = saw else { return self.miss(state) };
        let stored = self.live(state)?;
        if stored.made != made {
            return None;
        }
        self.has_version(stored, version)
    }

    /// Finds a live item to have this version.
    fn has_version(&self, stored: &Stored, version: Version) -> Option<State> {
        let mut stored = stored.clone();
        let is_its_own = self.owners.get(&version) == Some(&stored.made.content);
        if !is_its_own || stored.former.contains(&version) {
            return None;
        }
        if let Some(before) = stored.version.filter(|&before| before != version) {
            if !self.allowed.moves {
                return None;
            }
            stored.former.push(before);
        }
        stored.version = Some(version);
        Some(State::Present(stored))
    }

    /// Finds a live item to have another version than this.
    fn has_another(&self, stored: &Stored, version: Version) -> Option<State> {
        let mut stored = stored.clone();
        if self.owners.get(&version) == Some(&stored.made.content) {
            if !self.allowed.moves {
                return None;
            }
            if !stored.former.contains(&version) {
                stored.former.push(version);
            }
            stored.version = stored.version.filter(|&now| now != version);
        }
        Some(State::Present(stored))
    }
}
