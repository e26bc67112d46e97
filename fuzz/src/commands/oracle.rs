// SPDX-License-Identifier: Apache-2.0
//! The replies and effects of commands, predicted with plain collections for the most common forms of
//! commands. Other commands and forms are not predicted, and an error is predicted only where it is the only
//! possible reply.

mod databases;
mod generic;
mod hashes;
mod lists;
mod sets;
mod sorted_sets;
mod strings;

use super::answer::Answer;
use super::catalogue::Words;
use super::rules::{is_hollow, resolve};
use super::state::{Kept, Place, State};
use crate::keyspace::value::Value;
use protocol_resp::table::{Flags, keys};
use std::cmp::Ordering;
use values::{Type, parse_i64};

/// A reply that is expected.
#[derive(Clone, Debug)]
pub(super) enum Expected {
    /// This one.
    Is(Answer),
    /// These elements in any order.
    InAnyOrder(Vec<Answer>),
    /// These pairs, flattened, in any order.
    PairsInAnyOrder(Vec<Answer>),
    /// This number, however it is written.
    Number(f64),
    /// Members and scores, however these are written.
    Scored(Vec<(Vec<u8>, f64)>),
    /// Some error.
    Error,
}

impl Expected {
    /// Whether a reply is as expected.
    pub(super) fn is_met_by(&self, answer: &Answer) -> bool {
        match (self, answer) {
            (Expected::Is(expected), _) => expected == answer,
            (Expected::InAnyOrder(expected), Answer::List(items)) => {
                sorted(expected.clone()) == sorted(items.clone())
            }
            (Expected::PairsInAnyOrder(expected), Answer::List(items)) => {
                let pairs = |items: &[Answer]| {
                    sorted(items.chunks(2).map(|pair| Answer::List(pair.to_vec())).collect())
                };
                pairs(expected) == pairs(items)
            }
            (Expected::Number(expected), Answer::Text(text)) => number(text) == Some(*expected),
            (Expected::Scored(expected), Answer::List(items)) => {
                let flat: Vec<&Answer> = items
                    .iter()
                    .flat_map(|item| match item {
                        Answer::List(pair) => pair.iter().collect(),
                        other => vec![other],
                    })
                    .collect();
                flat.len() == 2 * expected.len()
                    && expected.iter().zip(flat.chunks(2)).all(|((member, score), pair)| {
                        let Answer::Text(text) = pair[1] else { return false };
                        *pair[0] == Answer::text(member) && number(text) == Some(*score)
                    })
            }
            (Expected::Error, _) => answer.is_error(),
            _ => false,
        }
    }
}

fn sorted(mut items: Vec<Answer>) -> Vec<Answer> {
    items.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
    items
}

fn number(text: &[u8]) -> Option<f64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Executes a command on a state. `None` if its effect is not predicted; then the state must not be used
/// any more.
pub(super) fn run(words: &Words, db: usize, state: &mut State, now_ms: u64) -> Option<Expected> {
    let id = resolve(words)?;
    let spec = id.spec();
    if !spec.accepts(words.len()) {
        return Some(Expected::Error);
    }
    if let Some(told) = databases::run(spec.name, &mut Call { words, db, state, now_ms }) {
        return Some(told);
    }
    let found = keys::keys(spec, &words[..]).ok()?;
    let hollow = |at: usize| {
        let kept = state.entries.get(&(db, words[at].clone()));
        kept.is_some_and(|kept| is_hollow(&kept.value))
    };
    if spec.flags.has(Flags::ARBITRARY_KEYS) || found.positions().any(hollow) {
        return None;
    }
    let mut call = Call { words, db, state, now_ms };
    let told = [strings::run, generic::run, hashes::run, lists::run, sets::run, sorted_sets::run];
    told.into_iter().find_map(|run| run(spec.name, &mut call))
}

/// One run of one command.
pub(super) struct Call<'a> {
    words: &'a Words,
    db: usize,
    state: &'a mut State,
    now_ms: u64,
}

impl Call<'_> {
    fn arg(&self, at: usize) -> &[u8] {
        &self.words[at]
    }

    fn integer(&self, at: usize) -> Option<i64> {
        parse_i64(self.arg(at))
    }

    fn place(&self, key: &[u8]) -> Place {
        (self.db, key.to_vec())
    }

    /// What is under a key.
    fn kept(&self, key: &[u8]) -> Option<&Kept> {
        self.state.entries.get(&self.place(key))
    }

    /// What is under a key, if it has this type; an error is expected if it has another.
    fn of(&self, key: &[u8], of: Type) -> Result<Option<&Value>, Expected> {
        match self.kept(key) {
            Some(kept) if kept.value.data_type() != of => Err(Expected::Error),
            kept => Ok(kept.map(|kept| &kept.value)),
        }
    }

    /// The collection under a key, to be changed; an empty one is made if there is none.
    fn make(&mut self, key: &[u8], of: Type) -> &mut Value {
        let place = self.place(key);
        let empty = || Kept::new(Value::empty(of));
        &mut self.state.entries.entry(place).or_insert_with(empty).value
    }

    /// Puts a value that does not expire in place of what is there.
    fn put(&mut self, key: &[u8], value: Value) {
        let place = self.place(key);
        self.state.entries.insert(place, Kept::new(value));
    }

    fn remove(&mut self, key: &[u8]) -> Option<Kept> {
        let place = self.place(key);
        self.state.entries.remove(&place)
    }

    /// Removes a collection that is empty.
    fn tidy(&mut self, key: &[u8]) {
        let is_empty = self.kept(key).is_some_and(|kept| kept.value.len(self.now_ms) == 0);
        if is_empty {
            self.remove(key);
        }
    }
}

fn is(answer: Answer) -> Option<Expected> {
    Some(Expected::Is(answer))
}

/// Indices from `start` to `stop` of so many elements, both counted from the end if negative.
fn span(start: i64, stop: i64, len: usize) -> std::ops::Range<usize> {
    let len = len as i64;
    let from_end = |index: i64| if index < 0 { (len.saturating_add(index)).max(0) } else { index };
    let (start, stop) = (from_end(start), if stop < 0 { len.saturating_add(stop) } else { stop });
    if start >= len || stop < start {
        return 0..0;
    }
    start as usize..(stop.min(len - 1) + 1) as usize
}
