// SPDX-License-Identifier: Apache-2.0
//! What a store knows of an item besides its content: [`Marks`] that clients set, and [`Idle`], how long nobody has
//! used it.

use std::time::Duration;

/// Marks on an item, by which clients agree on who fetches a value anew.
///
/// A mark belongs to the value: writing another one removes it, unless the write says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Marks {
    /// The value is out of date. It may still be read.
    pub stale: bool,
    /// One client has been told to fetch the value anew.
    pub claimed: bool,
}

impl Marks {
    /// No marks.
    pub const NONE: Marks = Marks { stale: false, claimed: false };
}

/// How long ago an item was last read or written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Idle {
    /// By the time that the engine keeps with the item, precise to a second at best.
    Noted(Duration),
    /// An estimate: the engine notes nothing for this item, see [`Amend::timed`](crate::Amend::timed).
    Estimated(Duration),
}

impl Idle {
    /// The time, however well it is known.
    #[must_use]
    pub const fn duration(self) -> Duration {
        match self {
            Idle::Noted(duration) | Idle::Estimated(duration) => duration,
        }
    }
}
