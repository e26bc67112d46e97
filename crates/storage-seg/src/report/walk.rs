// SPDX-License-Identifier: Apache-2.0
//! The walk over the segments' bookkeeping: what each adds to a report.

use super::{ByteReport, ClassReport, SegmentReport};
use crate::class::{Class, number_of};
use crate::export::permille;
use crate::heap::FIRST_OFFSET;
use crate::order::NEW;
use crate::segment::{NEVER_MS, Segment, State};
use crate::shared::Shared;
use crate::sync::atomic::Ordering;
use clock::Ticks;
use std::time::Duration;

impl SegmentReport {
    fn count(&mut self, state: State, span: u64) {
        let counted = match state {
            State::Free | State::Held => &mut self.free,
            State::Open => &mut self.open,
            State::Sealed => &mut self.sealed,
            State::Claimed => &mut self.claimed,
            State::Limbo => &mut self.limbo,
            // Tails are counted with the first of their row. Withdrawn memory is all memory less that
            // of the other segments, since withdrawn segments may have given theirs to wide ones.
            State::Withdrawn | State::Tail => return,
        };
        *counted += span;
    }

    /// Turns grains into segments. The memory of a part of one counts as one if it is in use.
    fn divide(&mut self, grains: u64) {
        let in_use = [
            &mut self.open,
            &mut self.sealed,
            &mut self.sealed_new,
            &mut self.claimed,
            &mut self.limbo,
            &mut self.pinned,
        ];
        in_use.into_iter().for_each(|count| *count = count.div_ceil(grains));
        self.free /= grains;
    }
}

impl ClassReport {
    fn add(&mut self, segment: &Segment, walk: &Walk) {
        let span = u64::from(segment.span());
        self.segments += span;
        let age_ms = walk.now_ms.saturating_sub(segment.base_ms());
        self.oldest = self.oldest.max(Duration::from_millis(age_ms));
        let written = segment.written().saturating_sub(FIRST_OFFSET);
        let (items, bytes) = (live(segment.live_items()), live(segment.live_bytes()));
        self.dead_items += u64::from(segment.items()).saturating_sub(items);
        self.dead_bytes += u64::from(written).saturating_sub(bytes);
        let left_ms = walk.left_ms(segment);
        if left_ms == 0 {
            self.unswept_items += items;
            self.unswept_bytes += bytes;
        } else {
            self.live_items += items;
            self.live_bytes += bytes;
        }
        let due = [
            (60_000, &mut self.due_1m_bytes),
            (600_000, &mut self.due_10m_bytes),
            (3_600_000, &mut self.due_1h_bytes),
        ];
        for (within_ms, bytes) in due {
            *bytes += if left_ms <= within_ms { span * walk.grain_bytes } else { 0 };
        }
    }
}

/// A count of live items. It is below zero for a moment if one handle removes an item before
/// another has counted its arrival.
pub(super) fn live(count: u32) -> u64 {
    u64::from(if count > i32::MAX as u32 { 0 } else { count })
}

/// The values that a walk compares segments with.
struct Walk {
    now_ms: u64,
    cleared_before: u64,
    grain_bytes: u64,
}

impl Walk {
    /// How long it is until none of a segment's items can be read any more.
    fn left_ms(&self, segment: &Segment) -> u64 {
        match segment.due_ms() {
            _ if segment.birth() < self.cleared_before => 0,
            0 | NEVER_MS => NEVER_MS,
            due_ms => due_ms.saturating_sub(self.now_ms),
        }
    }
}

/// The results of a walk over the segments.
#[derive(Default)]
pub(super) struct Found {
    pub(super) classes: Vec<ClassReport>,
    pub(super) segments: SegmentReport,
    pub(super) bytes: ByteReport,
    /// Bytes of all segments that are neither free nor withdrawn.
    pub(super) used: u64,
}

impl Found {
    fn add(&mut self, segment: &Segment, walk: &Walk) {
        let (state, span) = (segment.state(), u64::from(segment.span()));
        self.segments.count(state, span);
        if state == State::Sealed && segment.tier() == NEW {
            self.segments.sealed_new += span;
        }
        self.bytes.add(segment, state, walk.grain_bytes, walk.left_ms(segment) == 0);
        if matches!(state, State::Open | State::Sealed | State::Claimed) {
            self.classes[usize::from(segment.class())].add(segment, walk);
        }
    }
}

impl Shared {
    /// Items of before the last clear that have not been counted out yet: there are such while their segments are
    /// open, or claimed by another handle. Looks at all segments while one of them may have any.
    pub(crate) fn cleared(&self) -> u64 {
        let before = self.cleared_before();
        if before == 0 {
            return 0;
        }
        let segments = self.pool.numbers().map(|number| self.pool.segment(number));
        let old =
            segments.filter(|segment| segment.state().may_be_read() && segment.birth() < before);
        old.map(|segment| live(segment.live_items())).sum()
    }

    /// Visits all segments.
    pub(super) fn walk(&self, now: Ticks) -> Found {
        let walk = Walk {
            now_ms: now.as_millis(),
            cleared_before: self.cleared_before(),
            grain_bytes: self.heap.grain_bytes() as u64,
        };
        let new = |class| {
            let class = class as Class;
            let ttl_from = self.classes.shortest_seconds(class);
            ClassReport { number: number_of(class), ttl_from, ..ClassReport::default() }
        };
        let mut found = Found {
            classes: (0..self.classes.count()).map(new).collect(),
            segments: SegmentReport {
                bytes: self.heap.segment_bytes() as u64,
                total: self.pool.total() as u64,
                pinned: self.pinned.load(Ordering::Relaxed) as u64,
                new_target_permille: permille(self.trials.new_share()),
                ..SegmentReport::default()
            },
            ..Found::default()
        };
        self.pool.numbers().for_each(|number| found.add(self.pool.segment(number), &walk));
        // What may come into service is as good as free.
        let headroom = self.pool.headroom() as u64;
        found.segments.free += headroom;
        found.bytes.free += headroom * walk.grain_bytes;
        found.used = (found.segments.current() + found.segments.limbo) * walk.grain_bytes;
        found.segments.divide(self.pool.grains() as u64);
        let present = found.segments.current() + found.segments.limbo + found.segments.free;
        found.segments.withdrawn = found.segments.total.saturating_sub(present);
        found.classes.retain(|class| class.segments > 0);
        for class in &mut found.classes {
            class.segments = class.segments.div_ceil(self.pool.grains() as u64);
        }
        found
    }
}
