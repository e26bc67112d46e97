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
    queue: VecDeque<Letter>,
    /// The bytes that were counted for each letter of the queue. Apart from it, so that the queue can be taken as it is.
    weights: VecDeque<usize>,
    /// Counted bytes of the queue.
    bytes: usize,
    most: usize,
    /// How many letters were queued so far, but for those that were dropped.
    written: u64,
    /// Connections to remove; no letter in the queue is for one of them.
    overrun: HashSet<ConnectionId>,
}

impl Letters {
    /// An empty queue for about `most` bytes.
    pub(super) fn new(most: usize) -> Self {
        let (queue, weights) = (VecDeque::new(), VecDeque::new());
        Letters { queue, weights, bytes: 0, most, written: 0, overrun: HashSet::new() }
    }

    /// Whether there are neither letters nor overrun connections.
    pub(super) fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.overrun.is_empty()
    }

    /// How many letters were queued so far, but for those that were dropped.
    pub(super) fn written(&self) -> u64 {
        self.written
    }

    /// How many of them were taken.
    pub(super) fn taken(&self) -> u64 {
        self.written - self.queue.len() as u64
    }

    /// Queues `letters`.
    pub(super) fn append(&mut self, letters: impl Iterator<Item = Letter>) {
        for letter in letters {
            if self.overrun.is_empty() || !self.overrun.contains(&letter.0) {
                let bytes = weigh(&letter, self.queue.back());
                self.bytes += bytes;
                self.queue.push_back(letter);
                self.weights.push_back(bytes);
                self.written += 1;
            }
        }
        if self.bytes > self.most {
            self.shed();
        }
    }

    /// Takes all overrun connections and the first `most` letters. If there are no more, and `mail` has none yet, the
    /// queues are swapped, which takes as long for many as for one; so senders do not wait for the lock.
    pub(super) fn take(&mut self, most: usize, mail: &mut Mail) {
        mail.overrun.extend(self.overrun.drain());
        if self.queue.len() <= most && mail.letters.is_empty() {
            self.weights.clear();
            self.bytes = 0;
            // So that a burst does not leave large queues behind.
            self.weights.shrink_to(KEPT);
            self.queue.shrink_to(KEPT);
            std::mem::swap(&mut self.queue, &mut mail.letters);
        } else {
            let part = self.queue.len().min(most);
            self.bytes -= self.weights.drain(..part).sum::<usize>();
            mail.letters.extend(self.queue.drain(..part));
        }
    }

    /// Overruns the connections with the most waiting bytes, until half of the limit is free: first
    /// those within a factor of two of the worst, then those within a factor of two of the worst
    /// that is left, and so on.
    fn shed(&mut self) {
        let queued = self.queue.len();
        let mut written = HashMap::<ConnectionId, usize>::new();
        for letter in &self.queue {
            *written.entry(letter.0).or_default() +=
                LETTER_BYTES + message(letter).map_or(0, Bytes::len);
        }
        while self.bytes > self.most / 2 {
            let Some(&worst) = written.values().max() else { break };
            let overrun = &mut self.overrun;
            overrun.extend(written.extract_if(|_, bytes| *bytes > worst / 2).map(|(to, _)| to));
            self.queue.retain(|letter| !overrun.contains(&letter.0));
            self.count();
        }
        self.written -= (queued - self.queue.len()) as u64;
    }

    /// Counts all letters again: bytes that were counted for a dropped letter may be shared by one
    /// that remains.
    fn count(&mut self) {
        self.weights.clear();
        let mut before = None;
        for letter in &self.queue {
            self.weights.push_back(weigh(letter, before));
            before = Some(letter);
        }
        self.bytes = self.weights.iter().sum();
    }
}

/// The bytes to count for `letter`, given the letter `before` it.
fn weigh(letter: &Letter, before: Option<&Letter>) -> usize {
    let Some(message) = message(letter) else { return LETTER_BYTES };
    let is_shared = before
        .and_then(self::message)
        .is_some_and(|before| (before.as_ptr(), before.len()) == (message.as_ptr(), message.len()));
    if is_shared { LETTER_BYTES } else { LETTER_BYTES + message.len() }
}

fn message((_, errand): &Letter) -> Option<&Bytes> {
    match errand {
        Errand::Push(message) => Some(message),
        Errand::Resume(..) | Errand::Close | Errand::Cut => None,
    }
}
