// SPDX-License-Identifier: Apache-2.0
//! Members prefetched before they are read. Each is behind two cache misses, that of its slot and its own, and behind
//! a third where an index leads to it.

use super::{Id, Slab};
use crate::table::{Compact, Hashes, Table, hash_of};
use prefetch::Hint;

/// How many members ahead of the one that a walk is at are prefetched.
const AHEAD: usize = 16;

impl Slab {
    /// Prefetches the members that an index probably has under these hashes: its buckets, then the slots, then the
    /// members' own memory.
    pub(in crate::zset) fn prefetch_group(&self, index: &Table<Id, Compact>, hashes: &Hashes) {
        index.prefetch_group(hashes, |id| Hint::of(self.slot(id.slot())));
        hashes.iter().for_each(|hash| index.hint_by(*hash, |id| self.own_hint(*id)).fetch());
    }

    /// Adds a member to an index of all.
    pub(in crate::zset) fn index(&self, index: &mut Table<Id, Compact>, hash: u64, id: Id) {
        if index.insert_by(hash, id, |id| hash_of(self.member(*id))) {
            index.prefetch_split(0, |id| self.own_hint(*id));
            index.prefetch_split(1, |id| Hint::of(self.slot(id.slot())));
        }
    }

    /// The memory of a member that is not in its slot, which this reads.
    fn own_hint(&self, id: Id) -> Hint {
        Hint::of(self.member(id).first().unwrap_or(&0))
    }

    /// All members, in the order of their slots, each of them prefetched a few ahead.
    pub(in crate::zset) fn iter_ahead(&self) -> impl Iterator<Item = (&[u8], f64)> {
        let mut ahead = self.iter().skip(AHEAD);
        self.iter().map(move |(_, member, score)| {
            if let Some((_, member, _)) = ahead.next() {
                Hint::of(member.first().unwrap_or(&0)).fetch();
            }
            (member, score)
        })
    }
}
