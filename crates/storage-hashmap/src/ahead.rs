// SPDX-License-Identifier: Apache-2.0
//! [`Ahead`]: what a handle has asked the CPU for and looks at again a few keys later.
//!
//! Three memories depend on each other: head, entry, record. The contract has two stages. So the
//! second stage asks for a key's entry and, in the same call, for the record of the key of
//! [`LAG`] calls ago, whose entry has arrived by then.
//!
//! ```text
//!  Stage::Index  key i: ask for its head
//!  Stage::Item   key i: read its head, ask for its entry;  key i - LAG: read its entry, ask for
//!                its record
//! ```

use crate::hash::Hash;
use crate::shard::Shard;
use crate::slab::NONE;
use std::cell::Cell;

/// How many keys lie between asking for an entry and reading it.
const LAG: usize = 8;

/// An entry that is on its way from memory.
#[derive(Clone, Copy, Debug)]
struct Pending {
    hash: Hash,
    slot: u32,
}

/// The last few entries asked for. Each handle has its own.
#[derive(Clone, Debug)]
pub(crate) struct Ahead {
    pending: [Cell<Pending>; LAG],
    turn: Cell<usize>,
}

/// A key whose entry has arrived: its record can be asked for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived(Pending);

impl Ahead {
    pub(crate) fn new() -> Self {
        let nothing = Pending { hash: Hash { shard: 0, tag: 0 }, slot: NONE };
        Ahead { pending: std::array::from_fn(|_| Cell::new(nothing)), turn: Cell::new(0) }
    }

    /// Asks for a key's entry. Returns the key of [`LAG`] calls ago.
    #[inline]
    pub(crate) fn ask(&self, hash: Hash, shard: &Shard) -> Option<Arrived> {
        let slot = *shard.heads.head(shard.heads.bucket(hash.tag));
        if slot != NONE {
            storage::prefetch::read(shard.slab.entry(slot));
        }
        let turn = self.turn.get();
        self.turn.set((turn + 1) % LAG);
        let arrived = self.pending[turn].replace(Pending { hash, slot });
        (arrived.slot != NONE).then_some(Arrived(arrived))
    }
}

impl Arrived {
    /// The shard in which the key lives.
    pub(crate) fn shard(self) -> usize {
        self.0.hash.shard
    }

    /// Asks for the key's record, or for the next entry when the first of the chain is another
    /// key's. The entry may have changed hands since: then it asks in vain.
    #[inline]
    pub(crate) fn ask_on(self, shard: &Shard) {
        let Some(entry) = shard.slab.find_entry(self.0.slot) else { return };
        if entry.tag == self.0.hash.tag {
            entry.record.prefetch();
        } else if let Some(next) = shard.slab.find_entry(entry.next()) {
            storage::prefetch::read(next);
        }
    }
}
