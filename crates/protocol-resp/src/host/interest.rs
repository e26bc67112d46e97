// SPDX-License-Identifier: Apache-2.0
//! [`Interest`]: flags for whether any client watches keys, waits for keys, caches keys or subscribes to key
//! events.

use crate::host::events::Wanted;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Whether any client watches keys, waits for keys, caches keys, or gets key events.
///
/// Every command loads this once. A bit is set before its client relies on it: a client begins to watch, wait
/// for or cache a key under the lock of the key's shard, so the next writer of that key, which takes the same
/// lock later, sees the bit.
#[derive(Debug, Default)]
pub(crate) struct Interest(AtomicU32);

/// Which events are published: the bits below those of the flags.
const EVENTS: u32 = WATCHED - 1;

/// Some key is watched.
const WATCHED: u32 = 1 << 29;

/// Some client waits for a key.
const AWAITED: u32 = 1 << 30;

/// Some client caches keys.
const TRACKED: u32 = 1 << 31;

impl Interest {
    /// Whether any client is interested in changes of keys.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.0.load(Relaxed) != 0
    }

    /// Records whether any key is watched.
    pub(crate) fn set_watched(&self, on: bool) {
        self.set(WATCHED, on);
    }

    /// Records whether any client waits for a key.
    pub(crate) fn set_awaited(&self, on: bool) {
        self.set(AWAITED, on);
    }

    /// Records whether any client caches keys.
    pub(crate) fn set_tracked(&self, on: bool) {
        self.set(TRACKED, on);
    }

    /// Whether any client caches keys.
    #[inline]
    pub(crate) fn is_tracked(&self) -> bool {
        self.0.load(Relaxed) & TRACKED != 0
    }

    /// Whether any key is watched.
    #[inline]
    pub(crate) fn is_watched(&self) -> bool {
        self.0.load(Relaxed) & WATCHED != 0
    }

    /// Whether any client waits for a key.
    #[inline]
    pub(crate) fn is_awaited(&self) -> bool {
        self.0.load(Relaxed) & AWAITED != 0
    }

    /// Which events are published.
    pub(crate) fn wanted(&self) -> Wanted {
        Wanted::from_bits(self.0.load(Relaxed) & EVENTS)
    }

    /// Changes which events are published: none, unless a kind of channel is selected to publish
    /// them on.
    pub(crate) fn want(&self, wanted: Wanted) {
        let bits = if wanted.is_any() { wanted.bits() } else { 0 };
        let keep = |old: u32| Some(old & !EVENTS | bits);
        // The function always returns a value, so the update always takes place.
        let _ = self.0.fetch_update(Relaxed, Relaxed, keep);
    }

    fn set(&self, bit: u32, on: bool) {
        if on {
            self.0.fetch_or(bit, Relaxed);
        } else {
            self.0.fetch_and(!bit, Relaxed);
        }
    }
}
