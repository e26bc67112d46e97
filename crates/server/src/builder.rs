// SPDX-License-Identifier: Apache-2.0
//! [`Builder`]: configures and starts a server process.

use crate::Error;
use crate::controls::Controls;
use crate::datagrams::{DatagramSockets, Datagrams};
use crate::files::Needs;
use crate::heap::{self, Wish};
use crate::logging;
use crate::process::{self, Event, Farewell, Process, Stopper, Threads};
use crate::program::Program;
use crate::reload::Sources;
use crate::settings::{Engine, Listen, Sections, SocketMode};
use admin::{Admin, ConfigText, Readiness, State};
use clock::Clock;
use log::info;
use protocol::{Directory, Execute, Protocol};
use reactor::{
    Acceptor, AnswerLimits, Census, Dials, Door, Endpoint, Listener, OpenError, Options, Worker,
};
use session::TlsAcceptor;
use std::fmt;
use std::net::SocketAddr;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// How often the admin thread reads the counts of the logs, and gives memory back.
const FIGURES_INTERVAL: Duration = Duration::from_secs(1);

/// Configures a server process. [`Builder::spawn`] starts it inside another program, such as a
/// test; [`Builder::run`] makes it the whole program.
#[derive(Debug)]
#[must_use = "a builder does nothing until it is spawned or run"]
pub struct Builder {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    listen: Vec<Place>,
    datagrams: Option<Datagrams>,
    backlog: u32,
    workers: usize,
    engine: Option<Engine>,
    /// The engine that was chosen, once it is.
    running_on: Arc<OnceLock<reactor::Engine>>,
    options: Options,
    pub(crate) dials: Dials,
    directory: Arc<Directory>,
    pub(crate) tls: Option<TlsAcceptor>,
    admin: Option<SocketAddr>,
    config_text: ConfigText,
    /// Set when memory is to be returned to the system soon.
    wish: Wish,
    clock: Clock,
    drain_delay: Duration,
    drain_timeout: Duration,
    pub(crate) events: (Sender<Event>, Receiver<Event>),
    /// The number of admin clients that there are descriptors for; `None` if there are enough.
    pub(crate) admin_clients: Option<usize>,
    /// The files that are read again while the server runs.
    pub(crate) sources: Sources,
    /// Set when this is the whole program.
    pub(crate) program: Program,
    worker_start: WorkerStart,
}

/// What each worker's thread does first, given the worker's number.
#[derive(Clone)]
struct WorkerStart(Arc<dyn Fn(usize) + Send + Sync>);

impl fmt::Debug for WorkerStart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WorkerStart")
    }
}

/// What a server is reached at: bound, and not served yet. At a TCP address nobody can connect yet.
#[derive(Debug)]
pub(crate) struct Bound {
    doors: Vec<Door>,
    datagrams: DatagramSockets,
}

/// An endpoint to listen on, with its tag and whether it speaks TLS.
#[derive(Debug)]
struct Place {
    endpoint: Endpoint,
    tls: bool,
    tag: u16,
}

impl Builder {
    /// A server with one worker that listens nowhere yet and has no admin address.
    pub fn new(name: &'static str, version: &'static str) -> Self {
        let options = Options::default();
        Builder {
            name,
            version,
            listen: Vec::new(),
            datagrams: None,
            backlog: 1024,
            workers: 1,
            engine: None,
            running_on: Arc::default(),
            dials: Dials::new(10_000, &options),
            directory: Arc::new(Directory::new()),
            options,
            tls: None,
            admin: None,
            config_text: ConfigText::default(),
            wish: Wish::default(),
            clock: Clock::system(),
            drain_delay: Duration::ZERO,
            drain_timeout: Duration::from_secs(10),
            events: channel(),
            admin_clients: None,
            sources: Sources::default(),
            program: Program::default(),
            worker_start: WorkerStart(Arc::new(|_worker| {})),
        }
    }

    /// A server with the given settings. `port` is the server's default port, `request_bytes` the largest
    /// request that its protocol waits for.
    ///
    /// # Errors
    ///
    /// When a value is out of range or a certificate cannot be used.
    pub fn from_settings(
        name: &'static str,
        version: &'static str,
        sections: Sections<'_>,
        port: u16,
        request_bytes: usize,
    ) -> Result<Self, Error> {
        if let Some((key, problem)) = sections.problem() {
            return Err(Error::Setting { key, problem });
        }
        let server = sections.server;
        let tls = sections.tls.acceptor()?;
        let options = sections.options(request_bytes);
        let default = SocketAddr::new(server.host, server.port.unwrap_or(port));
        let default = [Listen::Tcp { address: default, plain: false }];
        let listen = if server.listen.is_empty() { &default[..] } else { &server.listen };
        let admin = SocketAddr::new(sections.admin.host, sections.admin.port);
        let builder = Builder {
            backlog: server.backlog,
            workers: sections.worker.threads,
            engine: Some(sections.worker.engine),
            dials: Dials::new(server.max_connections, &options),
            options,
            tls,
            admin: sections.admin.enabled.then_some(admin),
            drain_delay: server.drain_delay.0,
            drain_timeout: server.drain_timeout.0,
            ..Builder::new(name, version)
        };
        Ok(builder.listen_on(0, listen, server.socket_mode))
    }

    /// Listens on one more endpoint, with TLS if `tls` and an acceptor was given. The tag of its
    /// connections is 0.
    pub fn listen(self, endpoint: Endpoint, tls: bool) -> Self {
        self.listen_as(0, endpoint, tls)
    }

    /// As [`Builder::listen`], with a tag. `make_protocol` is given the tag and chooses by it the protocol
    /// of this endpoint's connections (see [`protocol::Either`]).
    pub fn listen_as(mut self, tag: u16, endpoint: Endpoint, tls: bool) -> Self {
        self.listen.push(Place { endpoint, tls, tag });
        self
    }

    /// Listens on more addresses as an operator writes them: with TLS for those that ask for it, if an
    /// acceptor was given, and unix sockets with the permission bits `mode`. See
    /// [`Builder::listen_as`] for `tag`.
    pub fn listen_on(mut self, tag: u16, addresses: &[Listen], mode: SocketMode) -> Self {
        for address in addresses {
            self = self.listen_as(tag, address.endpoint(mode), address.wants_tls());
        }
        self
    }

    /// Serves requests that come to these UDP addresses in datagrams, with the tag of [`Builder::listen_as`].
    /// What is answered has `limits`.
    pub fn datagrams(mut self, tag: u16, addresses: Vec<SocketAddr>, limits: AnswerLimits) -> Self {
        let datagrams = Datagrams { tag, addresses, limits };
        self.datagrams = Some(datagrams).filter(|datagrams| !datagrams.addresses.is_empty());
        self
    }

    /// Sets the acceptor that does the handshakes of TLS endpoints.
    pub fn tls(mut self, acceptor: TlsAcceptor) -> Self {
        self.tls = Some(acceptor);
        self
    }

    /// Sets how many threads serve connections.
    pub fn workers(mut self, workers: usize) -> Self {
        self.workers = workers;
        self
    }

    /// Sets the event engine of the workers. Default: [`Options::engine`].
    pub fn engine(mut self, engine: Engine) -> Self {
        self.engine = Some(engine);
        self
    }

    /// Sets how many connections are served at once.
    pub fn max_connections(self, most: usize) -> Self {
        self.dials.set_connections_max(most);
        self
    }

    /// Sets how workers treat connections.
    pub fn options(mut self, options: Options) -> Self {
        self.dials = Dials::new(self.dials.connections_max(), &options);
        self.options = options;
        self
    }

    /// Sets how many bytes of buffers connections may hold, over all workers, before those whose replies
    /// pile up are held until they read: see [`Output::memory`](crate::Output::memory).
    pub fn output_memory(mut self, bytes: usize) -> Self {
        self.options.output.memory = bytes;
        self
    }

    /// A handle that changes limits while the server runs, and stops it. Call it after all settings are
    /// made.
    pub fn controls(&self) -> Controls {
        let stopper = Stopper::new(self.events.0.clone());
        let directory = Arc::clone(&self.directory);
        let read = (self.sources.rereader(), self.tls.clone());
        let shown = (self.config_text.clone(), self.wish.clone());
        let engine = Arc::clone(&self.running_on);
        Controls::new(stopper, self.dials.clone(), directory, self.needs(), read, shown, engine)
    }

    /// The descriptors that the process needs besides those of its connections.
    pub(crate) fn needs(&self) -> Needs {
        let datagrams = self.datagrams.as_ref().map_or(0, |datagrams| datagrams.addresses.len());
        Needs::new(self.listen.len() + datagrams * self.workers, self.workers)
    }

    /// Makes [`Builder::run`] call `read` on each SIGHUP, and when [`Controls::reread`] asks for it, on a thread that
    /// may wait for files. `what` is a word in the plural for the log: "users".
    pub fn rereads(
        mut self,
        what: &'static str,
        read: impl Fn() -> Result<(), String> + Send + 'static,
    ) -> Self {
        self.sources.add(what, read);
        self
    }

    /// As [`Builder::rereads`], also when `has_changed` says so, which is asked every second on the same thread.
    pub fn rereads_when_changed(
        mut self,
        what: &'static str,
        read: impl Fn() -> Result<(), String> + Send + 'static,
        has_changed: impl Fn() -> bool + Send + 'static,
    ) -> Self {
        self.sources.add_watched(what, read, has_changed);
        self
    }

    /// Serves metrics and health over HTTP at `address`.
    pub fn admin(mut self, address: SocketAddr) -> Self {
        self.admin = Some(address);
        self
    }

    /// Sets the text that `/config` shows. [`Controls::set_config_text`] changes it later.
    pub fn config_text(self, text: String) -> Self {
        self.config_text.set(text);
        self
    }

    /// Sets what the pages of metrics show, in the whole process: what every server has, what is in use of the rest
    /// (call it once TLS, datagrams and options are set), and these `sets`: those of the protocols and the storage. Without
    /// it they show whatever the linker found.
    pub fn metrics(self, sets: impl IntoIterator<Item = metrics::MetricSet>) -> Self {
        let optional = [
            (self.tls.is_some(), session::TLS_METRICS),
            (self.datagrams.is_some(), reactor::DATAGRAM_METRICS),
            (self.options.turn_cpu_time, reactor::TURN_CPU_METRICS),
        ];
        let optional = optional.into_iter().filter(|(is_used, _)| *is_used).map(|(_, set)| set);
        let always = [
            metrics::process::METRICS,
            session::METRICS,
            reactor::METRICS,
            admin::METRICS,
            logging::METRICS,
        ];
        metrics::show_only(always.into_iter().chain(optional).chain(sets));
        metrics::set_build_info([("server", self.name), ("version", self.version)]);
        self
    }

    /// Sets the clock; tests use one that they set themselves.
    pub fn clock(mut self, clock: Clock) -> Self {
        self.clock = clock;
        self
    }

    /// Sets how long connections have to be flushed when the server stops. Threads that go on for five more seconds are
    /// given up: [`Error::Stuck`].
    pub fn drain_timeout(mut self, timeout: Duration) -> Self {
        self.drain_timeout = timeout;
        self
    }

    /// Calls `start` on the thread of each worker before it serves, with the worker's number: for what belongs to a
    /// thread, such as its place in an allocator.
    pub fn on_worker_start(mut self, start: impl Fn(usize) + Send + Sync + 'static) -> Self {
        self.worker_start = WorkerStart(Arc::new(start));
        self
    }

    /// A service for each worker: clones of `service`, which the last worker takes itself. So no handle of a
    /// store is left over, and a store for one worker needs no second handle.
    pub fn clones<E: Clone>(&self, service: E) -> impl FnMut(usize) -> E + use<E> {
        let last = self.workers - 1;
        let mut first = Some(service);
        move |worker| {
            let service = if worker == last { first.take() } else { first.clone() };
            service.expect("the last worker is asked for last")
        }
    }

    /// Starts the server's threads and returns. Logs and signals are left alone: they belong to
    /// the program.
    ///
    /// `make_protocol` makes the protocol state of each connection, given the tag of its listener;
    /// `make_service` makes the service of each worker, given the worker's number.
    ///
    /// # Errors
    ///
    /// When an address cannot be bound or the system refuses a thread. Nothing is left running then.
    pub fn spawn<P, E, M>(
        self,
        make_protocol: M,
        make_service: impl FnMut(usize) -> E,
    ) -> Result<Process, Error>
    where
        P: Protocol + Send + 'static,
        E: Execute<P> + Send + 'static,
        M: Fn(u16) -> P + Clone + Send + 'static,
    {
        let bound = self.bind(&make_protocol)?;
        self.start(bound, make_protocol, make_service)
    }

    /// Starts the threads.
    pub(crate) fn start<P, E, M>(
        mut self,
        bound: Bound,
        make_protocol: M,
        mut make_service: impl FnMut(usize) -> E,
    ) -> Result<Process, Error>
    where
        P: Protocol + Send + 'static,
        E: Execute<P> + Send + 'static,
        M: Fn(u16) -> P + Clone + Send + 'static,
    {
        let engine = self.engine.unwrap_or(self.options.engine.into());
        let (queues, why) = engine.start(self.workers, &mut self.options)?;
        let why = self.engine.map(|_| (self.options.engine, why));
        // A builder starts once.
        let _ = self.running_on.set(self.options.engine);
        self.options.output.memory /= self.workers;
        let Bound { doors, mut datagrams } = bound;
        let endpoints = doors.iter().map(|door| door.listener.endpoint().clone()).collect();
        let census = Census::new(self.workers);
        let mut workers = Vec::with_capacity(self.workers);
        for (index, queue) in queues.into_iter().enumerate() {
            let (service, make) = (make_service(index), make_protocol.clone());
            let (clock, directory) = (self.clock.clone(), Arc::clone(&self.directory));
            let mut worker =
                Worker::on(queue, index, service, make, self.options, clock, directory);
            if let Some(Datagrams { tag, limits, .. }) = &self.datagrams {
                let sockets = datagrams.take(index);
                let received = worker.receive_datagrams(sockets, *tag, limits.clone());
                received.map_err(Error::Start)?;
            }
            workers.push(worker);
        }
        let mailboxes: Vec<_> = workers.iter().map(Worker::mailbox).collect();
        let dials = self.dials.clone();
        let mut acceptor = Acceptor::new(doors, mailboxes.clone(), census.clone(), dials.clone())
            .map_err(Error::Start)?;

        let readiness = Readiness::new();
        let admin = self.start_admin(&readiness)?;
        let (events, inbox) = self.events;
        let mut threads = Threads {
            clock: self.clock,
            census,
            endpoints,
            datagrams: datagrams.addresses,
            readiness,
            admin,
            acceptor: acceptor.handle(),
            mailboxes: mailboxes.clone(),
            joins: Vec::new(),
            drain_delay: self.drain_delay,
            drain_timeout: self.drain_timeout,
            log: None,
            is_announced: false,
        };
        let is_program = self.program.is_whole();
        let spawn_all = || {
            for (index, mut worker) in workers.into_iter().enumerate() {
                worker.introduce(mailboxes.clone());
                worker.follow(dials.clone());
                let WorkerStart(start) = self.worker_start.clone();
                let body = move || {
                    start(index);
                    let result = worker.run();
                    if is_program {
                        process::keep(worker);
                    }
                    result
                };
                threads.spawn(format!("worker {index}"), &events, body)?;
            }
            // Nothing can fail behind it but a last thread.
            acceptor.open().map_err(|OpenError { endpoint, source }| Error::Listen {
                endpoint: endpoint.to_string(),
                source,
            })?;
            threads.spawn("listener".to_owned(), &events, move || acceptor.run())
        };
        match spawn_all() {
            Ok(()) => {
                if let Some((engine, why)) = why {
                    info!("workers run on {engine}: {why}");
                }
                threads.readiness.set(State::Ready);
                Ok(Process::new(threads, events, inbox))
            }
            Err(error) => {
                threads.abandon();
                Err(error)
            }
        }
    }

    /// Binds all addresses.
    pub(crate) fn bind<P: Protocol>(
        &self,
        make_protocol: impl Fn(u16) -> P,
    ) -> Result<Bound, Error> {
        let bind = |&Place { ref endpoint, tls, tag }: &Place| {
            let listener = Listener::claim(endpoint, self.backlog)
                .map_err(|source| Error::Listen { endpoint: endpoint.to_string(), source })?;
            let rejection = make_protocol(tag).too_many_connections();
            Ok(Door { listener, tls: self.tls.clone().filter(|_| tls), tag, rejection })
        };
        let doors = self.listen.iter().map(bind).collect::<Result<_, Error>>()?;
        let datagrams = self.datagrams.as_ref().map(|datagrams| datagrams.bind(self.workers));
        Ok(Bound { doors, datagrams: datagrams.transpose()?.unwrap_or_default() })
    }

    fn start_admin(&mut self, readiness: &Readiness) -> Result<admin::AdminHandle, Error> {
        let mut admin = Admin::builder(self.name, self.version)
            .config_text(self.config_text.clone())
            .ready(readiness.clone())
            .keep(Farewell::new("admin", self.events.0.clone()));
        if let Some(address) = self.admin {
            admin = admin.listen(address);
        }
        if let Some(most) = self.admin_clients {
            admin = admin.connections_max(most);
        }
        if self.program.is_whole() {
            heap::keep_little();
            admin = admin
                .task(FIGURES_INTERVAL, logging::refresh_metrics)
                .task(FIGURES_INTERVAL, heap::give_back_as_needed(self.wish.clone()));
        }
        Ok(admin.spawn()?)
    }
}
