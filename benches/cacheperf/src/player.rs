// SPDX-License-Identifier: Apache-2.0
//! [`Player`]: one thread's share of a load, without sockets and without a clock.
//!
//! Its caller passes in the time and the bytes that arrive, and sends the bytes that the player
//! writes. So the event loop in `worker.rs` is short, and a test sets the time.
//!
//! * INV-INTENDED: the latency of a request counts from the moment at which it was due to be sent. In a
//!   closed loop that is the moment at which it is sent. In an open loop the moment comes from the
//!   [`Schedule`], and nothing that the server does changes it: a server that stalls for a second causes
//!   up to a second of latency in *every* request that fell into that second, including those that could
//!   not be sent before its end. A lost connection does not change it either.
//! * INV-COUNTED: a request that was due in the measured time is included in the latencies, answered or
//!   not. A request that is never answered counts with the time until the run gave it up.

mod absorb;
mod end;
mod fan;
mod lane;
mod pace;
#[cfg(test)]
mod tests;
mod write;

pub(crate) use end::Loss;
pub use pace::Arrivals;
pub(crate) use pace::Schedule;

use crate::dialect::{Dialect, Op};
use crate::tally::Tally;
use crate::workload::{Due, Next, Source};
use fan::{Fan, FanId};
use lane::{Flight, Lane, State};
use write::write;

/// Bytes that a request or a reply has besides keys and values, generously.
const OVERHEAD_BYTES: usize = 256;

/// The measured time, in nanoseconds since the start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// The warm-up is over.
    pub(crate) start: u64,
    /// Nothing is sent from here on.
    pub(crate) end: u64,
}

impl Window {
    #[inline]
    pub(crate) fn contains(&self, at: u64) -> bool {
        (self.start..self.end).contains(&at)
    }
}

/// When requests are sent.
#[derive(Clone, Debug)]
pub(crate) enum Pace {
    /// A pipeline of requests, and the next pipeline when all of it is answered.
    Closed,
    /// At decided times.
    Open(Schedule),
    /// At the times that each source sets for its own requests.
    Recorded,
}

/// How a player plays.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// When requests are sent.
    pub(crate) pace: Pace,
    /// The length of a closed loop's pipelines, or the most requests in flight on a connection of an open
    /// loop.
    pub(crate) depth: usize,
    /// The measured time.
    pub(crate) window: Window,
    /// Requests that may be sent in the measured time.
    pub(crate) quota: Option<u64>,
    /// Checks every value that is read.
    pub(crate) verify: bool,
    /// Requests after which a connection is replaced.
    pub(crate) reconnect: Option<u64>,
    /// Requests of a user's request, which are sent at once.
    pub(crate) fan_out: Option<usize>,
}

/// One thread's share of a load.
#[derive(Debug)]
pub(crate) struct Player<D, S> {
    dialect: D,
    lanes: Vec<Lane<S>>,
    pace: Pace,
    depth: usize,
    window: Window,
    /// Requests that may still be sent in the measured time.
    quota: Option<u64>,
    reconnect: Option<u64>,
    fan: Option<Fan>,
    stopped: bool,
    /// The number of lanes that have ended.
    ended: usize,
    /// The lane whose turn it is in an open loop.
    turn: usize,
    /// Texts of keys, for the request that is being written.
    texts: Vec<u8>,
    tally: Tally,
}

impl<D: Dialect, S: Source> Player<D, S> {
    /// A player with a lane for each source.
    pub(crate) fn new(
        dialect: D,
        sources: impl Iterator<Item = S>,
        Setup { pace, depth, window, quota, verify, reconnect, fan_out }: Setup,
    ) -> Self {
        let lanes = sources.map(|source| Lane::new(source, verify, depth)).collect();
        Player {
            dialect,
            lanes,
            pace,
            depth,
            window,
            quota,
            reconnect,
            fan: fan_out.map(Fan::new),
            stopped: false,
            ended: 0,
            turn: 0,
            texts: Vec::with_capacity(4096),
            tally: Tally::new(),
        }
    }

    /// Bytes of the largest reply, and of the largest pipeline: what buffers are made for.
    pub(crate) fn bytes_max(&self) -> (usize, usize) {
        let sources = self.lanes.iter().map(|lane| lane.source.bytes_max() + OVERHEAD_BYTES);
        let one = sources.max().unwrap_or(OVERHEAD_BYTES);
        (one, one.saturating_mul(self.depth))
    }

    /// What was counted since it was last taken.
    pub(crate) fn tally(&mut self) -> &mut Tally {
        &mut self.tally
    }

    pub(crate) fn window(&self) -> Window {
        self.window
    }

    /// Writes what a connection begins with.
    pub(crate) fn greet(&mut self, lane: usize, now: u64, out: &mut Vec<u8>) {
        if self.dialect.greet(out) {
            self.lanes[lane].flights.push_back(Flight {
                at: now,
                op: Op::Greeting,
                keys: 0,
                warm: false,
                group: FanId::NONE,
            });
        }
    }

    /// In a closed loop: writes the next pipeline of a lane, when the one before is answered.
    #[inline]
    pub(crate) fn refill(&mut self, lane: usize, now: u64, out: &mut Vec<u8>) {
        let ready = matches!(self.pace, Pace::Closed) && !self.stopped;
        let each = &mut self.lanes[lane];
        if !ready || each.state != State::Open || !each.flights.is_empty() {
            return;
        }
        each.source.begin();
        for _ in 0..self.depth {
            if !self.ask(lane, now, out) {
                break;
            }
        }
    }

    /// In a closed loop: whether a lane is to go on with a new connection.
    #[inline]
    pub(crate) fn is_worn(&self, lane: usize) -> bool {
        let lane = &self.lanes[lane];
        let worn = self.reconnect.is_some_and(|requests| lane.had >= requests);
        worn && lane.flights.is_empty() && lane.state == State::Open && !self.stopped
    }

    /// In an open loop: when the next request is to be sent, as far as that is known.
    pub(crate) fn next_due(&self) -> Option<u64> {
        match &self.pace {
            Pace::Closed => None,
            _ if self.stopped => None,
            Pace::Open(schedule) => {
                Some(sending(self.fan.as_ref()).unwrap_or_else(|| schedule.next()))
            }
            Pace::Recorded => self.first_recorded().map(|(_, due)| match due {
                Due::Now => 0,
                Due::At(at) => at,
            }),
        }
    }

    /// In an open loop: the lane that is to ask now, and since when. `None` when nothing is due, or
    /// every lane is full.
    #[inline]
    pub(crate) fn due(&mut self, now: u64) -> Option<(usize, u64)> {
        if self.stopped {
            return None;
        }
        let schedule = match &mut self.pace {
            Pace::Closed => return None,
            Pace::Open(schedule) => schedule,
            Pace::Recorded => {
                return match self.first_recorded()? {
                    (lane, Due::Now) => Some((lane, now)),
                    (lane, Due::At(at)) => (at <= now).then_some((lane, at)),
                };
            }
        };
        let sending = sending(self.fan.as_ref());
        let at = sending.unwrap_or_else(|| schedule.next());
        if at > now || at >= self.window.end {
            return None;
        }
        let count = self.lanes.len();
        for step in 0..count {
            let lane = (self.turn + step) % count;
            if self.lanes[lane].has_room(self.depth) {
                self.turn = lane + 1;
                if sending.is_none() {
                    schedule.advance();
                }
                return Some((lane, at));
            }
        }
        None
    }

    /// The lane whose source is due first, and when. Costs a look at each lane.
    fn first_recorded(&self) -> Option<(usize, Due)> {
        let lanes = self.lanes.iter().enumerate();
        let ready = lanes.filter(|(_, lane)| lane.has_room(self.depth));
        let due = ready.filter_map(|(number, lane)| Some((number, lane.source.due()?)));
        due.min_by_key(|(_, due)| *due)
    }

    /// Writes one request, which was to be sent `at`; false when there is none.
    #[inline]
    pub(crate) fn ask(&mut self, lane: usize, at: u64, out: &mut Vec<u8>) -> bool {
        if at >= self.window.start
            && let Some(quota) = &mut self.quota
        {
            match quota.checked_sub(1) {
                Some(left) => *quota = left,
                None => {
                    self.stopped = true;
                    return false;
                }
            }
        }
        let group = self.fan.as_mut().map_or(FanId::NONE, |fan| fan.take(at));
        let lane = &mut self.lanes[lane];
        match lane.source.next(&mut lane.keys) {
            Next::Ask { op, keys, ttl_s } => {
                let warm = lane.source.is_warm();
                lane.flights.push_back(Flight { at, op, keys, warm, group });
                lane.had += 1;
                let first = lane.keys.len() - usize::from(keys);
                let asked = lane.keys.range(first..).copied();
                write(self.dialect, out, op, asked, ttl_s, lane.source.digits(), &mut self.texts);
                true
            }
            Next::Wait => false,
            Next::Over => {
                lane.state = State::Over;
                self.ended += 1;
                false
            }
        }
    }
}

/// When the user's request was due that is being sent.
fn sending(fan: Option<&Fan>) -> Option<u64> {
    fan.and_then(Fan::due)
}
