// SPDX-License-Identifier: Apache-2.0
//! A node of a cluster: sends clients to the nodes that have their keys, and removes keys that are another node's.
//!
//! RULE-OWNER: a key is removed only under the lock of its shard, by a topology that was looked up under that lock.
//! A command that was admitted by a later topology has either written before, so that the removal sees that topology
//! too, or writes afterwards. So nothing is lost of a slot that comes back while its old keys are removed.
//!
//! RULE-HERE: a command on a slot that moves is carried out only if the keys for which it was admitted are still
//! there when their shards are locked. Otherwise it would make a key anew that has moved to another node meanwhile.
//!
//! The removal begins when all workers go by the new topology: no command that was admitted by an older one runs any
//! more, so none leaves a key behind.

use crate::cluster::Topology;
use crate::cluster::route::{Asked, Redirection, Route};
use crate::cluster::slots::slot_of;
use crate::engine::execution::Execution;
use crate::engine::service::Engine;
use crate::engine::worker::WorkerState;
use crate::host::Host;
use crate::session::connection::Resp;
use crate::session::marks::Marks;
use crate::session::waiting::Waiting;
use crate::table::keys;
use crate::table::{Channels, CommandId, Flags, Spec};
use crate::wire::fault::Fault;
use crate::wire::parse::Args;
use crate::wire::reply::Writer;
use bytes::Bytes;
use clock::Now;
use keyspace::{Gone, Keyspace, Reason, View};
use protocol::Outbox;

/// Where a walk over the keys of all nodes begins, which is at any of them.
const FIRST_CURSOR: &[u8] = b"0";

/// Steps of the walk over the keys in a turn of a worker.
const STEPS: usize = 64;

impl<K: Keyspace> Engine<K> {
    /// Whether this node serves a command. For EXEC all commands of the transaction count.
    ///
    /// # Errors
    ///
    /// Where else it is served, or why it is not.
    #[inline(never)]
    pub(super) fn route(
        &mut self,
        conn: &mut Resp,
        id: CommandId,
        args: Args<'_>,
        now: Now,
    ) -> Result<(), Fault> {
        conn.forget_lost_channels();
        let Engine { keyspace, host, worker, .. } = self;
        let topology = worker.topology.latest(host.cluster());
        let mut is_here = |key: &[u8]| {
            let scope = keyspace.scope(key);
            keyspace.view(scope, now.unix_ms).peek(0, key).is_some()
        };
        let mut spans = Vec::new();
        let mut route = Route::new(topology);
        let mut asked = Asked {
            reads_only: conn.marks.has(Marks::READS_ONLY),
            is_asking: conn.marks.has(Marks::ASKING),
            ..Asked::default()
        };
        match conn.transaction.as_ref().filter(|_| id == CommandId::Exec) {
            Some(transaction) => {
                spans.resize_with(transaction.queue.len(), Vec::new);
                for (queued, spans) in transaction.queue.iter().zip(&mut spans) {
                    let (spec, args) = (queued.id.spec(), queued.request.args(spans));
                    see(&mut route, &mut asked, spec, args, &mut is_here);
                }
            }
            None => see(&mut route, &mut asked, id.spec(), args, &mut is_here),
        }
        let is_moving = route.is_moving() && !asked.moves_slots;
        let decided = route.decide(asked, host.cluster().when_down());
        worker.moving = (is_moving && decided.is_ok()).then_some(asked);
        let ends_asking = match id {
            CommandId::Asking | CommandId::Multi => false,
            CommandId::Exec | CommandId::Discard => true,
            _ => conn.transaction.is_none(),
        };
        if asked.is_asking && ends_asking {
            conn.marks.set(Marks::ASKING, false);
        }
        decided.map_err(|redirection| {
            let tls = host.uses_tls(conn.client.as_deref());
            redirection.fault(topology, host.cluster().endpoint(), tls)
        })
    }

    /// Goes by the latest topology, and does a part of the work that it has caused; returns whether there is more.
    pub(super) fn attend_cluster(&mut self, now: Now, outbox: &mut Outbox) -> bool {
        let Engine { keyspace, host, worker, .. } = self;
        let cluster = host.cluster();
        worker.topology.latest(cluster);
        let version = cluster.version();
        if cluster.has_removed(version) {
            return false;
        }
        // One worker does it.
        let Some(mut removal) = cluster.removal.try_lock() else { return false };
        if removal.begun != version {
            if !cluster.is_settled(version) {
                return false;
            }
            (removal.begun, removal.cursor) = (version, 0);
            let topology = worker.topology.latest(cluster).clone();
            let channels = host.key_events().channels();
            channels.lose_shard_channels(|name| !topology.has_channel(slot_of(name)), outbox);
            end_waits(host, worker, &topology, now, outbox);
        }
        let mut foreign: Vec<Box<[u8]>> = Vec::new();
        for _ in 0..STEPS {
            let mut view = keyspace.view(keyspace.scan_scope(removal.cursor), now.unix_ms);
            // RULE-OWNER: under the lock.
            let topology = worker.topology.latest(cluster);
            removal.cursor = view.scan(0, removal.cursor, &mut |entry| {
                if !topology.may_hold(slot_of(entry.key())) {
                    foreign.push(entry.key().into());
                }
            });
            for key in foreign.drain(..) {
                let Some(entry) = view.take(0, &key) else { continue };
                view.dispose(entry);
                let gone = Gone { db: 0, key: &key, reason: Reason::Emptied, fields: &[] };
                host.key_events().tell_gone(gone, &mut worker.pending, outbox);
            }
            if removal.cursor == 0 {
                cluster.note_removed(removal.begun);
                return cluster.version() != removal.begun;
            }
        }
        true
    }
}

impl<V: View> Execution<'_, '_, V> {
    /// RULE-HERE: refuses commands whose keys have moved since they were admitted. The caller holds the locks of
    /// their shards.
    ///
    /// # Errors
    ///
    /// Where they are served.
    #[cold]
    pub(super) fn route_again<'k>(
        &mut self,
        conn: &Resp,
        mut asked: Asked,
        commands: impl Iterator<Item = (CommandId, Args<'k>)>,
    ) -> Result<(), Fault> {
        let cluster = self.host.cluster();
        let topology = self.worker.topology.latest(cluster);
        let mut route = Route::new(topology);
        let mut is_here = |key: &[u8]| self.view.peek(0, key).is_some();
        for (id, args) in commands {
            see(&mut route, &mut asked, id.spec(), args, &mut is_here);
        }
        route.decide(asked, cluster.when_down()).map_err(|redirection| {
            let tls = self.host.uses_tls(conn.client.as_deref());
            redirection.fault(topology, cluster.endpoint(), tls)
        })
    }
}

/// Shows the keys of a command to a route. A command whose keys cannot be found fails wherever it runs.
fn see<'k>(
    route: &mut Route<'_, 'k>,
    asked: &mut Asked,
    spec: &Spec,
    args: Args<'k>,
    is_here: &mut impl FnMut(&[u8]) -> bool,
) {
    asked.writes |= spec.flags.has(Flags::WRITE);
    asked.is_asking |= spec.flags.has(Flags::ASKING);
    asked.moves_slots |= spec.flags.has(Flags::MOVES_SLOTS);
    let _ = keys::visit_routed(spec, &args, |at, is_key| {
        let word = args.get(at).unwrap_or_default();
        if is_key {
            route.key(word, &mut *is_here);
        } else if spec.channels != Channels::None {
            asked.is_on_channels = true;
            route.channel(word);
        } else if word != FIRST_CURSOR {
            route.channel(word);
        }
    });
}

/// Sends the clients that wait for keys of other nodes there.
fn end_waits(
    host: &Host,
    worker: &WorkerState,
    topology: &Topology,
    now: Now,
    outbox: &mut Outbox,
) {
    let waiters = host.key_events().waiters();
    for key in waiters.keys_of(0) {
        let slot = slot_of(&key);
        let mut behind = 0;
        while !topology.may_hold(slot)
            && let Some(waiting) = waiters.next(0, &key, behind)
        {
            behind = waiting.turn;
            let redirection = topology
                .owner(slot)
                .map_or(Redirection::Unserved, |node| Redirection::Moved { slot, node });
            end_wait(host, worker, &waiting, topology, redirection, now, outbox);
        }
    }
}

fn end_wait(
    host: &Host,
    worker: &WorkerState,
    waiting: &Waiting,
    topology: &Topology,
    redirection: Redirection,
    now: Now,
    outbox: &mut Outbox,
) {
    let client = waiting.command.lock().as_ref().and_then(|command| command.client.clone());
    if !host.key_events().stop_waiting(waiting) {
        return;
    }
    let tls = host.uses_tls(client.as_deref());
    let fault = redirection.fault(topology, host.cluster().endpoint(), tls);
    host.stats().error(fault.code());
    host.end_wait(waiting, &worker.counts, 0, true, now);
    let mut reply = Vec::new();
    Writer::new(&mut reply, waiting.version).error(fault.text());
    outbox.resume(waiting.id, waiting.ticket, Bytes::from(reply));
}
