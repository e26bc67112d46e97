// SPDX-License-Identifier: Apache-2.0
//! [`Crowd`]: workers without sockets, each a thread with a service and some clients.

use buffer::SendBuf;
use clock::{Clock, Ticks};
use keyspace::Keyspace;
use protocol::{
    ConnectionId, Context, Control, Directory, Ending, Errand, Execute, Outbox, Parsed, Peer,
    Protocol, Ticket,
};
use protocol_resp::client::{self, Value};
use protocol_resp::parse::Cursor;
use protocol_resp::service::{Host, Resp, RespService};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};
use storage_typed::TypedStore;

/// How long nobody may get anything done.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a client does next.
pub(crate) enum Next {
    /// Sends a request, and waits for the reply.
    Send(String),
    /// Sends a request, and ends its connection if there is no reply for a time. Then it is another
    /// client.
    SendAndLeave(String, Duration),
    /// Ends its connection.
    Stop,
}

/// What a client does, by the reply to what it did last. There is none at the beginning, nor for one
/// who has left.
pub(crate) type Actor = Box<dyn FnMut(Option<Value>) -> Next + Send>;

/// Where a worker gets errands for its connections.
type Inbox = (ConnectionId, Errand);

/// Workers over one keyspace.
pub(crate) struct Crowd {
    workers: usize,
    store: TypedStore,
    host: Arc<Host>,
}

/// What all workers look at.
struct Common {
    host: Arc<Host>,
    directory: Directory,
    /// Connections so far.
    serials: AtomicU64,
    /// Requests so far.
    requests: AtomicU64,
    /// Actors that have not stopped.
    acting: AtomicUsize,
    clock: Clock,
}

/// When all is over.
pub(crate) struct End {
    /// Replies for clients that had left.
    pub(crate) undelivered: Vec<Value>,
    worker: Worker,
    common: Common,
    store: TypedStore,
}

impl Crowd {
    pub(crate) fn new(workers: usize) -> Self {
        let store = TypedStore::builder().shards(16).databases(2).build();
        let host = Arc::new(Host::new(store.databases()));
        Crowd { workers, store, host }
    }

    /// Lets the actors act until all have stopped.
    pub(crate) fn run(self, actors: Vec<Actor>) -> End {
        let common = Common {
            host: self.host,
            directory: Directory::new(),
            serials: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            acting: AtomicUsize::new(actors.len()),
            clock: Clock::system(),
        };
        let (senders, inboxes): (Vec<_>, Vec<_>) = (0..self.workers).map(|_| channel()).unzip();
        let mut workers: Vec<_> = inboxes
            .into_iter()
            .enumerate()
            .map(|(number, inbox)| {
                let service = RespService::new(self.store.clone(), Arc::clone(&common.host));
                Worker::new(number, service, inbox, senders.clone())
            })
            .collect();
        for (at, actor) in actors.into_iter().enumerate() {
            let number = at % self.workers;
            let client = Client::new(&common, number, actor);
            workers[number].clients.push(client);
        }
        let mut undelivered = Vec::new();
        std::thread::scope(|scope| {
            let threads: Vec<_> = workers
                .iter_mut()
                .map(|worker| {
                    let common = &common;
                    scope.spawn(move || worker.run(common))
                })
                .collect();
            threads.into_iter().for_each(|thread| thread.join().expect("a worker fails"));
        });
        for worker in &mut workers {
            // What was sent when the other had stopped looking.
            worker.carry_out_all();
            undelivered.append(&mut worker.undelivered);
        }
        let worker = workers.swap_remove(0);
        End { undelivered, worker, common, store: self.store }
    }
}

impl End {
    /// The reply to a request.
    pub(crate) fn ask(&mut self, line: &str) -> Value {
        let actor: Actor = Box::new(|_| Next::Stop);
        let mut client = Client::new(&self.common, self.worker.number, actor);
        client.request(line);
        self.worker.execute(&self.common, &mut client);
        client.reply().expect("a reply at once")
    }

    /// The reply to a request as text.
    pub(crate) fn ask_text(&mut self, line: &str) -> String {
        match self.ask(line) {
            Value::Bulk(text) => String::from_utf8_lossy(&text).into_owned(),
            Value::Verbatim { text, .. } => String::from_utf8_lossy(&text).into_owned(),
            other => format!("{other:?}"),
        }
    }

    pub(crate) fn check_integrity(&self) {
        self.store.check_integrity();
    }
}

/// A connection, and who is behind it.
struct Client {
    id: ConnectionId,
    resp: Resp,
    ticket: Ticket,
    is_blocked: bool,
    /// When it leaves, if there is no reply before.
    leaves: Option<Instant>,
    input: Vec<u8>,
    output: Vec<u8>,
    actor: Actor,
}

impl Client {
    fn new(common: &Common, worker: usize, actor: Actor) -> Self {
        let id = ConnectionId::new(worker, common.serials.fetch_add(1, SeqCst) + 1);
        let peer = Peer::new(id, format!("tcp:127.0.0.1:{}", id.serial()), "tcp:", Ticks::ZERO);
        common.directory.enter(Arc::new(peer));
        Client {
            id,
            resp: common.host.connection(),
            ticket: Ticket::default(),
            is_blocked: false,
            leaves: None,
            input: Vec::new(),
            output: Vec::new(),
            actor,
        }
    }

    fn request(&mut self, line: &str) {
        client::Encoder::new(&mut self.input).request(line.split(' ').collect::<Vec<_>>());
    }

    fn reply(&mut self) -> Option<Value> {
        let (reply, len) = client::parse(&self.output).expect("RESP")?;
        let value = reply.into();
        self.output.drain(..len);
        Some(value)
    }
}

struct Worker {
    number: usize,
    service: RespService<TypedStore>,
    clients: Vec<Client>,
    inbox: Receiver<Inbox>,
    senders: Vec<Sender<Inbox>>,
    outbox: Outbox,
    undelivered: Vec<Value>,
}

impl Worker {
    fn new(
        number: usize,
        service: RespService<TypedStore>,
        inbox: Receiver<Inbox>,
        senders: Vec<Sender<Inbox>>,
    ) -> Self {
        let (clients, outbox) = (Vec::new(), Outbox::new());
        Worker { number, service, clients, inbox, senders, outbox, undelivered: Vec::new() }
    }

    /// Works until all actors have stopped.
    fn run(&mut self, common: &Common) {
        let (mut requests, mut last) = (0, Instant::now());
        while common.acting.load(SeqCst) > 0 {
            let blocked = self.clients.iter().filter(|client| client.is_blocked).count();
            let seen = common.requests.load(SeqCst);
            if seen != requests {
                (requests, last) = (seen, Instant::now());
            }
            assert!(last.elapsed() < PATIENCE, "{blocked} wait in vain");
            self.carry_out_all();
            for mut client in std::mem::take(&mut self.clients) {
                if self.turn(common, &mut client) {
                    self.clients.push(client);
                } else {
                    common.acting.fetch_sub(1, SeqCst);
                }
            }
            while self.service.maintain(common.clock.now(), 1000, &mut self.outbox) {}
            self.send_all();
            if self.clients.iter().all(|client| client.is_blocked) {
                match self.inbox.recv_timeout(Duration::from_millis(1)) {
                    Ok((to, errand)) => self.carry_out(to, errand),
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => unreachable!("it has a sender itself"),
                }
            }
        }
    }

    /// Lets a client act, unless it waits; whether it goes on.
    fn turn(&mut self, common: &Common, client: &mut Client) -> bool {
        let reply = client.reply();
        if reply.is_none() && client.is_blocked {
            if client.leaves.is_none_or(|leaves| Instant::now() < leaves) {
                return true;
            }
            self.leave(common, client);
            let actor = std::mem::replace(&mut client.actor, Box::new(|_| Next::Stop));
            *client = Client::new(common, self.number, actor);
        }
        client.leaves = None;
        match (client.actor)(reply) {
            Next::Send(line) => client.request(&line),
            Next::SendAndLeave(line, after) => {
                client.request(&line);
                client.leaves = Some(Instant::now() + after);
            }
            Next::Stop => {
                self.leave(common, client);
                return false;
            }
        }
        self.execute(common, client);
        true
    }

    /// Executes the request of a client.
    fn execute(&mut self, common: &Common, client: &mut Client) {
        common.requests.fetch_add(1, SeqCst);
        let input = std::mem::take(&mut client.input);
        let parsed = client.resp.parse(&mut Cursor::default(), &input);
        let Ok(Parsed::Request { request, .. }) = parsed else { panic!("one whole request") };
        let mut out = SendBuf::new();
        let now = common.clock.now();
        let mut context = Context::new(now, client.id, &mut self.outbox, &common.directory);
        context.ticket = client.ticket;
        match self.service.execute(&mut client.resp, request, &mut out, &mut context) {
            Control::Continue => {}
            Control::Block => client.is_blocked = true,
            other => panic!("a request ends in {other:?}"),
        }
        client.output.extend_from_slice(out.front());
        self.send_all();
    }

    fn leave(&mut self, common: &Common, client: &mut Client) {
        common.directory.leave(client.id);
        let now = common.clock.now();
        let mut context = Context::new(now, client.id, &mut self.outbox, &common.directory);
        self.service.closed(&mut client.resp, Ending::Normal, &mut context);
        self.send_all();
    }

    fn send_all(&mut self) {
        for (to, errand) in self.outbox.drain() {
            self.senders[to.worker()].send((to, errand)).expect("the inbox is there to the end");
        }
    }

    fn carry_out_all(&mut self) {
        while let Ok((to, errand)) = self.inbox.try_recv() {
            self.carry_out(to, errand);
        }
    }

    fn carry_out(&mut self, to: ConnectionId, errand: Errand) {
        let Errand::Resume(ticket, reply) = errand else { panic!("nobody listens or is killed") };
        let client = self.clients.iter_mut().find(|client| client.id == to);
        match client {
            Some(client) if client.is_blocked && client.ticket == ticket => {
                client.output.extend_from_slice(&reply);
                client.is_blocked = false;
                client.ticket = ticket.next();
            }
            Some(_) => panic!("a client is answered twice"),
            None => {
                let (reply, _) = client::parse(&reply).expect("RESP").expect("a whole reply");
                self.undelivered.push(reply.into());
            }
        }
    }
}
