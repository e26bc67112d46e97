// SPDX-License-Identifier: Apache-2.0
//! Another memory limit.

use super::{Flaw, ITEM_BYTES, SLOT_BYTES, Shared};
use crate::ResizeError;
use clock::Ticks;

/// Items that go in one turn at most.
const STEP: usize = 32;

impl Shared {
    pub(super) fn resize(&mut self, bytes: u64) -> Result<(), ResizeError> {
        let largest = self.limits.value_bytes + 250 + ITEM_BYTES + SLOT_BYTES;
        if bytes < largest && self.flaw != Flaw::TakesAnyLimit {
            return Err(ResizeError::TooSmall { least: largest });
        }
        if self.flaw != Flaw::ResizesLater {
            self.given_bytes = bytes;
            self.limits.memory_bytes = bytes;
        }
        Ok(())
    }

    pub(super) fn is_over(&self) -> bool {
        self.used_bytes() > self.limits.memory_bytes
    }

    /// Drops the oldest items that are too many, a few at a time.
    pub(super) fn shrink(&mut self, now: Ticks) {
        let step = match self.flaw {
            Flaw::ResizesAtOnce => usize::MAX,
            Flaw::ResizesNever => 0,
            _ => STEP,
        };
        for _ in 0..step {
            let Some(oldest) = self.ages.values().next().cloned().filter(|_| self.is_over()) else {
                return;
            };
            self.drop_item(&oldest, now);
        }
    }
}
