// SPDX-License-Identifier: Apache-2.0
//! Values in pieces. They are counted in the store's memory as they arrive.

use super::{Flaw, Reference, Shared};
use crate::{Announced, Collected, Condition, Draft, Put, Receive, Store, StoreError, Version};
use clock::Ticks;
use std::sync::{Arc, Mutex, PoisonError};

#[derive(Debug)]
pub(in crate::conformance) struct Arriving {
    collected: Collected,
    shared: Arc<Mutex<Shared>>,
    generation: u64,
    /// What the store counts for it.
    counted: u64,
}

impl Draft for Arriving {
    fn outside_bytes(&self) -> usize {
        0
    }
}

impl Drop for Arriving {
    fn drop(&mut self) {
        let mut shared = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        if shared.flaw != Flaw::DraftLeaks {
            shared.draft_bytes -= self.counted;
        }
    }
}

impl Receive for Reference {
    type Draft = Arriving;

    fn begin(&mut self, announced: Announced<'_>, _: Ticks) -> Result<Arriving, StoreError> {
        let shared = self.enter();
        if announced.value_len as u64 > shared.limits.value_bytes {
            return Err(StoreError::TooLarge);
        }
        Ok(Arriving {
            collected: Collected::new(announced),
            shared: Arc::clone(&self.shared),
            generation: shared.generation,
            counted: 0,
        })
    }

    fn append(&mut self, draft: &mut Arriving, piece: &[u8], now: Ticks) -> Result<(), StoreError> {
        let mut shared = self.enter_write();
        let bytes = piece.len() as u64;
        shared.make_room(bytes, now)?;
        shared.draft_bytes += bytes;
        draft.counted += bytes;
        draft.collected.append(piece);
        if self.flaw == Flaw::DraftIsRead && bytes > 0 {
            let key = draft.collected.announced().key;
            shared.write(Put::new(key, piece), now)?;
        }
        Ok(())
    }

    fn commit(
        &mut self,
        draft: Arriving,
        condition: Condition,
        now: Ticks,
    ) -> Result<Version, StoreError> {
        let is_old = draft.generation != self.lock().generation;
        let ignored = self.flaw == Flaw::DraftIgnoresCondition;
        let condition = if ignored { Condition::Always } else { condition };
        let collected = draft.collected.clone();
        // Its memory is that of the item now.
        drop(draft);
        let put = collected.put(condition);
        let flags = if self.flaw == Flaw::DraftForgetsFlags { 0 } else { put.flags };
        let version = self.put(put.flags(flags), now)?;
        if is_old && self.flaw == Flaw::DraftIsCleared {
            self.delete(put.key, now);
        }
        Ok(version)
    }
}
