// SPDX-License-Identifier: Apache-2.0
//! Commands about whole databases, and from one to another.

use super::super::rules::is_hollow;
use super::super::state::Place;
use super::super::world::DATABASES;
use super::{Call, Expected, is};
use crate::commands::answer::Answer;
use values::parse_i64;

pub(super) fn run(name: &str, call: &mut Call<'_>) -> Option<Expected> {
    match name {
        "flushall" | "flushdb" => flush(name, call),
        "swapdb" => swap(call),
        "move" => {
            let Some(to) = database(call.arg(2)) else { return Some(Expected::Error) };
            if to == call.db {
                return Some(Expected::Error);
            }
            let (from, to) = (call.place(call.arg(1)), (to, call.arg(1).to_vec()));
            carry(call, &from, to, false, true)
        }
        "copy" => {
            let mut to = (call.db, call.arg(2).to_vec());
            let mut replaces = false;
            let mut options = call.words[3..].iter();
            while let Some(option) = options.next() {
                match option.to_ascii_uppercase().as_slice() {
                    b"REPLACE" => replaces = true,
                    b"DB" => to.0 = database(options.next()?)?,
                    _ => return Some(Expected::Error),
                }
            }
            let from = call.place(call.arg(1));
            if from == to {
                return Some(Expected::Error);
            }
            carry(call, &from, to, replaces, false)
        }
        _ => None,
    }
}

/// A database by its number, if there is one.
fn database(word: &[u8]) -> Option<usize> {
    let number = usize::try_from(parse_i64(word)?).ok()?;
    (number < DATABASES).then_some(number)
}

fn flush(name: &str, call: &mut Call<'_>) -> Option<Expected> {
    let is_known = match call.words.get(1) {
        None => true,
        Some(word) => {
            let is = |other: &[u8]| word.eq_ignore_ascii_case(other);
            call.words.len() == 2 && (is(b"sync") || is(b"async"))
        }
    };
    if !is_known {
        return Some(Expected::Error);
    }
    let (db, is_all) = (call.db, name == "flushall");
    call.state.entries.retain(|(of, _), _| *of != db && !is_all);
    is(Answer::ok())
}

fn swap(call: &mut Call<'_>) -> Option<Expected> {
    let (Some(one), Some(other)) = (database(call.arg(1)), database(call.arg(2))) else {
        return Some(Expected::Error);
    };
    let entries = std::mem::take(&mut call.state.entries);
    let swapped = |db: usize| match db {
        db if db == one => other,
        db if db == other => one,
        db => db,
    };
    call.state.entries =
        entries.into_iter().map(|((db, key), kept)| ((swapped(db), key), kept)).collect();
    is(Answer::ok())
}

/// Moves or copies an entry to a place, in which another may be.
fn carry(
    call: &mut Call<'_>,
    from: &Place,
    to: Place,
    replaces: bool,
    moves: bool,
) -> Option<Expected> {
    let entries = &mut call.state.entries;
    let there = [entries.get(from), entries.get(&to)];
    if there.into_iter().flatten().any(|kept| is_hollow(&kept.value)) {
        return None;
    }
    let [Some(kept), in_the_way] = there else { return is(Answer::Integer(0)) };
    if in_the_way.is_some() && !replaces {
        return is(Answer::Integer(0));
    }
    let kept = kept.clone();
    if moves {
        entries.remove(from);
    }
    entries.insert(to, kept);
    is(Answer::Integer(1))
}
