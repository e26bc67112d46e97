// SPDX-License-Identifier: Apache-2.0
//! Properties that hold for every command, derived from its row in the table.

use super::catalogue::Words;
use super::client::{Client, show_words};
use super::state::{Place, State};
use crate::keyspace::value::Value as Held;
use protocol_resp::client::Value;
use protocol_resp::table::{self, CommandId, Flags, keys};
use std::collections::BTreeSet;
use values::Type;

/// The command that words mean.
pub(crate) fn resolve(words: &Words) -> Option<CommandId> {
    table::resolve(&words[0], words.get(1).map(Vec::as_slice))
}

/// The name of a command in the table; empty if it is none.
pub(crate) fn name(words: &Words) -> &'static str {
    resolve(words).map_or("", |id| id.spec().name)
}

/// Confirmations that a command about channels gets for a reply; 0 for all others.
pub(crate) fn confirmations(words: &Words, client: &Client) -> usize {
    let kind = match name(words) {
        "subscribe" | "psubscribe" | "ssubscribe" => return words.len() - 1,
        "unsubscribe" => &b""[..],
        "punsubscribe" => b"p",
        "sunsubscribe" => b"s",
        _ => return 0,
    };
    let listens = client.known.listens.iter().filter(|(of, _)| of == kind).count();
    if words.len() > 1 { words.len() - 1 } else { listens.max(1) }
}

/// One command that ran with nothing before or beside it.
#[derive(Debug)]
pub(crate) struct Run<'a> {
    pub(crate) words: &'a Words,
    pub(crate) reply: &'a Value,
    pub(crate) before: &'a State,
    pub(crate) after: &'a State,
    /// Entries may have been evicted.
    pub(crate) may_evict: bool,
}

impl Run<'_> {
    /// Checks that it changed nothing that it must not change.
    pub(crate) fn check(&self) {
        let shown = show_words(self.words);
        let Some(id) = resolve(self.words) else {
            assert!(matches!(self.reply, Value::Error(_)), "{shown} is no command");
            assert_eq!(self.before, self.after, "{shown} is no command");
            return;
        };
        let mut changes = self.before.changes(self.after);
        if self.may_evict {
            changes.retain(|place| self.after.entries.contains_key(place));
        }
        let spec = id.spec();
        let failed = matches!(self.reply, Value::Error(_));
        assert!(!failed || changes.is_empty(), "{shown} fails, but changes {changes:?}");
        if spec.name == "exec" {
            return;
        }
        let writes = spec.flags.has(Flags::WRITE);
        assert!(writes || changes.is_empty(), "{shown} reads, but changes {changes:?}");
        if !spec.flags.has(Flags::ARBITRARY_KEYS) {
            let found = keys::keys(spec, &self.words[..]);
            let positions = found.map(|found| found.positions().collect::<Vec<_>>());
            let declared: BTreeSet<&Vec<u8>> =
                positions.unwrap_or_default().into_iter().map(|at| &self.words[at]).collect();
            let stray: Vec<&Place> =
                changes.iter().filter(|(_, key)| !declared.contains(key)).collect();
            assert!(stray.is_empty(), "{shown} changes {stray:?}, which is no key of it");
        }
        assert!(
            failed || spec.accepts(self.words.len()),
            "{shown} has the wrong number of arguments, but {:?}",
            self.reply
        );
    }
}

/// What a blocking command waits for: the type, its keys, and for how many milliseconds (none: for
/// ever). `None` if the words are no such command.
pub(crate) fn waits_for(words: &Words) -> Option<(Type, Vec<Vec<u8>>, Option<u64>)> {
    let name = name(words);
    let (of, timeout_at) = match name {
        "blpop" | "brpop" | "blmove" | "brpoplpush" => (Type::List, words.len() - 1),
        "bzpopmin" | "bzpopmax" => (Type::Zset, words.len() - 1),
        "blmpop" => (Type::List, 1),
        "bzmpop" => (Type::Zset, 1),
        _ => return None,
    };
    let keys = match name {
        "blmove" | "brpoplpush" => vec![words[1].clone()],
        _ => {
            let found = keys::keys(resolve(words)?.spec(), &words[..]).ok()?;
            found.positions().map(|at| words[at].clone()).collect()
        }
    };
    let seconds: f64 = std::str::from_utf8(&words[timeout_at]).ok()?.parse().ok()?;
    let wait = (seconds > 0.0).then(|| (seconds * 1000.0).ceil() as u64);
    Some((of, keys, wait))
}

/// No client waits for data that is there, or more than a millisecond longer than it asked for: when it began to wait,
/// the clock may have been that much behind.
pub(crate) fn check_waits(client: &Client, state: &State, now_ms: u64, is_maintained: bool) {
    let Some(sent) = client.waits_in() else { return };
    let Some((of, keys, wait_ms)) = waits_for(&sent.words) else { return };
    for key in keys {
        let held = state.entries.get(&(client.known.db, key)).map(|kept| &kept.value);
        let has_some = held.is_some_and(|held| held.data_type() == of);
        assert!(!has_some, "{} waits for what is there", show_words(&sent.words));
    }
    let since_ms = sent.blocks_since_ms.unwrap_or(now_ms);
    let is_over = wait_ms.is_some_and(|wait_ms| since_ms.saturating_add(wait_ms) < now_ms);
    assert!(!is_over || !is_maintained, "{} waits for too long", show_words(&sent.words));
}

/// Whether a value is a hash without live fields, which commands treat differently.
pub(crate) fn is_hollow(held: &Held) -> bool {
    matches!(held, Held::Hash(fields) if fields.is_empty())
}
