// SPDX-License-Identifier: Apache-2.0
//! Logs clients that speak another protocol than that of their port.
//!
//! Such clients may come in thousands, from a deployment with a wrong setting or from somebody who wants to
//! fill the disk. So each kind is logged once a minute at most, with the number of those in between.

use log::warn;
use protocol::{Context, Foreign, Peer};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Milliseconds between two lines of a kind.
const PAUSE_MS: u64 = 60_000;

/// The pause in which a kind is counted instead of logged.
#[derive(Debug)]
struct Pause {
    /// The end of the pause, in milliseconds since the clock's start.
    end_ms: AtomicU64,
    /// Clients not logged since the pause began.
    held_back: AtomicU64,
}

/// The pauses of all workers, by kind.
static PAUSES: [Pause; Foreign::COUNT] = [const { Pause::new() }; Foreign::COUNT];

impl Pause {
    const fn new() -> Self {
        Pause { end_ms: AtomicU64::new(0), held_back: AtomicU64::new(0) }
    }

    /// Begins a pause at `now_ms` and returns how many clients were not logged in the previous one; `None` if
    /// the previous one has not ended.
    fn begin(&self, now_ms: u64) -> Option<u64> {
        let end_ms = self.end_ms.load(Relaxed);
        let next_ms = now_ms.saturating_add(PAUSE_MS);
        let begins = now_ms >= end_ms
            && self.end_ms.compare_exchange(end_ms, next_ms, Relaxed, Relaxed).is_ok();
        if begins {
            return Some(self.held_back.swap(0, Relaxed));
        }
        self.held_back.fetch_add(1, Relaxed);
        None
    }
}

/// Logs the connection that the request came from.
#[cold]
pub(crate) fn report(foreign: Foreign, context: &Context<'_>) {
    if let Some(peer) = context.directory.get(context.connection) {
        report_peer(foreign, &peer, context.now.ticks.as_millis());
    }
}

/// Logs a connection at `now_ms`.
#[cold]
pub(crate) fn report_peer(foreign: Foreign, peer: &Peer, now_ms: u64) {
    let Some(held_back) = PAUSES[foreign as usize].begin(now_ms) else { return };
    let (remote, local, what) = (&peer.remote, &peer.local, foreign.name());
    if held_back == 0 {
        warn!("{remote} speaks {what} ({local}); closed");
    } else {
        warn!(
            "{remote} speaks {what} ({local}); closed, as {held_back} others since the last line"
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kind_is_told_of_once_a_minute() {
        let pause = Pause::new();
        assert_eq!(pause.begin(0), Some(0), "the first");
        assert_eq!((pause.begin(1), pause.begin(PAUSE_MS - 1)), (None, None));
        assert_eq!(pause.begin(PAUSE_MS), Some(2), "a minute later");
        assert_eq!(pause.begin(PAUSE_MS + 1), None);
        assert_eq!(pause.begin(9 * PAUSE_MS), Some(1));
    }
}
