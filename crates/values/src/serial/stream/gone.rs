// SPDX-License-Identifier: Apache-2.0
//! Items that were deleted from a piece.
//!
//! They count when it is decided whether a piece takes another item, so a piece tells how many they are and how
//! large they were in all. What was in them is not known any more: they are written empty, but for one that is
//! filled up, as far as it matters: at some size a piece takes no more items, whatever the limits say, and the form is
//! not to be larger than what keeps it so, for the number is all that is kept of them here. They stand in front of the other items, except that one which was the last of its piece still is,
//! for the last one tells where a piece ends.

use super::super::listpack_writer::ListpackWriter;
use super::write::elements;
use super::{DELETED, SAME_FIELDS};
use crate::StreamId;
use crate::listpack::string_len;
use crate::stream::{NODE_BYTES_MAX, Node, item_frame};

/// What a pair takes of which both texts are empty.
const EMPTY_PAIR: usize = 4;

/// The items that were deleted from a piece.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gone<'a> {
    node: &'a Node,
    /// How many stand in front.
    in_front: usize,
    /// The id of the last one of the piece, if that was deleted.
    last: Option<StreamId>,
    /// How many bytes they take beyond those of empty ones.
    spare: usize,
}

impl<'a> Gone<'a> {
    pub(super) fn of(node: &'a Node) -> Self {
        let deleted = usize::from(node.deleted());
        if deleted == 0 {
            return Gone { node, in_front: 0, last: None, spare: 0 };
        }
        let is_last = node.items().last().is_none_or(|item| item.id < node.last);
        let last = is_last.then_some(node.last);
        let in_front = deleted.saturating_sub(usize::from(is_last));
        let empty = |id| item_frame(node.first, id, 0, false);
        let least =
            in_front.saturating_mul(empty(node.first)).saturating_add(last.map_or(0, empty));
        let len = node.deleted_len().min(NODE_BYTES_MAX);
        Gone { node, in_front, last, spare: len.saturating_sub(least) }
    }

    /// Writes those that stand in front.
    pub(super) fn write_front(self, pack: &mut ListpackWriter) {
        let mut spare = self.spare;
        for _ in 0..self.in_front {
            self.filled(pack, self.node.first, spare);
            spare = 0;
        }
    }

    /// Writes the last one of the piece, if that was deleted.
    pub(super) fn write_last(self, pack: &mut ListpackWriter) {
        if let Some(last) = self.last {
            self.filled(pack, last, if self.in_front == 0 { self.spare } else { 0 });
        }
    }

    /// Writes one that takes so many bytes more than an empty one. An item that was there takes fewer than a pair
    /// only if it has one or two values for the fields of the piece.
    fn filled(self, pack: &mut ListpackWriter, id: StreamId, spare: usize) {
        let values = self.node.fields().len();
        let (flags, pairs, texts) = match (values, spare) {
            (_, EMPTY_PAIR..) => {
                let (field, value) = padding(spare);
                (DELETED, 1, [Some(field), Some(value)])
            }
            (1, _) => (DELETED | SAME_FIELDS, 1, [Some(spare), None]),
            (2, 2..) => (DELETED | SAME_FIELDS, 2, [Some(spare.saturating_sub(2)), Some(0)]),
            _ => (DELETED, 0, [None, None]),
        };
        pack.integer(flags);
        pack.integer(id.ms.wrapping_sub(self.node.first.ms) as i64);
        pack.integer(id.seq.wrapping_sub(self.node.first.seq) as i64);
        let is_same = flags & SAME_FIELDS != 0;
        if !is_same {
            pack.integer(pairs);
        }
        texts.into_iter().flatten().for_each(|len| pack.text("x".repeat(len).as_bytes()));
        pack.integer(elements(is_same, pairs));
    }
}

/// The lengths of two texts that take so many bytes together.
fn padding(bytes: usize) -> (usize, usize) {
    // Where the length of a text begins to take more bytes, there are sizes that no text has.
    let fitting = (0..EMPTY_PAIR).find_map(|field| {
        let wanted = bytes.checked_sub(string_len(field))?;
        let value = (2..=10).filter_map(|frame| wanted.checked_sub(frame));
        value.into_iter().find(|value| string_len(*value) == wanted).map(|value| (field, value))
    });
    fitting.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_texts_take_any_number_of_bytes() {
        let around = |middle: usize| middle - 40..middle + 40;
        for bytes in (EMPTY_PAIR..9_000).chain(around(16_383)).chain(around(2_097_151)) {
            let (field, value) = padding(bytes);
            assert_eq!(string_len(field) + string_len(value), bytes);
        }
    }
}
