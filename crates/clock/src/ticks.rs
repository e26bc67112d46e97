// SPDX-License-Identifier: Apache-2.0
//! [`Ticks`]: a point in monotonic time.

use std::ops::Add;
use std::time::Duration;

/// Milliseconds since the [`Clock`](crate::Clock) was made.
///
/// ```
/// use clock::Ticks;
/// use std::time::Duration;
///
/// let expiry = Ticks::ZERO + Duration::from_secs(60);
/// assert!(expiry > Ticks::from_millis(59_999));
/// assert_eq!(expiry.since(Ticks::ZERO), Duration::from_secs(60));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ticks(u64);

impl Ticks {
    /// The moment the clock was made.
    pub const ZERO: Ticks = Ticks(0);
    /// Later than any moment: "never".
    pub const MAX: Ticks = Ticks(u64::MAX);

    /// The moment `millis` milliseconds after the clock was made.
    pub const fn from_millis(millis: u64) -> Self {
        Ticks(millis)
    }

    /// Milliseconds since the clock was made.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// Time from `earlier` to here; zero when `earlier` is later.
    pub const fn since(self, earlier: Ticks) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

impl Add<Duration> for Ticks {
    type Output = Ticks;

    /// Saturates at [`Ticks::MAX`].
    fn add(self, by: Duration) -> Ticks {
        let millis = u64::try_from(by.as_millis()).unwrap_or(u64::MAX);
        Ticks(self.0.saturating_add(millis))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arithmetic_saturates() {
        assert_eq!(Ticks::MAX + Duration::from_millis(1), Ticks::MAX);
        assert_eq!(Ticks::ZERO + Duration::MAX, Ticks::MAX);
        assert_eq!(Ticks::ZERO.since(Ticks::from_millis(5)), Duration::ZERO);
    }
}
