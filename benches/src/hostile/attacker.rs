// SPDX-License-Identifier: Apache-2.0
//! Clients that send hostile requests and leave in the middle of anything.

use super::contract::{Dose, SELDOM, dose};
use super::{forge, memcache};
use fastrand::Rng;
use protocol_resp::client::{Encoder, Scanner};
use protocol_resp::table::{self, CommandId};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::thread::sleep;
use std::time::Duration;

/// Requests of a batch.
const BATCH_MAX: usize = 24;
/// How often a client that can neither send nor receive tries again before it leaves.
const TRIES: u32 = 60;
const TRY_EVERY: Duration = Duration::from_millis(1);
/// The longest line that a client of RESP reads here.
const LINE_BYTES: usize = 1 << 20;
/// Bytes of a reply that are checked; a longer reply is read without a check.
const REPLY_BYTES: usize = 8 << 20;
/// How many requests are kept for the report, how many arguments of each, and how many bytes of those.
const KEPT: usize = 40;
const KEPT_WORDS: usize = 12;
const KEPT_BYTES: usize = 40;

/// A client's protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tongue {
    /// RESP, with all commands of the table.
    Resp,
    /// memcache.
    Memcache,
}

/// What all clients of a run share.
#[derive(Debug)]
pub struct Score {
    /// How often each command of the table was sent.
    pub sent: Vec<AtomicU32>,
    /// Requests of memcache.
    pub memcache: AtomicU32,
    /// Connections.
    pub connections: AtomicU32,
    /// The clients are to leave.
    pub is_over: AtomicBool,
    /// A malformed reply.
    pub fault: Mutex<Option<String>>,
}

impl Score {
    /// Nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Score {
            sent: (0..table::COUNT).map(|_| AtomicU32::new(0)).collect(),
            memcache: AtomicU32::new(0),
            connections: AtomicU32::new(0),
            is_over: AtomicBool::new(false),
            fault: Mutex::new(None),
        }
    }

    /// Commands that were never sent and should have been.
    #[must_use]
    pub fn left_out(&self) -> Vec<&'static str> {
        let missed = |command: &CommandId| {
            dose(*command) != Dose::Never && self.sent[command.index()].load(Relaxed) == 0
        };
        table::all().filter(missed).map(|command| command.spec().name).collect()
    }

    /// All requests.
    #[must_use]
    pub fn requests(&self) -> u32 {
        let sent: u32 = self.sent.iter().map(|count| count.load(Relaxed)).sum();
        sent + self.memcache.load(Relaxed)
    }
}

impl Default for Score {
    fn default() -> Self {
        Self::new()
    }
}

/// The behaviour of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Habit {
    /// Reads its replies.
    Reads,
    /// Never reads.
    Deaf,
    /// Sends its requests within transactions, half of which it never ends.
    Transactions,
    /// Waits for elements that others may push.
    Waits,
}

/// Whether a line is longer than is read.
fn has_long_line(text: &[u8]) -> bool {
    text.split(|byte| *byte == b'\n').any(|line| line.len() >= LINE_BYTES)
}

/// A hostile client, which comes back with another connection whenever it has left.
#[derive(Debug)]
pub struct Attacker<'a> {
    tongue: Tongue,
    address: SocketAddr,
    rng: Rng,
    score: &'a Score,
    /// Commands that are still to come in this round of all.
    round: Vec<CommandId>,
    /// What was sent last.
    pub last: Mutex<VecDeque<String>>,
}

impl<'a> Attacker<'a> {
    /// A client whose requests follow from `seed`.
    #[must_use]
    pub fn new(tongue: Tongue, address: SocketAddr, seed: u64, score: &'a Score) -> Self {
        let (rng, last) = (Rng::with_seed(seed), Mutex::default());
        Attacker { tongue, address, rng, score, round: Vec::new(), last }
    }

    /// Comes and leaves until it is over.
    pub fn run(&mut self) {
        while !self.score.is_over.load(Relaxed) {
            // Why a connection ended is its own affair: the server may well have closed it.
            if self.visit().is_err() {
                sleep(TRY_EVERY);
            }
        }
    }

    fn visit(&mut self) -> io::Result<()> {
        let stream = TcpStream::connect(self.address)?;
        stream.set_nonblocking(true)?;
        self.score.connections.fetch_add(1, Relaxed);
        let habit = match self.rng.u8(..10) {
            0 => Habit::Deaf,
            1..4 => Habit::Transactions,
            4 => Habit::Waits,
            _ => Habit::Reads,
        };
        let mut replies = Replies::new(self.tongue);
        for _ in 0..self.rng.u32(1..40) {
            if self.score.is_over.load(Relaxed) {
                break;
            }
            let batch = self.batch(habit);
            if !converse(&stream, &batch, habit, &mut replies)? {
                break;
            }
            if let Some(fault) = replies.fault.take() {
                let mut first = self.score.fault.lock().unwrap_or_else(PoisonError::into_inner);
                first.get_or_insert(fault);
            }
        }
        if self.rng.bool() {
            // It may be gone already.
            let _ = stream.shutdown(Shutdown::Write);
        }
        Ok(())
    }

    fn batch(&mut self, habit: Habit) -> Vec<u8> {
        let mut out = Vec::new();
        for _ in 0..self.rng.usize(1..=BATCH_MAX) {
            match self.tongue {
                Tongue::Memcache => {
                    let start = out.len();
                    memcache::request(&mut self.rng, &mut out);
                    self.keep(&[&out[start..]]);
                    self.score.memcache.fetch_add(1, Relaxed);
                }
                Tongue::Resp => self.command(habit, &mut out),
            }
        }
        out
    }

    /// Keeps a request to be told of.
    fn keep<W: AsRef<[u8]>>(&self, words: &[W]) {
        let shown = |word: &W| {
            let word = word.as_ref();
            let more = word.len().saturating_sub(KEPT_BYTES);
            let start = word[..word.len() - more].escape_ascii();
            if more > 0 { format!("{start}[{more} more bytes]") } else { start.to_string() }
        };
        let mut text: Vec<String> = words.iter().take(KEPT_WORDS).map(shown).collect();
        if words.len() > KEPT_WORDS {
            text.push(format!("[{} more]", words.len() - KEPT_WORDS));
        }
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if last.len() == KEPT {
            last.pop_front();
        }
        last.push_back(text.join(" "));
    }

    /// The next command of the round.
    fn command(&mut self, habit: Habit, out: &mut Vec<u8>) {
        if self.round.is_empty() {
            self.round = table::all().collect();
            self.rng.shuffle(&mut self.round);
        }
        let command = self.round.pop().expect("there are commands");
        let seldom = |rng: &mut Rng| rng.u32(..SELDOM) == 0;
        let taken = match dose(command) {
            Dose::Often => true,
            Dose::Seldom => seldom(&mut self.rng),
            Dose::Never => false,
        };
        if !taken {
            return;
        }
        let around: [&[&str]; 4] =
            [&["MULTI"], &["EXEC"], &["DISCARD"], &["BLPOP", "waiting", "0"]];
        if habit == Habit::Transactions && self.rng.u8(..8) == 0 {
            Encoder::new(out).request(around[self.rng.usize(..3)]);
        }
        if habit == Habit::Waits && self.rng.u8(..8) == 0 {
            Encoder::new(out).request(around[3]);
        }
        let words = forge::request(command, &mut self.rng);
        self.keep(&words);
        Encoder::new(out).request(words);
        self.score.sent[command.index()].fetch_add(1, Relaxed);
    }
}

/// Sends a batch and takes what comes. Whether the connection is still of use.
fn converse(
    mut stream: &TcpStream,
    mut batch: &[u8],
    habit: Habit,
    replies: &mut Replies,
) -> io::Result<bool> {
    let mut tries = 0;
    let mut buffer = [0; 1 << 14];
    while tries < TRIES {
        let mut moved = false;
        if !batch.is_empty() {
            match stream.write(batch) {
                Ok(len) => {
                    batch = &batch[len..];
                    moved = true;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => return Err(error),
            }
        }
        if habit == Habit::Deaf {
            if batch.is_empty() {
                return Ok(true);
            }
        } else {
            match stream.read(&mut buffer) {
                Ok(0) => return Ok(false),
                Ok(len) => {
                    replies.look(&buffer[..len]);
                    moved = true;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    // All that was asked may be answered, or not: it does not wait to see.
                    if batch.is_empty() && tries > 2 {
                        return Ok(true);
                    }
                }
                Err(error) => return Err(error),
            }
        }
        if !moved {
            tries += 1;
            sleep(TRY_EVERY);
        }
    }
    Ok(false)
}

/// Looks whether what a connection is answered are replies.
#[derive(Debug)]
struct Replies {
    tongue: Tongue,
    /// Where the present reply begins.
    input: Vec<u8>,
    scanner: Scanner,
    fault: Option<String>,
}

impl Replies {
    fn new(tongue: Tongue) -> Self {
        Replies { tongue, input: Vec::new(), scanner: Scanner::default(), fault: None }
    }

    fn look(&mut self, bytes: &[u8]) {
        // memcache's replies say less about where they end; their form is the differential test's.
        if self.tongue == Tongue::Memcache {
            return;
        }
        self.input.extend_from_slice(bytes);
        let mut at = 0;
        loop {
            match self.scanner.scan(&self.input[at..]) {
                Ok(Some(len)) => at += len,
                Ok(None) => break,
                // MONITOR and some errors repeat arguments in a line, which may be longer than is read; EXEC has such
                // errors among its replies.
                Err(_) if has_long_line(&self.input[at..]) => {
                    self.tongue = Tongue::Memcache;
                    return;
                }
                Err(_) => {
                    let shown = &self.input[at..self.input.len().min(at + 200)];
                    self.fault = Some(format!("no reply: \"{}\"", shown.escape_ascii()));
                    self.tongue = Tongue::Memcache;
                    return;
                }
            }
        }
        self.input.drain(..at);
        if self.input.len() > REPLY_BYTES {
            self.input = Vec::new();
            self.tongue = Tongue::Memcache;
        }
    }
}
