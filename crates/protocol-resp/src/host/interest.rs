// SPDX-License-Identifier: Apache-2.0
//! [`Interest`]: flags that say whether anybody watches keys, waits for keys or listens to events of keys.

use crate::host::events::Wanted;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// Whether keys are watched, waited for, or listened to.
///
/// One load on the path of each write. A bit is set before its holder relies on it: a key is watched
/// or waited for under the lock of its shard, so the next writer of that key, who takes that lock
/// after it, sees the bit.
#[derive(Debug, Default)]
pub(crate) struct Interest(AtomicU32);

/// Some key is watched.
const WATCHED: u32 = 1 << 16;

/// Some client waits for a key.
const AWAITED: u32 = 1 << 17;

impl Interest {
    /// Whether a change of a key interests anybody.
    #[inline]
    pub(crate) fn any(&self) -> bool {
        self.0.load(Relaxed) != 0
    }

    /// Notes whether any key is watched.
    pub(crate) fn set_watched(&self, on: bool) {
        self.set(WATCHED, on);
    }

    /// Notes whether any client waits for a key.
    pub(crate) fn set_awaited(&self, on: bool) {
        self.set(AWAITED, on);
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

    /// Which events are told.
    pub(crate) fn wanted(&self) -> Wanted {
        Wanted::from_bits(self.0.load(Relaxed) as u16)
    }

    /// Changes which events are told. None without the channels to tell them on.
    pub(crate) fn want(&self, wanted: Wanted) {
        let bits = if wanted.is_any() { u32::from(wanted.bits()) } else { 0 };
        let keep = |old: u32| Some(old & !0xffff | bits);
        // The function always has an answer, so the update always takes place.
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
