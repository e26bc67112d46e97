// SPDX-License-Identifier: Apache-2.0
//! Which items of a segment stay.

use super::Eviction;
use super::frequency::{UNUSED, decayed, is_memorable, is_used, spent, uses};
use crate::empty::{Candidate, Fate};
use crate::order::{KEPT, NEW};
use crate::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// What evictions have learned, for all handles: the score that an item must exceed to stay.
#[derive(Debug)]
pub(crate) struct Lessons {
    /// An `f64`.
    cutoff: AtomicU64,
    /// How many lessons in a row found that next to nothing went.
    far_off: AtomicU32,
    /// Live bytes looked at for one lesson.
    bytes: u64,
}

impl Lessons {
    /// Lessons from so many live bytes each, [`LESSON_BYTES`] at most.
    pub(crate) fn new(bytes: u64) -> Self {
        let cutoff = AtomicU64::new(f64::MIN_POSITIVE.to_bits());
        Lessons { cutoff, far_off: AtomicU32::new(0), bytes: bytes.min(LESSON_BYTES) }
    }

    /// Draws the next ones from so many bytes.
    pub(super) fn draw_from(&mut self, bytes: u64) {
        self.bytes = bytes.min(LESSON_BYTES);
    }

    fn cutoff(&self) -> f64 {
        f64::from_bits(self.cutoff.load(Ordering::Relaxed))
    }

    /// Takes a lesson into account in which that share too little was dropped: the cutoff rises with
    /// it, and falls if it is negative. Faster and faster while next to nothing goes.
    fn adjust(&self, missing: f64, kept: f64) {
        let before = self.far_off.load(Ordering::Relaxed);
        let far_off = if kept > KEPT_AT_MOST { before.saturating_add(1) } else { 0 };
        self.far_off.store(far_off, Ordering::Relaxed);
        let step = STEADINESS * f64::from(1_u32 << far_off.saturating_sub(1).min(LEAPS_MAX));
        let cutoff = self.cutoff() * (missing * step).exp();
        self.cutoff.store(cutoff.to_bits(), Ordering::Relaxed);
    }
}

/// How far one lesson moves the cutoff: by a tenth at most.
const STEADINESS: f64 = 0.1;

/// The share of live bytes above which next to nothing went. After several such lessons in a row the
/// cutoff has no meaning for the items that there are, and evicting them gains nothing.
const KEPT_AT_MOST: f64 = 0.95;

/// How often the step doubles then.
const LEAPS_MAX: u32 = 4;

/// Live bytes looked at for one lesson of a store. When new items are far smaller than those before,
/// their scores are so much higher that all of them would stay: the cutoff has to follow before the free
/// segments are used up, however large a segment is.
pub(crate) const LESSON_BYTES: u64 = 64 << 10;

/// The share of live bytes that an eviction by score drops. Less would keep more of the right items
/// and copy them more often.
const DROP_SHARE: f64 = 0.5;

/// The least share of live items that goes. Each new item must drive another one out in the long run,
/// so this bounds how many are looked at for it, also where a few large items make up the bytes.
const DROP_ITEMS: f64 = 0.25;

/// Bytes that an item takes in the index, as far as a score is concerned.
const SLOT_BYTES: f64 = 9.0;

/// How the items of one segment are decided on.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Plan {
    cutoff: f64,
    tier: u8,
    /// Whatever would stay goes.
    is_dropping: bool,
    has_learned: bool,
    /// What was looked at since the last lesson.
    live_bytes: u64,
    kept_bytes: u64,
    /// The scores if none had been used, for a first cutoff.
    scores: f64,
    items: u32,
    kept_items: u32,
}

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
        let Candidate { frequency, len } = item;
        self.live_bytes += u64::from(len);
        self.items += 1;
        let fate = match *policy {
            Eviction::Merge { .. } => self.by_score(frequency, len, 1.0, NEW),
            Eviction::Scored { size_exponent } => {
                self.by_score(frequency, len, size_exponent, KEPT)
            }
            Eviction::S3Fifo { .. } => match (self.tier, is_used(frequency)) {
                (NEW, false) => Fate::Drop { remember: true },
                (NEW, true) => Fate::Keep { tier: KEPT, frequency: UNUSED },
                (_, false) => FORGET,
                (_, true) => Fate::Keep { tier: KEPT, frequency: spent(frequency) },
            },
            _ => FORGET,
        };
        if let Fate::Keep { .. } = fate {
            self.kept_bytes += u64::from(len);
            self.kept_items += 1;
            if self.is_dropping {
                return Fate::Drop { remember: is_memorable(frequency) };
            }
        }
        fate
    }

    fn by_score(&mut self, frequency: u8, len: u32, size_exponent: f64, tier: u8) -> Fate {
        let size = match size_exponent {
            1.0 => f64::from(len) + SLOT_BYTES,
            0.0 => 1.0,
            exponent => (f64::from(len) + SLOT_BYTES).powf(exponent),
        };
        let score = uses(frequency) / size;
        self.scores += uses(UNUSED) / size;
        if score > self.cutoff {
            Fate::Keep { tier, frequency: decayed(frequency) }
        } else {
            Fate::Drop { remember: is_memorable(frequency) }
        }
    }

    /// Draws conclusions from what was looked at, if that is enough for a lesson. Of a segment that is
    /// done with, less is enough.
    pub(crate) fn learn(&mut self, policy: &Eviction, lessons: &Lessons, is_done: bool) {
        let enough = match (is_done, self.has_learned) {
            (true, false) => 1,
            (true, true) => lessons.bytes / 2,
            (false, _) => lessons.bytes,
        };
        if self.live_bytes < enough {
            return;
        }
        let aim = match *policy {
            Eviction::Merge { target, .. } => 1.0 - 1.0 / target as f64,
            Eviction::Scored { .. } => DROP_SHARE,
            _ => return,
        };
        if lessons.cutoff() == f64::MIN_POSITIVE {
            // The first one. Most items have not been used yet, and half of those are to stay.
            let unused = self.scores / f64::from(self.items) / 2.0;
            lessons.cutoff.store(unused.to_bits(), Ordering::Relaxed);
        } else {
            let kept = self.kept_bytes as f64 / self.live_bytes as f64;
            let kept_items = f64::from(self.kept_items) / f64::from(self.items);
            let missing = (aim - (1.0 - kept)).max(DROP_ITEMS - (1.0 - kept_items));
            lessons.adjust(missing, kept);
        }
        let (cutoff, tier, is_dropping) = (lessons.cutoff(), self.tier, self.is_dropping);
        *self = Plan { cutoff, tier, is_dropping, has_learned: true, ..Plan::default() };
    }
}
