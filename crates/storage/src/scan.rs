// SPDX-License-Identifier: Apache-2.0
//! [`Scan`]: a walk over all items in steps, and the [`Cursor`] that it goes on from.

use crate::Store;
use clock::Ticks;

/// The position of a [`Scan`] between two steps: a number that a client may keep and hand back.
///
/// It holds no resource of the engine. It stays valid however the items and the index change
/// meanwhile, and any number is valid: a cursor that no scan has returned means some place of the
/// walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Cursor(u64);

impl Cursor {
    /// The beginning of the walk. No step ends here.
    pub const START: Cursor = Cursor(0);

    /// The cursor with this number.
    pub const fn new(number: u64) -> Self {
        Cursor(number)
    }

    /// The number to show to a client.
    pub const fn get(self) -> u64 {
        self.0
    }
}

/// An engine that can show all its items, for dumps, warm-up and commands such as `SCAN`.
///
/// A separate trait, since not every engine can do this: a service that needs it requires it in its
/// type.
///
/// ```
/// use clock::Ticks;
/// use storage::{Cursor, Item, Scan};
///
/// /// Bytes of all values. A server takes one step per turn of its loop instead.
/// fn value_bytes(store: &mut impl Scan, now: Ticks) -> usize {
///     let mut bytes = 0;
///     let mut next = Some(Cursor::START);
///     while let Some(cursor) = next {
///         next = store.scan(cursor, 64, now, |item| bytes += item.value().len());
///     }
///     bytes
/// }
/// ```
pub trait Scan: Store {
    /// Takes a step of a walk over all items: calls `see` with live items and returns where to go
    /// on, or `None` at the end.
    ///
    /// The guarantee is that of Redis's `SCAN`. An item that is live from the first step of a walk to
    /// its last is seen at least once, also when it is overwritten or moved meanwhile; it may be seen
    /// more than once. An item that comes or goes meanwhile may be seen or not. No item is seen that
    /// is dead when the step is taken. As long as the number of items is bounded, the walk ends.
    ///
    /// `budget` bounds the work: it is the number of index places to visit, empty or not, at least
    /// one. Items that lie together in the index are shown together, so a step may show more than
    /// `budget` items, but fewer than 64 more.
    ///
    /// Being seen does not count as use: it keeps no item from eviction.
    fn scan(
        &mut self,
        cursor: Cursor,
        budget: usize,
        now: Ticks,
        see: impl FnMut(Self::Item<'_>),
    ) -> Option<Cursor>;
}
