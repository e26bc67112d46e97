// SPDX-License-Identifier: Apache-2.0
//! Decides which items of a segment stay.

use super::Eviction;
use super::frequency::{UNUSED, as_read_as, decayed, is_memorable, is_used, spent, uses};
use crate::empty::{Candidate, Fate};
use crate::order::{KEPT, NEW};
use crate::sync::atomic::{AtomicU64, Ordering};

/// The cutoff, shared by all handles: the score that an item must exceed to stay. Evictions adjust
/// it.
#[derive(Debug)]
pub(crate) struct Lessons {
    /// An `f64`.
    cutoff: AtomicU64,
    /// Live bytes examined since the last lesson in which a noticeable share was dropped.
    far_off: AtomicU64,
    /// Live bytes examined for one lesson.
    bytes: u64,
    /// Live bytes from which almost nothing is dropped before the cutoff counts as far off.
    patience: AtomicU64,
}

impl Lessons {
    /// Lessons for a store with `memory` bytes, each from `bytes` live bytes, at most
    /// [`LESSON_BYTES`].
    pub(crate) fn new(memory: u64, bytes: u64) -> Self {
        let cutoff = AtomicU64::new(f64::MIN_POSITIVE.to_bits());
        let (far_off, patience) = (AtomicU64::new(0), AtomicU64::new(1));
        let mut lessons = Lessons { cutoff, far_off, bytes: 0, patience };
        lessons.draw_from(memory, bytes);
        lessons
    }

    /// Sets the bytes per lesson, and the memory, of the lessons to come.
    pub(super) fn draw_from(&mut self, memory: u64, bytes: u64) {
        self.bytes = bytes.clamp(1, LESSON_BYTES);
        self.set_memory(memory);
    }

    /// Sets the memory of the lessons to come.
    pub(crate) fn set_memory(&self, memory: u64) {
        self.patience.store((memory / PATIENCE_SHARE).max(1), Ordering::Relaxed);
    }

    fn cutoff(&self) -> f64 {
        f64::from_bits(self.cutoff.load(Ordering::Relaxed))
    }

    /// Adjusts the cutoff by a lesson of `live_bytes` bytes, in which the share dropped was `missing` too
    /// small: the cutoff rises, or falls if `missing` is negative. It moves ever faster while almost
    /// nothing is dropped.
    fn adjust(&self, missing: f64, kept: f64, live_bytes: u64, pace: Pace) {
        let before = self.far_off.load(Ordering::Relaxed);
        let far_off = if kept > KEPT_AT_MOST { before.saturating_add(live_bytes) } else { 0 };
        self.far_off.store(far_off, Ordering::Relaxed);
        let (step, patience) = match pace {
            Pace::Steady => (STEP_STEADY, self.patience.load(Ordering::Relaxed)),
            Pace::Quick => (STEP_QUICK, self.bytes),
        };
        let doublings = (far_off / patience).min(LEAPS_MAX);
        let step = step * f64::from(1_u32 << doublings);
        let cutoff = self.cutoff() * (missing * step).exp();
        self.cutoff.store(cutoff.to_bits(), Ordering::Relaxed);
    }
}

/// How fast the cutoff follows the items examined.
#[derive(Clone, Copy, Debug)]
enum Pace {
    /// For scores that depend on sizes: small and large items lie in separate segments, so each lesson sees
    /// only one kind, and the cutoff must settle between the two.
    Steady,
    /// For scores that do not: all segments are alike.
    Quick,
}

/// How far one lesson moves the cutoff at most.
const STEP_STEADY: f64 = 0.05;
const STEP_QUICK: f64 = 0.1;

/// When more than this share of the live bytes is kept, almost nothing was dropped. When that holds for
/// many bytes in a row, the cutoff is too low for the present items, and evictions gain nothing.
const KEPT_AT_MOST: f64 = 0.95;

/// How many bytes in a row count as many at a steady pace: the memory divided by this. In a few segments of
/// small items all may be worth keeping.
const PATIENCE_SHARE: u64 = 128;

/// How often the step doubles at most, once for each further stretch of that many bytes.
const LEAPS_MAX: u64 = 4;

/// Live bytes examined for one lesson of a store. When new items are far smaller than those before,
/// their scores are so much higher that all of them would stay: the cutoff has to follow before the free
/// segments are used up, whatever the segment size.
pub(crate) const LESSON_BYTES: u64 = 64 << 10;

/// The share of live bytes that an eviction by score drops. A smaller share would keep more of the
/// right items but copy them more often.
const DROP_SHARE: f64 = 0.5;

/// The least share of live items that is dropped. In the long run each new item evicts another, so
/// this bounds how many items are examined per new item, even where a few large items make up most of
/// the bytes.
const DROP_ITEMS: f64 = 0.25;

/// Bytes in the index that a score counts for an item.
const SLOT_BYTES: f64 = 9.0;

/// How the items of one segment are decided on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Plan {
    cutoff: f64,
    tier: u8,
    /// Items that would stay are dropped too.
    is_dropping: bool,
    has_learned: bool,
    /// Live bytes examined since the last lesson.
    live_bytes: u64,
    kept_bytes: u64,
    /// The sum of the scores that the items would have if unused, for a first cutoff.
    scores: f64,
    items: u64,
    kept_items: u64,
}

/// What one item counts, so that parts of one can be counted.
const ITEM: u64 = 1 << 16;

const FORGET: Fate = Fate::Drop { remember: false };

impl Plan {
    /// For items of this tier.
    pub(crate) fn new(tier: u8, lessons: &Lessons) -> Self {
        Plan { cutoff: lessons.cutoff(), tier, ..Plan::default() }
    }

    /// The same, but nothing stays.
    pub(crate) fn dropping(self) -> Self {
        Plan { is_dropping: true, ..self }
    }

    pub(crate) fn decide(&mut self, policy: &Eviction, item: Candidate) -> Fate {
        self.decide_part(policy, item, 0)
    }

    /// The same where an item stands for a part of one, halved so many times: what it counts for the cutoff.
    pub(super) fn decide_part(
        &mut self,
        policy: &Eviction,
        item: Candidate,
        halvings: u32,
    ) -> Fate {
        let Candidate { frequency, len } = item;
        let (bytes, part) = (u64::from(len >> halvings), (ITEM >> halvings).max(1));
        self.live_bytes += bytes;
        self.items += part;
        let fate = match *policy {
            Eviction::Merge { .. } => self.by_score(frequency, per_use(len, 1.0), part, NEW),
            Eviction::Scored { size_exponent } => {
                self.by_score(frequency, per_use(len, size_exponent), part, KEPT)
            }
            Eviction::S3Fifo { .. } => match (self.tier, is_used(frequency)) {
                (NEW, false) => Fate::Drop { remember: true },
                (NEW, true) => Fate::Keep { tier: KEPT, frequency: as_read_as(frequency, UNUSED) },
                (_, false) => FORGET,
                (_, true) => Fate::Keep { tier: KEPT, frequency: spent(frequency) },
            },
            _ => FORGET,
        };
        if let Fate::Keep { .. } = fate {
            self.kept_bytes += bytes;
            self.kept_items += part;
            if self.is_dropping {
                return Fate::Drop { remember: is_memorable(frequency) };
            }
        }
        fate
    }

    fn by_score(&mut self, frequency: u8, per_use: f64, part: u64, tier: u8) -> Fate {
        let score = uses(frequency) * per_use;
        self.scores += uses(UNUSED) * per_use * part as f64;
        if score > self.cutoff {
            Fate::Keep { tier, frequency: decayed(frequency) }
        } else {
            Fate::Drop { remember: is_memorable(frequency) }
        }
    }

    /// Draws a lesson from the items examined, if they are enough for one. At the end of a segment
    /// fewer are enough.
    pub(crate) fn learn(&mut self, policy: &Eviction, lessons: &Lessons, is_done: bool) {
        let enough = match (is_done, self.has_learned) {
            (true, false) => 1,
            (true, true) => lessons.bytes / 2,
            (false, _) => lessons.bytes,
        };
        if self.live_bytes < enough {
            return;
        }
        let (aim, pace) = match *policy {
            Eviction::Merge { target, .. } => (1.0 - 1.0 / target as f64, Pace::Steady),
            Eviction::Scored { size_exponent: 0.0 } => (DROP_SHARE, Pace::Quick),
            Eviction::Scored { .. } => (DROP_SHARE, Pace::Steady),
            _ => return,
        };
        if lessons.cutoff() == f64::MIN_POSITIVE {
            // The first one. Most items have not been used yet, and half of those are to stay.
            let unused = self.scores / self.items as f64 / 2.0;
            lessons.cutoff.store(unused.to_bits(), Ordering::Relaxed);
        } else {
            let kept = self.kept_bytes as f64 / self.live_bytes as f64;
            let kept_items = self.kept_items as f64 / self.items as f64;
            let missing = (aim - (1.0 - kept)).max(DROP_ITEMS - (1.0 - kept_items));
            lessons.adjust(missing, kept, self.live_bytes, pace);
        }
        let (cutoff, tier, is_dropping) = (lessons.cutoff(), self.tier, self.is_dropping);
        *self = Plan { cutoff, tier, is_dropping, has_learned: true, ..Plan::default() };
    }
}

/// The score of one use of an item of this length.
fn per_use(len: u32, size_exponent: f64) -> f64 {
    let size = f64::from(len) + SLOT_BYTES;
    match size_exponent {
        1.0 => 1.0 / size,
        0.0 => 1.0,
        exponent => 1.0 / size.powf(exponent),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCORED: Eviction = Eviction::Scored { size_exponent: 1.0 };

    /// Decides on `items` items of one size and frequency, as if of one segment. Returns how many
    /// stay.
    fn kept(lessons: &Lessons, items: u32, len: u32, frequency: u8) -> u32 {
        let mut plan = Plan::new(KEPT, lessons);
        let mut kept = 0;
        for _ in 0..items {
            let fate = plan.decide(&SCORED, Candidate { frequency, len });
            kept += u32::from(matches!(fate, Fate::Keep { .. }));
            plan.learn(&SCORED, lessons, false);
        }
        plan.learn(&SCORED, lessons, true);
        kept
    }

    #[test]
    fn segments_of_small_items_leave_the_much_used_large_ones_their_chance() {
        let lessons = Lessons::new(256 << 20, LESSON_BYTES);
        let (mut much_used, mut little_used) = (0, 0);
        for _ in 0..200 {
            kept(&lessons, 128, 8 << 10, UNUSED);
            for _ in 0..20 {
                much_used += kept(&lessons, 1, 100 << 10, 4 * UNUSED);
                little_used += kept(&lessons, 3, 100 << 10, UNUSED);
            }
        }
        assert!(
            much_used > 3_600 && little_used < 5_000,
            "{much_used} of 4,000, {little_used} of 12,000"
        );
    }

    #[test]
    fn a_store_of_a_few_bytes_draws_lessons_too() {
        let by_use = Eviction::Scored { size_exponent: 0.0 };
        let lessons = Lessons::new(8, 0);
        for _ in 0..3 {
            let mut plan = Plan::new(KEPT, &lessons);
            plan.decide(&by_use, Candidate { frequency: UNUSED, len: 8 });
            plan.learn(&by_use, &lessons, true);
        }
        assert!(lessons.cutoff().is_finite());
    }

    #[test]
    fn the_cutoff_follows_soon_when_all_items_are_smaller() {
        let memory = 16 << 20;
        let lessons = Lessons::new(memory, LESSON_BYTES);
        for _ in 0..100 {
            kept(&lessons, 1, 40 << 10, UNUSED);
        }
        let mut bytes = 0;
        while kept(&lessons, 1_000, 100, UNUSED) == 1_000 {
            bytes += 100_000;
            assert!(bytes < memory / 8, "nothing went of {bytes} bytes");
        }
    }
}
