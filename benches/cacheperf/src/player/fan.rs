// SPDX-License-Identifier: Apache-2.0
//! [`Fan`]: requests of users, each of which is several requests on different connections at once, and takes as
//! long as the slowest of them.

use super::Window;
use crate::tally::Tally;

/// The user's request that a request is part of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FanId(u32);

impl FanId {
    /// For requests that are part of none.
    pub(super) const NONE: FanId = FanId(u32::MAX);
}

/// A user's request of which parts are not answered.
#[derive(Clone, Copy, Debug)]
struct Awaited {
    at: u64,
    left: usize,
}

/// Requests of users, each of several requests at once.
#[derive(Debug)]
pub(super) struct Fan {
    width: usize,
    open: Vec<Awaited>,
    /// Places in `open` that are free.
    free: Vec<u32>,
    /// The one whose parts are being sent, and how many of them are left.
    sending: Option<(FanId, usize)>,
}

impl Fan {
    /// Each of so many requests.
    pub(super) fn new(width: usize) -> Self {
        Fan { width, open: Vec::new(), free: Vec::new(), sending: None }
    }

    pub(super) fn width(&self) -> usize {
        self.width
    }

    /// When the one was due of which parts are still to be sent.
    pub(super) fn due(&self) -> Option<u64> {
        self.sending.map(|(group, _)| self.open[group.0 as usize].at)
    }

    /// Takes the next part to be sent, of a user's request that is due `at` unless one is being sent.
    pub(super) fn take(&mut self, at: u64) -> FanId {
        let (group, left) = self.sending.unwrap_or_else(|| (self.begin(at), self.width));
        self.sending = (left > 1).then_some((group, left - 1));
        group
    }

    fn begin(&mut self, at: u64) -> FanId {
        let open = Awaited { at, left: self.width };
        match self.free.pop() {
            Some(place) => {
                self.open[place as usize] = open;
                FanId(place)
            }
            None => {
                self.open.push(open);
                FanId((self.open.len() - 1) as u32)
            }
        }
    }

    /// A part is answered, or given up. With the last of them the user's request is.
    pub(super) fn settle(&mut self, group: FanId, now: u64, window: Window, tally: &mut Tally) {
        if group == FanId::NONE {
            return;
        }
        let open = &mut self.open[group.0 as usize];
        open.left -= 1;
        if open.left == 0 {
            self.free.push(group.0);
            if window.contains(open.at) {
                tally.fan_out().add(now.saturating_sub(open.at));
            }
        }
    }

    /// Nothing is sent any more: parts that were left to be sent are given up.
    pub(super) fn stop(&mut self, now: u64, window: Window, tally: &mut Tally) {
        let Some((group, left)) = self.sending.take() else { return };
        let at = self.open[group.0 as usize].at;
        for _ in 0..left {
            tally.give_up(at, now, window);
            self.settle(group, now, window, tally);
        }
    }
}
