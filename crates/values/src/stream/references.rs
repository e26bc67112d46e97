// SPDX-License-Identifier: Apache-2.0
//! Items that consumer groups still need, when items are removed.

use super::StreamId;
use super::large::LargeStream;
use super::trim::{Trim, TrimTo};

/// What becomes of an item that is to be removed, and of what consumer groups know of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum References {
    /// It is removed, and groups go on to know it as not acknowledged.
    #[default]
    Keep,
    /// It is removed, and groups forget it.
    Delete,
    /// It is removed if all groups have read and acknowledged it, and stays otherwise.
    Acknowledged,
}

/// The outcome of removing an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Removed {
    /// It is gone.
    Yes,
    /// There is no such item.
    Missing,
    /// A group has not read or not acknowledged it yet.
    Needed,
}

impl LargeStream {
    /// Whether a group has not read or not acknowledged the item.
    fn is_needed(&self, id: StreamId) -> bool {
        self.groups.iter().any(|group| group.last_id() < id || group.find(id).is_some())
    }

    /// The greatest id that all groups have read.
    fn read_by_all(&self) -> StreamId {
        self.groups.iter().map(|group| group.last_id()).min().unwrap_or(StreamId::MAX)
    }

    /// Removes an item.
    pub(super) fn remove(&mut self, id: StreamId, references: References) -> Removed {
        if references == References::Delete {
            self.forget(id);
        }
        if references == References::Acknowledged
            && self.items.get(id).is_some()
            && self.is_needed(id)
        {
            return Removed::Needed;
        }
        if !self.items.remove(id) {
            return Removed::Missing;
        }
        self.items.max_deleted_id = self.items.max_deleted_id.max(id);
        Removed::Yes
    }

    /// Removes the oldest items; returns how many.
    pub(super) fn trim(&mut self, trim: &Trim) -> usize {
        match trim.references {
            References::Keep => self.items.trim(trim),
            References::Delete => self.trim_each(trim, StreamId::MAX),
            References::Acknowledged => self.trim_each(trim, self.read_by_all()),
        }
    }

    /// Removes the oldest items one by one, none behind `end`, and leaves those that groups need or makes them
    /// forget them.
    fn trim_each(&mut self, trim: &Trim, end: StreamId) -> usize {
        let before = self.items.len;
        let (mut next, mut looked_at, mut has_left) = (Some(StreamId::MIN), 0, false);
        while let Some(start) = next.filter(|start| *start <= end) {
            let place = self.items.place(start);
            let Some(node) = self.items.nodes.get(place).filter(|_| !trim.is_done(&self.items))
            else {
                break;
            };
            looked_at += usize::from(node.live);
            let is_whole = trim.takes(&self.items, node);
            if trim.limit.is_some_and(|limit| looked_at > limit) || trim.by_nodes && !is_whole {
                break;
            }
            next = node.last.next();
            let ids: Vec<StreamId> = node.items().map(|item| item.id).collect();
            for id in ids {
                if trim.is_done(&self.items) || matches!(trim.to, TrimTo::Id(min) if id >= min) {
                    return before - self.items.len;
                }
                if trim.references == References::Delete {
                    self.forget(id);
                } else if self.is_needed(id) {
                    has_left = true;
                    continue;
                }
                self.items.remove(id);
                if has_left {
                    // It leaves a gap between items that stay.
                    self.items.max_deleted_id = self.items.max_deleted_id.max(id);
                }
            }
        }
        before - self.items.len
    }
}
