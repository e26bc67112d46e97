// SPDX-License-Identifier: Apache-2.0
//! How far the hands of all shards have gone, and with that, which shard has the oldest items.
//!
//! A hand that is behind stands before items which others of their age have been dropped for. So memory is taken
//! where the hand is furthest behind, and all hands go round at one pace, as if they were the one hand of one table.
//! Equal bytes from each shard would not do: one with a large item has few others to give, so its hand would soon
//! be round and drop that item long before its time.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The way of a hand that has gone round once.
const ROUND: u64 = 1 << 32;

/// A shard takes from others, or gives to them, when its hand is so far ahead or behind.
pub(crate) const LEEWAY: i64 = ROUND as i64 / 8;

/// Hands tell when they have gone so far, which keeps the lines of [`Hands`] in the caches of all CPUs.
const TOLD: u64 = ROUND / 64;

/// The way of a hand that has no item before it.
const NOTHING: u64 = u64::MAX;

/// What the hands of all shards have told of their ways, in parts of a [`ROUND`]. It may be a little old.
#[derive(Debug)]
pub(crate) struct Hands(Box<[AtomicU64]>);

impl Hands {
    pub(crate) fn new(shards: u64) -> Self {
        Hands((0..shards).map(|_| AtomicU64::new(NOTHING)).collect())
    }

    /// The shard whose items are oldest, but not this one.
    pub(crate) fn furthest_behind(&self, except: Option<usize>) -> usize {
        let ways = self.0.iter().map(|way| way.load(Relaxed)).enumerate();
        let others = ways.filter(|&(shard, _)| Some(shard) != except);
        others.min_by_key(|&(_, way)| way).map_or(0, |(shard, _)| shard)
    }

    /// The way of the hand that has gone furthest: where one begins that has had no items.
    pub(crate) fn furthest_ahead(&self) -> u64 {
        let ways = self.0.iter().map(|way| way.load(Relaxed));
        ways.filter(|&way| way != NOTHING).max().unwrap_or(0)
    }
}

/// The hand of one shard: how far it has gone, beside the slot it stands at.
#[derive(Debug)]
pub(crate) struct Hand {
    /// The slot that eviction looks at next.
    pub(crate) slot: u32,
    way: u64,
    told: u64,
    /// The shard to compare with next.
    other: usize,
}

impl Hand {
    pub(crate) const START: Hand = Hand { slot: 0, way: 0, told: NOTHING, other: 0 };

    /// Goes past an item of `live`.
    #[inline]
    pub(crate) fn pass(&mut self, live: u32) {
        self.way += ROUND / u64::from(live);
    }

    /// The first item has come to a shard without any: it is as new as any is.
    #[cold]
    pub(crate) fn begin(&mut self, hands: &Hands, shard: usize) {
        self.way = self.way.max(hands.furthest_ahead());
        self.tell(hands, shard, 1);
    }

    /// Tells others how far the hand has gone, unless they know about as much. `live` items are left.
    pub(crate) fn tell(&mut self, hands: &Hands, shard: usize, live: u32) {
        let way = if live == 0 { NOTHING } else { self.way };
        if way.abs_diff(self.told) >= TOLD {
            self.told = way;
            hands.0[shard].store(way, Relaxed);
        }
    }

    /// How far this hand is ahead of another one, or behind it if that is negative. It is another one each time.
    #[inline]
    pub(crate) fn lead(&mut self, hands: &Hands) -> i64 {
        // The number of shards is a power of two.
        self.other = (self.other + 1) & (hands.0.len() - 1);
        match hands.0[self.other].load(Relaxed) {
            NOTHING => 0,
            way => self.way.wrapping_sub(way) as i64,
        }
    }
}
