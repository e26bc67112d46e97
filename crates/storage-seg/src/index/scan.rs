// SPDX-License-Identifier: Apache-2.0
//! Walks over the entries, and statistics about them.

use super::Index;
use super::slot::Location;
use super::table::Probe;
use crate::sync::atomic::Ordering::Acquire;
use crate::sync::atomic::fence;
use once_cell::race::OnceBox;

/// Statistics of a sample of the homes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Census {
    /// Homes looked at.
    pub(crate) homes: usize,
    /// Entries of these homes.
    pub(crate) entries: usize,
    /// Those of them that are not in the home bucket.
    pub(crate) displaced: usize,
    /// Ghosts in the home buckets.
    pub(crate) ghosts: usize,
    /// Buckets that a search for an absent key reads, summed over the homes.
    pub(crate) lines: usize,
}

impl Index {
    /// Calls `f` with location and frequency of the entries of the next homes, in the order of
    /// their hashes, beginning with hash `cursor`. Returns the cursor to go on with, or `None`
    /// after the last home.
    ///
    /// The cursor is a hash, so it stays valid when the index grows. An entry that is in the index
    /// from the first call, with cursor 0, to the last is met at least once, and exactly once if
    /// nobody writes.
    pub(crate) fn scan(
        &self,
        cursor: u64,
        homes: usize,
        mut f: impl FnMut(Location, u8),
    ) -> Option<u64> {
        let mut cursor = cursor;
        for _ in 0..homes.max(1) {
            let (probe, end) = self.stretch(cursor);
            // Look again if an entry may have been drawn in unseen. INV-INWARD.
            loop {
                let drawn = probe.table.drawn();
                probe.entries().for_each(|entry| f(entry.location(), entry.frequency()));
                fence(Acquire);
                if probe.table.drawn() == drawn {
                    break;
                }
            }
            cursor = u64::try_from(end).ok()?;
        }
        Some(cursor)
    }

    /// The home of a hash, and the first hash after it that belongs elsewhere.
    fn stretch(&self, hash: u64) -> (Probe<'_>, u128) {
        let mut limit = 1 << u64::BITS;
        let mut generation = self.current.load(Acquire);
        loop {
            let table = self.table(generation);
            let (home, moved) = (table.home(hash), table.moved());
            if home >= moved {
                let end = table.first_hash(home + 1).min(limit);
                return (Probe::new(table, hash, self.sharing), end);
            }
            // The home in the next table may have hashes beyond the watermark, whose entries are
            // still in this one.
            limit = limit.min(table.first_hash(moved));
            generation += 1;
        }
    }

    /// Calls `f` with location and frequency of all entries. See [`Index::scan`].
    pub(crate) fn for_each(&self, mut f: impl FnMut(Location, u8)) {
        let mut cursor = Some(0);
        while let Some(hash) = cursor {
            cursor = self.scan(hash, 1, &mut f);
        }
    }

    /// Samples about `homes` homes, evenly spread.
    pub(crate) fn census(&self, homes: usize) -> Census {
        let homes = homes.clamp(1, self.buckets());
        let mut census = Census { homes, ..Census::default() };
        for number in 0..homes {
            let hash = ((number as u128) << u64::BITS) / homes as u128;
            let probe = self.probe(hash as u64);
            for entry in probe.entries() {
                census.entries += 1;
                census.displaced += usize::from(entry.seen.displacement() > 0);
            }
            census.ghosts += probe.bucket(0).ghosts();
            census.lines += 1 + probe.bucket(0).reach();
        }
        census
    }

    /// The most bytes of memory that the index takes. While growing, that is the filled part of the
    /// next table and the part of the old one that is not given back.
    pub(crate) fn bytes(&self) -> u64 {
        let mut bytes = 0;
        // Hashes from here on have not reached the table.
        let mut limit = 1_u128 << u64::BITS;
        let first = self.current.load(Acquire).saturating_sub(1);
        for table in self.tables[first..].iter().map_while(OnceBox::get) {
            bytes += table.bytes_below(limit).saturating_sub(table.released()) as u64;
            limit = table.first_hash(table.moved());
        }
        bytes
    }
}
