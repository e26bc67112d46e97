// SPDX-License-Identifier: Apache-2.0
//! The effects of several commands in sequence, and of the passing of time.

use super::answer::Answer;
use super::catalogue::Words;
use super::client::show_words;
use super::oracle;
use super::rules::{self, is_hollow};
use super::state::State;
use protocol_resp::client::Value;

/// Commands with their replies, between which nothing else happened: a pipeline, or the queue of a
/// transaction.
#[derive(Debug)]
pub(crate) struct Sequence<'a> {
    /// The database in the beginning.
    pub(crate) db: usize,
    pub(crate) before: &'a State,
    pub(crate) after: &'a State,
    pub(crate) now_ms: u64,
}

impl Sequence<'_> {
    /// Checks the replies up to the first that is not predicted, and the final state if all are.
    pub(crate) fn check<'v>(&self, ran: impl Iterator<Item = (&'v Words, &'v Value)>) {
        let (mut expected, mut db) = (self.before.clone(), self.db);
        let mut shown = Vec::new();
        for (words, reply) in ran {
            shown.push(show_words(words));
            let answer = Answer::from(reply);
            if is_refused(&answer) || is_too_much_of_a_stranger(reply) {
                return;
            }
            if rules::name(words) == "select" && answer == Answer::ok() {
                db = selected(words);
                continue;
            }
            let Some(told) = oracle::run(words, db, &mut expected, self.now_ms) else { return };
            let before = self.before;
            assert!(told.is_met_by(&answer), "{shown:?} => {reply:?}, not {told:?} of {before:?}");
        }
        let after = self.after;
        assert!(expected == *after, "{shown:?} leave {after:?}, not {expected:?}");
    }
}

/// Whether a reply says that a command was not carried out, or not yet.
pub(crate) fn is_refused(answer: &Answer) -> bool {
    *answer == Answer::text(b"QUEUED")
        || matches!(answer, Answer::Error(code) if code == b"NOAUTH" || code == b"OOM")
}

/// Whether a request was refused for its size, before it was known, to a client that has not logged in.
fn is_too_much_of_a_stranger(reply: &Value) -> bool {
    matches!(reply, Value::Error(text) if text.starts_with(b"ERR Protocol error: unauthenticated "))
}

/// The database that a SELECT which succeeded has named.
pub(crate) fn selected(words: &Words) -> usize {
    let number = std::str::from_utf8(&words[1]).ok().and_then(|text| text.parse().ok());
    number.expect("it was selected")
}

/// Checks that time has removed exactly what has expired, to the millisecond.
pub(crate) fn check_time(before: &State, after: &State, now_ms: u64) {
    let shown = |state: &State| {
        let mut state = state.clone();
        state.entries.retain(|_, kept| {
            kept.value.forget_expired(now_ms);
            kept.expiry.is_none_or(|expiry| expiry > now_ms) && !is_hollow(&kept.value)
        });
        state
    };
    let (expected, after) = (shown(before), shown(after));
    assert!(expected == after, "at {now_ms} there is {after:?}, not {expected:?}");
}

/// Whether a client was told that what it has waited for did not come.
pub(crate) fn is_in_vain(words: &Words, reply: &Value) -> bool {
    rules::waits_for(words).is_some() && Answer::from(reply) == Answer::Nil
}
