// SPDX-License-Identifier: Apache-2.0
//! [`ClientMemory`]: the total memory of all clients, and which of them are closed when it is too much.
//!
//! A client takes memory for its incoming requests, for its unread replies, and for state that it holds, such
//! as watched keys ([`MemoryUse`](crate::session::memory::MemoryUse)). Workers report the sums as they
//! change, so checking the limit is one comparison; single clients are examined only when it is exceeded. The
//! limit is:
//!
//! 1. With `maxmemory-clients`: that number, as in Redis.
//! 2. Else with `maxmemory`, when memory is needed, for keys or because more than `maxmemory` is used: a
//!    guaranteed share ([`share`]) for held state and for replies that are left unread. Memory of clients beyond
//!    it is freed before keys are evicted. What is on its way has a larger share of its own ([`moving`]),
//!    because it is gone soon and may contain large values: requests that arrive, and replies whose clients have
//!    read some within [`GRACE`]. Keys are evicted for that, as Redis does it. Of clients that have not yet read
//!    what their sockets could not hold, and may never read, it is the replies of one alone, those that take most.
//! 3. Else: a share of the machine's memory ([`MACHINE_SHARE`]).
//!
//! Strings that replies hold by reference are no memory of the clients while their keys have them. Those that
//! their keys have lost meanwhile, the [orphans](values::orphans), count once each, and so do messages, however many
//! clients wait for them. They weigh on the clients that wait for most by reference, first of all on those that leave it
//! unread.
//!
//! The clients that take most are closed first (`client_memory/choice.rs`), at once and without sending their
//! replies. Until their workers have freed that memory it counts as free, so that no key is evicted for memory
//! that is about to be freed.

mod choice;

use self::choice::{Load, Taken, choose};
use super::machine;
use crate::host::Host;
use crate::session::client::Client;
use crate::wire::fault::Fault;
use clock::Ticks;
use keyspace::{Policy, Settings};
use parking_lot::Mutex;
use protocol::{Buffers, ConnectionId, Outbox};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// The smallest effective `maxmemory-clients`, as in Redis: with less, no client could use the
/// server.
const LEAST: u64 = 128 << 10;

/// The smallest guaranteed share, however low `maxmemory` is.
const SHARE_LEAST: u64 = 1 << 20;

/// The smallest share of what is on its way.
const MOVING_LEAST: u64 = 16 << 20;

/// For how long a client may read none of its replies until they are said to be left unread. A slow network or a busy
/// machine may keep a client for a part of it.
const GRACE: Duration = Duration::from_secs(1);

/// Without `maxmemory`, clients may take the machine's memory divided by this.
const MACHINE_SHARE: u64 = 4;

/// The pause after a search that found no client to close, unless clients take notably more by
/// then.
const PATIENCE: Duration = Duration::from_millis(100);

/// Guaranteed bytes for held state of clients and for what they leave unread.
fn share(maxmemory: u64) -> u64 {
    (maxmemory / 20).max(SHARE_LEAST)
}

/// Bytes that requests and replies on their way may take when memory is full.
fn moving(maxmemory: u64) -> u64 {
    (maxmemory / 2).max(MOVING_LEAST)
}

/// How much clients may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Allowance {
    /// This many bytes in total.
    Together(u64),
    /// `lasting` bytes for held state and what is left unread, `moving` bytes for what is on its way.
    Apart { lasting: u64, moving: u64 },
}

impl Allowance {
    /// The total up to which the limit cannot be exceeded.
    fn least(self) -> u64 {
        match self {
            Allowance::Together(bytes) => bytes,
            Allowance::Apart { lasting, moving } => lasting.min(moving),
        }
    }
}

/// The memory of all clients.
#[derive(Debug, Default)]
pub(crate) struct ClientMemory {
    /// `maxmemory-clients`: bytes, or below 0 percent of `maxmemory`.
    limit: AtomicI64,
    /// Bytes of buffers, of messages and of orphans, of all workers.
    buffers: AtomicU64,
    /// The part of them with bytes that wait to be sent.
    unsent: AtomicU64,
    /// Bytes of held state, of all workers.
    held: AtomicU64,
    /// Number of clients closed to free memory.
    evicted: AtomicU64,
    /// Bytes of clients that are being closed.
    leaving: AtomicU64,
    round: Mutex<Round>,
}

/// The last search for clients to close.
#[derive(Debug, Default)]
struct Round {
    /// The clients that are being closed, with their bytes.
    cut: HashMap<ConnectionId, u64>,
    /// When a search last found no client, and the total at that time.
    fruitless: Option<(Ticks, u64)>,
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

    /// The effective `maxmemory-clients` in bytes.
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

    /// Records a change of the bytes of a worker's clients: of buffers, and of held state.
    pub(crate) fn note(&self, (was, is): (Buffers, Buffers), held: (u64, u64)) {
        let (buffers, unsent) = ((was.bytes, is.bytes), (was.unsent, is.unsent));
        let changes = [(&self.buffers, buffers), (&self.unsent, unsent), (&self.held, held)];
        for (sum, (before, after)) in changes {
            if before != after {
                sum.fetch_add(after.wrapping_sub(before), Relaxed);
            }
        }
    }

    /// Records a change of the bytes of a worker's orphans.
    pub(crate) fn note_orphans(&self, was: u64, is: u64) {
        if was != is {
            for sum in [&self.buffers, &self.unsent] {
                sum.fetch_add(is.wrapping_sub(was), Relaxed);
            }
        }
    }

    /// Bytes of buffers, and of strings that only replies hold.
    pub(crate) fn buffers(&self) -> u64 {
        self.buffers.load(Relaxed)
    }

    fn taken(&self) -> Taken {
        Taken { total: self.buffers() + self.held(), unsent: self.unsent.load(Relaxed) }
    }

    /// Bytes of state that clients hold besides their buffers.
    pub(crate) fn held(&self) -> u64 {
        self.held.load(Relaxed)
    }

    /// How many clients were closed to free memory.
    pub(crate) fn evicted(&self) -> u64 {
        self.evicted.load(Relaxed)
    }

    /// Sets that count to zero.
    pub(crate) fn reset_evicted(&self) {
        self.evicted.store(0, Relaxed);
    }

    /// Whether clients take so little that no limit can be exceeded.
    #[inline]
    pub(crate) fn is_small(&self) -> bool {
        self.buffers() + self.held() <= LEAST
    }

    /// Whether a client may hold `more` bytes in addition, while the keyspace uses `used`.
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

    /// The limit while the keyspace uses `used`; `None` if there is none now.
    fn allowance(&self, settings: &Settings, used: u64, is_room_needed: bool) -> Option<Allowance> {
        let maxmemory = settings.maxmemory();
        if let Some(limit) = self.configured(maxmemory) {
            return Some(Allowance::Together(limit));
        }
        let Some(limit) = settings.limit() else {
            return Some(Allowance::Together(machine::usable_bytes() / MACHINE_SHARE));
        };
        // Without eviction of keys, no client is closed before a write needs memory. A client that asks to
        // hold more gets an error instead: the memory of its arriving request is no reason to close it.
        let is_room_needed = is_room_needed || settings.policy() != Policy::NoEviction;
        let requests = self.buffers().saturating_sub(self.unsent.load(Relaxed));
        let slack =
            if is_room_needed { 0 } else { share(maxmemory) + requests.min(moving(maxmemory)) };
        (used > limit.saturating_add(slack))
            .then(|| Allowance::Apart { lasting: share(maxmemory), moving: moving(maxmemory) })
    }

    /// Records that a connection has ended.
    #[inline]
    pub(crate) fn gone(&self, id: ConnectionId, settings: &Settings) {
        if self.leaving.load(Relaxed) > 0 {
            let mut round = self.round.lock();
            round.cut.remove(&id);
            self.publish(&round, settings);
        }
    }

    fn publish(&self, round: &Round, settings: &Settings) {
        // Clients that leave the same messages unread do not each give back their memory.
        let leaving = round.cut.values().sum::<u64>().min(self.buffers() + self.held());
        self.leaving.store(leaving, Relaxed);
        settings.set_leaving(leaving);
    }
}

impl Round {
    /// Whether a search would find no client, as the last one did.
    fn is_fruitless(&self, now: Ticks, bytes: u64) -> bool {
        self.fruitless.is_some_and(|(then, before)| {
            now.since(then) < PATIENCE && bytes <= before + (before / 8).max(LEAST)
        })
    }
}

impl Host {
    /// Closes the clients that take most, if the total is over the limit while the keyspace uses `used`. The
    /// client `for_whom`, which wants to write, is spared.
    pub(crate) fn relieve(
        &self,
        now: Ticks,
        used: u64,
        for_whom: Option<ConnectionId>,
        outbox: &mut Outbox,
    ) {
        let client_memory = &self.client_memory;
        let taken = client_memory.taken();
        let allowance = client_memory.allowance(self.settings(), used, for_whom.is_some());
        if let Some(allowance) = allowance
            && taken.total > allowance.least()
        {
            self.evict_clients(allowance, taken, now, for_whom, outbox);
        }
    }

    /// Stops counting clients as being closed that are gone: a connection may have ended just
    /// before it was to be closed.
    pub(crate) fn forget_gone(&self, now: Ticks) {
        if self.client_memory.leaving.load(Relaxed) > 0 {
            let mut round = self.client_memory.round.lock();
            let present: HashSet<_> = self.loads(now, None).iter().map(|load| load.id).collect();
            round.cut.retain(|id, _| present.contains(id));
            self.client_memory.publish(&round, self.settings());
        }
    }

    #[cold]
    fn evict_clients(
        &self,
        allowance: Allowance,
        taken: Taken,
        now: Ticks,
        for_whom: Option<ConnectionId>,
        outbox: &mut Outbox,
    ) {
        // One worker at a time; its search is for all workers.
        let Some(mut round) = self.client_memory.round.try_lock() else { return };
        if round.is_fruitless(now, taken.total) {
            return;
        }
        let mut loads = self.loads(now, for_whom);
        loads.retain(|load| !round.cut.contains_key(&load.id));
        let chosen = choose(loads, allowance, taken);
        round.fruitless = chosen.is_empty().then_some((now, taken.total));
        for load in chosen {
            let bytes = load.total();
            let remote = load.peer.as_ref().map_or("", |peer| &peer.remote);
            log::warn!("{remote}: closed to free memory, of which it takes {bytes} bytes");
            if let Some(peer) = &load.peer {
                peer.end();
            }
            if let Some(client) = &load.client {
                client.set(Client::CLOSING, true);
                // No element of the keys it waits for may be taken for it any more.
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

    /// The memory of each client.
    fn loads(&self, now: Ticks, for_whom: Option<ConnectionId>) -> Vec<Load> {
        let peers = self.platform().map_or_else(Vec::new, |platform| platform.peers());
        // What one that ends has taken has been counted out already, or is about to be.
        let peers = peers.into_iter().filter(|peer| !peer.is_ending());
        let mut loads: HashMap<ConnectionId, Load> =
            peers.map(|peer| (peer.id, Load::of(peer, now))).collect();
        for client in self.clients.list() {
            let id = client.id;
            let load = loads.entry(id).or_insert_with(|| match &client.peer {
                Some(peer) => Load::of(Arc::clone(peer), now),
                None => Load::new(id),
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

#[cfg(test)]
mod tests;
