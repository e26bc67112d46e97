// SPDX-License-Identifier: Apache-2.0
//! [`Lane`]: the requests of one connection that are sent and not answered yet.

use super::fan::FanId;
use crate::dialect::Op;
use crate::tally::Tally;
use crate::workload::{Key, Source, value};
use std::collections::VecDeque;

/// A request in flight.
#[derive(Clone, Copy, Debug)]
pub(super) struct Flight {
    /// When it was due to be sent.
    pub(super) at: u64,
    pub(super) op: Op,
    /// How many of its keys are still to come in its reply.
    pub(super) keys: u16,
    /// It comes after the warm-up of a trace.
    pub(super) warm: bool,
    /// The user's request that it is part of.
    pub(super) group: FanId,
}

/// Whether a lane sends requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It sends requests.
    Open,
    /// Its source has ended.
    Over,
    /// It has lost its connection, and continues when it has another.
    Lost,
    /// It has no connection and gets none.
    Gone,
}

/// One connection's requests.
#[derive(Debug)]
pub(super) struct Lane<S> {
    pub(super) source: S,
    /// Values are checked, and the keys that come with them.
    verify: bool,
    pub(super) state: State,
    /// Requests that its present connection has had.
    pub(super) had: u64,
    /// Requests in flight, the oldest first.
    pub(super) flights: VecDeque<Flight>,
    /// Their keys.
    pub(super) keys: VecDeque<Key>,
}

impl<S: Source> Lane<S> {
    pub(super) fn new(source: S, verify: bool, depth: usize) -> Self {
        let (flights, keys) = (VecDeque::with_capacity(depth), VecDeque::with_capacity(depth));
        Lane { source, verify, state: State::Open, had: 0, flights, keys }
    }

    /// A value has arrived: finds its key, and checks the value. Keys before that one were not
    /// found.
    pub(super) fn found(
        &mut self,
        said: Option<&[u8]>,
        bytes: &[u8],
        text: &mut Vec<u8>,
        tally: &mut Tally,
        counts: bool,
    ) {
        while let Some(key) = self.take_key() {
            if let Some(said) = said.filter(|_| self.verify) {
                text.clear();
                key.write(self.source.digits(), text);
                if said != text {
                    self.not_found(key, tally, counts);
                    continue;
                }
            }
            self.check(key, bytes, tally, counts);
            return;
        }
        tally.wrong += 1;
        tally.error(|| format!("a value under `{}`, which was not asked for", show(said)));
    }

    /// The next key of the oldest request.
    pub(super) fn take_key(&mut self) -> Option<Key> {
        let flight = self.flights.front_mut()?;
        flight.keys = flight.keys.checked_sub(1)?;
        self.keys.pop_front()
    }

    /// A key was found: checks that its value is the one that was written.
    pub(super) fn check(&self, key: Key, bytes: &[u8], tally: &mut Tally, counts: bool) {
        if counts {
            self.count(key, true, tally);
        }
        // A value depends on its length, so the check covers the length too, except for an empty value. A
        // value of another length that another run has written is also right.
        let vanished = bytes.is_empty() && key.value_len > 0;
        if self.verify && (vanished || !value::is_right(key.id, bytes)) {
            tally.wrong += 1;
            let (len, expected) = (bytes.len(), key.value_len);
            tally.error(|| {
                let mut text = Vec::new();
                key.write(self.source.digits(), &mut text);
                let key = text.escape_ascii();
                format!("wrong value under key `{key}`: {len} bytes, {expected} were written")
            });
        }
    }

    /// A key was not found.
    pub(super) fn not_found(&mut self, key: Key, tally: &mut Tally, counts: bool) {
        if counts {
            self.count(key, false, tally);
        }
        self.source.missed(key);
    }

    /// Counts a key of the oldest request.
    #[inline]
    fn count(&self, key: Key, found: bool, tally: &mut Tally) {
        let bytes = u64::from(key.len) + u64::from(key.value_len);
        tally.finds.add(bytes, found);
        if self.flights.front().is_some_and(|flight| flight.warm) {
            tally.warm.add(bytes, found);
        }
    }

    /// Whether it can send one more request.
    #[inline]
    pub(super) fn has_room(&self, depth: usize) -> bool {
        self.state == State::Open && self.flights.len() < depth
    }
}

fn show(text: Option<&[u8]>) -> String {
    text.unwrap_or_default().escape_ascii().to_string()
}
