// SPDX-License-Identifier: Apache-2.0
//! [`Player`]: one thread's share of a load, without sockets and without a clock.
//!
//! Whoever drives it says what time it is, gives it the bytes that arrive and sends the bytes that it
//! writes. So the event loop in `worker.rs` is short, and a test owns the time.
//!
//! * INV-INTENDED: the latency of a request counts from the moment at which it was to be sent. In a
//!   closed loop that is the moment at which it is sent. In an open loop it comes from the
//!   [`Schedule`], and nothing that the server does moves it: a server that stalls for a second shows
//!   up to a second of latency in *every* request that fell into that second, also in those that could
//!   not be sent before its end.
//! * INV-COUNTED: a request that was to be sent in the measured time is in the latencies, answered or
//!   not. One that is never answered counts with the time until the run gave it up.

mod lane;
mod pace;
#[cfg(test)]
mod tests;
mod write;

pub use pace::Arrivals;
pub(crate) use pace::Schedule;

use crate::dialect::{Dialect, Op, Piece, Unreadable};
use crate::tally::Tally;
use crate::workload::{Next, Source};
use lane::{Flight, Lane, State};
use protocol_resp::client::{Items, Reply};
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
    /// A pipeline of requests, and the next when all of it is answered.
    Closed,
    /// At decided times.
    Open(Schedule),
}

/// How a player plays.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// When requests are sent.
    pub(crate) pace: Pace,
    /// The length of a closed loop's pipelines, and the most requests that an open loop has under way on
    /// a connection.
    pub(crate) depth: usize,
    /// The measured time.
    pub(crate) window: Window,
    /// Requests that may be sent in the measured time.
    pub(crate) quota: Option<u64>,
    /// Checks every value that is read.
    pub(crate) verify: bool,
    /// Requests after which a connection is replaced.
    pub(crate) reconnect: Option<u64>,
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
    stopped: bool,
    /// Lanes that ask nothing any more.
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
        Setup { pace, depth, window, quota, verify, reconnect }: Setup,
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
            self.lanes[lane].flights.push_back(Flight { at: now, op: Op::Greeting, keys: 0 });
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

    /// A lane has a new connection.
    pub(crate) fn renew(&mut self, lane: usize, now: u64) {
        self.lanes[lane].had = 0;
        self.tally.reconnected += u64::from(self.window.contains(now));
    }

    /// In an open loop: when the next request is to be sent.
    pub(crate) fn next_due(&self) -> Option<u64> {
        match &self.pace {
            Pace::Open(schedule) if !self.stopped => Some(schedule.next()),
            _ => None,
        }
    }

    /// In an open loop: the lane that is to ask now, and since when. `None` when nothing is due, or
    /// every lane is full.
    #[inline]
    pub(crate) fn due(&mut self, now: u64) -> Option<(usize, u64)> {
        let Pace::Open(schedule) = &mut self.pace else { return None };
        let at = schedule.next();
        if self.stopped || at > now || at >= self.window.end {
            return None;
        }
        let count = self.lanes.len();
        for step in 0..count {
            let lane = (self.turn + step) % count;
            let each = &self.lanes[lane];
            if each.state == State::Open && each.flights.len() < self.depth {
                self.turn = lane + 1;
                schedule.advance();
                return Some((lane, at));
            }
        }
        None
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
        let lane = &mut self.lanes[lane];
        match lane.source.next(&mut lane.keys) {
            Next::Ask { op, keys, ttl_s } => {
                lane.flights.push_back(Flight { at, op, keys });
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

    /// Reads the replies in `input`, which arrived on a lane; how many of its bytes they take up.
    ///
    /// # Errors
    ///
    /// What arrived is no reply to what was asked. The lane is of no use any more.
    #[inline]
    pub(crate) fn absorb(
        &mut self,
        lane: usize,
        now: u64,
        input: &[u8],
    ) -> Result<usize, Unreadable> {
        let lane = &mut self.lanes[lane];
        let (tally, texts) = (&mut self.tally, &mut self.texts);
        let mut used = 0;
        while let Some(&Flight { at, op, .. }) = lane.flights.front() {
            // Throughput is what is answered in the measured time; a number of requests is exact.
            let counts = self.window.contains(if self.quota.is_some() { at } else { now });
            let Some((piece, len)) = self.dialect.read(op, &input[used..])? else {
                return Ok(used);
            };
            used += len;
            let over = match piece {
                Piece::Value { key, value, last } => {
                    lane.found(key, value, texts, tally, counts);
                    last
                }
                Piece::End => true,
                Piece::Values(items) => {
                    values(lane, items, tally, counts)?;
                    true
                }
                Piece::Done | Piece::NotFound => {
                    done(op, tally, counts);
                    true
                }
                Piece::Refused { why, last } => {
                    tally.error(|| why.escape_ascii().to_string());
                    tally.set_errors += u64::from(op == Op::Set && counts);
                    // Its keys were neither found nor missed.
                    while op != Op::GetMany && lane.take_key().is_some() {}
                    last
                }
            };
            if over {
                settle(lane, op, tally, counts);
                if op != Op::Greeting {
                    tally.answered += u64::from(counts);
                    if self.window.contains(at) {
                        tally.latencies.add(now.saturating_sub(at));
                    }
                }
            }
        }
        if used < input.len() { Err(Unreadable) } else { Ok(used) }
    }

    /// The connection of a lane is gone.
    #[cold]
    pub(crate) fn lose(&mut self, lane: usize, now: u64, why: &str) {
        match std::mem::replace(&mut self.lanes[lane].state, State::Broken) {
            State::Broken => return,
            State::Over => {}
            State::Open => self.ended += 1,
        }
        let under_way = self.lanes[lane].flights.len();
        self.tally.error(|| format!("{why}, with {under_way} requests unanswered"));
        self.give_up(lane, now);
    }

    /// Sends nothing any more. What an open loop should have sent before and could not counts as
    /// unanswered, by INV-COUNTED.
    pub(crate) fn stop(&mut self, now: u64) {
        self.stopped = true;
        let Pace::Open(schedule) = &mut self.pace else { return };
        while schedule.next() < self.window.end.min(now) {
            let at = schedule.next();
            schedule.advance();
            if self.window.contains(at) {
                self.tally.unanswered += 1;
                self.tally.latencies.add(now - at);
            }
        }
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stopped
    }

    /// Whether nothing is under way.
    pub(crate) fn is_quiet(&self) -> bool {
        self.lanes.iter().all(|lane| lane.flights.is_empty())
    }

    /// Whether nothing is under way and nothing follows.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        (self.stopped || self.ended == self.lanes.len()) && self.is_quiet()
    }

    /// Waits for nothing any more: what is under way counts as unanswered.
    pub(crate) fn abandon(&mut self, now: u64) {
        (0..self.lanes.len()).for_each(|lane| self.give_up(lane, now));
    }

    fn give_up(&mut self, lane: usize, now: u64) {
        let lane = &mut self.lanes[lane];
        for flight in lane.flights.drain(..) {
            if self.window.contains(flight.at) {
                self.tally.unanswered += 1;
                self.tally.latencies.add(now.saturating_sub(flight.at));
            }
        }
        lane.keys.clear();
    }
}

/// All values of a multi-get in the order of its keys.
fn values<S: Source>(
    lane: &mut Lane<S>,
    items: Items<'_>,
    tally: &mut Tally,
    counts: bool,
) -> Result<(), Unreadable> {
    for item in items {
        let key = lane.take_key().ok_or(Unreadable)?;
        match item {
            Reply::Bulk(bytes) => lane.check(key, bytes, tally, counts),
            Reply::Null => lane.not_found(key, tally, counts),
            _ => return Err(Unreadable),
        }
    }
    Ok(())
}

#[inline]
fn done(op: Op, tally: &mut Tally, counts: bool) {
    match op {
        Op::Set => tally.sets += u64::from(counts),
        Op::Delete => tally.deletes += u64::from(counts),
        _ => {}
    }
}

/// The oldest request is answered: keys that are left were not found.
#[inline]
fn settle<S: Source>(lane: &mut Lane<S>, op: Op, tally: &mut Tally, counts: bool) {
    while let Some(key) = lane.take_key() {
        if matches!(op, Op::Get | Op::GetMany) {
            lane.not_found(key, tally, counts);
        }
    }
    lane.flights.pop_front();
}
