// SPDX-License-Identifier: Apache-2.0
//! How many items a consumer group has read, and how many it has not.
//!
//! Ids do not tell how many items are between them once some were deleted. What is not known is `None`.

use super::StreamId;
use super::items::Items;
use std::cmp::Ordering;

impl Items {
    /// Whether an item may have been deleted behind `id`, and not merely trimmed.
    fn has_gaps_behind(&self, id: StreamId) -> bool {
        self.len > 0
            && self.max_deleted_id != StreamId::MIN
            && self.first_id() <= self.max_deleted_id
            && id <= self.max_deleted_id
    }

    /// How many items had been added up to this id, if that is known.
    pub(super) fn count_up_to(&self, id: StreamId) -> Option<u64> {
        if self.added == 0 {
            return Some(0);
        }
        if (self.len == 0 && id < self.last_id) || id == self.last_id {
            return Some(self.added);
        }
        if id > self.last_id {
            return None;
        }
        let (first, gone) = (self.first_id(), self.max_deleted_id);
        let before = self.added.saturating_sub(self.len as u64);
        match id.cmp(&first) {
            _ if gone != StreamId::MIN && gone >= first => None,
            Ordering::Less => Some(before),
            Ordering::Equal => Some(before + 1),
            Ordering::Greater => None,
        }
    }

    /// What a group has read when it has read the item `id`, and had read `read` items up to the item
    /// `before`.
    pub(super) fn count_read(
        &self,
        read: Option<u64>,
        before: StreamId,
        id: StreamId,
    ) -> Option<u64> {
        match read {
            Some(read) if before >= self.first_id() && !self.has_gaps_behind(before) => {
                Some(read.saturating_add(1))
            }
            _ => self.count_up_to(id),
        }
    }

    /// How many items are behind `last_id`, of a group that has read `read` items, if that is known.
    pub(super) fn lag(&self, last_id: StreamId, read: Option<u64>) -> Option<i64> {
        if self.len == 0 {
            return Some(0);
        }
        let read = match read {
            // Of one that is before the first item it is known whatever a client has said of it.
            Some(read) if last_id >= self.first_id() && !self.has_gaps_behind(last_id) => read,
            _ => self.count_up_to(last_id)?,
        };
        Some(self.added.wrapping_sub(read) as i64)
    }
}
