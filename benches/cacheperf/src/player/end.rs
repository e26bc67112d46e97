// SPDX-License-Identifier: Apache-2.0
//! The end of a load, and of requests that are not answered. INV-COUNTED is kept here.

use super::fan::Fan;
use super::lane::State;
use super::{Pace, Player};
use crate::dialect::Dialect;
use crate::workload::Source;

/// What a lost connection means for its lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// The lane has more requests to send, on a new connection.
    Asks,
    /// The lane has no more requests.
    Over,
    /// It was lost before.
    Known,
}

impl<D: Dialect, S: Source> Player<D, S> {
    /// The connection of a lane is lost, and with it the requests in flight.
    #[cold]
    pub(crate) fn lose(&mut self, lane: usize, now: u64, why: &str) -> Loss {
        let loss = match self.lanes[lane].state {
            State::Lost | State::Gone => return Loss::Known,
            State::Over => Loss::Over,
            State::Open => Loss::Asks,
        };
        self.lanes[lane].state = if loss == Loss::Asks { State::Lost } else { State::Gone };
        let under_way = self.lanes[lane].flights.len();
        self.tally.lost += 1;
        self.tally.error(|| format!("{why}, with {under_way} requests unanswered"));
        self.give_up(lane, now);
        loss
    }

    /// A lane that has lost its connection gets no other.
    pub(crate) fn forsake(&mut self, lane: usize) {
        if self.lanes[lane].state == State::Lost {
            self.lanes[lane].state = State::Gone;
            self.ended += 1;
        }
    }

    /// A lane has a new connection.
    pub(crate) fn renew(&mut self, lane: usize, now: u64) {
        let each = &mut self.lanes[lane];
        each.had = 0;
        if each.state == State::Lost {
            each.state = State::Open;
        }
        self.tally.reconnected += u64::from(self.window.contains(now));
    }

    /// Stops sending. The requests of an open loop that were due before and could not be sent count as
    /// unanswered, by INV-COUNTED.
    pub(crate) fn stop(&mut self, now: u64) {
        self.stopped = true;
        let end = self.window.end.min(now);
        match &mut self.pace {
            Pace::Closed => {}
            Pace::Open(schedule) => {
                if let Some(fan) = &mut self.fan {
                    fan.stop(now, self.window, &mut self.tally);
                }
                let width = self.fan.as_ref().map_or(1, Fan::width);
                while schedule.next() < end {
                    let at = schedule.next();
                    schedule.advance();
                    (0..width).for_each(|_| self.tally.give_up(at, now, self.window));
                    if self.fan.is_some() && self.window.contains(at) {
                        self.tally.fan_out().add(now.saturating_sub(at));
                    }
                }
            }
            Pace::Recorded => {
                for lane in &mut self.lanes {
                    while let Some(at) = lane.source.skip().filter(|at| *at < end) {
                        self.tally.give_up(at, now, self.window);
                    }
                }
            }
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Whether no request is in flight.
    pub(crate) fn is_quiet(&self) -> bool {
        self.lanes.iter().all(|lane| lane.flights.is_empty())
    }

    /// Whether no request is in flight and none follows.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        (self.stopped || self.ended == self.lanes.len()) && self.is_quiet()
    }

    /// Stops waiting: the requests in flight count as unanswered.
    pub(crate) fn abandon(&mut self, now: u64) {
        (0..self.lanes.len()).for_each(|lane| self.give_up(lane, now));
    }

    fn give_up(&mut self, lane: usize, now: u64) {
        let lane = &mut self.lanes[lane];
        for flight in lane.flights.drain(..) {
            self.tally.give_up(flight.at, now, self.window);
            if let Some(fan) = &mut self.fan {
                fan.settle(flight.group, now, self.window, &mut self.tally);
            }
        }
        lane.keys.clear();
        lane.source.begin();
    }
}
