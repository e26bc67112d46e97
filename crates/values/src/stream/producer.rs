// SPDX-License-Identifier: Apache-2.0
//! [`Producer`]: what one producer has added lately.
//!
//! INV-PRODUCER: `index` has the number of each message of `seen`, the first of which is `first`, in the order of
//! their names; the ids and times of `seen` do not go down; `bytes` is the memory of the names.

use super::StreamId;
use super::chunks::{Place, SortedChunks};
use allocator::size_class;
use std::collections::VecDeque;

/// A message that was added.
#[derive(Clone, Debug)]
struct Message {
    /// What its producer calls it.
    name: Box<[u8]>,
    /// The item that it became.
    id: StreamId,
    /// When, in unix milliseconds.
    added_ms: u64,
}

/// What one producer has added lately.
#[derive(Clone, Debug)]
pub(super) struct Producer {
    name: Box<[u8]>,
    /// The oldest message first.
    seen: VecDeque<Message>,
    /// The number of the oldest message.
    first: u64,
    index: SortedChunks<u64>,
    bytes: usize,
}

impl Producer {
    pub(super) fn new(name: &[u8]) -> Self {
        Producer {
            name: name.into(),
            seen: VecDeque::new(),
            first: 0,
            index: SortedChunks::new(),
            bytes: 0,
        }
    }

    pub(super) fn name(&self) -> &[u8] {
        &self.name
    }

    /// How many messages are known.
    pub(super) fn len(&self) -> usize {
        self.seen.len()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        size_class(size_of::<Self>())
            + size_class(self.name.len())
            + size_class(self.seen.capacity() * size_of::<Message>())
            + self.index.heap_bytes()
            + self.bytes
    }

    fn message(&self, number: u64) -> &Message {
        &self.seen[(number - self.first) as usize]
    }

    fn place(&self, name: &[u8]) -> Place {
        self.index.partition(|number| *self.message(*number).name < *name)
    }

    /// The item that a message became.
    pub(super) fn find(&self, name: &[u8]) -> Option<StreamId> {
        let message = self.message(*self.index.get(self.place(name))?);
        (*message.name == *name).then_some(message.id)
    }

    /// Adds a message, which is not known.
    pub(super) fn add(&mut self, name: &[u8], id: StreamId, added_ms: u64) {
        // The clock may have been set back.
        let added_ms = self.seen.back().map_or(added_ms, |last| last.added_ms.max(added_ms));
        let place = self.place(name);
        self.index.insert(place, self.first + self.seen.len() as u64);
        self.bytes += size_class(name.len());
        self.seen.push_back(Message { name: name.into(), id, added_ms });
    }

    /// Forgets messages: those from before `since_ms`, and the oldest beyond `most`; how many.
    pub(super) fn forget(&mut self, since_ms: u64, most: usize) -> usize {
        let before = self.seen.len();
        while let Some(oldest) = self.seen.front()
            && (self.seen.len() > most || oldest.added_ms < since_ms)
        {
            let place = self.place(&oldest.name);
            self.bytes -= size_class(oldest.name.len());
            self.index.remove(place);
            self.seen.pop_front();
            self.first += 1;
        }
        if self.seen.len() * 4 <= self.seen.capacity() && self.seen.capacity() > 16 {
            self.seen.shrink_to(self.seen.capacity() / 2);
        }
        before - self.seen.len()
    }

    /// # Panics
    ///
    /// When an invariant does not hold, with its name.
    pub(super) fn check(&self) {
        self.index.check(|one, next| self.message(*one).name < self.message(*next).name);
        assert_eq!(self.index.len(), self.seen.len(), "INV-PRODUCER");
        let names = self.seen.iter().map(|message| size_class(message.name.len())).sum::<usize>();
        assert_eq!(names, self.bytes, "INV-PRODUCER");
        let pairs = self.seen.iter().zip(self.seen.iter().skip(1));
        let mut pairs = pairs.map(|(one, next)| one.id < next.id && one.added_ms <= next.added_ms);
        assert!(pairs.all(|rises| rises), "INV-PRODUCER");
    }
}
