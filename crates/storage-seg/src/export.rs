// SPDX-License-Identifier: Apache-2.0
//! [`Export`]: how a store's counts and its report reach the operators: as metrics of the process, which are brought up
//! to date when they are read, and line by line.

use crate::metrics::{self as own, COUNTERS};
use crate::report::{ClassReport, Report};
use crate::shared::Shared;
#[cfg(not(loom))]
use crate::sync::Arc;
use crate::sync::Mutex;
use crate::sync::atomic::{AtomicU64, Ordering};
use crate::tally::Sums;
use crate::victims::Victims;
#[cfg(not(loom))]
use ::metrics::Source;
use ::metrics::{Family, Level};
use arrayvec::ArrayString;
use clock::Ticks;
use std::collections::VecDeque;
use std::fmt::{Display, Write};
use std::time::Duration;

/// How often handles take a sample of what evictions have done, in milliseconds.
const INTERVAL_MS: u64 = 1_000;

/// How far back recent evictions reach.
const RECENT_MS: u64 = 60_000;

/// A level, its name in `stats store`, and what it shows of a report.
type Row<M, R> = (&'static str, &'static M, fn(&R) -> u64);

pub(crate) fn permille(share: f64) -> u64 {
    (share * 1000.0).round() as u64
}

fn millis(age: Option<Duration>) -> u64 {
    age.map_or(0, |age| age.as_millis() as u64)
}

/// What is shown of a store.
pub(crate) static LEVELS: [Row<Level, Report>; 31] = [
    ("segment_free", &own::SEGMENT_FREE, |report| report.segments.free),
    ("segment_open", &own::SEGMENT_OPEN, |report| report.segments.open),
    ("segment_sealed", &own::SEGMENT_SEALED, |report| report.segments.sealed),
    ("segment_claimed", &own::SEGMENT_CLAIMED, |report| report.segments.claimed),
    ("segment_limbo", &own::SEGMENT_LIMBO, |report| report.segments.limbo),
    ("segment_withdrawn", &own::SEGMENT_WITHDRAWN, |report| report.segments.withdrawn),
    ("segment_pinned", &own::SEGMENT_PINNED, |report| report.segments.pinned),
    ("segment_live_bytes", &own::SEGMENT_LIVE_BYTES, |report| report.bytes.live),
    ("segment_dead_bytes", &own::SEGMENT_DEAD_BYTES, |report| report.bytes.dead),
    ("segment_free_bytes", &own::SEGMENT_FREE_BYTES, |report| report.bytes.free),
    ("segment_new_permille", &own::SEGMENT_NEW_PERMILLE, |report| {
        permille(report.segments.new_share().unwrap_or(0.0))
    }),
    ("segment_new_target_permille", &own::SEGMENT_NEW_TARGET_PERMILLE, |report| {
        report.segments.new_target_permille
    }),
    ("segment_evict_age_mean_ms", &own::SEGMENT_EVICT_AGE_MEAN_MS, |report| {
        millis(report.evictions.age)
    }),
    ("segment_evict_age_recent_ms", &own::SEGMENT_EVICT_AGE_RECENT_MS, |report| {
        millis(report.evictions.age_recent)
    }),
    ("item_evict_age_mean_ms", &own::ITEM_EVICT_AGE_MEAN_MS, |report| {
        millis(report.evictions.item_age)
    }),
    ("item_evict_age_recent_ms", &own::ITEM_EVICT_AGE_RECENT_MS, |report| {
        millis(report.evictions.item_age_recent)
    }),
    ("segment_yield_permille", &own::SEGMENT_YIELD_PERMILLE, |report| {
        permille(report.evictions.merge_yield().unwrap_or(0.0))
    }),
    ("item_copy_permille", &own::ITEM_COPY_PERMILLE, |report| {
        permille(report.writes.copies().unwrap_or(0.0))
    }),
    ("item_dead", &own::ITEM_DEAD, |report| report.sum(|class| class.dead_items)),
    ("item_dead_bytes", &own::ITEM_DEAD_BYTES, |report| report.sum(|class| class.dead_bytes)),
    ("item_unswept", &own::ITEM_UNSWEPT, |report| report.sum(|class| class.unswept_items)),
    ("item_unswept_bytes", &own::ITEM_UNSWEPT_BYTES, |report| {
        report.sum(|class| class.unswept_bytes)
    }),
    ("hash_slots", &own::HASH_SLOTS, |report| report.index.slots),
    ("hash_bytes", &own::HASH_BYTES, |report| report.index.bytes),
    ("hash_load_permille", &own::HASH_LOAD_PERMILLE, |report| permille(report.index.load)),
    ("hash_displaced_permille", &own::HASH_DISPLACED_PERMILLE, |report| {
        permille(report.index.displaced)
    }),
    ("hash_lines_permille", &own::HASH_LINES_PERMILLE, |report| permille(report.index.lines)),
    ("hash_growing", &own::HASH_GROWING, |report| report.index.is_growing.into()),
    ("store_limit_bytes", &own::STORE_LIMIT_BYTES, |report| report.memory.limit),
    ("store_segment_bytes", &own::STORE_SEGMENT_BYTES, |report| report.memory.segments),
    ("store_reserved_bytes", &own::STORE_RESERVED_BYTES, |report| report.memory.reserved),
];

/// What is shown of each class.
pub(crate) static FAMILIES: [Row<Family, ClassReport>; 10] = [
    ("ttl_segment_current", &own::TTL_SEGMENT_CURRENT, |class| class.segments),
    ("ttl_item_current", &own::TTL_ITEM_CURRENT, |class| class.live_items),
    ("ttl_item_current_bytes", &own::TTL_ITEM_CURRENT_BYTES, |class| class.live_bytes),
    ("ttl_item_dead", &own::TTL_ITEM_DEAD, |class| class.dead_items),
    ("ttl_item_dead_bytes", &own::TTL_ITEM_DEAD_BYTES, |class| class.dead_bytes),
    ("ttl_item_unswept", &own::TTL_ITEM_UNSWEPT, |class| class.unswept_items),
    ("ttl_item_unswept_bytes", &own::TTL_ITEM_UNSWEPT_BYTES, |class| class.unswept_bytes),
    ("ttl_due_1m_bytes", &own::TTL_DUE_1M_BYTES, |class| class.due_1m_bytes),
    ("ttl_due_10m_bytes", &own::TTL_DUE_10M_BYTES, |class| class.due_10m_bytes),
    ("ttl_due_1h_bytes", &own::TTL_DUE_1H_BYTES, |class| class.due_1h_bytes),
];

/// When the next sample is due, samples of what evictions had done before, and what the metrics show already.
#[derive(Debug)]
pub(crate) struct Export {
    next_ms: AtomicU64,
    /// The time of the last sample: the store's present, to a second.
    at_ms: AtomicU64,
    recent: Mutex<VecDeque<Sample>>,
    published: Mutex<Sums>,
}

/// The eviction counts at some time.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    at_ms: u64,
    victims: Victims,
}

impl Export {
    pub(crate) fn new() -> Self {
        let samples = 2 + (RECENT_MS / INTERVAL_MS) as usize;
        let recent = Mutex::new(VecDeque::with_capacity(samples));
        Export {
            next_ms: AtomicU64::new(0),
            at_ms: AtomicU64::new(0),
            recent,
            published: Mutex::new(Sums::default()),
        }
    }

    /// What was evicted since about [`RECENT_MS`] ago.
    pub(crate) fn recent(&self, sums: &Sums, now: Ticks) -> Victims {
        let recent = self.recent.lock();
        let before = |sample: &&Sample| sample.at_ms + RECENT_MS <= now.as_millis();
        let then = recent.iter().rev().find(before).copied().unwrap_or_default();
        Victims::of(sums).since(then.victims)
    }

    /// Adds a sample, and drops those that are too old to be needed.
    fn sample(&self, sums: &Sums, now: Ticks) {
        let now = Sample { at_ms: now.as_millis(), victims: Victims::of(sums) };
        let mut recent = self.recent.lock();
        recent.push_back(now);
        while recent.get(1).is_some_and(|sample| sample.at_ms + RECENT_MS <= now.at_ms) {
            recent.pop_front();
        }
    }
}

impl Shared {
    /// Takes a sample if one is due. One handle does it for all.
    #[inline]
    pub(crate) fn export(&self, now: Ticks) {
        if self.export.next_ms.load(Ordering::Relaxed) <= now.as_millis() {
            self.export_now(now);
        }
    }

    #[cold]
    fn export_now(&self, now: Ticks) {
        let next_ms = &self.export.next_ms;
        let due_ms = next_ms.load(Ordering::Relaxed);
        let then_ms = now.as_millis() + INTERVAL_MS;
        let claim = next_ms.compare_exchange(due_ms, then_ms, Ordering::Relaxed, Ordering::Relaxed);
        if due_ms > now.as_millis() || claim.is_err() {
            return;
        }
        self.export.at_ms.store(now.as_millis(), Ordering::Relaxed);
        self.export.sample(&self.tallies.sums(), now);
    }

    /// Makes whoever reads all metrics bring those of this store up to date before.
    #[cfg(not(loom))]
    pub(crate) fn follow_readings(self: &Arc<Self>) {
        let shared = Arc::downgrade(self);
        self.source.get_or_init(|| {
            Source::new(move || {
                if let Some(shared) = shared.upgrade() {
                    shared.publish();
                }
            })
        });
    }

    /// Brings all metrics up to date, on a thread that may have no handle.
    #[cfg(not(loom))]
    fn publish(&self) {
        if !self.publish_counts() {
            return;
        }
        let report = self.report(Ticks::from_millis(self.export.at_ms.load(Ordering::Relaxed)));
        for (_, level, of) in &LEVELS {
            level.set(of(&report) as i64);
        }
        for (_, family, of) in &FAMILIES {
            let member = |class: &ClassReport| (label(class), of(class) as i64);
            family.set(report.classes.iter().map(member));
        }
    }

    /// Adds to the counters and gauges what was counted since the last time; false if the store has no handle any more.
    #[cfg(not(loom))]
    fn publish_counts(&self) -> bool {
        let mut published = self.export.published.lock();
        if self.tallies.handles() == 0 {
            return false;
        }
        let sums = self.tallies.sums();
        sums.publish_since(&published);
        *published = sums;
        true
    }

    /// Publishes the last counts of a store whose last handle is gone, and takes its share from the gauges.
    pub(crate) fn withdraw(&self) {
        let mut published = self.export.published.lock();
        let left = self.tallies.sums().without_gauges();
        left.publish_since(&published);
        *published = left;
    }

    /// Shows all statistics.
    pub(crate) fn details(&self, now: Ticks, show: &mut dyn FnMut(&str, &dyn Display)) {
        let report = self.report(now);
        show("segment_bytes", &report.segments.bytes);
        show("segment_total", &report.segments.total);
        show("segment_current", &report.segments.current());
        for (name, _, of) in &LEVELS {
            show(name, &of(&report));
        }
        let sums = self.tallies.sums();
        for (at, (name, _)) in COUNTERS.iter().enumerate() {
            // Of the reasons that metrics tell apart, a line sums up all but the first.
            let is_sum = *name == "item_evict_displaced";
            show(name, &if is_sum { sums.displaced() } else { sums.counter(at) });
        }
        for class in &report.classes {
            let label = label(class);
            for (name, _, of) in &FAMILIES {
                let mut shown = ArrayString::<64>::new();
                let part = name.strip_prefix("ttl_").unwrap_or(name);
                write!(shown, "ttl:{label}:{part}").expect("names are short");
                show(&shown, &of(class));
            }
        }
    }
}

/// What a class is called: the shortest time to live of its items in seconds.
fn label(class: &ClassReport) -> ArrayString<20> {
    let mut label = ArrayString::new();
    match class.ttl_from {
        Some(seconds) => write!(label, "{seconds}"),
        None => write!(label, "never"),
    }
    .expect("a number has 20 digits at most");
    label
}
