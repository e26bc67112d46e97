// SPDX-License-Identifier: Apache-2.0
//! The meaning of the 27 bits of [`Entry::access`](values::Entry::access): when an entry was last
//! used, or how often it is used, whichever the policy needs.
//!
//! * **When**: the time of the last use, or of the last change under the policies for which only changes are uses. A
//!   clock of 40 milliseconds. It wraps around after 62 days, so an entry that was not used for longer seems to have
//!   been used recently. (Redis counts seconds, and wraps around after 194 days. A small cache turns over in seconds.)
//! * **How often**: the lower eight bits are a logarithmic count, the upper nineteen the time at which it was last
//!   updated, in eighths of a minute. A use adds one with a probability that falls as the count rises;
//!   every few minutes without a use, as configured, subtract one. These are the numbers that Redis
//!   keeps and shows.
//!
//! The entry does not record which of the two it has. After a change of the policy from one kind to
//! the other the bits of old entries are misread until the entries are used again.

use super::random::Random;
use keyspace::{Settings, Use};
use values::Entry;

/// A tick of the clock of last use. Seconds are whole ticks, so idle times in seconds are exact.
const TICK_MS: u64 = 40;
/// The bits of an entry.
const MASK: u32 = (1 << Entry::ACCESS_BITS) - 1;
/// Clocks of workers differ a little, and wall clocks can be set back: a use that seems to be up to
/// this many minutes in the future is taken as just now.
const AHEAD_MINUTES: u32 = 90;
const AHEAD_TICKS: u32 = AHEAD_MINUTES * 60_000 / TICK_MS as u32;
/// The count of a new entry, so that it is not the first to be evicted.
const COUNT_NEW: u32 = 5;
const COUNT_MAX: u32 = 255;
/// The bits of the count.
const COUNT_BITS: u32 = 8;
/// Parts of a minute that the time of a count tells.
const PARTS: u32 = 8;
const PART_MS: u64 = 60_000 / PARTS as u64;
const PARTS_MASK: u32 = MASK >> COUNT_BITS;
const MINUTES_MASK: u32 = PARTS_MASK / PARTS;

/// How uses are recorded, for the duration of one view or one eviction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// The clock of last use stands at this tick.
    Clock(u32),
    /// The same clock, which reads do not set.
    ChangeClock(u32),
    /// Uses are counted.
    Count {
        /// The present time in parts of a minute, as many as an entry has bits for.
        now: u32,
        log_factor: u32,
        /// Minutes without a use after which the count goes down by one; 0 for never.
        decay: u32,
    },
}

impl Access {
    #[inline]
    pub(crate) fn new(settings: &Settings, unix_ms: u64) -> Self {
        let policy = settings.policy();
        let tick = (unix_ms / TICK_MS) as u32 & MASK;
        if policy.counts_uses() {
            Access::Count {
                now: (unix_ms / PART_MS) as u32 & PARTS_MASK,
                log_factor: settings.lfu_log_factor(),
                decay: settings.lfu_decay_time(),
            }
        } else if policy.ignores_reads() {
            Access::ChangeClock(tick)
        } else {
            Access::Clock(tick)
        }
    }

    /// The bits of an entry that is new.
    #[inline]
    pub(crate) fn fresh(self) -> u32 {
        match self {
            Access::Clock(now) | Access::ChangeClock(now) => now,
            Access::Count { now, .. } => now << COUNT_BITS | COUNT_NEW,
        }
    }

    /// The bits of an entry that had these and is read now.
    #[inline]
    pub(crate) fn read(self, bits: u32, random: &mut Random) -> u32 {
        match self {
            Access::ChangeClock(_) => bits,
            Access::Clock(_) | Access::Count { .. } => self.used(bits, random),
        }
    }

    /// The bits of an entry that had these and is changed now.
    #[inline]
    pub(crate) fn used(self, bits: u32, random: &mut Random) -> u32 {
        match self {
            Access::Clock(now) | Access::ChangeClock(now) => now,
            Access::Count { now, log_factor, .. } => {
                let count = self.count(bits);
                let above = u64::from(count.saturating_sub(COUNT_NEW));
                let rarity = above * u64::from(log_factor) + 1;
                let grows = count < COUNT_MAX && random.below(rarity) == 0;
                now << COUNT_BITS | (count + u32::from(grows))
            }
        }
    }

    /// The bits of an entry that was used so much; `None` if it is not that which is recorded.
    pub(crate) fn with(self, used: Use) -> Option<u32> {
        match (self, used) {
            (Access::Clock(now) | Access::ChangeClock(now), Use::IdleMs(idle)) => {
                // What the clock cannot tell is as long as it can.
                let ticks = (idle / TICK_MS).min(u64::from(MASK - AHEAD_TICKS)) as u32;
                Some(now.wrapping_sub(ticks) & MASK)
            }
            (Access::Count { now, .. }, Use::Frequency(count)) => {
                Some(now << COUNT_BITS | u32::from(count))
            }
            (Access::Clock(_) | Access::ChangeClock(_), Use::Frequency(_))
            | (Access::Count { .. }, Use::IdleMs(_)) => None,
        }
    }

    /// For how long an entry has not been used. (Of a count: nothing sensible.)
    pub(crate) fn idle_ms(self, bits: u32) -> u64 {
        let (Access::Clock(now) | Access::ChangeClock(now)) = self else { return 0 };
        u64::from(elapsed(now, bits, MASK, AHEAD_TICKS)) * TICK_MS
    }

    /// How often an entry is used, as of now. (Of a clock: nothing sensible.)
    pub(crate) fn count(self, bits: u32) -> u32 {
        let Access::Count { now, decay, .. } = self else { return 0 };
        let count = bits & COUNT_MAX;
        // Minutes that have begun since, as Redis counts them.
        let then = bits >> COUNT_BITS;
        let minutes = elapsed(now / PARTS, then / PARTS, MINUTES_MASK, AHEAD_MINUTES);
        minutes.checked_div(decay).map_or(count, |steps| count.saturating_sub(steps))
    }

    /// How little an entry with these bits is used.
    #[inline]
    pub(crate) fn staleness(self, bits: u32) -> Staleness {
        match self {
            Access::Clock(now) | Access::ChangeClock(now) => {
                let ticks = elapsed(now, bits, MASK, AHEAD_TICKS);
                Staleness { level: u32::BITS - ticks.leading_zeros(), idle: ticks }
            }
            Access::Count { now, .. } => Staleness {
                level: COUNT_MAX - self.count(bits),
                idle: elapsed(now, bits >> COUNT_BITS, PARTS_MASK, AHEAD_MINUTES * PARTS),
            },
        }
    }
}

/// How little an entry is used. What has a higher level is evicted sooner. Levels are coarse: entries of the same one are
/// used about as little, and other things than their use may decide between them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Staleness {
    /// Of a clock: one more for each doubling of the time without a use. Of a count: how far it is from the highest.
    pub(crate) level: u32,
    /// The time without a use, in a unit of the policy's.
    pub(crate) idle: u32,
}

/// The time from `then` to `now`, on a clock that wraps around behind `mask`. None if `then` is up to `ahead` later.
#[inline]
fn elapsed(now: u32, then: u32, mask: u32, ahead: u32) -> u32 {
    let elapsed = now.wrapping_sub(then) & mask;
    if elapsed > mask - ahead { 0 } else { elapsed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use keyspace::Policy;

    const NOW_MS: u64 = 1_700_000_000_000;

    fn clock(unix_ms: u64) -> Access {
        Access::new(&Settings::default(), unix_ms)
    }

    fn count(unix_ms: u64) -> Access {
        let settings = Settings::default();
        settings.set_policy(Policy::AllkeysLfu);
        Access::new(&settings, unix_ms)
    }

    #[test]
    fn the_clock_tells_idle_time_to_a_few_milliseconds_for_weeks() {
        let bits = clock(NOW_MS).fresh();
        assert_eq!(clock(NOW_MS + 1_300).idle_ms(bits), 1_280);
        let weeks = 6 * 7 * 86_400_000;
        assert_eq!(clock(NOW_MS + weeks).idle_ms(bits), weeks);
        assert_eq!(
            clock(NOW_MS + weeks).used(bits, &mut Random::new(1)),
            clock(NOW_MS + weeks).fresh()
        );
    }

    #[test]
    fn a_read_sets_the_clock_of_changes_for_no_policy_that_ignores_reads() {
        let settings = Settings::default();
        let mut random = Random::new(1);
        let bits = clock(NOW_MS).fresh();
        for policy in [Policy::AllkeysLrm, Policy::VolatileLrm] {
            settings.set_policy(policy);
            let access = Access::new(&settings, NOW_MS + 10_000);
            assert_eq!(access.read(bits, &mut random), bits);
            assert_eq!(access.idle_ms(bits), 10_000);
            assert_eq!(u64::from(access.staleness(bits).idle) * TICK_MS, 10_000);
            assert!(access.staleness(bits) > access.staleness(access.fresh()));
            assert_eq!(access.used(bits, &mut random), access.fresh());
        }
        let access = clock(NOW_MS + 10_000);
        assert_eq!(access.read(bits, &mut random), access.fresh());
    }

    #[test]
    fn the_use_of_an_entry_can_be_set() {
        for idle_ms in [0, 320, 3_600_000, 40 * 86_400_000] {
            let bits = clock(NOW_MS).with(Use::IdleMs(idle_ms)).unwrap();
            assert_eq!(clock(NOW_MS).idle_ms(bits), idle_ms);
        }
        let longest = clock(NOW_MS).with(Use::IdleMs(u64::MAX)).unwrap();
        assert!(clock(NOW_MS).idle_ms(longest) > 47 * 86_400_000);
        let bits = count(NOW_MS).with(Use::Frequency(77)).unwrap();
        assert_eq!(count(NOW_MS).count(bits), 77);
        assert_eq!(clock(NOW_MS).with(Use::Frequency(7)), None);
        assert_eq!(count(NOW_MS).with(Use::IdleMs(7)), None);
    }

    #[test]
    fn a_use_by_a_worker_whose_clock_is_ahead_is_recent() {
        let bits = clock(NOW_MS + 60_000).fresh();
        assert_eq!(clock(NOW_MS).idle_ms(bits), 0);
        let bits = count(NOW_MS + 60_000).fresh();
        assert_eq!(count(NOW_MS).count(bits), COUNT_NEW);
    }

    #[test]
    fn a_count_grows_like_a_logarithm() {
        let mut random = Random::new(1);
        let mut uses_until = |wanted: u32| {
            let (mut bits, mut uses) = (count(NOW_MS).fresh(), 0);
            while count(NOW_MS).count(bits) < wanted {
                bits = count(NOW_MS).used(bits, &mut random);
                uses += 1;
            }
            uses
        };
        assert_eq!(uses_until(6), 1, "the first use always counts");
        // On average 46 and 19 900.
        assert!((10..200).contains(&uses_until(9)));
        assert!((10_000..40_000).contains(&uses_until(68)));
    }

    #[test]
    fn a_count_ends_at_255() {
        let bits = COUNT_MAX | ((NOW_MS / PART_MS) as u32) << COUNT_BITS;
        let settings = Settings::default();
        settings.set_policy(Policy::VolatileLfu);
        settings.set_lfu_log_factor(0);
        let access = Access::new(&settings, NOW_MS);
        let used = access.used(bits, &mut Random::new(1));
        assert_eq!((access.count(used), access.staleness(used).level), (255, 0));
    }

    #[test]
    fn a_count_goes_down_with_the_minutes() {
        let bits = count(NOW_MS).fresh();
        assert_eq!(count(NOW_MS + 3 * 60_000).count(bits), COUNT_NEW - 3);
        assert_eq!(count(NOW_MS + 60 * 60_000).count(bits), 0);
        let never = Access::Count { now: 9, log_factor: 10, decay: 0 };
        assert_eq!(never.count(bits), COUNT_NEW);
    }

    #[test]
    fn what_is_used_less_is_staler() {
        let access = clock(NOW_MS);
        assert!(access.staleness(clock(NOW_MS - 2_000).fresh()) > access.staleness(access.fresh()));
        let level = |idle_ms: u64| access.staleness(clock(NOW_MS - idle_ms).fresh()).level;
        assert_eq!(level(40_000), level(25_000), "less than a doubling");
        assert!(level(50_000) > level(25_000));
        let access = count(NOW_MS);
        let used = access.used(access.fresh(), &mut Random::new(1));
        assert!(access.staleness(access.fresh()) > access.staleness(used));
    }
}
