// SPDX-License-Identifier: Apache-2.0
//! [`Bench`]: the services of some workers, with clients and without sockets or threads. [`Ours`]: those
//! over the typed keyspace.

use buffer::SendBuf;
use clock::{Clock, Ticks};
use keyspace::Keyspace;
use protocol::{
    ConnectionId, Context, Control, Directory, Ending, Errand, Execute, Outbox, Parsed, Peer,
    Protocol, Ticket,
};
use protocol_resp::service::{Host, Resp, RespService, config};
use protocol_resp::{Version, client};
use std::sync::Arc;
use std::time::Duration;
use storage_typed::TypedStore;
use test_support::story::Server;

/// When all stories begin, in unix milliseconds.
const START_MS: u64 = 1_800_000_000_000;

/// How much is done at once behind the scenes.
const BUDGET: usize = 1000;

/// What is tested on a bench.
pub(crate) trait Subject: Sized {
    /// A connection.
    type Connection: Protocol;
    /// What carries out commands.
    type Service: Execute<Self::Connection>;

    /// An empty server, with a service for each worker.
    fn make(workers: usize) -> (Self, Vec<Self::Service>);

    /// A new connection that speaks `version`.
    fn connection(&self, version: Version) -> Self::Connection;

    /// Checks the invariants of the store and of the values in it.
    fn check_integrity(&self);
}

/// The service of all types.
pub(crate) struct Typed {
    /// A handle of its own on the services' keys.
    store: TypedStore,
    host: Arc<Host>,
}

/// A server of all types.
pub(crate) type Ours = Bench<Typed>;

impl Typed {
    /// An empty server with parameters.
    pub(crate) fn with_parameters(
        workers: usize,
        parameters: &[(&str, &str)],
    ) -> (Self, Vec<RespService<TypedStore>>) {
        let store = TypedStore::builder().shards(8).databases(16).seed(7).build();
        let host = Arc::new(Host::new(store.databases()));
        let typed = Typed { store, host };
        for (name, value) in [("enable-debug-command", "yes")].iter().chain(parameters) {
            typed.configure(name, value);
        }
        let service = || RespService::new(typed.store.clone(), Arc::clone(&typed.host));
        let services = std::iter::repeat_with(service).take(workers).collect();
        (typed, services)
    }

    /// Gives a parameter a value, as if at the start.
    pub(crate) fn configure(&self, name: &str, value: &str) {
        let parameter = config::parameter(name.as_bytes()).expect("the table has it");
        self.host.configure(parameter, value.as_bytes()).expect("a right value");
    }

    /// What the workers share.
    pub(crate) fn host(&self) -> &Host {
        &self.host
    }
}

impl Subject for Typed {
    type Connection = Resp;
    type Service = RespService<TypedStore>;

    fn make(workers: usize) -> (Self, Vec<Self::Service>) {
        Self::with_parameters(workers, &[])
    }

    fn connection(&self, version: Version) -> Resp {
        self.host.connection().speaking(version)
    }

    fn check_integrity(&self) {
        self.store.check_integrity();
    }
}

/// A server.
pub(crate) struct Bench<S: Subject> {
    version: Version,
    clock: Clock,
    subject: S,
    /// One for each worker.
    services: Vec<S::Service>,
    clients: Vec<Client<S::Connection>>,
    outbox: Outbox,
    directory: Directory,
}

/// A connection.
struct Client<P: Protocol> {
    name: String,
    id: ConnectionId,
    connection: P,
    cursor: P::Cursor,
    /// What has not been executed.
    input: Vec<u8>,
    /// What has not been read.
    output: Vec<u8>,
    ticket: Ticket,
    is_blocked: bool,
    is_closed: bool,
    /// The service knows that it is.
    has_ended: bool,
}

impl<S: Subject> Bench<S> {
    /// An empty server whose clients speak `version`.
    pub(crate) fn new(version: Version) -> Self {
        Self::with_workers(version, 1)
    }

    /// An empty server whose clients take turns with its workers.
    pub(crate) fn with_workers(version: Version, workers: usize) -> Self {
        let (subject, services) = S::make(workers);
        Bench {
            version,
            clock: Clock::manual(START_MS),
            subject,
            services,
            clients: Vec::new(),
            outbox: Outbox::new(),
            directory: Directory::new(),
        }
    }

    /// What is tested.
    pub(crate) fn subject(&self) -> &S {
        &self.subject
    }

    /// The reply to one request of a client, as a tree.
    pub(crate) fn ask<A: AsRef<[u8]>>(&mut self, words: &[A]) -> client::Value {
        let mut request = Vec::new();
        client::Encoder::new(&mut request).request(words);
        self.input("", &request);
        let reply = self.receive("", true).expect("a reply at once");
        let (value, _) = client::parse(&reply).expect("RESP").expect("a whole reply");
        value.into()
    }

    /// Checks the invariants.
    pub(crate) fn check_integrity(&self) {
        self.subject.check_integrity();
    }

    /// The number of a client, which is made if it is new.
    fn client(&mut self, name: &str) -> usize {
        if let Some(found) = self.clients.iter().position(|client| client.name == name) {
            return found;
        }
        let serial = self.clients.len() as u64 + 1;
        let id = ConnectionId::new(self.clients.len() % self.services.len(), serial);
        let host = if name.starts_with("remote") { "10.0.0.1" } else { "127.0.0.1" };
        let address = format!("tcp:{host}:{}", 50_000 + serial);
        self.directory.enter(Arc::new(Peer::new(id, address, "tcp:127.0.0.1:6379", Ticks::ZERO)));
        self.clients.push(Client {
            name: name.to_owned(),
            id,
            connection: self.subject.connection(self.version),
            cursor: Default::default(),
            input: Vec::new(),
            output: Vec::new(),
            ticket: Ticket::default(),
            is_blocked: false,
            is_closed: false,
            has_ended: false,
        });
        self.clients.len() - 1
    }

    fn input(&mut self, client: &str, bytes: &[u8]) {
        let at = self.client(client);
        self.clients[at].input.extend_from_slice(bytes);
        self.turn(at);
        let worker = self.clients[at].id.worker();
        self.services[worker].maintain(self.clock.now(), BUDGET, &mut self.outbox);
        self.deliver();
    }

    /// Executes what a client has sent.
    fn turn(&mut self, at: usize) {
        let Bench { clock, services, clients, outbox, directory, .. } = self;
        let client = &mut clients[at];
        let service = &mut services[client.id.worker()];
        let input = std::mem::take(&mut client.input);
        let mut done = 0;
        let mut out = SendBuf::new();
        while !client.is_blocked && !client.is_closed {
            let before = client.cursor;
            match client.connection.parse(&mut client.cursor, &input[done..]) {
                Ok(Parsed::Request { request, consumed }) => {
                    let mut context = Context::new(clock.now(), client.id, outbox, directory);
                    context.ticket = client.ticket;
                    match service.execute(&mut client.connection, request, &mut out, &mut context) {
                        Control::Close => client.is_closed = true,
                        Control::Block => client.is_blocked = true,
                        Control::Defer => {
                            client.is_blocked = true;
                            client.cursor = before;
                            break;
                        }
                        _ => {}
                    }
                    done += consumed;
                }
                Ok(Parsed::Part { .. }) => panic!("requests of RESP are collected"),
                Ok(Parsed::NeedMore { .. }) => break,
                Err(malformed) => {
                    out.put(malformed.reply.as_bytes());
                    service.rejected(&client.connection, &malformed);
                    done += malformed.skip.unwrap_or(0);
                    client.is_closed = malformed.skip.is_none();
                }
            }
        }
        client.input = input[done.min(input.len())..].to_vec();
        drain(&mut out, &mut client.output);
        if client.is_closed {
            self.end(at);
        }
    }

    /// Tells the service that a connection has ended, if it has not been told.
    fn end(&mut self, at: usize) {
        let Bench { clock, services, clients, outbox, directory, .. } = self;
        let client = &mut clients[at];
        let service = &mut services[client.id.worker()];
        client.is_closed = true;
        if !std::mem::replace(&mut client.has_ended, true) {
            directory.leave(client.id);
            let mut context = Context::new(clock.now(), client.id, outbox, directory);
            service.closed(&mut client.connection, Ending::Normal, &mut context);
        }
    }

    /// Carries out what commands have left for other connections.
    fn deliver(&mut self) {
        while !self.outbox.is_empty() {
            let errands: Vec<_> = self.outbox.drain().collect();
            for (to, errand) in errands {
                let Some(at) = self.clients.iter().position(|client| client.id == to) else {
                    continue;
                };
                let client = &mut self.clients[at];
                match errand {
                    _ if client.is_closed => {}
                    Errand::Push(_) if !client.connection.takes_messages() => {}
                    Errand::Push(bytes) => client.output.extend_from_slice(&bytes),
                    Errand::Resume(ticket, reply) => {
                        if client.is_blocked && client.ticket == ticket {
                            if client.connection.takes_late_reply() {
                                client.output.extend_from_slice(&reply);
                            }
                            client.is_blocked = false;
                            client.ticket = ticket.next();
                            self.turn(at);
                        }
                    }
                    Errand::Close | Errand::Cut => self.end(at),
                }
            }
        }
    }
}

/// Moves all bytes.
fn drain(from: &mut SendBuf, to: &mut Vec<u8>) {
    while !from.is_empty() {
        let len = from.front().len();
        to.extend_from_slice(from.front());
        from.consume(len);
    }
}

impl<S: Subject> Server for Bench<S> {
    fn restart(&mut self) {
        *self = Self::with_workers(self.version, self.services.len());
    }

    fn send(&mut self, client: &str, line: &str) {
        self.input(client, format!("{line}\r\n").as_bytes());
        self.check_integrity();
    }

    fn receive(&mut self, client: &str, _: bool) -> Option<Vec<u8>> {
        let at = self.client(client);
        let output = &mut self.clients[at].output;
        let (_, len) = client::parse(output).expect("RESP")?;
        Some(output.drain(..len).collect())
    }

    fn is_closed(&mut self, client: &str) -> bool {
        let at = self.client(client);
        self.clients[at].is_closed
    }

    fn leave(&mut self, client: &str) {
        let at = self.client(client);
        self.end(at);
        self.clients[at].name.push_str(" who left");
        self.deliver();
    }

    fn client_id(&mut self, client: &str) -> u64 {
        let at = self.client(client);
        self.clients[at].id.serial()
    }

    fn settle(&mut self, _: usize) {}

    fn pass(&mut self, time: Duration) {
        self.clock.advance(time);
        for service in &mut self.services {
            while service.maintain(self.clock.now(), BUDGET, &mut self.outbox) {}
        }
        self.deliver();
        self.check_integrity();
    }

    fn unix_ms(&self) -> u64 {
        self.clock.now().unix_ms
    }
}
