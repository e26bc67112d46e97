// SPDX-License-Identifier: Apache-2.0
//! The meaning of the 24 bits of [`Entry::access`](values::Entry::access): when an entry was last
//! used, or how often it is used, whichever the policy needs.
//!
//! * **When**: the time of the last use, or of the last change under the policies for which only changes are uses. A clock of quarter seconds. It wraps around after 48 days, so an entry that was not
//!   used for longer seems to have been used recently. (Redis counts seconds, and wraps around
//!   after 194 days. A full cache turns over in minutes, for which seconds are coarse.)
//! * **How often**: the lower eight bits are a logarithmic count, the upper sixteen the minute in
//!   which it was last updated. A use adds one with a probability that falls as the count rises;
//!   every few minutes without a use, as configured, subtract one. These are the numbers that Redis
//!   keeps and shows.
//!
//! The entry does not record which of the two it has. After a change of the policy from one kind to
//! the other the bits of old entries are misread until the entries are used again.

use super::random::Random;
use keyspace::{Settings, Use};

/// A tick of the clock of last use.
const TICK_MS: u64 = 250;
/// The bits of an entry.
const MASK: u32 = (1 << 24) - 1;
/// Clocks of workers differ a little, and wall clocks can be set back: a use that seems to be up to
/// an hour and a half in the future is taken as just now.
const AHEAD_TICKS: u32 = 90 * 60 * 4;
/// The count of a new entry, so that it is not the first to be evicted.
const COUNT_NEW: u32 = 5;
const COUNT_MAX: u32 = 255;
/// A use that seems to be up to this many minutes in the future is taken as just now.
const AHEAD_MINUTES: u32 = 90;

/// How uses are recorded, for the duration of one view or one eviction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// The clock of last use stands at this tick.
    Clock(u32),
    /// The same clock, which reads do not set.
    ChangeClock(u32),
    /// Uses are counted.
    Count {
        /// The present minute, modulo 65 536.
        minute: u32,
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
                minute: (unix_ms / 60_000) as u32 & 0xffff,
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
            Access::Count { minute, .. } => minute << 8 | COUNT_NEW,
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
            Access::Count { minute, log_factor, .. } => {
                let count = self.count(bits);
                let above = u64::from(count.saturating_sub(COUNT_NEW));
                let rarity = above * u64::from(log_factor) + 1;
                let grows = count < COUNT_MAX && random.below(rarity) == 0;
                minute << 8 | (count + u32::from(grows))
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
            (Access::Count { minute, .. }, Use::Frequency(count)) => {
                Some(minute << 8 | u32::from(count))
            }
            (Access::Clock(_) | Access::ChangeClock(_), Use::Frequency(_))
            | (Access::Count { .. }, Use::IdleMs(_)) => None,
        }
    }

    /// For how long an entry has not been used. (Of a count: nothing sensible.)
    pub(crate) fn idle_ms(self, bits: u32) -> u64 {
        let (Access::Clock(now) | Access::ChangeClock(now)) = self else { return 0 };
        let idle = now.wrapping_sub(bits) & MASK;
        if idle > MASK - AHEAD_TICKS { 0 } else { u64::from(idle) * TICK_MS }
    }

    /// How often an entry is used, as of now. (Of a clock: nothing sensible.)
    pub(crate) fn count(self, bits: u32) -> u32 {
        let Access::Count { minute, decay, .. } = self else { return 0 };
        let count = bits & 0xff;
        let idle = minute.wrapping_sub(bits >> 8) & 0xffff;
        if decay == 0 || idle > 0xffff - AHEAD_MINUTES {
            return count;
        }
        count.saturating_sub(idle / decay)
    }

    /// The eviction score of an entry with these bits: the higher, the sooner it is evicted.
    #[inline]
    pub(crate) fn staleness(self, bits: u32) -> u64 {
        match self {
            Access::Clock(_) | Access::ChangeClock(_) => self.idle_ms(bits),
            Access::Count { .. } => u64::from(COUNT_MAX - self.count(bits)),
        }
    }
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
    fn the_clock_tells_idle_time_to_a_quarter_of_a_second_for_weeks() {
        let bits = clock(NOW_MS).fresh();
        assert_eq!(clock(NOW_MS + 1_300).idle_ms(bits), 1_250);
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
            assert_eq!((access.idle_ms(bits), access.staleness(bits)), (10_000, 10_000));
            assert_eq!(access.used(bits, &mut random), access.fresh());
        }
        let access = clock(NOW_MS + 10_000);
        assert_eq!(access.read(bits, &mut random), access.fresh());
    }

    #[test]
    fn the_use_of_an_entry_can_be_set() {
        for idle_ms in [0, 250, 3_600_000, 40 * 86_400_000] {
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
        let bits = COUNT_MAX | ((NOW_MS / 60_000) as u32) << 8;
        let settings = Settings::default();
        settings.set_policy(Policy::VolatileLfu);
        settings.set_lfu_log_factor(0);
        let access = Access::new(&settings, NOW_MS);
        let used = access.used(bits, &mut Random::new(1));
        assert_eq!((access.count(used), access.staleness(used)), (255, 0));
    }

    #[test]
    fn a_count_goes_down_with_the_minutes() {
        let bits = count(NOW_MS).fresh();
        assert_eq!(count(NOW_MS + 3 * 60_000).count(bits), COUNT_NEW - 3);
        assert_eq!(count(NOW_MS + 60 * 60_000).count(bits), 0);
        let never = Access::Count { minute: 9, log_factor: 10, decay: 0 };
        assert_eq!(never.count(bits), COUNT_NEW);
    }

    #[test]
    fn what_is_used_less_is_staler() {
        let access = clock(NOW_MS);
        assert!(access.staleness(clock(NOW_MS - 2_000).fresh()) > access.staleness(access.fresh()));
        let access = count(NOW_MS);
        let used = access.used(access.fresh(), &mut Random::new(1));
        assert!(access.staleness(access.fresh()) > access.staleness(used));
    }
}
