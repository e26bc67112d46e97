// SPDX-License-Identifier: Apache-2.0
//! [`Patience`]: how long a wait goes on that signals interrupt.

use std::time::{Duration, Instant};

/// What is left of the time of a wait. The first signal begins it anew, because it is not known how long it has taken until
/// then; later ones, however often they come, do not prolong it.
#[derive(Debug)]
pub(crate) struct Patience {
    most: Duration,
    until: Option<Instant>,
}

impl Patience {
    pub(crate) fn new(most: Duration) -> Self {
        Patience { most, until: None }
    }

    /// How long to wait.
    pub(crate) fn left(&self) -> Duration {
        self.until.map_or(self.most, |until| until.saturating_duration_since(Instant::now()))
    }

    /// A signal has interrupted the wait.
    #[cold]
    pub(crate) fn interrupt(&mut self) {
        let now = Instant::now();
        self.until = self.until.or_else(|| now.checked_add(self.most));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_prolong_a_wait_once() {
        let most = Duration::from_secs(3600);
        let mut patience = Patience::new(most);
        assert_eq!(patience.left(), most);
        patience.interrupt();
        let until = patience.until;
        patience.interrupt();
        assert_eq!(patience.until, until);
        assert!(patience.left() <= most);
        let mut over = Patience::new(Duration::ZERO);
        over.interrupt();
        assert_eq!(over.left(), Duration::ZERO);
    }
}
