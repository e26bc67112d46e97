// SPDX-License-Identifier: Apache-2.0
//! [`Letters`]: the bounded queue of letters that wait for a worker.
//!
//! A writer never waits for a worker that does not read. So past the limit, letters must be dropped.
//!
//! * INV-NO-GAP: a connection gets all letters that are written to it, in order, or it is closed.
//!
//! The connections with the most waiting bytes are *overrun*: their letters are dropped, present and future
//! ones, and the worker removes these connections before it delivers anything else. Other connections are not
//! affected. Connections are overrun until half of the limit is free, so that the search costs a constant per
//! letter.
//!
//! A message to many connections is counted once, because its bytes are shared. The bytes of replies to
//! blocked connections are not counted: a connection has only one such reply at a time, however large, and
//! the reply may carry an element that exists nowhere else any more.

use super::{Letter, Mail};
use bytes::Bytes;
use protocol::{ConnectionId, Errand};
use std::collections::{HashMap, HashSet, VecDeque};

/// Approximate memory of a letter besides its bytes.
const LETTER_BYTES: usize = 80;

/// Capacity in letters that an empty queue keeps.
const KEPT: usize = 4096;

/// See the module's description.
#[derive(Debug)]
pub(super) struct Letters {
    queue: VecDeque<Waiting>,
    /// Counted bytes of the queue.
    bytes: usize,
    most: usize,
    /// Connections to remove; no letter in the queue is for one of them.
    overrun: HashSet<ConnectionId>,
}

/// A letter, and the bytes that were counted for it.
#[derive(Debug)]
struct Waiting {
    letter: Letter,
    bytes: usize,
}

impl Letters {
    /// An empty queue for about `most` bytes.
    pub(super) fn new(most: usize) -> Self {
        Letters { queue: VecDeque::new(), bytes: 0, most, overrun: HashSet::new() }
    }

    /// Whether there are neither letters nor overrun connections.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.overrun.is_empty()
    }

    /// Queues `letters`.
    pub(super) fn append(&mut self, letters: impl Iterator<Item = Letter>) {
        for letter in letters {
            if self.overrun.is_empty() || !self.overrun.contains(&letter.0) {
                let bytes = weigh(&letter, self.queue.back());
                self.bytes += bytes;
                self.queue.push_back(Waiting { letter, bytes });
            }
        }
        if self.bytes > self.most {
            self.shed();
        }
    }

    /// Takes all overrun connections and the first `most` letters.
    pub(super) fn take(&mut self, most: usize, mail: &mut Mail) {
        mail.overrun.extend(self.overrun.drain());
        let part = self.queue.len().min(most);
        for Waiting { letter, bytes } in self.queue.drain(..part) {
            self.bytes -= bytes;
            mail.letters.push(letter);
        }
        if self.queue.is_empty() {
            // So that a burst does not leave a large queue behind.
            self.queue.shrink_to(KEPT);
        }
    }

    /// Overruns the connections with the most waiting bytes, until half of the limit is free: first
    /// those within a factor of two of the worst, then those within a factor of two of the worst
    /// that is left, and so on.
    fn shed(&mut self) {
        let mut written = HashMap::<ConnectionId, usize>::new();
        for Waiting { letter, .. } in &self.queue {
            *written.entry(letter.0).or_default() +=
                LETTER_BYTES + message(letter).map_or(0, Bytes::len);
        }
        while self.bytes > self.most / 2 {
            let Some(&worst) = written.values().max() else { break };
            let overrun = &mut self.overrun;
            overrun.extend(written.extract_if(|_, bytes| *bytes > worst / 2).map(|(to, _)| to));
            self.queue.retain(|waiting| !overrun.contains(&waiting.letter.0));
            self.count();
        }
    }

    /// Counts all letters again: bytes that were counted for a dropped letter may be shared by one
    /// that remains.
    fn count(&mut self) {
        self.bytes = 0;
        for at in 0..self.queue.len() {
            let before = at.checked_sub(1).map(|before| &self.queue[before]);
            let bytes = weigh(&self.queue[at].letter, before);
            self.queue[at].bytes = bytes;
            self.bytes += bytes;
        }
    }
}

/// The bytes to count for `letter`, given the letter `before` it.
fn weigh(letter: &Letter, before: Option<&Waiting>) -> usize {
    let Some(message) = message(letter) else { return LETTER_BYTES };
    let is_shared = before
        .and_then(|before| self::message(&before.letter))
        .is_some_and(|before| (before.as_ptr(), before.len()) == (message.as_ptr(), message.len()));
    if is_shared { LETTER_BYTES } else { LETTER_BYTES + message.len() }
}

fn message((_, errand): &Letter) -> Option<&Bytes> {
    match errand {
        Errand::Push(message) => Some(message),
        Errand::Resume(..) | Errand::Close | Errand::Cut => None,
    }
}
