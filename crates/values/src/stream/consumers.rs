// SPDX-License-Identifier: Apache-2.0
//! The consumers of a group: by name in their order, and by number.
//!
//! INV-CONSUMERS: `order` has the number of each consumer once, in the order of their names, and `free`
//! the other numbers below the number of slots; `bytes` is the sum of the memory of the consumers.

use super::StreamId;
use super::chunks::{Place, SortedChunks};
use allocator::size_class;

/// A consumer of a group.
#[derive(Clone, Debug)]
pub struct StreamConsumer {
    name: Box<[u8]>,
    /// When it last tried to read, in unix milliseconds.
    pub(super) seen_ms: u64,
    /// When it last got something.
    pub(super) active_ms: Option<u64>,
    /// The items that it has not acknowledged.
    pub(super) ids: SortedChunks<StreamId>,
}

impl StreamConsumer {
    /// Its name.
    pub fn name(&self) -> &[u8] {
        &self.name
    }

    /// When it last tried to read something or claim it, in unix milliseconds.
    pub fn seen_ms(&self) -> u64 {
        self.seen_ms
    }

    /// When it last read something or claimed it.
    pub fn active_ms(&self) -> Option<u64> {
        self.active_ms
    }

    /// How many items it has not acknowledged.
    pub fn pending(&self) -> usize {
        self.ids.len()
    }

    fn heap_bytes(&self) -> usize {
        size_class(size_of::<Self>()) + size_class(self.name.len()) + self.ids.heap_bytes()
    }
}

/// The consumers of a group.
#[derive(Debug)]
pub(super) struct Consumers {
    slots: Vec<Option<Box<StreamConsumer>>>,
    free: Vec<u32>,
    order: SortedChunks<u32>,
    bytes: usize,
}

impl Consumers {
    pub(super) const fn new() -> Self {
        Consumers { slots: Vec::new(), free: Vec::new(), order: SortedChunks::new(), bytes: 0 }
    }

    pub(super) fn len(&self) -> usize {
        self.order.len()
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.bytes
            + self.order.heap_bytes()
            + size_class(self.slots.capacity() * size_of::<Option<Box<StreamConsumer>>>())
            + size_class(self.free.capacity() * size_of::<u32>())
    }

    pub(super) fn get(&self, number: u32) -> Option<&StreamConsumer> {
        self.slots.get(number as usize)?.as_deref()
    }

    /// All of them, in the order of their names.
    pub(super) fn iter(&self) -> impl Iterator<Item = &StreamConsumer> {
        self.order.iter().filter_map(|number| self.get(*number))
    }

    fn place(&self, name: &[u8]) -> Place {
        self.order.partition(|number| self.get(*number).is_some_and(|other| *other.name < *name))
    }

    /// The number of the consumer with this name.
    pub(super) fn find(&self, name: &[u8]) -> Option<u32> {
        let number = *self.order.get(self.place(name))?;
        self.get(number).filter(|found| *found.name == *name).map(|_| number)
    }

    /// Adds a consumer, whose name is new; its number.
    pub(super) fn add(&mut self, name: &[u8], now_ms: u64) -> u32 {
        let place = self.place(name);
        let number = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() as u32 - 1
        });
        let consumer = StreamConsumer {
            name: name.into(),
            seen_ms: now_ms,
            active_ms: None,
            ids: SortedChunks::new(),
        };
        self.bytes += consumer.heap_bytes();
        self.slots[number as usize] = Some(Box::new(consumer));
        self.order.insert(place, number);
        number
    }

    /// Removes a consumer.
    pub(super) fn remove(&mut self, name: &[u8]) -> Option<Box<StreamConsumer>> {
        let place = self.place(name);
        let number = self.find(name)?;
        let consumer = self.slots[number as usize].take()?;
        self.bytes -= consumer.heap_bytes();
        self.order.remove(place);
        self.free.push(number);
        if self.order.is_empty() {
            (self.slots, self.free) = (Vec::new(), Vec::new());
        }
        Some(consumer)
    }

    /// Edits a consumer, if there is one with this number.
    pub(super) fn edit<R>(
        &mut self,
        number: u32,
        edit: impl FnOnce(&mut StreamConsumer) -> R,
    ) -> Option<R> {
        let consumer = self.slots.get_mut(number as usize)?.as_mut()?;
        self.bytes -= consumer.heap_bytes();
        let result = edit(consumer);
        self.bytes += consumer.heap_bytes();
        Some(result)
    }

    /// Frees a piece of them; how many elements that were. `None`: there is no piece left.
    pub(super) fn free_some(&mut self) -> Option<usize> {
        let last = self.slots.len().checked_sub(1)? as u32;
        let chunk = self.edit(last, |consumer| consumer.ids.take_chunk()).flatten();
        match chunk {
            Some(chunk) => Some(chunk.len()),
            None => {
                let consumer = self.slots.pop().flatten();
                self.bytes -= consumer.map_or(0, |consumer| consumer.heap_bytes());
                Some(1)
            }
        }
    }

    /// # Panics
    ///
    /// When an invariant does not hold, with its name.
    pub(super) fn check(&self) {
        let name = |number: &u32| self.get(*number).expect("INV-CONSUMERS").name();
        self.order.check(|one, next| name(one) < name(next));
        let there = self.slots.iter().flatten();
        let bytes = there.clone().map(|consumer| consumer.heap_bytes()).sum::<usize>();
        assert_eq!((there.count(), bytes), (self.order.len(), self.bytes), "INV-CONSUMERS");
        assert_eq!(self.order.len() + self.free.len(), self.slots.len(), "INV-CONSUMERS");
        self.iter().for_each(|consumer| consumer.ids.check(|one, next| one < next));
    }
}

impl Clone for Consumers {
    fn clone(&self) -> Self {
        let slots = self.slots.clone();
        // What is copied has no room left.
        let bytes = slots.iter().flatten().map(|consumer| consumer.heap_bytes()).sum();
        Consumers { slots, free: self.free.clone(), order: self.order.clone(), bytes }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_copy_knows_what_it_takes() {
        let mut consumers = Consumers::new();
        for (name, items) in [(&b"one"[..], 5), (b"two", 70), (b"three", 0)] {
            let number = consumers.add(name, 1);
            consumers.edit(number, |consumer| {
                for item in 0..items {
                    consumer.ids.insert(consumer.ids.end(), StreamId { ms: item, seq: 0 });
                }
            });
        }
        let mut copy = consumers.clone();
        copy.check();
        for name in [b"one", b"two"] {
            copy.remove(name);
            copy.check();
        }
    }
}
