// SPDX-License-Identifier: Apache-2.0
//! The walk over all items, in the order of their keys' hashes. A cursor is a hash, so it stays valid
//! when the index changes its size and when items move between segments.

use crate::index::Location;
use crate::item::SegItem;
use crate::store::SegStore;
use clock::Ticks;
use storage::{Cursor, Scan};

/// Places of the index that a home stands for.
const PLACES: usize = 8;

impl Scan for SegStore {
    /// Reads the index in order and the items wherever they are. In a store with checksums, items that
    /// do not match theirs are left out.
    fn scan(
        &mut self,
        cursor: Cursor,
        budget: usize,
        now: Ticks,
        mut see: impl FnMut(SegItem<'_>),
    ) -> Option<Cursor> {
        self.turn.enter();
        let (shared, turn) = (&self.shared, &self.turn);
        let (mut hash, mut looked_at) = (cursor.get(), 0_usize);
        loop {
            let mut entries = 0;
            let next = shared.index.scan(hash, 1, |location: Location, _| {
                entries += 1;
                let item = shared.item(turn, location);
                let live = SegItem::live(shared, turn, item, location, now);
                if let Some(live) = live
                    && (!shared.settings.integrity || item.checksum_ok())
                {
                    see(live);
                }
            });
            hash = next?;
            looked_at += PLACES.max(entries);
            if looked_at >= budget {
                return Some(Cursor::new(hash));
            }
        }
    }
}
