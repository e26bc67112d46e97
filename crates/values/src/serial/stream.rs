// SPDX-License-Identifier: Apache-2.0
//! Streams.
//!
//! ```text
//!  pieces │ piece … │ items │ last id │ first id │ greatest deleted id │ added │ groups │ group …
//!  piece:    id of 16 bytes │ listpack
//!  group:    name │ last id │ read │ pending │ (id of 16 bytes, time, deliveries) … │ consumers │ consumer …
//!  consumer: name │ seen │ active │ pending │ id of 16 bytes …
//! ```
//!
//! The first version (15) lacks what lies between the last id and the groups, and how much a group has read; the
//! second (19) lacks when a consumer last got something. The listpack of a piece is this; ids are differences to that
//! of the piece, and flag 1 is of an item that is deleted:
//!
//! ```text
//!  items │ deleted │ fields │ field … │ 0 │ item …
//!  item: flags 2 │ ms │ seq │ value … │ elements          with the fields of the piece
//!        flags 0 │ ms │ seq │ pairs │ field, value … │ elements
//! ```
//!
//! * `stream/read.rs`, `stream/write.rs`: a stream and its items. `stream/gone.rs`: items that were deleted.
//!   `stream/groups.rs`: consumer groups.

mod gone;
mod groups;
mod read;
mod write;

pub(super) use read::read;

use super::types;

/// The flags of an item.
const DELETED: i64 = 1;
const SAME_FIELDS: i64 = 2;

/// What follows `added` if it is not known.
const UNKNOWN: u64 = u64::MAX;

/// What a version of the form has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Form {
    First,
    /// Counters, and how much groups have read.
    Counters,
    /// Also when consumers last got something.
    Active,
}

impl Form {
    fn of(kind: u8) -> Self {
        match kind {
            types::STREAM => Form::First,
            types::STREAM_COUNTERS => Form::Counters,
            _ => Form::Active,
        }
    }
}
