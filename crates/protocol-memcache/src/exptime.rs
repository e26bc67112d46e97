// SPDX-License-Identifier: Apache-2.0
//! [`Exptime`]: the expiry time as clients write it.

// Clients send these numbers, and arithmetic on them must not wrap: an operation that could overflow is
// allowed only with a reason why it cannot.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

use clock::{Now, Ticks};
use std::time::Duration;
use storage::Expiry;

/// The largest relative expiry time, 30 days; a larger number is a unix time.
const RELATIVE_MAX_S: i64 = 60 * 60 * 24 * 30;

/// How long before its time a delayed flush takes place.
const FLUSHED_BEFORE_MS: u64 = 1000;

/// How long before its start memcached's time begins.
const EARLIER: Duration = Duration::from_secs(62);

/// An expiry time in seconds: 0 means never, a negative number at once, up to 30 days a time from
/// now, and a larger number a unix time.
///
/// Of what a client writes as text memcached keeps 32 bits, and so does the parser: 2^32 is 0, and a unix
/// time of 2038-01-19T03:14:08 or later is negative. In the binary protocol the 32 bits have no sign.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exptime(pub i64);

impl Exptime {
    /// Never.
    pub const NEVER: Exptime = Exptime(0);

    /// When an item that is written at `now` stops being readable. A time in the past: the item is never
    /// readable. A negative time is past for every worker, also for one that has read its clock before
    /// this one has: what is gone for one client must not be there for the next.
    #[inline]
    pub fn expiry(self, now: Now) -> Expiry {
        match self.0 {
            0 => Expiry::NEVER,
            i64::MIN..0 => Expiry::at(Ticks::ZERO),
            _ => Expiry::at(self.moment(now)),
        }
    }

    /// When a delayed `flush_all` takes place: `None` is at once, which a unix time in the past is, too, and `Some(None)`
    /// never, which is what memcached makes of one before it has started.
    ///
    /// It is a second before the time that is given: memcached flushes when its clock of whole seconds shows the one before,
    /// which is then or up to a second earlier.
    pub(crate) fn flush(self, now: Now) -> Option<Option<Ticks>> {
        match self.0 {
            i64::MIN..=0 => None,
            seconds => {
                let moment = self.moment(now).as_millis().saturating_sub(FLUSHED_BEFORE_MS);
                let moment = Ticks::from_millis(moment);
                if moment > now.ticks {
                    return Some(Some(moment));
                }
                let is_a_time = seconds > RELATIVE_MAX_S && !self.is_after_start(now);
                is_a_time.then_some(None)
            }
        }
    }

    /// Whether a unix time comes after the start of the server as memcached has it.
    fn is_after_start(self, now: Now) -> bool {
        let age = Duration::from_millis(now.ticks.as_millis()).saturating_add(EARLIER);
        Duration::from_secs(self.0.unsigned_abs()).saturating_add(age)
            > Duration::from_millis(now.unix_ms)
    }

    /// The moment a positive time means.
    #[expect(clippy::arithmetic_side_effects, reason = "moments saturate")]
    fn moment(self, now: Now) -> Ticks {
        let seconds = self.0.unsigned_abs();
        if self.0 <= RELATIVE_MAX_S {
            now.ticks + Duration::from_secs(seconds)
        } else {
            now.at_unix(seconds.saturating_mul(1000))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clock::Clock;

    fn at(unix_s: u64) -> Now {
        let clock = Clock::manual(unix_s * 1000);
        clock.advance(Duration::from_secs(10));
        clock.now()
    }

    #[test]
    fn thirty_days_divide_relative_from_absolute_times() {
        let now = at(1_700_000_000);
        let in_seconds = |exptime| {
            let ticks = Exptime(exptime).expiry(now).ticks();
            ticks.map(|ticks| ticks.since(now.ticks).as_secs())
        };
        assert_eq!(in_seconds(0), None);
        assert_eq!(in_seconds(1), Some(1));
        assert_eq!(in_seconds(RELATIVE_MAX_S), Some(2_592_000));
        assert_eq!(in_seconds(1_700_000_010), Some(0));
        assert_eq!(in_seconds(1_700_000_017), Some(7));
    }

    #[test]
    fn the_past_is_over_at_once() {
        let now = at(1_700_000_000);
        for exptime in [-1, i64::MIN, RELATIVE_MAX_S + 1, 1_700_000_010] {
            assert!(Exptime(exptime).expiry(now).is_past(now.ticks), "{exptime}");
        }
    }

    #[test]
    fn a_negative_time_is_over_for_workers_whose_turn_began_earlier() {
        let clock = Clock::manual(1_700_000_000_000);
        let earlier = clock.now();
        clock.advance(Duration::from_millis(3));
        for exptime in [-1, i64::MIN] {
            assert!(Exptime(exptime).expiry(clock.now()).is_past(earlier.ticks), "{exptime}");
        }
    }

    #[test]
    fn a_flush_in_the_past_is_at_once() {
        let now = at(1_700_000_000);
        assert_eq!(Exptime(0).flush(now), None);
        assert_eq!(Exptime(-5).flush(now), None);
        // It takes place a second before its time.
        let in_one = now.ticks + Duration::from_secs(1);
        assert_eq!(Exptime(2).flush(now), Some(Some(in_one)));
        assert_eq!(Exptime(1_700_000_012).flush(now), Some(Some(in_one)));
        for soon in [1, 1_700_000_011] {
            assert_eq!(Exptime(soon).flush(now), None, "{soon}");
        }
        // The server has started ten seconds ago.
        for ago in [0, 1, 10, 71] {
            assert_eq!(Exptime(1_700_000_010 - ago).flush(now), None, "{ago}");
        }
        for exptime in [1_700_000_010 - 72, RELATIVE_MAX_S + 1] {
            assert_eq!(Exptime(exptime).flush(now), Some(None), "{exptime}");
        }
    }
}
