// SPDX-License-Identifier: Apache-2.0
//! A chain: a bucket with the overflow buckets behind it.
//!
//! Elements are added at the end, and the last one fills the place of one that is removed
//! (INV-CHAIN).

use crate::table::Table;
use crate::table::bucket::{Bucket, Item, seconds};

/// A bucket's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// At the start of a chain: the bucket of that number.
    Head(usize),
    /// Behind another bucket.
    Overflow(u32),
}

/// An element that was taken out of a chain.
#[derive(Debug)]
pub(super) struct Taken<T> {
    pub(super) item: Item<T>,
    /// Whether the bucket that it was in is gone too, and with it the end of the chain.
    pub(super) place_is_gone: bool,
}

impl<T, A> Table<T, A> {
    #[inline]
    pub(super) fn bucket(&self, place: Place) -> &Bucket<T, A> {
        match place {
            Place::Head(home) => self.heads.get(home).expect("there is a bucket for each home"),
            Place::Overflow(index) => self.overflow.get(index),
        }
    }

    #[inline]
    pub(super) fn bucket_mut(&mut self, place: Place) -> &mut Bucket<T, A> {
        match place {
            Place::Head(home) => self.heads.get_mut(home).expect("there is a bucket for each home"),
            Place::Overflow(index) => self.overflow.get_mut(index),
        }
    }

    /// The elements of a chain.
    pub(super) fn chain(&self, home: usize) -> impl Iterator<Item = &T> {
        self.chain_buckets(home).flat_map(Bucket::elements)
    }

    /// The buckets of a chain; none if there is no such home.
    pub(super) fn chain_buckets(&self, home: usize) -> impl Iterator<Item = &Bucket<T, A>> {
        let behind = |bucket: &&Bucket<T, A>| bucket.next().map(|next| self.overflow.get(next));
        std::iter::successors(self.heads.get(home), behind)
    }

    /// The last bucket of a chain, and the one before it.
    fn tail(&self, home: usize) -> (Place, Option<Place>) {
        let (mut tail, mut before) = (Place::Head(home), None);
        while let Some(next) = self.bucket(tail).next() {
            (tail, before) = (Place::Overflow(next), Some(tail));
        }
        (tail, before)
    }

    /// Adds an element at the end of a chain.
    pub(super) fn append(&mut self, home: usize, item: Item<T>) {
        let (mut tail, _) = self.tail(home);
        if self.bucket(tail).is_full() {
            let next = self.overflow.acquire();
            self.bucket_mut(tail).set_next(Some(next));
            tail = Place::Overflow(next);
        }
        self.bucket_mut(tail).push(item);
    }

    /// Removes and returns the last element of a chain.
    pub(super) fn pop(&mut self, home: usize) -> Option<Item<T>> {
        let (tail, before) = self.tail(home);
        let item = self.bucket_mut(tail).pop()?;
        if let (Place::Overflow(index), Some(before)) = (tail, before)
            && self.overflow.get(index).is_empty()
        {
            self.bucket_mut(before).set_next(None);
            self.overflow.release(index);
        }
        Some(item)
    }

    /// Removes the element of a filled slot from a chain.
    pub(super) fn take(&mut self, home: usize, place: Place, slot: usize) -> Taken<T> {
        let (tail, _) = self.tail(home);
        let last_slot = self.bucket(tail).len() - 1;
        let last = self.pop(home).expect("the chain has the element that is taken");
        let place_is_gone = tail == place && last_slot == 0 && tail != Place::Head(home);
        let item = if (tail, last_slot) == (place, slot) {
            last
        } else {
            self.bucket_mut(place).replace(slot, last).expect("the slot is filled")
        };
        Taken { item, place_is_gone }
    }

    /// Lowers the due second of a chain to `due`, and clears it if no element is volatile.
    pub(super) fn note_due(&mut self, home: usize, due: Option<u64>) {
        self.bring_due_forward(home, due);
        self.forget_due(home);
    }

    /// Lowers the due second of a chain to `due`.
    pub(super) fn bring_due_forward(&mut self, home: usize, due: Option<u64>) {
        if let Some(due) = due.map(seconds) {
            let head = self.bucket_mut(Place::Head(home));
            head.set_due(Some(head.due().map_or(due, |earlier| earlier.min(due))));
            self.sweep.note(due);
        }
    }

    /// Clears the due second of a chain of one bucket if no element in it is volatile. The sweep
    /// does this for longer chains, and raises due seconds.
    pub(super) fn forget_due(&mut self, home: usize) {
        let head = self.bucket_mut(Place::Head(home));
        if head.next().is_none() && !head.has_volatile() {
            head.set_due(None);
        }
    }
}

/// A walk along a chain that removes some elements. It visits each once.
#[derive(Debug)]
pub(super) struct Walk {
    home: usize,
    /// Where to look next; `None` at the end.
    at: Option<(Place, usize)>,
}

impl Walk {
    pub(super) fn new(home: usize) -> Self {
        Walk { home, at: Some((Place::Head(home), 0)) }
    }

    /// Removes and returns the next element for which `goes` holds. `goes` is also told whether the
    /// element is volatile.
    pub(super) fn take<T, A>(
        &mut self,
        table: &mut Table<T, A>,
        mut goes: impl FnMut(&T, bool) -> bool,
    ) -> Option<Item<T>> {
        while let Some((place, slot)) = self.at {
            let bucket = table.bucket(place);
            let Some(element) = bucket.get(slot) else {
                self.at = bucket.next().map(|next| (Place::Overflow(next), 0));
                continue;
            };
            if goes(element, bucket.is_volatile(slot)) {
                let taken = table.take(self.home, place, slot);
                // The last element is in this slot now, and has not been visited.
                if taken.place_is_gone {
                    self.at = None;
                }
                return Some(taken.item);
            }
            self.at = Some((place, slot + 1));
        }
        None
    }
}
