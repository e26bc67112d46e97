// SPDX-License-Identifier: Apache-2.0
//! [`ClientMemory`]: how much memory all clients take together, and which of them are closed when it is too
//! much.
//!
//! A client takes memory for what it sends, for what it has not read, and for what it holds
//! ([`MemoryUse`](crate::session::memory::MemoryUse)). Workers tell the sums as they change, so whether it is too
//! much is a comparison; the clients are looked at one by one only when it is. What is too much:
//!
//! 1. With `maxmemory-clients`: more than that, as in Redis.
//! 2. Else with `maxmemory`, where room is needed: for keys, or because more is used than that. Clients
//!    are guaranteed a share ([`share`]) for what they hold and have not read; what goes beyond gives
//!    way before keys do. For requests that are arriving there is more ([`arriving`]): they are about to
//!    be over, and a large value is one.
//! 3. Else: more than a share of the machine's memory ([`MACHINE_SHARE`]).
//!
//! Who takes most goes first, at once and without its replies. Until its worker has freed its memory that
//! counts as room, so that no key goes for what is about to be free.

use super::machine;
use crate::host::Host;
use crate::session::client::Client;
use crate::wire::fault::Fault;
use clock::Ticks;
use keyspace::{Policy, Settings};
use parking_lot::Mutex;
use protocol::{Buffers, ConnectionId, Outbox, Peer};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// `maxmemory-clients` is this at least, as in Redis: with less nobody could talk to the server.
const LEAST: u64 = 128 << 10;

/// The least that clients are guaranteed, however low `maxmemory` is.
const SHARE_LEAST: u64 = 1 << 20;

/// The least that requests may take which are arriving.
const ARRIVING_LEAST: u64 = 16 << 20;

/// Without `maxmemory` clients take up to one part of so many of the machine's memory.
const MACHINE_SHARE: u64 = 4;

/// For how long nobody is looked for after nobody was found, unless clients take notably more.
const PATIENCE: Duration = Duration::from_millis(100);

/// Bytes that clients are guaranteed for what they hold and have not read.
fn share(maxmemory: u64) -> u64 {
    (maxmemory / 20).max(SHARE_LEAST)
}

/// Bytes that clients may take for requests that are arriving, when memory is full.
fn arriving(maxmemory: u64) -> u64 {
    (maxmemory / 2).max(ARRIVING_LEAST)
}

/// How much clients may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Allowance {
    /// So many bytes.
    Together(u64),
    /// So many bytes of what they hold and have not read, so many of what they send.
    Apart { lasting: u64, arriving: u64 },
}

impl Allowance {
    /// With no more than this in all it is kept.
    fn least(self) -> u64 {
        match self {
            Allowance::Together(bytes) => bytes,
            Allowance::Apart { lasting, arriving } => lasting.min(arriving),
        }
    }
}

/// The memory of all clients.
#[derive(Debug, Default)]
pub(crate) struct ClientMemory {
    /// `maxmemory-clients`: bytes, or below 0 percent of `maxmemory`.
    limit: AtomicI64,
    /// Bytes of buffers, of all workers.
    buffers: AtomicU64,
    /// Those of them that hold what waits to be sent.
    unsent: AtomicU64,
    /// Bytes of what clients hold, of all workers.
    held: AtomicU64,
    /// Clients that were closed because of all this.
    evicted: AtomicU64,
    /// Bytes of clients that are about to be gone.
    leaving: AtomicU64,
    round: Mutex<Round>,
}

/// The last look at the clients.
#[derive(Debug, Default)]
struct Round {
    /// Who is about to be gone, with its bytes.
    cut: HashMap<ConnectionId, u64>,
    /// When nobody was found, and what all took.
    fruitless: Option<(Ticks, u64)>,
}

/// What one client takes.
#[derive(Clone, Debug)]
struct Load {
    id: ConnectionId,
    peer: Option<Arc<Peer>>,
    client: Option<Arc<Client>>,
    /// Bytes of what it sends.
    input: u64,
    /// Bytes of what it holds and has not read.
    lasting: u64,
    /// It stays, whatever it takes.
    is_spared: bool,
}

impl ClientMemory {
    /// `maxmemory-clients`: bytes, or below 0 percent of `maxmemory`.
    pub(crate) fn limit(&self) -> i64 {
        self.limit.load(Relaxed)
    }

    /// Sets it.
    pub(crate) fn set_limit(&self, limit: i64) {
        self.limit.store(limit, Relaxed);
    }

    /// What of it is in force, in bytes.
    pub(crate) fn configured(&self, maxmemory: u64) -> Option<u64> {
        match self.limit() {
            0 => None,
            bytes @ 1.. => Some(bytes.unsigned_abs().max(LEAST)),
            percent if maxmemory > 0 => {
                let bytes = u128::from(maxmemory) * u128::from(percent.unsigned_abs()) / 100;
                Some(u64::try_from(bytes).unwrap_or(u64::MAX).max(LEAST))
            }
            _ => None,
        }
    }

    /// Notes that a worker's clients take other numbers of bytes than before: of buffers, and of what
    /// they hold.
    pub(crate) fn note(&self, (was, is): (Buffers, Buffers), held: (u64, u64)) {
        let (buffers, unsent) = ((was.bytes, is.bytes), (was.unsent, is.unsent));
        let changes = [(&self.buffers, buffers), (&self.unsent, unsent), (&self.held, held)];
        for (sum, (before, after)) in changes {
            if before != after {
                sum.fetch_add(after.wrapping_sub(before), Relaxed);
            }
        }
    }

    /// Bytes of buffers.
    pub(crate) fn buffers(&self) -> u64 {
        self.buffers.load(Relaxed)
    }

    /// Bytes of what clients hold beside them.
    pub(crate) fn held(&self) -> u64 {
        self.held.load(Relaxed)
    }

    /// How many clients were closed to free memory.
    pub(crate) fn evicted(&self) -> u64 {
        self.evicted.load(Relaxed)
    }

    /// Lets that count begin again.
    pub(crate) fn reset_evicted(&self) {
        self.evicted.store(0, Relaxed);
    }

    /// Whether clients take so little that they may in any case.
    #[inline]
    pub(crate) fn is_small(&self) -> bool {
        self.buffers() + self.held() <= LEAST
    }

    /// Whether a client may hold so many bytes more, while the keyspace uses `used`.
    pub(crate) fn admit(&self, more: u64, used: u64, settings: &Settings) -> Result<(), Fault> {
        let held = self.held().saturating_add(more);
        let maxmemory = settings.maxmemory();
        match settings.limit() {
            None if held <= machine::usable_bytes() / MACHINE_SHARE => Ok(()),
            None => Err(Fault::TOO_MUCH_HELD),
            Some(limit) if used.saturating_add(more) <= limit => Ok(()),
            Some(_) if held <= self.configured(maxmemory).unwrap_or(share(maxmemory)) => Ok(()),
            Some(_) => Err(Fault::OUT_OF_MEMORY),
        }
    }

    /// How much clients may take while the keyspace uses `used`; `None`: as much as they do.
    fn allowance(&self, settings: &Settings, used: u64, is_room_needed: bool) -> Option<Allowance> {
        let maxmemory = settings.maxmemory();
        if let Some(limit) = self.configured(maxmemory) {
            return Some(Allowance::Together(limit));
        }
        let Some(limit) = settings.limit() else {
            return Some(Allowance::Together(machine::usable_bytes() / MACHINE_SHARE));
        };
        // Where no key goes nobody has to before somebody wants to write. Who asks to hold more is to be
        // told: what such requests take while they arrive is no reason to close it.
        let is_room_needed = is_room_needed || settings.policy() != Policy::NoEviction;
        let requests = self.buffers().saturating_sub(self.unsent.load(Relaxed));
        let slack =
            if is_room_needed { 0 } else { share(maxmemory) + requests.min(arriving(maxmemory)) };
        (used > limit.saturating_add(slack))
            .then(|| Allowance::Apart { lasting: share(maxmemory), arriving: arriving(maxmemory) })
    }

    /// Notes that a connection has ended.
    #[inline]
    pub(crate) fn gone(&self, id: ConnectionId, settings: &Settings) {
        if self.leaving.load(Relaxed) > 0 {
            let mut round = self.round.lock();
            round.cut.remove(&id);
            self.publish(&round, settings);
        }
    }

    fn publish(&self, round: &Round, settings: &Settings) {
        let leaving = round.cut.values().sum();
        self.leaving.store(leaving, Relaxed);
        settings.set_leaving(leaving);
    }
}

impl Round {
    /// Whether a look would find nobody, as the last one did.
    fn is_fruitless(&self, now: Ticks, bytes: u64) -> bool {
        self.fruitless.is_some_and(|(then, before)| {
            now.since(then) < PATIENCE && bytes <= before + (before / 8).max(LEAST)
        })
    }
}

impl Host {
    /// Closes the clients that take most, if all of them take too much while the keyspace uses `used`.
    /// `for_whom` wants to write, and stays.
    pub(crate) fn relieve(
        &self,
        now: Ticks,
        used: u64,
        for_whom: Option<ConnectionId>,
        outbox: &mut Outbox,
    ) {
        let client_memory = &self.client_memory;
        let taken = client_memory.buffers() + client_memory.held();
        let allowance = client_memory.allowance(self.settings(), used, for_whom.is_some());
        if let Some(allowance) = allowance
            && taken > allowance.least()
        {
            self.evict_clients(allowance, taken, now, for_whom, outbox);
        }
    }

    /// Counts nobody as about to be gone who is: a connection may have ended just before it was to.
    pub(crate) fn forget_gone(&self) {
        if self.client_memory.leaving.load(Relaxed) > 0 {
            let mut round = self.client_memory.round.lock();
            let present: HashSet<_> = self.loads(None).iter().map(|load| load.id).collect();
            round.cut.retain(|id, _| present.contains(id));
            self.client_memory.publish(&round, self.settings());
        }
    }

    #[cold]
    fn evict_clients(
        &self,
        allowance: Allowance,
        taken: u64,
        now: Ticks,
        for_whom: Option<ConnectionId>,
        outbox: &mut Outbox,
    ) {
        // One worker at a time; what it does is for all.
        let Some(mut round) = self.client_memory.round.try_lock() else { return };
        if round.is_fruitless(now, taken) {
            return;
        }
        let mut loads = self.loads(for_whom);
        loads.retain(|load| !round.cut.contains_key(&load.id));
        let chosen = choose(loads, allowance);
        round.fruitless = chosen.is_empty().then_some((now, taken));
        for load in chosen {
            let bytes = load.input + load.lasting;
            let remote = load.peer.as_ref().map_or("", |peer| &peer.remote);
            log::warn!("{remote}: closed to free memory, of which it takes {bytes} bytes");
            if let Some(client) = &load.client {
                client.set(Client::CLOSING, true);
                // Nothing may be taken for it from the keys it waits for.
                if let Some(waiting) = client.waiting.lock().take() {
                    self.key_events.stop_waiting(&waiting);
                }
            }
            self.client_memory.evicted.fetch_add(1, Relaxed);
            round.cut.insert(load.id, bytes);
            outbox.cut(load.id);
        }
        self.client_memory.publish(&round, self.settings());
    }

    /// What each client takes.
    fn loads(&self, for_whom: Option<ConnectionId>) -> Vec<Load> {
        let peers = self.platform().map_or_else(Vec::new, |platform| platform.peers());
        let of_peer = |peer: Arc<Peer>| Load {
            id: peer.id,
            input: peer.input_bytes() as u64,
            lasting: peer.output_bytes() as u64,
            peer: Some(peer),
            client: None,
            is_spared: false,
        };
        let mut loads: HashMap<ConnectionId, Load> =
            peers.into_iter().map(|peer| (peer.id, of_peer(peer))).collect();
        for client in self.clients.list() {
            let id = client.id;
            let load = loads.entry(id).or_insert_with(|| match &client.peer {
                Some(peer) => of_peer(Arc::clone(peer)),
                None => {
                    let (peer, client) = (None, None);
                    Load { id, peer, client, input: 0, lasting: 0, is_spared: false }
                }
            });
            load.lasting += client.memory.total();
            load.is_spared = client.is(Client::NO_EVICT);
            load.client = Some(client);
        }
        let mut loads: Vec<Load> = loads.into_values().collect();
        for load in &mut loads {
            load.is_spared |= Some(load.id) == for_whom;
        }
        loads
    }
}

/// Those who must go for the others to be within the allowance: who takes most, first.
fn choose(loads: Vec<Load>, allowance: Allowance) -> Vec<Load> {
    match allowance {
        Allowance::Together(bytes) => cut(loads, bytes, |load| load.input + load.lasting).0,
        Allowance::Apart { lasting, arriving } => {
            let (mut chosen, left) = cut(loads, lasting, |load| load.lasting);
            chosen.extend(cut(left, arriving, |load| load.input).0);
            chosen
        }
    }
}

/// Splits into those who must go for the others to take no more than `most`, and the others.
fn cut(mut loads: Vec<Load>, most: u64, size: impl Fn(&Load) -> u64) -> (Vec<Load>, Vec<Load>) {
    let mut total: u64 = loads.iter().map(&size).sum();
    if total <= most {
        return (Vec::new(), loads);
    }
    loads.sort_by_key(|load| std::cmp::Reverse(size(load)));
    loads.into_iter().partition(|load| {
        let goes = total > most && !load.is_spared && size(load) > 0;
        if goes {
            total -= size(load);
        }
        goes
    })
}

#[cfg(test)]
mod tests;
