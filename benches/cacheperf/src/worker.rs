// SPDX-License-Identifier: Apache-2.0
//! [`Worker`]: a thread's event loop, between its sockets and its [`Player`].

mod attendance;
mod links;
mod reopen;

use crate::absences::ABSENCE_MIN_NS;
use crate::dialect::Dialect;
use crate::error::PATIENCE;
use crate::player::Player;
use crate::tally::Tally;
use crate::workload::Source;
use crate::{Plan, Target};
use attendance::{Attendance, Turn};
use buffer::Pool;
use links::Links;
use mio::{Events, Interest, Poll, Token};
use session::{Fill, Session};
use std::io;
use std::ops::RangeInclusive;
use std::sync::mpsc::{Receiver, Sender};
use std::time::{Duration, Instant};

/// How long replies are waited for after the end.
const GRACE_NS: u64 = 2_000_000_000;

/// Requests that an open loop sends before it looks for replies again.
const BURST_MAX: usize = 256;

/// The system's sleeps end on the next whole millisecond at the earliest, so less than that is not
/// slept but waited out awake.
const AWAKE_NS: u64 = 2_000_000;

/// Bytes of a receive block and of a send block, at least and at most. Between them, a block holds the
/// largest reply, or pipeline, so that it need not grow.
const BLOCK_BYTES: RangeInclusive<usize> = 64 << 10..=8 << 20;

/// Blocks of each kind that an idle worker keeps.
const BLOCKS_KEPT: usize = 64;

/// Where time is cut into slices.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slices {
    /// A boundary.
    pub(crate) origin_ns: u64,
    /// From one boundary to the next.
    pub(crate) len_ns: u64,
}

impl Slices {
    /// The slice of a moment. Those before the origin are counted from 0 as well.
    pub(crate) fn index(&self, now: u64) -> u64 {
        (now + self.len_ns - self.origin_ns % self.len_ns) / self.len_ns
    }

    /// When a slice begins; 0 for the first, which may be short.
    pub(crate) fn start(&self, index: u64) -> u64 {
        (index * self.len_ns + self.origin_ns % self.len_ns).saturating_sub(self.len_ns)
    }
}

/// What a worker says.
#[derive(Debug)]
pub(crate) enum Message {
    /// All connections are ready, or one is not and why.
    Ready(Result<(), String>),
    /// What was counted up to the end of a slice.
    Slice { worker: usize, index: u64, tally: Box<Tally> },
    /// The rest, and when it ended.
    Done { worker: usize, at: u64, tally: Box<Tally> },
}

/// A thread's event loop.
#[derive(Debug)]
pub(crate) struct Worker<D, S> {
    number: usize,
    player: Player<D, S>,
    /// The servers, and the number of the first lane among those of all threads.
    targets: Vec<Target>,
    first_lane: usize,
    sessions: Vec<Session>,
    pool: Pool,
    poll: Poll,
    start: Instant,
    /// Lanes with requests that are written and not sent.
    dirty: Vec<usize>,
    links: Links,
    /// How long nobody may be reached.
    give_up_after: Duration,
    /// Why the last attempt to open a connection has failed.
    last_failure: String,
}

impl<D: Dialect, S: Source> Worker<D, S> {
    /// Registers the sessions, of which there is one for each of the player's lanes.
    pub(crate) fn new(
        number: usize,
        player: Player<D, S>,
        plan: &Plan,
        first_lane: usize,
        mut sessions: Vec<Session>,
    ) -> io::Result<Self> {
        let poll = Poll::new()?;
        for (lane, session) in sessions.iter_mut().enumerate() {
            register(&poll, session, lane)?;
        }
        let dirty = Vec::with_capacity(sessions.len());
        let (reply, pipeline) = player.bytes_max();
        let block = |bytes: usize| bytes.clamp(*BLOCK_BYTES.start(), *BLOCK_BYTES.end());
        let pool = Pool::new(block(reply), block(pipeline), BLOCKS_KEPT);
        let give_up_after = plan.give_up_after;
        let links = Links::new(sessions.len(), reopen::nanoseconds(give_up_after));
        Ok(Worker {
            number,
            player,
            targets: plan.targets(),
            first_lane,
            sessions,
            pool,
            poll,
            start: Instant::now(),
            dirty,
            links,
            give_up_after,
            last_failure: String::new(),
        })
    }

    /// The thread: gets ready, waits for the start, plays.
    pub(crate) fn run(mut self, slices: Slices, to: &Sender<Message>, go: &Receiver<Instant>) {
        // Who is not there to listen any more has given up the run.
        let _ = to.send(Message::Ready(self.get_ready()));
        let Ok(start) = go.recv() else { return };
        self.start = start;
        let at = self.play(slices, to);
        let tally = Box::new(std::mem::replace(self.player.tally(), Tally::new()));
        let _ = to.send(Message::Done { worker: self.number, at, tally });
    }

    /// The server of a lane.
    fn target(&self, lane: usize) -> &Target {
        &self.targets[(self.first_lane + lane) % self.targets.len()]
    }

    /// Nanoseconds since the start.
    #[inline]
    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// Shakes hands and exchanges greetings on all connections.
    fn get_ready(&mut self) -> Result<(), String> {
        let mut events = Events::with_capacity(1024);
        for lane in 0..self.sessions.len() {
            self.write(lane, |player, out| player.greet(lane, 0, out));
            self.flush(lane);
        }
        let begun = Instant::now();
        while self.sessions.iter().any(Session::is_handshaking) || !self.player.is_quiet() {
            if begun.elapsed() > PATIENCE {
                return Err("the server does not answer".to_owned());
            }
            let woken = self.poll.poll(&mut events, Some(Duration::from_millis(100)));
            woken.or_else(interrupted).map_err(|error| error.to_string())?;
            events.iter().for_each(|event| self.serve(event, false));
            if self.player.tally().errors > 0 {
                break;
            }
        }
        self.player.tally().told.first().map_or(Ok(()), |first| Err(first.clone()))
    }

    /// Asks until the end; returns when that was.
    fn play(&mut self, slices: Slices, to: &Sender<Message>) -> u64 {
        let mut events = Events::with_capacity(1024);
        let mut slice = slices.index(0);
        let mut give_up_at = u64::MAX;
        let (mut attendance, mut turn) = (Attendance::new(), Turn::default());
        let window = self.player.window();
        for lane in 0..self.sessions.len() {
            let now = self.now();
            self.write(lane, |player, out| player.refill(lane, now, out));
            self.flush(lane);
        }
        loop {
            let now = self.now();
            if now.saturating_sub(turn.begun) > ABSENCE_MIN_NS {
                attendance.look(turn, now, window, &mut self.player.tally().absences);
            }
            turn = Turn { begun: now, ..Turn::default() };
            if slices.index(now) > slice {
                attendance.account(now, window, &mut self.player.tally().absences);
                self.deliver(slice, to);
                slice = slices.index(now);
            }
            turn.worked = self.send_due(now);
            if !self.player.is_stopped() && now >= self.player.window().end {
                self.player.stop(now);
            }
            if self.player.is_stopped() {
                give_up_at = give_up_at.min(now + GRACE_NS);
            }
            let is_lost =
                !self.links.are_up() && !self.player.is_stopped() && !self.reopen_lost(now);
            if is_lost {
                self.player.stop(now);
            }
            if is_lost || now >= give_up_at {
                self.player.abandon(now);
                return now;
            }
            if self.player.is_over() {
                return now;
            }
            let wake = slices.start(slice + 1).min(give_up_at).min(self.player.window().end);
            let wake = if self.player.is_stopped() { wake } else { wake.min(self.links.wake_at()) };
            let timeout = self.timeout(wake);
            if let Err(error) = self.poll.poll(&mut events, Some(timeout)).or_else(interrupted) {
                self.player.tally().error(|| format!("the event loop fails: {error}"));
                self.player.abandon(now);
                return now;
            }
            turn.sleep_ns = timeout.as_nanos() as u64;
            turn.worked |= !events.is_empty();
            events.iter().for_each(|event| self.serve(event, true));
        }
    }

    /// How long to sleep: until `wake`, or the next request that is due.
    fn timeout(&self, wake: u64) -> Duration {
        let now = self.now();
        let due = self.player.next_due().unwrap_or(u64::MAX);
        let sleep = wake.min(due).saturating_sub(now);
        if due != u64::MAX && sleep < AWAKE_NS {
            return Duration::ZERO;
        }
        // The system rounds up to milliseconds: a request that is due then is waited for awake.
        let early = if due < wake { AWAKE_NS / 2 } else { 0 };
        Duration::from_nanos(sleep.saturating_sub(early))
    }

    /// Hands over what was counted.
    fn deliver(&mut self, index: u64, to: &Sender<Message>) {
        let tally = Box::new(std::mem::replace(self.player.tally(), Tally::new()));
        let _ = to.send(Message::Slice { worker: self.number, index, tally });
    }

    /// Sends what an open loop should have sent by now; whether there was something.
    fn send_due(&mut self, now: u64) -> bool {
        for _ in 0..BURST_MAX {
            let Some((lane, at)) = self.player.due(now) else { break };
            if self.sessions[lane].send().is_empty() {
                self.dirty.push(lane);
            }
            self.write(lane, |player, out| {
                player.ask(lane, at, out);
            });
        }
        let is_any = !self.dirty.is_empty();
        while let Some(lane) = self.dirty.pop() {
            self.flush(lane);
        }
        is_any
    }

    /// Lets the player write to a lane's send buffer.
    #[inline]
    fn write(&mut self, lane: usize, write: impl FnOnce(&mut Player<D, S>, &mut Vec<u8>)) {
        let (_, send) = self.sessions[lane].buffers();
        send.lend(&mut self.pool);
        send.put_with(|out| write(&mut self.player, out));
    }

    /// A socket has news.
    #[inline]
    fn serve(&mut self, event: &mio::event::Event, refill: bool) {
        let lane = event.token().0;
        if !self.links.are_up() && self.links.is_opening(lane) {
            return self.go_on_opening(lane, event.is_writable());
        }
        if event.is_readable() || event.is_read_closed() {
            self.receive(lane, event.is_read_closed(), refill);
        } else if event.is_writable() {
            self.flush(lane);
        }
    }

    /// Reads all that has arrived, and asks anew in a closed loop.
    #[inline]
    fn receive(&mut self, lane: usize, ended: bool, refill: bool) {
        loop {
            let session = &mut self.sessions[lane];
            match session.fill(&mut self.pool, 1) {
                Ok(Fill::Some { drained }) => {
                    let now = self.start.elapsed().as_nanos() as u64;
                    let (recv, _) = session.buffers();
                    match self.player.absorb(lane, now, recv.filled()) {
                        Ok(used) => {
                            recv.consume(used);
                            self.links.replied(lane, now);
                        }
                        Err(_) => {
                            let end = recv.filled().len().min(60);
                            let found = recv.filled()[..end].escape_ascii().to_string();
                            let why = format!("no reply to what was asked: `{found}`");
                            return self.drop_for_good(lane, &why);
                        }
                    }
                    if refill && self.player.is_worn(lane) {
                        return self.replace(lane, now);
                    }
                    if refill {
                        self.write(lane, |player, out| player.refill(lane, now, out));
                    }
                    if drained && !ended {
                        break;
                    }
                }
                Ok(Fill::Blocked) => break,
                Ok(Fill::Closed) => return self.lose(lane, "closed by the server"),
                Err(error) => return self.lose(lane, &error.to_string()),
            }
        }
        self.flush(lane);
        self.sessions[lane].release(&mut self.pool);
    }

    #[inline]
    fn flush(&mut self, lane: usize) {
        if let Err(error) = self.sessions[lane].flush(&mut self.pool) {
            self.lose(lane, &error.to_string());
        }
    }
}

fn register(poll: &Poll, session: &mut Session, lane: usize) -> io::Result<()> {
    let interest = Interest::READABLE | Interest::WRITABLE;
    poll.registry().register(session.stream(), Token(lane), interest)
}

/// A signal is no reason to end.
fn interrupted(error: io::Error) -> io::Result<()> {
    if error.kind() == io::ErrorKind::Interrupted { Ok(()) } else { Err(error) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_begin_where_the_measured_time_does() {
        let slices = Slices { origin_ns: 250, len_ns: 100 };
        let indexes = [0, 49, 50, 249, 250, 349, 350].map(|now| slices.index(now));
        assert_eq!(indexes, [0, 0, 1, 2, 3, 3, 4]);
        assert_eq!([0, 1, 3, 4].map(|index| slices.start(index)), [0, 50, 250, 350]);
        let aligned = Slices { origin_ns: 200, len_ns: 100 };
        assert_eq!(aligned.start(aligned.index(200)), 200);
    }
}
