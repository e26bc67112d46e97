// SPDX-License-Identifier: Apache-2.0
//! [`Stage`]: how far a prefetch goes.

/// How far a prefetch goes: each stage reads memory that the stage before it prefetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Memory whose address follows from the request alone: the place in an index for the hash of a
    /// key.
    Index,
    /// Memory whose address is stored in the memory of [`Stage::Index`]: the item.
    Item,
    /// Memory whose address is stored in the memory of [`Stage::Item`]: the item's key and value, if
    /// they lie apart from the item that the index points to.
    Value,
}

impl Stage {
    /// All stages, in the order in which they are gone through.
    pub const ALL: [Stage; 3] = [Stage::Index, Stage::Item, Stage::Value];
}
