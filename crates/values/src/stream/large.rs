// SPDX-License-Identifier: Apache-2.0
//! [`LargeStream`]: a stream behind its entry.
//!
//! INV-GROUPS: `group_bytes` is the sum of the memory of the groups.

use super::StreamId;
use super::chunks::{Place, SortedChunks};
use super::group::StreamGroup;
use super::group_edit::StreamGroupMut;
use super::idempotence::{Idempotence, IdempotenceLimits};
use super::items::Items;

/// The items of a stream, and its consumer groups.
#[derive(Debug)]
pub(crate) struct LargeStream {
    pub(super) items: Items,
    /// In the order of their names.
    pub(super) groups: SortedChunks<Box<StreamGroup>>,
    group_bytes: usize,
    /// Of a stream to which messages were added that may come again.
    pub(super) idempotence: Option<Box<Idempotence>>,
}

impl LargeStream {
    pub(crate) fn new() -> Self {
        LargeStream {
            items: Items::new(),
            groups: SortedChunks::new(),
            group_bytes: 0,
            idempotence: None,
        }
    }

    /// What is known of the messages of producers, with these limits unless it has others.
    pub(super) fn idempotence_mut(&mut self, limits: IdempotenceLimits) -> &mut Idempotence {
        self.idempotence.get_or_insert_with(|| Box::new(Idempotence::new(limits)))
    }

    /// Items.
    pub(crate) fn len(&self) -> usize {
        self.items.len
    }

    /// All memory behind this struct. O(1).
    pub(crate) fn heap_bytes(&self) -> usize {
        self.items.heap_bytes()
            + self.groups.heap_bytes()
            + self.group_bytes
            + self.idempotence.as_ref().map_or(0, |idempotence| idempotence.heap_bytes())
    }

    fn place(&self, name: &[u8]) -> Place {
        self.groups.partition(|group| group.name() < name)
    }

    /// The group with this name.
    pub(super) fn group(&self, name: &[u8]) -> Option<&StreamGroup> {
        self.groups.get(self.place(name)).map(|group| &**group).filter(|group| group.name() == name)
    }

    /// The group with this name, to edit.
    pub(super) fn group_mut(&mut self, name: &[u8]) -> Option<StreamGroupMut<'_>> {
        let place = self.place(name);
        let group = self.groups.get_mut(place).filter(|group| group.name() == name)?;
        Some(StreamGroupMut::new(&self.items, group, &mut self.group_bytes))
    }

    /// Adds a group; whether its name is new.
    pub(super) fn add_group(&mut self, name: &[u8], last_id: StreamId, read: Option<u64>) -> bool {
        let is_new = self.group(name).is_none();
        if is_new {
            let group = StreamGroup::new(name, last_id, read);
            self.group_bytes += group.heap_bytes();
            self.groups.insert(self.place(name), Box::new(group));
        }
        is_new
    }

    /// Removes a group; whether there was one with this name.
    pub(super) fn remove_group(&mut self, name: &[u8]) -> bool {
        let is_there = self.group(name).is_some();
        if is_there {
            let group = self.groups.remove(self.place(name));
            self.group_bytes -= group.heap_bytes();
        }
        is_there
    }

    /// Makes all groups forget an item.
    pub(super) fn forget(&mut self, id: StreamId) {
        for group in self.groups.iter_mut() {
            StreamGroupMut::new(&self.items, group, &mut self.group_bytes).acknowledge(id);
        }
    }

    /// A deep copy.
    pub(crate) fn copy(&self) -> LargeStream {
        let groups = self.groups.clone();
        // What is copied has no room left.
        let group_bytes = groups.iter().map(|group| group.heap_bytes()).sum();
        let idempotence = self.idempotence.as_ref().map(|idempotence| Box::new(idempotence.copy()));
        LargeStream { items: self.items.copy(), groups, group_bytes, idempotence }
    }

    /// About how many allocations are freed with this.
    pub(crate) fn pieces(&self) -> usize {
        // Groups are many or large in rare cases only; then their memory tells how many pieces they are.
        let messages = self.idempotence.as_ref().map_or(0, |idempotence| idempotence.messages());
        self.items.nodes.len() + self.group_bytes / 1024 + messages
    }

    /// Frees about `budget` pieces. Returns true once the rest can be dropped at once.
    pub(crate) fn free_some(&mut self, budget: usize) -> bool {
        let mut freed = 0;
        while freed < budget && !self.items.nodes.is_empty() {
            freed += self.items.free_some();
        }
        while freed < budget
            && let Some(group) = self.groups.first()
        {
            let before = group.heap_bytes();
            let piece =
                self.groups.get_mut(self.groups.start()).and_then(|group| group.free_some());
            freed += piece.unwrap_or(1);
            match self.groups.first() {
                Some(group) if piece.is_some() => {
                    self.group_bytes = self.group_bytes + group.heap_bytes() - before;
                }
                _ => {
                    self.group_bytes -= before;
                    self.groups.pop_first();
                }
            }
        }
        while freed < budget
            && let Some(piece) = self.idempotence.as_mut().and_then(|one| one.free_some())
        {
            freed += piece;
        }
        self.items.nodes.is_empty()
            && self.groups.is_empty()
            && self.idempotence.as_ref().is_none_or(|one| one.producers() == 0)
    }

    /// # Panics
    ///
    /// When an invariant does not hold, with its name.
    pub(super) fn check(&self) {
        self.items.check();
        self.groups.check(|one, next| one.name() < next.name());
        self.groups.iter().for_each(|group| group.check());
        let bytes: usize = self.groups.iter().map(|group| group.heap_bytes()).sum();
        assert_eq!(bytes, self.group_bytes, "INV-GROUPS");
        if let Some(idempotence) = &self.idempotence {
            idempotence.check();
        }
    }
}
