// SPDX-License-Identifier: Apache-2.0
//! Values that arrive in pieces: collected outside of the store, and taken over as they are.

use crate::record::PIN_MIN;
use crate::store::HashMapStore;
use bytes::Bytes;
use clock::Ticks;
use storage::{Announced, Collected, Condition, Receive, Store, StoreError, Version};

/// A value that arrives is memory of its own, which the store does not count: its owner tells it to
/// [`Store::reserve`]. When it is committed, the item takes that memory over and nothing is copied. Values below
/// [`PIN_MIN`] bytes are copied, as in a put.
///
/// While it arrives, [`Store::expire`] sets its memory aside in steps. So a commit right after the end of its
/// reservation finds room. One without a reservation makes room by itself, and a value of 100 MB in the place of
/// small items is a long call.
impl Receive for HashMapStore {
    type Draft = Collected;

    fn begin(&mut self, announced: Announced<'_>, _: Ticks) -> Result<Collected, StoreError> {
        self.shared.common.check_size(announced.key.len(), announced.value_len)?;
        Ok(Collected::new(announced))
    }

    fn append(&mut self, draft: &mut Collected, piece: &[u8], _: Ticks) -> Result<(), StoreError> {
        draft.append(piece);
        Ok(())
    }

    fn commit(
        &mut self,
        mut draft: Collected,
        condition: Condition,
        now: Ticks,
    ) -> Result<Version, StoreError> {
        if draft.announced().value_len < PIN_MIN {
            return self.put(draft.put(condition), now);
        }
        let value = Bytes::from(draft.take_value());
        let mut put = draft.put(condition);
        put.value = &value;
        self.put_owned(&put, Some(&value), now)
    }
}
