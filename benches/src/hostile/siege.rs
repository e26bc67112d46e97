// SPDX-License-Identifier: Apache-2.0
//! One server under hostile clients, and what must hold during and after.

use super::attacker::{Attacker, Score, Tongue};
use super::heartbeat::Heartbeat;
use crate::child::Child;
use reactor::Options;
use std::fmt;
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::PoisonError;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::{self, sleep};
use std::time::{Duration, Instant};

/// Hostile clients at a time.
const CLIENTS: usize = 8;
/// Workers of a server, and heartbeats: the listener gives each worker some of them.
const WORKERS: usize = 2;
const HEARTBEATS: usize = 4;
/// Memory for keys, for what clients hold, and for one value: `SETRANGE` makes a value of any length that
/// `proto-max-bulk-len` allows, as in Redis, and other keys are evicted only afterwards.
const MEMORY: u64 = 16 << 20;
/// Resident bytes allowed beyond that and beyond those of the idle server: fragmentation, buffers of
/// io_uring, and for each client a request and a reply of the largest size.
const EXCESS: u64 = 96 << 20;
/// Bytes that may stay in use after everything was removed: tables that shrink later, caches of the allocator.
const LEFT_IN_USE: u64 = 4 << 20;
/// The same for resident memory, which the allocator returns with a delay.
const LEFT_RESIDENT: u64 = 48 << 20;
/// How long that may take at most.
const PATIENCE: Duration = Duration::from_secs(120);
/// How often heartbeats and memory are checked.
const LOOK_EVERY: Duration = Duration::from_millis(2);

/// A server to besiege.
#[derive(Clone, Copy, Debug)]
pub enum Server {
    /// `rds` with a policy for full memory.
    Rds(&'static str),
    /// `segcache` with a storage, by both of its protocols.
    Segcache(&'static str),
}

/// A server and its engine.
#[derive(Clone, Copy, Debug)]
pub struct Siege {
    /// The server.
    pub server: Server,
    /// `epoll` or `io_uring`.
    pub engine: &'static str,
}

/// The measurements of a siege.
#[derive(Clone, Copy, Debug)]
pub struct Held {
    /// The most resident bytes.
    pub peak: u64,
    /// The longest time that a worker worked before it answered a heartbeat.
    pub busy_ns: u64,
    /// Heartbeats.
    pub beats: u32,
    /// Bytes in use before and after, as `rds` says.
    pub in_use: Option<(u64, u64)>,
    /// Resident bytes before and after.
    pub resident: (u64, u64),
}

impl fmt::Display for Siege {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.server {
            Server::Rds(policy) => write!(f, "rds, {policy}, {}", self.engine),
            Server::Segcache(storage) => write!(f, "segcache, {storage}, {}", self.engine),
        }
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mb = |bytes: u64| bytes as f64 / f64::from(1 << 20);
        let Held { peak, busy_ns, beats, in_use, resident: (before, after) } = *self;
        write!(f, "{beats} heartbeats, {} ms of work at most before one; ", busy_ns / 1_000_000)?;
        write!(f, "resident {:.0} MB, at most {:.0}, then {:.0}", mb(before), mb(peak), mb(after))?;
        if let Some((before, after)) = in_use {
            write!(f, "; in use {:.1} MB, then {:.1}", mb(before), mb(after))?;
        }
        Ok(())
    }
}

/// All sieges.
#[must_use]
pub fn sieges() -> Vec<Siege> {
    let policies = [
        "noeviction",
        "allkeys-lru",
        "volatile-lru",
        "allkeys-lfu",
        "volatile-lfu",
        "allkeys-random",
        "volatile-random",
        "volatile-ttl",
    ];
    let engines = ["epoll", "io_uring"];
    let rds = policies.iter().zip(engines.iter().cycle());
    let mut sieges: Vec<Siege> =
        rds.map(|(policy, engine)| Siege { server: Server::Rds(policy), engine }).collect();
    for storage in ["seg", "hashmap"] {
        for engine in engines {
            sieges.push(Siege { server: Server::Segcache(storage), engine });
        }
    }
    sieges
}

impl Siege {
    fn start(&self, binaries: &Path) -> Result<Child, String> {
        let engine = self.engine;
        let common = format!(
            "[server]\nport = 0\n[worker]\nthreads = {WORKERS}\nengine = \"{engine}\"\n\
             [admin]\nenabled = false\n"
        );
        let (name, listeners, own) = match self.server {
            Server::Rds(policy) => (
                "rds",
                1,
                format!(
                    "[redis]\nmaxmemory = \"{MEMORY}\"\nmaxmemory-policy = \"{policy}\"\n\
                     proto-max-bulk-len = \"{MEMORY}\"\n"
                ),
            ),
            Server::Segcache(storage) => (
                "segcache",
                2,
                format!("[cache]\nmemory = {MEMORY}\nstorage = \"{storage}\"\n[resp]\nport = 0\n"),
            ),
        };
        Child::start(&binaries.join(name), &(common + &own), listeners)
            .map_err(|error| error.to_string())
    }

    /// A heartbeat for each worker at least.
    fn heartbeats(&self, server: &Child) -> Result<Vec<Heartbeat>, String> {
        let beat = |number: usize| {
            let resp = (&b"*2\r\n$4\r\nPING\r\n$4\r\nbeat\r\n"[..], &b"$4\r\nbeat\r\n"[..]);
            let (address, (request, reply)) = match self.server {
                Server::Rds(_) => (server.addresses[0], resp),
                Server::Segcache(_) if number.is_multiple_of(2) => {
                    (server.addresses[0], (&b"get beat\r\n"[..], &b"END\r\n"[..]))
                }
                Server::Segcache(_) => (server.addresses[1], resp),
            };
            Heartbeat::new(server, address, request, reply)
        };
        let beats: Result<Vec<_>, _> = (0..HEARTBEATS).map(beat).collect();
        let beats = beats.map_err(|error| format!("a heartbeat's connection: {error}"))?;
        let mut threads: Vec<u32> = beats.iter().map(Heartbeat::thread).collect();
        threads.sort_unstable();
        threads.dedup();
        if threads.len() < WORKERS {
            return Err(format!("heartbeats of {} workers of {WORKERS}", threads.len()));
        }
        Ok(beats)
    }

    fn attackers<'a>(&self, server: &Child, seed: u64, score: &'a Score) -> Vec<Attacker<'a>> {
        let attacker = |number: usize| {
            let (tongue, address) = match self.server {
                Server::Rds(_) => (Tongue::Resp, server.addresses[0]),
                Server::Segcache(_) if number.is_multiple_of(2) => {
                    (Tongue::Memcache, server.addresses[0])
                }
                Server::Segcache(_) => (Tongue::Resp, server.addresses[1]),
            };
            let seed = seed.wrapping_mul(1_000).wrapping_add(number as u64);
            Attacker::new(tongue, address, seed, score)
        };
        (0..CLIENTS).map(attacker).collect()
    }

    /// Besieges the server for a while.
    ///
    /// # Errors
    ///
    /// What did not hold, and what was asked for last.
    pub fn run(
        &self,
        binaries: &Path,
        seed: u64,
        span: Duration,
        score: &Score,
    ) -> Result<Held, String> {
        let mut server = self.start(binaries)?;
        let mut heartbeats = self.heartbeats(&server)?;
        let before = self.figures(&server)?;
        let mut attackers = self.attackers(&server, seed, score);
        score.is_over.store(false, Relaxed);
        let mut held = Held {
            peak: before.resident,
            busy_ns: 0,
            beats: 0,
            in_use: None,
            resident: (before.resident, 0),
        };
        let watched = thread::scope(|scope| {
            for attacker in &mut attackers {
                scope.spawn(|| attacker.run());
            }
            let started = Instant::now();
            let mut watched = Ok(());
            while started.elapsed() < span && watched.is_ok() {
                watched = watch(&mut server, &mut heartbeats, &mut held);
                if held.peak > before.resident + MEMORY + EXCESS {
                    watched = Err(format!("{held}: beyond its promise"));
                }
                sleep(LOOK_EVERY);
            }
            score.is_over.store(true, Relaxed);
            watched
        });
        let fault = score.fault.lock().unwrap_or_else(PoisonError::into_inner).take();
        watched.and(fault.map_or(Ok(()), Err)).map_err(|what| told(&what, &attackers))?;
        let after = self.recovers(&mut server, &mut heartbeats, &mut held, before)?;
        held.resident.1 = after.resident;
        held.in_use = before.in_use.zip(after.in_use);
        drop(heartbeats);
        server.stop()?;
        Ok(held)
    }

    /// Waits until connections and memory are as before, while heartbeats are answered.
    fn recovers(
        &self,
        server: &mut Child,
        heartbeats: &mut [Heartbeat],
        held: &mut Held,
        before: Figures,
    ) -> Result<Figures, String> {
        let since = Instant::now();
        let mut is_flushed = false;
        loop {
            watch(server, heartbeats, held)?;
            let mut now = self.figures(server)?;
            if now.descriptors <= before.descriptors && !is_flushed {
                is_flushed = true;
                self.flush(server)?;
                now = self.figures(server)?;
            }
            let of = |figure: Option<u64>| figure.unwrap_or(0);
            let is_back = is_flushed
                && now.descriptors <= before.descriptors
                && of(now.in_use) <= of(before.in_use) + LEFT_IN_USE
                && (now.in_use.is_none() || now.resident <= before.resident + LEFT_RESIDENT);
            if is_back {
                return Ok(now);
            }
            if since.elapsed() > PATIENCE {
                return Err(format!("not as before: {before:?}, now {now:?}"));
            }
            sleep(LOOK_EVERY * 10);
        }
    }

    /// Removes everything, and sees that a key can then be written and read.
    fn flush(&self, server: &Child) -> Result<(), String> {
        match self.server {
            Server::Rds(_) => {
                let (address, asked) =
                    (server.addresses[0], b"FLUSHALL\r\nSET a b\r\nGET a\r\nDEL a\r\n");
                ask(address, asked, b"+OK\r\n+OK\r\n$1\r\nb\r\n:1\r\n")
            }
            Server::Segcache(_) => {
                let asked = b"flush_all\r\nset a 0 0 1\r\nb\r\nget a\r\ndelete a\r\n";
                let expected = b"OK\r\nSTORED\r\nVALUE a 0 1\r\nb\r\nEND\r\nDELETED\r\n";
                ask(server.addresses[0], asked, expected)
            }
        }
    }

    fn figures(&self, server: &Child) -> Result<Figures, String> {
        let failed = |error: std::io::Error| error.to_string();
        let in_use = match self.server {
            Server::Rds(_) => Some(used_memory(server.addresses[0]).map_err(failed)?),
            Server::Segcache(_) => None,
        };
        let resident = server.resident().map_err(failed)?;
        let descriptors = server.descriptors().map_err(failed)?;
        Ok(Figures { resident, descriptors, in_use })
    }
}

/// What must be as it was in the end.
#[derive(Clone, Copy, Debug)]
struct Figures {
    resident: u64,
    descriptors: usize,
    in_use: Option<u64>,
}

/// Looks at the server and its heartbeats once.
fn watch(server: &mut Child, heartbeats: &mut [Heartbeat], held: &mut Held) -> Result<(), String> {
    server.is_well()?;
    for heartbeat in heartbeats {
        match heartbeat.beat(server) {
            Ok(None) => {}
            Ok(Some(busy_ns)) => {
                held.beats += 1;
                held.busy_ns = held.busy_ns.max(busy_ns);
            }
            // That it has died says more.
            Err(what) => return server.is_well().and(Err(what)),
        }
    }
    held.peak = held.peak.max(server.resident().map_err(|error| error.to_string())?);
    Ok(())
}

/// What happened, and what was asked for before.
fn told(what: &str, attackers: &[Attacker<'_>]) -> String {
    let mut text = what.to_owned();
    for (number, attacker) in attackers.iter().enumerate() {
        text += &format!("\nclient {number} sent last:");
        for batch in attacker.last.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            text += &format!("\n  {batch}");
        }
    }
    text
}

fn connect(address: SocketAddr) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    Ok(stream)
}

fn ask(address: SocketAddr, request: &[u8], reply: &[u8]) -> Result<(), String> {
    let failed = |error: std::io::Error| error.to_string();
    let mut stream = connect(address).map_err(failed)?;
    stream.write_all(request).map_err(failed)?;
    let mut answered = vec![0; reply.len()];
    stream.read_exact(&mut answered).map_err(failed)?;
    if answered == reply {
        return Ok(());
    }
    Err(format!("afterwards it answers \"{}\"", answered.escape_ascii()))
}

/// Bytes of unused buffers that workers may keep.
fn buffers_kept() -> u64 {
    let Options { recv_block, send_block, pool_blocks, .. } = Options::default();
    (WORKERS * pool_blocks * (recv_block + send_block)) as u64
}

/// `used_memory` of `rds`, without buffers that its workers may keep.
fn used_memory(address: SocketAddr) -> std::io::Result<u64> {
    let mut stream = connect(address)?;
    stream.write_all(b"INFO memory\r\nQUIT\r\n")?;
    let mut text = String::new();
    stream.read_to_string(&mut text)?;
    let figure = |name: &str| {
        let figure = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        figure
            .and_then(|figure| figure.trim().parse::<u64>().ok())
            .ok_or_else(|| std::io::Error::other(format!("no {name} in {text:?}")))
    };
    let kept = figure("used_memory_buffers")?.min(buffers_kept());
    Ok(figure("used_memory")?.saturating_sub(kept))
}
