// SPDX-License-Identifier: Apache-2.0
//! Quiescent-state-based reclamation: it decides when memory that lock-free readers could still be
//! reading may be used again.
//!
//! Each handle of the store is a [`Participant`]. While it is *online* it may hold locations read
//! from the index. Now and then it passes a *quiescent state*: it holds nothing that it read before.
//! Whoever unlinks memory calls [`Epochs::retire`], which begins the next epoch, and reuses the
//! memory once [`Epochs::has_passed`] is true: every participant is offline or was quiescent in that
//! epoch.
//!
//! ```text
//!  reader    enter ── finds a location ── reads the item ── quiesce ──────────────▶
//!  writer              unlinks it ── retire: epoch 7                has_passed(7) ── uses it again
//!  published   6          6                6                    7
//! ```
//!
//! # Why no reader sees memory that is used again
//!
//! A participant publishes the epoch it was last quiescent in, 0 while offline. Let a reader look at
//! a slot while it has `s` published, and let a writer unlink the slot, pass the fence of `retire`
//! and begin epoch `e` with its increment.
//!
//! * INV-NEWER: if `s >= e`, the reader sees the slot unlinked. It has read `s` from the increment
//!   or a later one (acquire), and the unlinking comes before that (release).
//! * INV-OLDER: if `s < e` and the reader finds what was unlinked, `has_passed(e)` is false until
//!   the reader's next quiescent state. The fence in the reader's last `enter` and the fence in
//!   `retire` are in one order (both are `SeqCst`). If the writer's came first, the reader would see
//!   the slot unlinked. So the reader's came first, and the writer sees what was published before
//!   it, or what came later: an epoch below `e` each time, until the reader is done.
//! * INV-DONE: the writer goes on after it read (acquire) a value that the reader published
//!   (release) after its last look. So all that the reader did comes before the reuse.
//!
//! Only going online needs a fence. A quiescent state is two plain moves on x86.

use crate::sync::Arc;
use crate::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::cell::Cell;
use std::marker::PhantomData;

#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;

/// What an offline participant publishes. No epoch has this number.
const OFFLINE: u64 = 0;

/// The epochs of one store and the places for its participants.
#[derive(Debug)]
pub(crate) struct Epochs {
    /// The current epoch; it begins with 1 and only grows.
    now: Padded<AtomicU64>,
    places: Box<[Padded<Place>]>,
}

/// A value on a pair of cache lines of its own, since CPUs fetch lines in pairs.
#[derive(Debug)]
#[repr(align(128))]
struct Padded<T>(T);

/// Where one participant publishes.
#[derive(Debug)]
struct Place {
    /// The epoch that the participant was last quiescent in, or [`OFFLINE`].
    seen: AtomicU64,
    /// Whether there is a participant in this place.
    taken: AtomicBool,
}

/// The beginning of a grace period, by [`Epochs::retire`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Epoch(u64);

impl Epochs {
    /// Room for this many participants at a time.
    pub(crate) fn new(participants_max: usize) -> Self {
        let place =
            |_| Padded(Place { seen: AtomicU64::new(OFFLINE), taken: AtomicBool::new(false) });
        Epochs {
            now: Padded(AtomicU64::new(1)),
            places: (0..participants_max).map(place).collect(),
        }
    }

    /// A participant, offline at first. `None` when all places are taken.
    pub(crate) fn register(this: &Arc<Self>) -> Option<Participant> {
        let free = |place: &Padded<Place>| {
            let taken = &place.0.taken;
            taken.compare_exchange(false, true, Ordering::Acquire, Ordering::Relaxed).is_ok()
        };
        let place = this.places.iter().position(free)?;
        Some(Participant { epochs: Arc::clone(this), place, seen: OFFLINE, not_sync: PhantomData })
    }

    /// Begins the grace period of the memory that the caller has unlinked.
    pub(crate) fn retire(&self) -> Epoch {
        fence(Ordering::SeqCst);
        Epoch(self.now.0.fetch_add(1, Ordering::AcqRel) + 1)
    }

    /// Whether no participant can still hold anything that was unlinked before `epoch` began.
    pub(crate) fn has_passed(&self, epoch: Epoch) -> bool {
        // After this load all that follows comes after the fence of `retire`, whoever called it.
        let now = self.now.0.load(Ordering::Acquire);
        assert!(epoch.0 <= now, "an epoch of another store");
        self.places.iter().all(|place| {
            let seen = place.0.seen.load(Ordering::Acquire);
            seen == OFFLINE || seen >= epoch.0
        })
    }
}

/// A handle's part in the reclamation. Belongs to one thread at a time: it is `Send`, not `Sync`.
#[derive(Debug)]
pub(crate) struct Participant {
    epochs: Arc<Epochs>,
    place: usize,
    /// What is published at the place.
    seen: u64,
    not_sync: PhantomData<Cell<()>>,
}

impl Participant {
    /// Goes online: everything read from here on stays in place until the next quiescent state.
    /// Costs one branch if already online.
    #[inline]
    pub(crate) fn enter(&mut self) {
        if self.seen == OFFLINE {
            self.go_online();
        }
    }

    #[cold]
    fn go_online(&mut self) {
        let now = self.epochs.now.0.load(Ordering::Acquire);
        self.publish(now);
        // INV-OLDER: a writer whose unlinking this reader cannot see yet sees the published epoch.
        fence(Ordering::SeqCst);
    }

    /// Passes a quiescent state: the caller holds nothing that was read before. Stays online, or
    /// offline.
    #[inline]
    pub(crate) fn quiesce(&mut self) {
        if self.seen == OFFLINE {
            return;
        }
        let now = self.epochs.now.0.load(Ordering::Acquire);
        if now != self.seen {
            self.publish(now);
        }
    }

    /// Goes offline: the caller holds nothing that was read before, and will not read before it
    /// enters again. Nobody waits for it meanwhile.
    pub(crate) fn leave(&mut self) {
        if self.seen != OFFLINE {
            self.publish(OFFLINE);
        }
    }

    #[inline]
    pub(crate) fn is_online(&self) -> bool {
        self.seen != OFFLINE
    }

    /// Another participant of the same store. `None` when all places are taken.
    pub(crate) fn register_another(&self) -> Option<Participant> {
        Epochs::register(&self.epochs)
    }

    fn publish(&mut self, seen: u64) {
        // INV-DONE: after all reads that came before.
        self.epochs.places[self.place].0.seen.store(seen, Ordering::Release);
        self.seen = seen;
    }
}

impl Drop for Participant {
    fn drop(&mut self) {
        self.leave();
        // Release: the next participant here publishes after this one has.
        self.epochs.places[self.place].0.taken.store(false, Ordering::Release);
    }
}
