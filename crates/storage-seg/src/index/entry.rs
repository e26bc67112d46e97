// SPDX-License-Identifier: Apache-2.0
//! [`Entry`]: an entry that was found.

use super::bucket::Sharing;
use super::slot::{Location, Slot};
use crate::sync::atomic::AtomicU64;

/// An entry as it was when found.
///
/// Only the holder of the home's lock can rely on it staying so. For others it may have been
/// replaced or removed since, but the item at its location stays until they pass a quiescent state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Entry<'a> {
    pub(super) slot: &'a AtomicU64,
    pub(super) seen: Slot,
    pub(super) location: Location,
    pub(super) sharing: Sharing,
}

impl Entry<'_> {
    /// Where the item is.
    #[inline]
    pub(crate) fn location(&self) -> Location {
        self.location
    }

    #[inline]
    pub(crate) fn frequency(&self) -> u8 {
        self.seen.frequency()
    }

    /// Writes another frequency, unless the slot has changed meanwhile: a count lost now and then
    /// does no harm. One attempt of compare-exchange, or a store when exclusive.
    #[inline]
    pub(crate) fn set_frequency(&self, frequency: u8) {
        self.sharing.exchange(self.slot, self.seen, self.seen.with_frequency(frequency));
    }
}
