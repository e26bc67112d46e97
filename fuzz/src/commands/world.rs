// SPDX-License-Identifier: Apache-2.0
//! [`World`]: a server of two workers without sockets or threads, and its clients.

use super::client::Client;
use buffer::Pool;
use clock::{Clock, Now, Ticks};
use keyspace::{Keyspace, Policy};
use protocol::{ConnectionId, Context, Directory, Ending, Errand, Execute, Outbox, Peer, Protocol};
use protocol_resp::Version;
use protocol_resp::service::{Host, RespService};
use reactor::{Limits, Turn, turn};
use std::sync::Arc;
use std::time::Duration;
use storage_typed::TypedStore;

/// When a run begins, in unix milliseconds: an uneven moment, so that no rounding goes unseen.
const START_MS: u64 = 1_700_000_000_123;

/// Databases of the server.
pub(crate) const DATABASES: usize = 16;

/// Workers, which serve the clients in turn.
const WORKERS: usize = 2;

/// Bytes of a request at most.
pub(crate) const REQUEST_MAX: usize = 2 << 20;

/// The most turns and errands of one step.
const ROUNDS_MAX: usize = 10_000;

/// The settings of a server: two bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Setup {
    pub(crate) shards: usize,
    /// 0: no limit.
    pub(crate) maxmemory: u64,
    pub(crate) policy: Policy,
    /// Requests of a connection that are served before it yields to others.
    pub(crate) requests_per_turn: usize,
}

impl Setup {
    pub(crate) fn read([first, second]: [u8; 2]) -> Self {
        Setup {
            shards: 1 << (first & 3),
            maxmemory: if first & 0x1c == 0x1c { 20_000 } else { 0 },
            policy: Policy::ALL[usize::from(second & 7)],
            requests_per_turn: 1 + usize::from(second >> 3 & 7) * 5,
        }
    }
}

/// A server and its clients.
#[derive(Debug)]
pub(crate) struct World {
    setup: Setup,
    clock: Clock,
    /// A handle of its own on the services' keys.
    pub(crate) store: TypedStore,
    host: Arc<Host>,
    workers: Vec<RespService<TypedStore>>,
    pub(crate) clients: Vec<Client>,
    outbox: Outbox,
    directory: Directory,
    pool: Pool,
    serial: u64,
}

impl World {
    pub(crate) fn new(setup: Setup, clients: usize) -> Self {
        // Only the first time; so an input always does the same, but for what the commands draw.
        values::seed_hashes(7);
        let store = TypedStore::builder().shards(setup.shards).databases(DATABASES).seed(7).build();
        store.settings().set_maxmemory(setup.maxmemory);
        store.settings().set_policy(setup.policy);
        let host = Arc::new(Host::new(DATABASES));
        let worker = |_| RespService::new(store.clone(), Arc::clone(&host));
        let workers = (0..WORKERS).map(worker).collect();
        let mut world = World {
            setup,
            clock: Clock::manual(START_MS),
            store,
            host,
            workers,
            clients: Vec::new(),
            outbox: Outbox::new(),
            directory: Directory::new(),
            pool: Pool::new(4096, 16, 1),
            serial: 0,
        };
        for number in 0..clients {
            let client = world.connect(number);
            world.clients.push(client);
        }
        world
    }

    /// The present time.
    pub(crate) fn now(&self) -> Now {
        self.clock.now()
    }

    /// A new connection; some speak RESP3 at once.
    fn connect(&mut self, number: usize) -> Client {
        self.serial += 1;
        let id = ConnectionId::new(number % WORKERS, self.serial);
        let address = format!("tcp:127.0.0.1:{}", 50_000 + self.serial);
        self.directory.enter(Arc::new(Peer::new(id, address, "127.0.0.1:6379", Ticks::ZERO)));
        let resp = self.host.connection();
        let resp = if number % 4 > 1 { resp.speaking(Version::Resp3) } else { resp };
        Client::new(id, resp)
    }

    /// Ends a connection and makes another in its place.
    pub(crate) fn reconnect(&mut self, at: usize) {
        self.end(at);
        self.clients[at] = self.connect(at);
        self.deliver();
    }

    /// Tells the service that a connection has ended.
    pub(crate) fn end(&mut self, at: usize) {
        let World { clients, workers, outbox, directory, clock, .. } = self;
        let client = &mut clients[at];
        client.closed = true;
        directory.leave(client.id);
        let mut context = Context::new(clock.now(), client.id, outbox, directory);
        let service = &mut workers[client.id.worker()];
        service.closed(client.pipeline.protocol_mut(), Ending::Normal, &mut context);
    }

    /// Delivers bytes from a client, and does everything that follows.
    pub(crate) fn arrive(&mut self, at: usize, bytes: &[u8]) {
        let World { clients, pool, .. } = self;
        clients[at].arrive(bytes, pool);
        self.serve(at);
        self.deliver();
    }

    /// Serves a client until it waits for something.
    fn serve(&mut self, at: usize) {
        for _ in 0..ROUNDS_MAX {
            let World { clients, workers, outbox, directory, clock, pool, setup, .. } = self;
            let client = &mut clients[at];
            if client.closed {
                return;
            }
            let limits = Limits {
                request_bytes: REQUEST_MAX,
                high_water: 48 << 10,
                requests_per_turn: setup.requests_per_turn,
            };
            client.send.lend(pool);
            let mut context = Context::new(clock.now(), client.id, outbox, directory);
            let service = &mut workers[client.id.worker()];
            let Client { pipeline, recv, send, .. } = client;
            let next = turn(pipeline, service, recv, send, &limits, &mut context);
            client.flush(pool);
            match next {
                Turn::NeedInput { .. } | Turn::Blocked => {
                    client.recv.release(pool);
                    return;
                }
                Turn::Close | Turn::Refuse | Turn::TooLarge => return self.end(at),
                Turn::Yield => self.deliver(),
                Turn::Backpressure => {}
            }
        }
        panic!("a turn never ends");
    }

    /// Does the errands that commands have left for connections.
    pub(crate) fn deliver(&mut self) {
        for _ in 0..ROUNDS_MAX {
            if self.outbox.is_empty() {
                return;
            }
            let errands: Vec<_> = self.outbox.drain().collect();
            for (to, errand) in errands {
                let found = self.clients.iter().position(|client| client.id == to);
                let Some(at) = found.filter(|&at| !self.clients[at].closed) else { continue };
                let client = &mut self.clients[at];
                match errand {
                    Errand::Push(bytes) => client.output.extend_from_slice(&bytes),
                    Errand::Resume(ticket, reply) => {
                        if client.pipeline.resume(ticket) {
                            if client.pipeline.protocol().takes_late_reply() {
                                client.output.extend_from_slice(&reply);
                            }
                            self.serve(at);
                        }
                    }
                    Errand::Close | Errand::Cut => self.end(at),
                }
            }
        }
        panic!("errands never end");
    }

    /// Lets time pass, with maintenance behind it.
    pub(crate) fn pass(&mut self, time: Duration, budget: usize) {
        self.clock.advance(time);
        for worker in 0..WORKERS {
            self.maintain(worker, budget);
        }
    }

    /// One call of a worker's maintenance.
    pub(crate) fn maintain(&mut self, worker: usize, budget: usize) {
        let now = self.clock.now();
        self.workers[worker % WORKERS].maintain(now, budget, &mut self.outbox);
        self.deliver();
    }
}
