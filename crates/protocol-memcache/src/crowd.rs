// SPDX-License-Identifier: Apache-2.0
//! [`Crowd`]: whether connections' buffers have too much memory for values to be collected in them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

/// The part of the memory limit, as a divisor, above which buffers are crowded, and that below which they are no more.
const BEGIN_PART: u64 = 8;
const END_PART: u64 = 16;

/// Whether the buffers of all connections together have much memory: then values are taken in pieces that would be
/// collected whole otherwise, because pieces go to memory that counts as items', of which there is a bound.
///
/// The [service](crate::MemcacheService::crowd) knows it, and tells [codecs](crate::Memcache::crowd) with it. By default
/// there is none.
#[derive(Clone, Debug, Default)]
pub struct Crowd(Option<Arc<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    is_there: AtomicBool,
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
        self.0.as_ref().is_some_and(|inner| inner.is_there.load(Relaxed))
    }

    /// Notes that the buffers of a worker, which had `before` bytes, have so many now. `limit` tells how many the store may
    /// have.
    pub(crate) fn note(&self, before: u64, now: u64, limit: u64) {
        let Some(inner) = &self.0 else { return };
        let change = now.wrapping_sub(before);
        let bytes = inner.bytes.fetch_add(change, Relaxed).wrapping_add(change);
        let part = if self.is_there() { END_PART } else { BEGIN_PART };
        inner.is_there.store(bytes > limit / part, Relaxed);
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
