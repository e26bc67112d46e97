// SPDX-License-Identifier: Apache-2.0
//! Time for a cache server: read once per turn of the event loop, and controlled by tests.
//!
//! A worker reads the [`Clock`] once per turn of its event loop and hands the same [`Now`] to every
//! request of that turn. Nothing below the loop asks the operating system for the time, so a test
//! with a manual clock decides when an item expires.
//!
//! There are two time scales:
//!
//! * [`Ticks`]: milliseconds since the clock was made. Monotonic: a step of the wall clock never
//!   moves it, so expiry and timeouts are measured in it.
//! * unix milliseconds: wall time, for log lines and for the absolute expiry times that clients
//!   send. [`Now::at_unix`] converts such a time to ticks, [`Now::unix_at`] converts ticks back.
//!
//! Separate from these is [`CpuClock`], the CPU time of a thread, for measurements.
//!
//! The offset between the two scales is kept constant, so that a time converted to ticks and back is
//! unchanged. The offset is corrected when the wall clock has been set or has drifted by more than two
//! milliseconds; up to that, wall time is inexact by the drift. That is looked for every ten milliseconds.
//!
//! ```
//! use clock::Clock;
//! use std::time::Duration;
//!
//! let clock = Clock::manual(1_700_000_000_000);
//! let start = clock.now();
//! clock.advance(Duration::from_secs(5));
//! assert_eq!(clock.now().ticks, start.ticks + Duration::from_secs(5));
//! assert_eq!(clock.now().unix_seconds(), 1_700_000_005);
//! ```
#![forbid(unsafe_code)]

mod cpu;
mod ticks;
mod timer;

pub use cpu::CpuClock;
pub use ticks::Ticks;
pub use timer::Timer;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// The time of one turn of an event loop, on both scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Now {
    /// Monotonic time since the clock was made.
    pub ticks: Ticks,
    /// Wall time in milliseconds since the unix epoch.
    pub unix_ms: u64,
}

impl Now {
    /// When a wait that begins now has lasted for `time`, and no earlier: the clock may be up to a millisecond behind, so it is
    /// a millisecond more than `time` in whole ones. No time at all is over now.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// let now = clock::Clock::manual(0).now();
    /// assert_eq!(now.after(Duration::from_millis(20)).since(now.ticks).as_millis(), 21);
    /// assert_eq!(now.after(Duration::from_micros(20_001)).since(now.ticks).as_millis(), 22);
    /// assert_eq!(now.after(Duration::ZERO), now.ticks);
    /// assert_eq!(now.after(Duration::MAX), clock::Ticks::MAX);
    /// ```
    pub fn after(&self, time: Duration) -> Ticks {
        if time.is_zero() {
            return self.ticks;
        }
        // The part of a millisecond that adding to ticks cuts off counts as a whole one.
        let is_cut = u64::from(time.subsec_nanos()) % NANOS_PER_MS > 0;
        self.ticks + time.saturating_add(Duration::from_millis(1 + u64::from(is_cut)))
    }

    /// Wall time in whole seconds since the unix epoch.
    pub fn unix_seconds(&self) -> u64 {
        self.unix_ms / 1000
    }

    /// The ticks at which wall time reaches `unix_ms`; [`Ticks::ZERO`] when that is before the
    /// clock was made, and saturating far in the future.
    ///
    /// ```
    /// let clock = clock::Clock::manual(10_000);
    /// let now = clock.now();
    /// assert_eq!(now.at_unix(12_500).since(now.ticks).as_millis(), 2_500);
    /// assert_eq!(now.at_unix(0), clock::Ticks::ZERO);
    /// ```
    pub fn at_unix(&self, unix_ms: u64) -> Ticks {
        if unix_ms >= self.unix_ms {
            Ticks::from_millis(self.ticks.as_millis().saturating_add(unix_ms - self.unix_ms))
        } else {
            Ticks::from_millis(self.ticks.as_millis().saturating_sub(self.unix_ms - unix_ms))
        }
    }

    /// The wall time at `ticks`, in milliseconds since the unix epoch; saturating far in the future.
    /// The inverse of [`Now::at_unix`].
    ///
    /// ```
    /// let clock = clock::Clock::manual(10_000);
    /// let now = clock.now();
    /// assert_eq!(now.unix_at(now.at_unix(12_500)), 12_500);
    /// ```
    pub fn unix_at(&self, ticks: Ticks) -> u64 {
        let (ticks, now) = (ticks.as_millis(), self.ticks.as_millis());
        if ticks >= now {
            self.unix_ms.saturating_add(ticks - now)
        } else {
            self.unix_ms.saturating_sub(now - ticks)
        }
    }
}

/// A source of [`Now`]: the operating system's, or one that a test moves by hand.
///
/// Clones share one time line. Reading the system clock costs one vDSO call and no system call; three, every ten milliseconds.
#[derive(Clone, Debug)]
pub struct Clock {
    source: Source,
}

#[derive(Clone, Debug)]
enum Source {
    System(Arc<System>),
    Manual(Arc<Manual>),
}

/// The operating system's two clocks.
#[derive(Debug)]
struct System {
    /// The monotonic clock's reading when the ticks were zero, in nanoseconds.
    start: u64,
    /// How many milliseconds unix time is ahead of the ticks.
    ahead_ms: AtomicU64,
    /// The monotonic clock's reading from which on the wall clock is looked at again.
    look_at: AtomicU64,
}

const NANOS_PER_MS: u64 = 1_000_000;

/// How many nanoseconds the wall clock may drift before the offset is corrected.
const DRIFT_MAX: u64 = 2 * NANOS_PER_MS;

/// How many nanoseconds the wall clock is taken to go on as it did.
const LOOK_EVERY: u64 = 10 * NANOS_PER_MS;

/// How often both clocks are read before a drift counts as one.
const READINGS: usize = 5;

/// Both clocks, in whole nanoseconds, as [`Timer`] reads them.
#[derive(Clone, Copy)]
struct Reading {
    wall: u64,
    monotonic: u64,
}

impl Reading {
    #[inline]
    fn take() -> Self {
        let wall = timer::wall();
        Reading { wall, monotonic: timer::monotonic() }
    }
}

impl System {
    fn new() -> Self {
        let start = timer::monotonic();
        let system = System { start, ahead_ms: AtomicU64::new(0), look_at: AtomicU64::new(0) };
        system.at(start, Reading::take);
        system
    }

    /// The time at this reading of the monotonic clock, which has just been taken: in every turn of every worker.
    #[inline]
    fn at(&self, monotonic: u64, take: impl FnMut() -> Reading) -> Now {
        if monotonic >= self.look_at.load(Ordering::Relaxed) {
            return self.look(monotonic, take);
        }
        self.tell(monotonic, self.ahead_ms.load(Ordering::Relaxed))
    }

    /// The time, after a look at the wall clock.
    fn look(&self, monotonic: u64, mut take: impl FnMut() -> Reading) -> Now {
        self.look_at.store(monotonic.saturating_add(LOOK_EVERY), Ordering::Relaxed);
        // Both anew: the thread may have lost its CPU since the reading.
        let reading = take();
        let (ahead_ms, drift) = self.drift(reading);
        if drift > DRIFT_MAX {
            return self.correct(reading, take);
        }
        self.tell(reading.monotonic, ahead_ms)
    }

    /// The offset in use, and how far the clocks are from it.
    #[inline]
    fn drift(&self, reading: Reading) -> (u64, u64) {
        let ahead_ms = self.ahead_ms.load(Ordering::Relaxed);
        (ahead_ms, self.ahead(reading).abs_diff(ahead_ms * NANOS_PER_MS))
    }

    /// How many nanoseconds unix time is ahead of the ticks.
    #[inline]
    fn ahead(&self, reading: Reading) -> u64 {
        reading.wall.saturating_sub(self.elapsed(reading.monotonic))
    }

    #[inline]
    fn elapsed(&self, monotonic: u64) -> u64 {
        monotonic.saturating_sub(self.start)
    }

    #[inline]
    fn tell(&self, monotonic: u64, ahead_ms: u64) -> Now {
        let ticks = Ticks::from_millis(self.elapsed(monotonic) / NANOS_PER_MS);
        Now { ticks, unix_ms: ahead_ms + ticks.as_millis() }
    }

    /// Corrects the offset, unless the clocks only seemed to drift: a thread that loses its CPU between the two takes them
    /// at different times, and finds the wall clock behind. So the reading that finds it least behind is the right one.
    #[cold]
    fn correct(&self, first: Reading, mut take: impl FnMut() -> Reading) -> Now {
        let mut best = first;
        for _ in 1..READINGS {
            let next = take();
            if self.ahead(next) >= self.ahead(best) {
                best = next;
            }
            let (ahead_ms, drift) = self.drift(next);
            if drift <= DRIFT_MAX {
                return self.tell(next.monotonic, ahead_ms);
            }
        }
        let ahead_ms = self.ahead(best).div_ceil(NANOS_PER_MS);
        self.ahead_ms.store(ahead_ms, Ordering::Relaxed);
        self.tell(best.monotonic, ahead_ms)
    }
}

#[derive(Debug)]
struct Manual {
    start_unix_ms: u64,
    elapsed_ms: AtomicU64,
}

impl Clock {
    /// The operating system's clock; its ticks start at zero here.
    pub fn system() -> Self {
        Clock { source: Source::System(Arc::new(System::new())) }
    }

    /// A clock that stands still at `unix_ms` until [`Clock::advance`] moves it.
    pub fn manual(unix_ms: u64) -> Self {
        let manual = Manual { start_unix_ms: unix_ms, elapsed_ms: AtomicU64::new(0) };
        Clock { source: Source::Manual(Arc::new(manual)) }
    }

    /// Reads both scales.
    pub fn now(&self) -> Now {
        match &self.source {
            Source::System(system) => system.at(timer::monotonic(), Reading::take),
            Source::Manual(manual) => {
                let elapsed = manual.elapsed_ms.load(Ordering::Acquire);
                Now { ticks: Ticks::from_millis(elapsed), unix_ms: manual.start_unix_ms + elapsed }
            }
        }
    }

    /// Reads both scales and starts a timer, at the cost of [`Clock::now`] alone where the clock is the system's.
    #[inline]
    pub fn now_with_timer(&self) -> (Now, Timer) {
        let timer = Timer::start();
        let now = match &self.source {
            Source::System(system) => system.at(timer.started(), Reading::take),
            Source::Manual(_) => self.now(),
        };
        (now, timer)
    }

    /// Moves a manual clock forward, for all its clones.
    ///
    /// # Panics
    ///
    /// On the system clock, which cannot be moved.
    pub fn advance(&self, by: Duration) {
        match &self.source {
            Source::System(_) => panic!("only a manual clock can be advanced"),
            Source::Manual(manual) => {
                manual.elapsed_ms.fetch_add(by.as_millis() as u64, Ordering::AcqRel);
            }
        }
    }
}

/// The wall time of the operating system in microseconds since the unix epoch, read at this moment.
///
/// For a client that asks for the time, and takes two answers for two moments. What expires, and all else, goes by the
/// [`Now`] of the turn.
///
/// ```
/// let micros = clock::unix_micros();
/// assert!(micros > 1_600_000_000_000_000);
/// ```
pub fn unix_micros() -> u64 {
    timer::wall() / 1000
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::{SystemTime, UNIX_EPOCH};

    #[test]
    fn the_system_clock_never_goes_back() {
        let clock = Clock::system();
        let mut last = clock.now().ticks;
        for _ in 0..1000 {
            let now = clock.now();
            assert!(now.ticks >= last);
            assert!(now.unix_seconds() > 1_600_000_000);
            last = now.ticks;
        }
    }

    #[test]
    fn the_system_clock_tells_the_wall_time_at_a_steady_distance() {
        let clock = Clock::system();
        let start = clock.now();
        let wall_ms = || {
            let wall = SystemTime::now().duration_since(UNIX_EPOCH).expect("it is after 1970");
            wall.as_millis() as u64
        };
        let mut moved = 0;
        for _ in 0..100 {
            let (before, now, after) = (wall_ms(), clock.now(), wall_ms());
            assert!(now.unix_ms + 4 >= before && now.unix_ms <= after + 4, "{before} {now:?}");
            moved += u32::from(now.unix_at(start.ticks) != start.unix_ms);
            std::thread::sleep(Duration::from_micros(100));
        }
        // The wall clock may happen to drift in the meantime, but it does not go back and forth.
        assert!(moved == 0 || clock.now().unix_at(start.ticks) != start.unix_ms, "{moved}");
    }

    fn at_one_million() -> System {
        System { start: 0, ahead_ms: AtomicU64::new(1_000_000), look_at: AtomicU64::new(0) }
    }

    /// So many milliseconds after both clocks began, the wall clock at a million.
    fn ms(wall: u64, monotonic: u64) -> Reading {
        Reading { wall: (1_000_000 + wall) * NANOS_PER_MS, monotonic: monotonic * NANOS_PER_MS }
    }

    #[test]
    fn a_wall_clock_that_is_set_is_noticed_within_ten_milliseconds() {
        let system = at_one_million();
        let now = |at: u64, wall: Option<u64>| {
            let look = || wall.map(|wall| ms(wall, at)).expect("it is too early for a look");
            system.at(at * NANOS_PER_MS, look).unix_ms - 1_000_000
        };
        assert_eq!(now(0, Some(0)), 0);
        assert_eq!(now(5, None), 5);
        assert_eq!(now(9, None), 9);
        assert_eq!(now(10, Some(5_010)), 5_010, "it was set");
        assert_eq!(now(19, None), 5_019);
        assert_eq!(now(500, Some(500)), 500, "and set back, while everything slept");
        assert_eq!(now(509, None), 509);
        assert_eq!(now(510, Some(511)), 510, "it drifts a little");
    }

    #[test]
    fn a_timer_starts_with_the_time() {
        for clock in [Clock::system(), Clock::manual(5_000)] {
            let before = Timer::start();
            let (now, timer) = clock.now_with_timer();
            assert!(timer.nanos() <= before.nanos());
            assert!(clock.now().ticks >= now.ticks);
        }
    }

    #[test]
    fn a_thread_that_loses_its_cpu_between_both_clocks_moves_neither() {
        let system = at_one_million();
        let after = |first: Reading, others: &[Reading]| {
            let mut others =
                others.iter().copied().chain(std::iter::repeat(others[others.len() - 1]));
            system.correct(first, || others.next().expect("there is no end")).unix_ms
        };
        assert_eq!(after(ms(5, 75), &[ms(76, 76)]), 1_000_076);
        assert_eq!(system.ahead_ms.load(Ordering::Relaxed), 1_000_000, "it was late once");
        assert_eq!(after(ms(77, 97), &[ms(98, 198), ms(199, 199)]), 1_000_199);
        assert_eq!(system.ahead_ms.load(Ordering::Relaxed), 1_000_000, "it was late twice");
        assert_eq!(after(ms(500, 200), &[ms(501, 251), ms(551, 251)]), 1_000_551);
        assert_eq!(
            system.ahead_ms.load(Ordering::Relaxed),
            1_000_300,
            "it was set, and late meanwhile"
        );
        assert_eq!(after(ms(100, 300), &[ms(101, 301)]), 1_000_101);
        assert_eq!(
            system.ahead_ms.load(Ordering::Relaxed),
            999_800,
            "it was set to an earlier time"
        );
    }

    #[test]
    fn clones_of_a_manual_clock_share_its_time() {
        let clock = Clock::manual(5_000);
        let other = clock.clone();
        clock.advance(Duration::from_millis(1));
        assert_eq!(other.now(), Now { ticks: Ticks::from_millis(1), unix_ms: 5_001 });
    }

    #[test]
    fn unix_times_convert_both_ways_and_saturate() {
        let clock = Clock::manual(100_000);
        clock.advance(Duration::from_secs(50));
        let now = clock.now();
        assert_eq!(now.at_unix(149_000), Ticks::from_millis(49_000));
        assert_eq!(now.at_unix(151_000), Ticks::from_millis(51_000));
        assert_eq!(now.at_unix(u64::MAX), Ticks::from_millis(u64::MAX - 150_000 + 50_000));
        assert_eq!(now.at_unix(1), Ticks::ZERO);
        for unix_ms in [100_000, 149_000, 150_000, 151_000, u64::MAX / 2] {
            assert_eq!(now.unix_at(now.at_unix(unix_ms)), unix_ms);
        }
        assert_eq!(now.unix_at(Ticks::MAX), u64::MAX);
    }

    #[test]
    #[should_panic(expected = "only a manual clock")]
    fn the_system_clock_cannot_be_moved() {
        Clock::system().advance(Duration::from_secs(1));
    }
}
