// SPDX-License-Identifier: Apache-2.0
//! How large a node is as a listpack of Redis, which decides when it takes no more items.
//!
//! ```text
//!  items │ deleted │ pairs │ field … │ 0 │ item …          INV-SIZE: all from `pairs` on is a node's `size`
//!  item:
//!  │ flags │ ms │ seq │ value … │ elements                 an item with the fields of the node
//!  │ flags │ ms │ seq │ pairs │ field, value … │ elements  an item with other fields
//! ```
//!
//! `ms` and `seq` are differences to the node's first id. An item that is deleted stays in a listpack, so it
//! goes on to count.

use super::StreamId;
use crate::listpack::{self, integer_len};

/// The flags of an item, which all take the same.
const FLAGS: i64 = 0;

/// What so many fields of a node take besides their texts.
pub(super) fn fields_frame(pairs: usize) -> usize {
    integer_len(pairs as i64) + integer_len(0)
}

/// What an item takes besides its texts.
pub(crate) fn item_frame(first: StreamId, id: StreamId, pairs: usize, is_same: bool) -> usize {
    let (own, elements) =
        if is_same { (0, pairs + 3) } else { (integer_len(pairs as i64), 2 * pairs + 4) };
    integer_len(FLAGS)
        + integer_len(id.ms.wrapping_sub(first.ms) as i64)
        + integer_len(id.seq.wrapping_sub(first.seq) as i64)
        + own
        + integer_len(elements as i64)
}

/// What a node takes besides its `size`.
pub(super) fn node_frame(live: u16, deleted: u16) -> usize {
    listpack::HEAD + integer_len(live.into()) + integer_len(deleted.into())
}
