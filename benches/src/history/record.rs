// SPDX-License-Identifier: Apache-2.0
//! Clients that carry out a plan and write down what was called and answered, and when.
//!
//! A thread has several connections. It sends a batch on some of them and then reads the answers of
//! each, so that the server has requests of many clients at once however few threads the machine runs.
//! An operation is called before the first byte of its batch is written, and answered after the read that
//! brought its last byte: the time between is longer than it was in the server, never shorter.

use super::check::Event;
use super::model::{Answer, Op};
use super::plan::{Kind, Planner, SLOTS};
use super::text::{Piece, token};
use super::wire::Wire;
use fastrand::Rng;
use std::collections::VecDeque;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

/// How long an answer may take on a busy machine.
const ANSWER_MAX: Duration = Duration::from_secs(120);
/// Operations in a batch, and on one group of keys in it. The number is small because the check tries all
/// open operations in every order.
const BATCH_MAX: usize = 6;
const BATCH_OF_GROUP_MAX: usize = 2;
/// Bytes of requests after which a batch is full, so that no write waits for answers to be read.
const BATCH_BYTES: usize = 16 << 10;

/// What clients do besides the operations that are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filler {
    /// Nothing.
    Nothing,
    /// Other keys are written, more than there is room for.
    Writes,
    /// Other keys are written, more than there is room for, and removed.
    WritesAndRemoves,
}

/// A group of keys that is checked independently.
#[derive(Clone, Debug)]
pub struct Group {
    /// The kind of operations on it.
    pub kind: Kind,
    /// Its keys.
    pub keys: Vec<Vec<u8>>,
}

impl Group {
    /// The group with a number.
    #[must_use]
    pub fn new(number: usize, kind: Kind) -> Self {
        let key = |slot| format!("group-{number}-{slot}").into_bytes();
        Group { kind, keys: (0..SLOTS).map(key).collect() }
    }
}

/// A connection.
#[derive(Debug)]
pub struct Link {
    client: usize,
    wire: Wire,
    planner: Planner,
    stream: TcpStream,
    /// Bytes that have arrived and are not read yet.
    input: Vec<u8>,
    /// Operations that were sent and are not answered yet.
    waiting: VecDeque<Sent>,
    output: Vec<u8>,
}

#[derive(Debug)]
struct Sent {
    /// The group, or `None` for a write that fills the memory.
    group: Option<usize>,
    op: Op,
    called_ns: u64,
}

/// The context of a thread.
#[derive(Debug)]
pub struct Clients {
    links: Vec<Link>,
    rng: Rng,
    filler: Filler,
}

impl Link {
    /// Connects.
    ///
    /// # Errors
    ///
    /// The system's.
    pub fn open(client: usize, wire: Wire, address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(ANSWER_MAX))?;
        stream.set_write_timeout(Some(ANSWER_MAX))?;
        let planner = Planner::new(wire, client);
        let (input, waiting, output) = (Vec::new(), VecDeque::new(), Vec::new());
        Ok(Link { client, wire, planner, stream, input, waiting, output })
    }

    /// Sends a batch.
    fn send(
        &mut self,
        groups: &[Group],
        filler: Filler,
        epoch: Instant,
        rng: &mut Rng,
    ) -> io::Result<()> {
        self.output.clear();
        let mut on_group = vec![0; groups.len()];
        for _ in 0..rng.usize(1..=BATCH_MAX) {
            let group = rng.usize(..groups.len());
            if on_group[group] < BATCH_OF_GROUP_MAX {
                on_group[group] += 1;
                let Group { kind, keys } = &groups[group];
                let op = self.planner.next(group, *kind, rng);
                self.wire.write(&op, keys, &mut self.output);
                self.waiting.push_back(Sent { group: Some(group), op, called_ns: 0 });
            }
            if filler != Filler::Nothing && rng.bool() {
                self.fill(filler, rng);
            }
            if self.output.len() > BATCH_BYTES {
                break;
            }
        }
        // Now and then a request arrives in pieces.
        let cut = if rng.u8(..8) == 0 { rng.usize(..self.output.len()) } else { 0 };
        let called_ns = epoch.elapsed().as_nanos() as u64;
        self.waiting.iter_mut().for_each(|sent| sent.called_ns = called_ns);
        self.stream.write_all(&self.output[..cut])?;
        self.stream.write_all(&self.output[cut..])
    }

    fn fill(&mut self, filler: Filler, rng: &mut Rng) {
        use super::model::Action;
        let key = [format!("filler-{}", rng.u32(..4_000)).into_bytes()];
        let action = if filler == Filler::WritesAndRemoves && rng.u8(..3) == 0 {
            Action::Remove
        } else {
            Action::Write(vec![Piece::Token(token(0, rng.usize(100..9_000)))])
        };
        let op = Op::On(0, action);
        self.wire.write(&op, &key, &mut self.output);
        self.waiting.push_back(Sent { group: None, op, called_ns: 0 });
    }

    /// Reads the answers to all that was sent.
    fn receive(&mut self, epoch: Instant, events: &mut [Vec<Event>]) -> Result<(), String> {
        let mut buffer = [0; 1 << 14];
        while !self.waiting.is_empty() {
            let len = self.stream.read(&mut buffer).map_err(|error| {
                format!("client {}: no answer to {:?}: {error}", self.client, self.waiting[0].op)
            })?;
            if len == 0 {
                let op = &self.waiting[0].op;
                return Err(format!(
                    "client {}: closed instead of an answer to {op:?}",
                    self.client
                ));
            }
            self.input.extend_from_slice(&buffer[..len]);
            let answered_ns = epoch.elapsed().as_nanos() as u64;
            let mut at = 0;
            while let Some(Sent { op, .. }) = self.waiting.front() {
                let Some((answer, len)) = self.wire.read(op, &self.input[at..])? else { break };
                at += len;
                let Sent { group, op, called_ns } = self.waiting.pop_front().expect("it is there");
                let client = self.client;
                let Some(group) = group else {
                    if let Answer::Odd(what) = answer {
                        return Err(format!("client {client}: {op:?} of a filler: {what}"));
                    }
                    continue;
                };
                self.planner.answered(group, &answer);
                events[group].push(Event { client, op, answer, called_ns, answered_ns });
            }
            self.input.drain(..at);
        }
        if self.input.is_empty() {
            return Ok(());
        }
        Err(format!("client {}: \"{}\" to no request", self.client, self.input.escape_ascii()))
    }
}

impl Clients {
    /// Those of a thread.
    #[must_use]
    pub fn new(links: Vec<Link>, filler: Filler, seed: u64) -> Self {
        Clients { links, rng: Rng::with_seed(seed), filler }
    }

    /// Carries out operations until a time, at least one batch; returns the events of each group. The
    /// connections are idle then.
    ///
    /// # Errors
    ///
    /// What no server may do to a connection.
    pub fn run(
        &mut self,
        groups: &[Group],
        epoch: Instant,
        until: Instant,
        events_max: usize,
    ) -> Result<Vec<Vec<Event>>, String> {
        let mut events = vec![Vec::new(); groups.len()];
        let mut sent = 0;
        while sent < events_max && (sent == 0 || Instant::now() < until) {
            let mut order: Vec<usize> = (0..self.links.len()).collect();
            self.rng.shuffle(&mut order);
            order.truncate(self.rng.usize(1..=self.links.len()));
            for &link in &order {
                let link = &mut self.links[link];
                link.send(groups, self.filler, epoch, &mut self.rng)
                    .map_err(|error| format!("client {}: cannot send: {error}", link.client))?;
                sent += link.waiting.len();
            }
            self.rng.shuffle(&mut order);
            for &link in &order {
                self.links[link].receive(epoch, &mut events)?;
            }
        }
        Ok(events)
    }
}
