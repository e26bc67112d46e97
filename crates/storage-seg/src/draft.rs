// SPDX-License-Identifier: Apache-2.0
//! [`SegDraft`]: a value that is arriving, in its final place if it is large.
//!
//! A draft in its final place has a wide segment open for itself (INV-OWNER of [`crate::pool`]). What was written to
//! it is behind all that counts as written there, so nobody looks at it. A draft that is dropped leaves the segment as
//! it was before: free if nothing was published in it, and sealed otherwise.

use crate::heap::Begun;
use crate::index::Location;
use crate::place::Lease;
use crate::shared::Shared;
use crate::sync::Arc;
use crate::sync::atomic::Ordering;
use storage::{Collected, Draft, StoreError};

/// The part of the segments' memory that all drafts together may have, as a fraction: the rest is for what can be
/// read, and for writes.
const SHARE_MAX: (usize, usize) = (3, 4);

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
    /// A handle has the segment now.
    is_left: bool,
}

impl Holding {
    pub(crate) fn new(shared: Arc<Shared>, lease: Lease) -> Self {
        Holding { shared, lease, grains: 0, is_left: false }
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
    }
}

impl Shared {
    /// How much more memory drafts may have, in grains.
    pub(crate) fn left_for_drafts(&self) -> usize {
        let (share, of) = SHARE_MAX;
        let most = self.pool.target() * share / of;
        most.saturating_sub(self.drafted.load(Ordering::Relaxed))
    }

    fn count_drafted(&self, grains: usize) -> Result<(), StoreError> {
        let before = self.drafted.fetch_add(grains, Ordering::Relaxed);
        let (share, of) = SHARE_MAX;
        if before + grains <= self.pool.target() * share / of {
            return Ok(());
        }
        self.drafted.fetch_sub(grains, Ordering::Relaxed);
        Err(StoreError::OutOfMemory)
    }
}
