// SPDX-License-Identifier: Apache-2.0
//! What is checked: each server with each engine, storage and kind of memory.

use super::check::{Event, Verdict, check};
use super::model::{Answer, Rules, Slot, State};
use super::plan::{Kind, SLOTS};
use super::record::{Clients, Filler, Group, Link};
use super::wire::Wire;
use crate::child::Child;
use std::fmt;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// Threads of clients, and connections of each.
const THREADS: usize = 2;
const LINKS: usize = 4;
/// Groups of keys.
const GROUPS: usize = 6;
/// Operations of a thread before histories are checked and their memory is free again.
const EVENTS_MAX: usize = 4_000;

/// A server and its storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Server {
    /// `segcache` with segments.
    SegcacheSeg,
    /// `segcache` with a hash table.
    SegcacheHashmap,
    /// `rds`.
    Rds,
}

/// The memory for keys, compared with the amount of data written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// More than is written: nothing may be lost or refused.
    Large,
    /// Far less: keys may be lost at any moment.
    Full,
    /// Far less, and nothing is evicted: writes may be refused, nothing may be lost.
    Frozen,
}

/// A server to check.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// Which.
    pub server: Server,
    /// What its workers wait with: `epoll` or `io_uring`.
    pub engine: &'static str,
    /// Its memory.
    pub memory: Memory,
    /// How many workers it has.
    pub workers: usize,
}

/// The counts of a case without a violation.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seen {
    /// Operations.
    pub operations: usize,
    /// Reads that found something.
    pub hits: usize,
    /// Reads and writes that found nothing.
    pub misses: usize,
    /// `cas` and `EXEC` that came too late.
    pub changed: usize,
    /// Writes for which there was no room.
    pub refused: usize,
    /// Histories whose search was given up.
    pub undecided: usize,
}

/// All cases, with two to four workers as `seed` has it.
#[must_use]
pub fn cases(seed: u64) -> Vec<Case> {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut cases = Vec::new();
    for server in [Server::SegcacheSeg, Server::SegcacheHashmap, Server::Rds] {
        for engine in ["epoll", "io_uring"] {
            for memory in [Memory::Large, Memory::Full, Memory::Frozen] {
                cases.push(Case { server, engine, memory, workers: rng.usize(2..=4) });
            }
        }
    }
    cases
}

impl fmt::Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let server = match self.server {
            Server::SegcacheSeg => "segcache seg",
            Server::SegcacheHashmap => "segcache hashmap",
            Server::Rds => "rds",
        };
        let memory = match self.memory {
            Memory::Large => "large memory",
            Memory::Full => "full memory",
            Memory::Frozen => "full memory without eviction",
        };
        write!(f, "{server}, {}, {} workers, {memory}", self.engine, self.workers)
    }
}

impl fmt::Display for Seen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Seen { operations, hits, misses, changed, refused, undecided } = self;
        write!(
            f,
            "{operations} operations, {hits} hits, {misses} misses, {changed} changed, {refused} refused"
        )?;
        if *undecided > 0 {
            write!(f, ", {undecided} undecided")?;
        }
        Ok(())
    }
}

impl Seen {
    /// Adds what was seen elsewhere.
    pub fn add(&mut self, other: Seen) {
        self.operations += other.operations;
        self.hits += other.hits;
        self.misses += other.misses;
        self.changed += other.changed;
        self.refused += other.refused;
        self.undecided += other.undecided;
    }

    fn count(&mut self, answer: &Answer) {
        match answer {
            Answer::Value(_) | Answer::Marked(..) => self.hits += 1,
            Answer::Missing => self.misses += 1,
            Answer::Changed => self.changed += 1,
            Answer::Refused => self.refused += 1,
            Answer::All(answers) => answers.iter().for_each(|answer| self.count(answer)),
            Answer::Done
            | Answer::NotDone
            | Answer::Number(_)
            | Answer::NotNumber
            | Answer::WrongType
            | Answer::Odd(_) => {}
        }
    }
}

impl Case {
    fn is_segcache(&self) -> bool {
        self.server != Server::Rds
    }

    fn config(&self) -> String {
        let Case { engine, workers, memory, .. } = self;
        let (size, evict) = match memory {
            Memory::Large => ("512MB", true),
            Memory::Full => ("4MB", true),
            Memory::Frozen => ("4MB", false),
        };
        let common = format!(
            "[server]\nport = 0\n[worker]\nthreads = {workers}\nengine = \"{engine}\"\n\
             [admin]\nenabled = false\n"
        );
        match self.server {
            Server::SegcacheSeg => {
                format!("{common}[cache]\nmemory = \"{size}\"\nevict = {evict}\n[resp]\nport = 0\n")
            }
            Server::SegcacheHashmap => format!(
                "{common}[cache]\nstorage = \"hashmap\"\nmemory = \"{size}\"\nevict = {evict}\n\
                 [resp]\nport = 0\n"
            ),
            Server::Rds => {
                let policy = if evict { "allkeys-random" } else { "noeviction" };
                format!(
                    "{common}[redis]\nmaxmemory = \"{size}\"\nmaxmemory-policy = \"{policy}\"\n"
                )
            }
        }
    }

    fn rules(&self) -> Rules {
        Rules {
            evicts: self.memory == Memory::Full,
            refuses: self.memory != Memory::Large,
            refused_set_removes: self.is_segcache(),
            marks_move: self.server == Server::SegcacheSeg && self.memory == Memory::Full,
        }
    }

    /// Starts the server.
    ///
    /// # Errors
    ///
    /// It does not start.
    pub fn start(&self, binaries: &Path) -> io::Result<Child> {
        let (name, listeners) = if self.is_segcache() { ("segcache", 2) } else { ("rds", 1) };
        Child::start(&binaries.join(name), &self.config(), listeners)
    }

    fn links(&self, server: &Child, thread: usize) -> io::Result<Vec<Link>> {
        let open = |link: usize| {
            let (wire, address) = match self.is_segcache() {
                // Half of the clients speak one of its protocols, half the other.
                true if link.is_multiple_of(2) => (Wire::Memcache, server.addresses[0]),
                true => (Wire::Resp, server.addresses[1]),
                false => (Wire::Resp, server.addresses[0]),
            };
            Link::open(thread * LINKS + link, wire, address)
        };
        (0..LINKS).map(open).collect()
    }

    fn groups(&self) -> Vec<Group> {
        let kind = |number| match number % 3 {
            _ if self.is_segcache() => Kind::Shared,
            0 => Kind::Texts,
            1 => Kind::Lists,
            _ => Kind::Mixed,
        };
        (0..GROUPS).map(|number| Group::new(number, kind(number))).collect()
    }

    /// Checks the case for a while.
    ///
    /// # Errors
    ///
    /// What was wrong, at length.
    pub fn run(&self, binaries: &Path, seed: u64, span: Duration) -> Result<Seen, String> {
        let mut server = self.start(binaries).map_err(|error| error.to_string())?;
        let (groups, rules, epoch) = (self.groups(), self.rules(), Instant::now());
        let filler = match self.memory {
            Memory::Large => Filler::Nothing,
            Memory::Full => Filler::Writes,
            Memory::Frozen => Filler::WritesAndRemoves,
        };
        let clients = |thread| -> io::Result<Clients> {
            let seed = seed.wrapping_mul(31).wrapping_add(thread as u64);
            Ok(Clients::new(self.links(&server, thread)?, filler, seed))
        };
        let clients: io::Result<Vec<Clients>> = (0..THREADS).map(clients).collect();
        let mut clients = clients.map_err(|error| error.to_string())?;
        let mut before: Vec<Vec<State>> = vec![vec![vec![Slot::default(); SLOTS]]; groups.len()];
        let mut seen = Seen::default();
        while seen.operations == 0 || epoch.elapsed() < span {
            let histories = record(&mut clients, &groups, epoch, epoch + span);
            // A server that has died says more than the client that noticed.
            server.is_well()?;
            for (group, history) in histories?.iter().enumerate() {
                seen.operations += history.len();
                history.iter().for_each(|event| seen.count(&event.answer));
                match check(&before[group], history, rules) {
                    Verdict::Sound(states) => before[group] = states,
                    Verdict::Wrong(violation) => {
                        return Err(format!("{:?}: {violation}", groups[group].kind));
                    }
                    Verdict::Undecided => {
                        seen.undecided += 1;
                        return Ok(seen);
                    }
                }
            }
        }
        drop(clients);
        server.stop()?;
        Ok(seen)
    }
}

/// Lets all threads run; returns the history of each group. Nothing is open in the end.
fn record(
    clients: &mut [Clients],
    groups: &[Group],
    epoch: Instant,
    until: Instant,
) -> Result<Vec<Vec<Event>>, String> {
    let parts: Result<Vec<_>, String> = thread::scope(|scope| {
        let run = |clients: &mut Clients| clients.run(groups, epoch, until, EVENTS_MAX);
        let threads: Vec<_> =
            clients.iter_mut().map(|clients| scope.spawn(move || run(clients))).collect();
        let join = |thread: thread::ScopedJoinHandle<'_, _>| thread.join().expect("no panic");
        threads.into_iter().map(join).collect()
    });
    let mut histories = vec![Vec::new(); groups.len()];
    for part in parts? {
        for (history, events) in histories.iter_mut().zip(part) {
            history.extend(events);
        }
    }
    Ok(histories)
}
