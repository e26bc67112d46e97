// SPDX-License-Identifier: Apache-2.0
//! [`Idempotence`]: messages that producers may send again without adding them twice.
//!
//! A producer gives each message a name. For some time, and up to some number of messages, a stream knows which item
//! a message has become. Producers do not know of each other's messages. A producer none of whose messages is known
//! is forgotten itself: each message looks at a few others for that, so that producers that never come back do not
//! stay.
//!
//! INV-IDEMPOTENCE: producers are in the order of their names; `messages` is the number of their messages, and
//! `bytes` their memory.

use super::StreamId;
use super::chunks::{Place, SortedChunks};
use super::producer::Producer;
use crate::Limits;
use allocator::size_class;

/// How many producers a message looks at.
const LOOKED_AT: usize = 2;

/// How long and how many messages of each producer are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdempotenceLimits {
    /// Seconds.
    pub seconds: u32,
    /// Messages.
    pub messages: u32,
}

impl IdempotenceLimits {
    /// Of a stream for which nothing else was said.
    pub(super) fn usual(limits: &Limits) -> Self {
        IdempotenceLimits {
            seconds: limits.stream_messages_seconds,
            messages: limits.stream_messages,
        }
    }
}

/// What is known of the messages of producers.
#[derive(Clone, Debug)]
pub struct Idempotence {
    limits: IdempotenceLimits,
    producers: SortedChunks<Box<Producer>>,
    messages: usize,
    bytes: usize,
    added: u64,
    duplicates: u64,
    /// The producer that was looked at last.
    looked_at: Box<[u8]>,
}

impl Idempotence {
    pub(super) fn new(limits: IdempotenceLimits) -> Self {
        Idempotence {
            limits,
            producers: SortedChunks::new(),
            messages: 0,
            bytes: 0,
            added: 0,
            duplicates: 0,
            looked_at: Box::default(),
        }
    }

    /// How long and how many messages are known.
    pub fn limits(&self) -> IdempotenceLimits {
        self.limits
    }

    /// How many producers are known.
    pub fn producers(&self) -> usize {
        self.producers.len()
    }

    /// How many messages are known.
    pub fn messages(&self) -> usize {
        self.messages
    }

    /// How many messages were ever added.
    pub fn added(&self) -> u64 {
        self.added
    }

    /// How often a message came again.
    pub fn duplicates(&self) -> u64 {
        self.duplicates
    }

    /// Sets limits. If they change, all messages are forgotten.
    pub(super) fn set_limits(&mut self, limits: IdempotenceLimits) {
        if limits != self.limits {
            let (added, duplicates) = (self.added, self.duplicates);
            *self = Idempotence { added, duplicates, ..Idempotence::new(limits) };
        }
    }

    fn place(&self, producer: &[u8]) -> Place {
        self.producers.partition(|other| other.name() < producer)
    }

    /// The item that a message has become, which came again.
    pub(super) fn find_again(
        &mut self,
        producer: &[u8],
        message: &[u8],
        now_ms: u64,
    ) -> Option<StreamId> {
        self.forget_old(self.place(producer), now_ms);
        let found = self.producers.get(self.place(producer))?;
        let id = found.find(message).filter(|_| found.name() == producer)?;
        self.duplicates += 1;
        Some(id)
    }

    /// Notes the item that a message has become, which is not known.
    pub(super) fn add(&mut self, producer: &[u8], message: &[u8], id: StreamId, now_ms: u64) {
        let place = self.place(producer);
        if self.producers.get(place).is_none_or(|other| other.name() != producer) {
            let producer = Producer::new(producer);
            self.bytes += producer.heap_bytes();
            self.producers.insert(place, Box::new(producer));
        }
        let most = self.limits.messages as usize;
        self.edit(self.place(producer), |producer| {
            producer.add(message, id, now_ms);
            producer.forget(0, most);
        });
        self.added += 1;
        for _ in 0..LOOKED_AT {
            let behind = self.producers.partition(|other| *other.name() <= *self.looked_at);
            let place = match self.producers.get(behind) {
                Some(_) => behind,
                None => self.producers.start(),
            };
            let Some(producer) = self.producers.get(place) else { return };
            self.looked_at = producer.name().into();
            self.forget_old(place, now_ms);
        }
    }

    /// Forgets what a producer added too long ago, and the producer if that is all.
    fn forget_old(&mut self, place: Place, now_ms: u64) {
        let since_ms = now_ms.saturating_sub(u64::from(self.limits.seconds) * 1000);
        let left = self.edit(place, |producer| {
            producer.forget(since_ms, usize::MAX);
            producer.len()
        });
        if left == Some(0) {
            let gone = self.producers.remove(place);
            self.bytes -= gone.heap_bytes();
        }
    }

    fn edit<R>(&mut self, place: Place, edit: impl FnOnce(&mut Producer) -> R) -> Option<R> {
        let producer = self.producers.get_mut(place)?;
        self.bytes -= producer.heap_bytes();
        self.messages -= producer.len();
        let result = edit(producer);
        self.bytes += producer.heap_bytes();
        self.messages += producer.len();
        Some(result)
    }

    /// A deep copy.
    pub(super) fn copy(&self) -> Self {
        let copy = self.clone();
        // What is copied has no room left.
        let bytes = copy.producers.iter().map(|producer| producer.heap_bytes()).sum();
        Idempotence { bytes, ..copy }
    }

    pub(super) fn heap_bytes(&self) -> usize {
        size_class(size_of::<Self>())
            + self.producers.heap_bytes()
            + self.bytes
            + size_class(self.looked_at.len())
    }

    /// Frees a producer; how many messages that were. `None`: there are no more.
    pub(super) fn free_some(&mut self) -> Option<usize> {
        let gone = self.producers.pop_first()?;
        self.bytes -= gone.heap_bytes();
        self.messages -= gone.len();
        Some(gone.len() + 1)
    }

    /// # Panics
    ///
    /// When an invariant does not hold, with its name.
    pub(super) fn check(&self) {
        self.producers.check(|one, next| one.name() < next.name());
        self.producers.iter().for_each(|producer| producer.check());
        let bytes = self.producers.iter().map(|producer| producer.heap_bytes()).sum::<usize>();
        let messages = self.producers.iter().map(|producer| producer.len()).sum::<usize>();
        assert_eq!((bytes, messages), (self.bytes, self.messages), "INV-IDEMPOTENCE");
    }
}
