// SPDX-License-Identifier: Apache-2.0
//! [`Stage`]: how far a prefetch goes.

/// How far a prefetch goes: each stage needs what the one before it brought.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Memory whose address follows from the request alone: the place in an index that the hash of a
    /// key leads to.
    Index,
    /// Memory whose address is found in what [`Stage::Index`] brought: the item.
    Item,
    /// Memory whose address is found in what [`Stage::Item`] brought: the item's key and value, where
    /// they lie apart from what the index leads to.
    Value,
}

impl Stage {
    /// All stages, in the order in which they are gone through.
    pub const ALL: [Stage; 3] = [Stage::Index, Stage::Item, Stage::Value];
}
