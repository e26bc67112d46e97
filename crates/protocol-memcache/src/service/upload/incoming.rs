// SPDX-License-Identifier: Apache-2.0
//! [`Incoming`]: a value that is arriving, in the store or outside of it.

use clock::Ticks;
use storage::{Announced, Collected, Draft, Receive, StoreError};

/// What has arrived of a value.
#[derive(Debug)]
pub(super) enum Incoming<D> {
    /// In the store, which needs no more to make it readable.
    Draft(D),
    /// Outside of it, for a request that decides with the whole value at hand: one that extends the value there is, or
    /// gives the item a version.
    Collected(Collected),
}

impl<D: Draft> Incoming<D> {
    /// Begins a value.
    pub(super) fn begin<S: Receive<Draft = D>>(
        store: &mut S,
        announced: Announced<'_>,
        is_needed_whole: bool,
        now: Ticks,
    ) -> Result<Self, StoreError> {
        if is_needed_whole {
            return Ok(Incoming::Collected(Collected::new(announced)));
        }
        store.begin(announced, now).map(Incoming::Draft)
    }

    /// Adds the next bytes.
    pub(super) fn append<S: Receive<Draft = D>>(
        &mut self,
        store: &mut S,
        piece: &[u8],
        now: Ticks,
    ) -> Result<(), StoreError> {
        match self {
            Incoming::Draft(draft) => store.append(draft, piece, now),
            Incoming::Collected(collected) => {
                collected.append(piece);
                Ok(())
            }
        }
    }

    /// Its draft in the store, if it has one.
    pub(super) fn draft(&mut self) -> Option<&mut D> {
        match self {
            Incoming::Draft(draft) => Some(draft),
            Incoming::Collected(_) => None,
        }
    }

    /// Bytes that it holds outside of the memory that the store counts.
    pub(super) fn outside_bytes(&self) -> usize {
        match self {
            Incoming::Draft(draft) => draft.outside_bytes(),
            Incoming::Collected(collected) => collected.outside_bytes(),
        }
    }
}
