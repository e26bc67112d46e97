// SPDX-License-Identifier: Apache-2.0
//! [`Crowd`]: whether connections' buffers have too much memory for values to be collected in them.

use crate::parse::{WHOLE_MAX_CROWDED, WHOLE_MAX_PACKED};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};

/// How full the buffers are, from the fullest on.
const DEGREES: [Degree; 2] = [
    Degree { begin_part: 2, end_part: 4, whole_max: WHOLE_MAX_PACKED },
    Degree { begin_part: 8, end_part: 16, whole_max: WHOLE_MAX_CROWDED },
];

/// What it takes to be so full, and what follows.
#[derive(Debug)]
struct Degree {
    /// The part of the memory limit, as a divisor, above which buffers are so full, and that below which they are no more.
    begin_part: u64,
    end_part: u64,
    /// The largest value that is collected then.
    whole_max: usize,
}

/// Whether the buffers of all connections together have much memory: then values are taken in pieces that would be
/// collected whole otherwise, because pieces go to memory that counts as items', of which there is a bound.
///
/// The [service](crate::MemcacheService::crowd) knows it, and tells [codecs](crate::Memcache::crowd) with it. By default
/// there is none.
#[derive(Clone, Debug, Default)]
pub struct Crowd(Option<Arc<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    /// The largest value that is collected; 0: any, for nothing is crowded.
    whole_max: AtomicUsize,
    /// What the buffers of all workers have, in bytes.
    bytes: AtomicU64,
}

impl Crowd {
    /// One that may come.
    pub(crate) fn new() -> Self {
        Crowd(Some(Arc::default()))
    }

    /// Whether they are crowded.
    #[must_use]
    pub fn is_there(&self) -> bool {
        self.whole_max() != usize::MAX
    }

    /// The largest value that is collected.
    pub(crate) fn whole_max(&self) -> usize {
        match self.0.as_ref().map_or(0, |inner| inner.whole_max.load(Relaxed)) {
            0 => usize::MAX,
            whole_max => whole_max,
        }
    }

    /// Notes that the buffers of a worker, which had `before` bytes, have so many now. `limit` tells how many the store may
    /// have.
    pub(crate) fn note(&self, before: u64, now: u64, limit: u64) {
        let Some(inner) = &self.0 else { return };
        let change = now.wrapping_sub(before);
        let bytes = inner.bytes.fetch_add(change, Relaxed).wrapping_add(change);
        let before = self.whole_max();
        let degree = DEGREES.iter().find(|degree| {
            // Who is so full already, or fuller, stays so for longer.
            let part = if before <= degree.whole_max { degree.end_part } else { degree.begin_part };
            bytes > limit / part
        });
        inner.whole_max.store(degree.map_or(0, |degree| degree.whole_max), Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_begins_with_much_and_ends_with_little() {
        let (crowd, mut before) = (Crowd::new(), 0);
        let mut is_there = |now| {
            crowd.note(std::mem::replace(&mut before, now), now, 160);
            crowd.is_there()
        };
        assert_eq!(
            [0, 20, 21, 11, 20, 10, 20, 30].map(&mut is_there),
            [false, false, true, true, true, false, false, true]
        );
    }

    #[test]
    fn the_fuller_they_are_the_smaller_are_values_that_are_collected() {
        let (crowd, mut before) = (Crowd::new(), 0);
        let mut whole_max = |now| {
            crowd.note(std::mem::replace(&mut before, now), now, 160);
            crowd.whole_max()
        };
        let (any, crowded, packed) = (usize::MAX, WHOLE_MAX_CROWDED, WHOLE_MAX_PACKED);
        assert_eq!(
            [20, 80, 81, 41, 40, 80, 81, 11, 10, 100].map(&mut whole_max),
            [any, crowded, packed, packed, crowded, crowded, packed, crowded, any, packed]
        );
    }

    #[test]
    fn what_several_workers_have_adds_up() {
        let crowd = Crowd::new();
        let other = crowd.clone();
        crowd.note(0, 15, 160);
        other.note(0, 15, 160);
        assert!(crowd.is_there());
        crowd.note(15, 0, 160);
        assert!(other.is_there());
        other.note(15, 10, 160);
        assert!(!crowd.is_there());
    }
}
