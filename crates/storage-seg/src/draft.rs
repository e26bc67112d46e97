// SPDX-License-Identifier: Apache-2.0
//! [`SegDraft`]: a value that is arriving, in its final place if it is large.
//!
//! A draft in its final place has a wide segment open for itself (INV-OWNER of [`crate::pool`]). What was written to
//! it is behind all that counts as written there, so nobody looks at it. A draft that is dropped leaves the segment as
//! it was before: free if nothing was published in it, and sealed otherwise.

use crate::heap::{Begun, FIRST_OFFSET};
use crate::index::Location;
use crate::place::Lease;
use crate::shared::Shared;
use crate::sync::Arc;
use crate::sync::atomic::Ordering;
use storage::{Collected, Draft, StoreError};

/// The part of the segments' memory that all drafts together may have, as a fraction: the rest is for what can be
/// read, and for writes.
const SHARE_MAX: (usize, usize) = (3, 4);

/// The part of it up to which further values are admitted beside those that are under way: all of them get their memory,
/// also when reservations grow meanwhile.
const SHARE_ADMITTED: (usize, usize) = (1, 2);

/// A value that is arriving in a [`SegStore`](crate::SegStore), as part of [`storage::Receive`].
#[derive(Debug)]
pub struct SegDraft(pub(crate) Kind);

/// Where the bytes are.
#[derive(Debug)]
pub(crate) enum Kind {
    /// Outside of the store: they are copied when all are there.
    Collected(Collected),
    /// In their final place.
    Placed(Placed),
}

impl Draft for SegDraft {
    fn outside_bytes(&self) -> usize {
        match &self.0 {
            Kind::Collected(collected) => collected.outside_bytes(),
            Kind::Placed(_) => 0,
        }
    }
}

/// A draft in its final place.
#[derive(Debug)]
pub(crate) struct Placed {
    pub(crate) holding: Holding,
    pub(crate) begun: Begun,
    pub(crate) location: Location,
    pub(crate) hash: u64,
    pub(crate) expiry_ms: Option<u64>,
}

impl Placed {
    pub(crate) fn shared(&self) -> &Shared {
        &self.holding.shared
    }

    pub(crate) fn location(&self) -> Location {
        self.location
    }
}

/// A draft's segment, and the memory that it counts with.
#[derive(Debug)]
pub(crate) struct Holding {
    shared: Arc<Shared>,
    pub(crate) lease: Lease,
    /// The memory that is counted, in grains.
    grains: usize,
    /// What its item may come to, in grains.
    announced: usize,
    /// A handle has the segment now.
    is_left: bool,
}

impl Holding {
    /// For an item of `len` bytes.
    pub(crate) fn new(shared: Arc<Shared>, lease: Lease, len: usize) -> Self {
        let announced = shared.grains(FIRST_OFFSET as usize + len);
        shared.announced.fetch_add(announced, Ordering::Relaxed);
        Holding { shared, lease, grains: 0, announced, is_left: false }
    }

    /// Whether it is in this store.
    pub(crate) fn is_in(&self, shared: &Arc<Shared>) -> bool {
        Arc::ptr_eq(&self.shared, shared)
    }

    /// Counts with so many grains in all, or with those of the segment if it has more.
    ///
    /// # Errors
    ///
    /// When drafts would have too much.
    pub(crate) fn count(&mut self, grains: usize) -> Result<(), StoreError> {
        let span = self.shared.pool.segment(self.lease.segment()).span() as usize;
        let more = grains.max(span).saturating_sub(self.grains);
        if more > 0 {
            self.shared.count_drafted(more)?;
            self.grains += more;
        }
        Ok(())
    }

    /// Exchanges the segment for another, without anything published in either.
    pub(crate) fn replace(&mut self, lease: Lease) {
        self.shared.end_lease(&std::mem::replace(&mut self.lease, lease));
    }

    /// Leaves the segment to a handle.
    pub(crate) fn leave(&mut self) -> Lease {
        self.is_left = true;
        self.lease
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        if !self.is_left {
            self.shared.end_lease(&self.lease);
        }
        self.shared.drafted.fetch_sub(self.grains, Ordering::Relaxed);
        self.shared.announced.fetch_sub(self.announced, Ordering::Relaxed);
    }
}

impl Shared {
    /// How much more memory drafts may have, in grains.
    pub(crate) fn left_for_drafts(&self) -> usize {
        self.share_of_drafts(SHARE_MAX).saturating_sub(self.drafted.load(Ordering::Relaxed))
    }

    /// Whether there will be memory for values that come to so many bytes.
    pub(crate) fn admits(&self, bytes: u64) -> bool {
        let most = self.share_of_drafts(SHARE_ADMITTED) * self.heap.grain_bytes();
        bytes <= most as u64
    }

    /// Bytes of segments that stay in service whatever is reserved, so that drafts may have what they were admitted with.
    pub(crate) fn promised_to_drafts(&self) -> u64 {
        let announced = self.announced.load(Ordering::Relaxed);
        let most = self.pool.total() * self.pool.grains() / SHARE_ADMITTED.1 * SHARE_ADMITTED.0;
        let (share, of) = SHARE_MAX;
        (announced.min(most) * of / share * self.heap.grain_bytes()) as u64
    }

    fn share_of_drafts(&self, (share, of): (usize, usize)) -> usize {
        self.pool.target() * share / of
    }

    fn count_drafted(&self, grains: usize) -> Result<(), StoreError> {
        let before = self.drafted.fetch_add(grains, Ordering::Relaxed);
        if before + grains <= self.share_of_drafts(SHARE_MAX) {
            return Ok(());
        }
        self.drafted.fetch_sub(grains, Ordering::Relaxed);
        Err(StoreError::OutOfMemory)
    }
}
