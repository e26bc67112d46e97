// SPDX-License-Identifier: Apache-2.0
//! [`WorkerState`]: the state that one worker keeps between calls.

use crate::cluster::route::Asked;
use crate::engine::key_sizes::KeySizes;
use crate::host::Host;
use crate::host::cluster::TopologyCopy;
use crate::host::key_events::Pending;
use crate::host::migrations::Outstanding;
use crate::host::stats::WorkerCounts;
use crate::session::waiting::Waiting;
use crate::wire::parse::Span;
use bytes::Bytes;
use clock::{Now, Ticks};
use fastrand::Rng;
use protocol::{ConnectionId, Outbox, Ticket};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Capacity in arguments that is kept between commands.
const SPANS_KEPT: usize = 16 << 10;

/// A worker's scratch memory, counters and deadlines.
#[derive(Debug)]
pub(crate) struct WorkerState {
    /// The spans of the present command's arguments, see [`crate::wire::parse::Request::args`].
    pub(crate) spans: Vec<Span>,
    /// What changes of keys have left to do.
    pub(crate) pending: Pending,
    /// Changes of values that commands have made.
    pub(crate) changes: u64,
    /// The counts of this worker.
    pub(crate) counts: Arc<WorkerCounts>,
    /// The time that TIME tells within the present script or transaction, once it was asked for.
    pub(crate) unit_micros: Option<u64>,
    /// How long the present command makes its client sleep, which counts as its run time.
    pub(crate) slept_nanos: u64,
    /// Which removals of scripts and of libraries this worker has followed.
    #[cfg(feature = "scripts")]
    pub(crate) removals: [u64; 2],
    /// The nodes of the cluster.
    pub(crate) topology: TopologyCopy,
    /// The present command was admitted because of keys of a slot that moves, which may be gone when it has
    /// locked them.
    pub(crate) moving: Option<Asked>,
    /// Where the replies to commands of scripts are written.
    #[cfg(feature = "scripts")]
    pub(crate) script_replies: Option<Box<buffer::SendBuf>>,
    /// There was no room for writes when the present command was admitted, if it runs a script.
    pub(crate) lacks_memory: bool,
    /// A command wants the keyspace's counts reset.
    pub(crate) resets_stats: bool,
    /// Waiting clients of this worker, by the time at which their wait ends. The serial number
    /// distinguishes clients with the same time.
    waits: BTreeMap<(Ticks, u64), Waiting>,
    /// Waiting clients of this worker that are looked at again, by the time of that.
    looks: BTreeMap<(Ticks, u64), Waiting>,
    /// The time of each of these, by its serial number.
    look_times: HashMap<u64, Ticks>,
    /// Clients of this worker that only sleep, by the time at which they wake.
    sleepers: BTreeMap<(Ticks, u64), (ConnectionId, Ticket)>,
    /// Walks that count sizes.
    pub(crate) key_sizes: KeySizes,
    /// Clients of this worker whose values are on their way to other servers.
    pub(crate) migrations: Outstanding,
    random: Rng,
}

impl WorkerState {
    /// Of a worker with these counts and this pointer to the topology.
    pub(crate) fn new(counts: Arc<WorkerCounts>, topology: TopologyCopy) -> Self {
        WorkerState {
            spans: Vec::new(),
            pending: Pending::default(),
            changes: 0,
            unit_micros: None,
            slept_nanos: 0,
            #[cfg(feature = "scripts")]
            removals: [0; 2],
            counts,
            topology,
            moving: None,
            #[cfg(feature = "scripts")]
            script_replies: None,
            lacks_memory: false,
            resets_stats: false,
            waits: BTreeMap::new(),
            looks: BTreeMap::new(),
            look_times: HashMap::new(),
            sleepers: BTreeMap::new(),
            key_sizes: KeySizes::default(),
            migrations: Outstanding::default(),
            random: Rng::new(),
        }
    }

    /// Frees the memory of an unusually large command.
    #[inline]
    pub(crate) fn trim(&mut self) {
        if self.spans.capacity() > SPANS_KEPT {
            self.spans = Vec::new();
        }
    }

    /// A random number.
    pub(crate) fn random(&mut self) -> u64 {
        self.random.u64(..)
    }

    /// Records when a client's wait ends, if it has a timeout.
    pub(crate) fn await_end(&mut self, waiting: &Waiting) {
        if let Some(until) = waiting.until {
            self.waits.insert((until, waiting.id.serial()), Arc::clone(waiting));
        }
    }

    /// Records when a waiting client is looked at again.
    pub(crate) fn await_look(&mut self, waiting: &Waiting, at: Ticks) {
        let serial = waiting.id.serial();
        self.forget_look(serial);
        self.look_times.insert(serial, at);
        self.looks.insert((at, serial), Arc::clone(waiting));
    }

    /// Looks at a client no more.
    fn forget_look(&mut self, serial: u64) {
        if let Some(at) = self.look_times.remove(&serial) {
            self.looks.remove(&(at, serial));
        }
    }

    /// Whether the time of any client to be looked at again has come.
    #[inline]
    pub(crate) fn must_look(&self, now: Ticks) -> bool {
        self.looks.first_key_value().is_some_and(|((at, _), _)| *at <= now)
    }

    /// Removes the clients to be looked at now.
    #[cold]
    pub(crate) fn take_due(&mut self, now: Ticks) -> Vec<Waiting> {
        let later = self.looks.split_off(&(now, u64::MAX));
        let due = std::mem::replace(&mut self.looks, later);
        for (_, serial) in due.keys() {
            self.look_times.remove(serial);
        }
        due.into_values().collect()
    }

    /// Removes a client that no longer waits.
    pub(crate) fn forget_end(&mut self, waiting: &Waiting) {
        if waiting.claims() {
            self.forget_look(waiting.id.serial());
        }
        if let Some(until) = waiting.until {
            self.waits.remove(&(until, waiting.id.serial()));
        }
    }

    /// Replies to the clients whose time is up.
    pub(crate) fn end_waits(&mut self, host: &Host, now: Now, outbox: &mut Outbox) {
        while let Some(first) = self.waits.first_entry()
            && first.key().0 <= now.ticks
        {
            let waiting = first.remove();
            // A client that was served meanwhile is not in the table any more.
            if host.key_events().stop_waiting(&waiting) {
                host.end_wait(&waiting, &self.counts, 0, false, now);
                outbox.resume(waiting.id, waiting.ticket, waiting.nothing());
            }
        }
        while let Some(first) = self.sleepers.first_entry()
            && first.key().0 <= now.ticks
        {
            let (id, ticket) = first.remove();
            outbox.resume(id, ticket, Bytes::from_static(b"+OK\r\n"));
        }
    }

    /// Makes a client sleep; then the reply is OK.
    pub(crate) fn sleep(&mut self, id: ConnectionId, ticket: Ticket, until: Ticks) {
        self.sleepers.insert((until, id.serial()), (id, ticket));
    }

    /// Removes a client that has ended.
    pub(crate) fn forget(&mut self, id: ConnectionId) {
        if !self.sleepers.is_empty() {
            self.sleepers.retain(|_, (other, _)| *other != id);
        }
        self.key_sizes.forget(id);
    }

    /// The time of the next timeout.
    pub(crate) fn wake_at(&self) -> Option<Ticks> {
        let waits = self.waits.first_key_value().map(|((end, _), _)| *end);
        let sleepers = self.sleepers.first_key_value().map(|((end, _), _)| *end);
        let looks = self.looks.first_key_value().map(|((at, _), _)| *at);
        waits.into_iter().chain(sleepers).chain(looks).chain(self.migrations.look_at()).min()
    }
}
