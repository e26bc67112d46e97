// SPDX-License-Identifier: Apache-2.0
//! Segments whose last live item has gone: they are free without a walk over what is left in them.
//!
//! Whoever removes an item from the index counts it out of its segment, and whoever has filled a segment seals it.
//! Whichever of the two comes last finds a sealed segment without live items, and retires it. Both do so in the turn in which
//! they have removed the item or written the last: so the segment cannot have been used again in between.

use super::Pool;
use crate::epoch::Epochs;
use crate::segment::State;
use crate::sync::atomic::{Ordering, fence};

impl Pool {
    /// Retires a segment, if it is sealed and has no live item. Returns whether it did. For whoever has sealed it, or counted
    /// its last live item out, in the same turn.
    ///
    /// One with several items that is pinned stays, for compaction to find later: the memory of those in limbo counts as
    /// about to be free.
    pub(crate) fn free_dead(&self, number: u32, epochs: &Epochs) -> bool {
        let segment = self.segment(number);
        // Either this sees the seal, or whoever seals it sees that it has no live item.
        fence(Ordering::SeqCst);
        let is_dead = || segment.state() == State::Sealed && segment.live_items() == 0;
        let is_kept = segment.pins() > 0 && !self.is_lone(number);
        if !is_dead() || is_kept {
            return false;
        }
        // Looked at again under the lock: when the last item was counted out, another may not have been counted in, and
        // the segment was open.
        if self.claim_by(|_| is_dead().then_some(number)).is_none() {
            return false;
        }
        self.retire(number, epochs);
        true
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::super::lone::{Memory, Need};
    use super::super::{Piece, Sizes};
    use super::*;
    use crate::sync::Arc;
    use loom::thread;

    fn one_segment() -> Pool {
        let sizes = Sizes {
            total: 1,
            in_service: 1,
            most: 1,
            most_wide: 1,
            most_lone: 1,
            segment_bytes: 1,
            grain_bytes: 1,
        };
        Pool::new(sizes).expect("there is memory")
    }

    /// The item may be removed as soon as the index has it, which is before its segment is sealed.
    #[test]
    fn a_dead_segment_is_freed_once_whoever_comes_last() {
        loom::model(|| {
            let pool = Arc::new(one_segment());
            let epochs = Arc::new(Epochs::new(1));
            let need = Need { grains: 1, at_once: 0, blocks: 1 };
            let memory = Memory { give: |_, _| true, release: |_: &Piece| {} };
            let taken = pool.take_lone(need, (0, &epochs), memory);
            let number = taken.expect("there is one");
            assert_eq!(pool.grow(number, 1, (0, &epochs), |_| {}), 0);
            pool.segment(number).open(1, 0, 0, 0, 0);
            let remover = {
                let (pool, epochs) = (Arc::clone(&pool), Arc::clone(&epochs));
                thread::spawn(move || {
                    pool.segment(number).remove_live(1, false);
                    pool.free_dead(number, &epochs);
                })
            };
            pool.segment(number).add_live(1, false);
            pool.seal(number);
            pool.free_dead(number, &epochs);
            remover.join().expect("it does not panic");
            assert_eq!(pool.segment(number).state(), State::Limbo);
        });
    }

    /// The last item in the index may be removed before it is counted in. Then the segment seems to have no live item,
    /// although an earlier one is.
    #[test]
    fn a_segment_with_a_live_item_stays() {
        loom::model(|| {
            let pool = Arc::new(one_segment());
            let epochs = Arc::new(Epochs::new(1));
            let number = pool.take(0, &epochs, |_| {}).expect("there is one");
            pool.segment(number).open(1, 0, 0, 0, 0);
            pool.segment(number).add_live(1, false);
            let remover = {
                let (pool, epochs) = (Arc::clone(&pool), Arc::clone(&epochs));
                thread::spawn(move || {
                    if pool.segment(number).remove_live(1, false) == 0 {
                        pool.free_dead(number, &epochs);
                    }
                })
            };
            pool.segment(number).add_live(1, false);
            pool.seal(number);
            pool.free_dead(number, &epochs);
            remover.join().expect("it does not panic");
            assert_eq!(pool.segment(number).state(), State::Sealed);
        });
    }

    /// Both items go, by different threads, while the segment is sealed.
    #[test]
    fn a_segment_whose_items_all_go_is_freed_once() {
        loom::model(|| {
            let pool = Arc::new(one_segment());
            let epochs = Arc::new(Epochs::new(1));
            let number = pool.take(0, &epochs, |_| {}).expect("there is one");
            pool.segment(number).open(1, 0, 0, 0, 0);
            (0..2).for_each(|_| pool.segment(number).add_live(1, false));
            let remove = move |pool: &Pool, epochs: &Epochs| {
                if pool.segment(number).remove_live(1, false) == 0 {
                    pool.free_dead(number, epochs);
                }
            };
            let remover = {
                let (pool, epochs) = (Arc::clone(&pool), Arc::clone(&epochs));
                thread::spawn(move || remove(&pool, &epochs))
            };
            pool.seal(number);
            pool.free_dead(number, &epochs);
            remove(&pool, &epochs);
            remover.join().expect("it does not panic");
            assert_eq!(pool.segment(number).state(), State::Limbo);
        });
    }
}
