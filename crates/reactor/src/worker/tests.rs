// SPDX-License-Identifier: Apache-2.0
//! The driver's rules, on one thread: a test writes to a socket pair, takes a step of the loop, and
//! looks at both ends and inside.

use super::*;
use crate::{Census, Engine, Limits, Message, Newcomer, Output, OutputLimit};
use buffer::SendBuf;
use bytes::Bytes;
use protocol::{
    Buffers, ConnectionId, Context, Control, Ending, Errand, ErrorReply, Malformed, Parsed, Stage,
};
use session::TlsConnector;
use std::cell::{Cell, RefCell};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::sync::Mutex;

/// All rules hold on every engine.
macro_rules! on_engine {
    ($name:ident, $engine:expr, $reader:expr $(, $own:literal as $module:ident)?) => {
        #[path = "tests"]
        #[allow(clippy::duplicate_mod)]
        mod $name {
            use super::*;

            const ENGINE: Engine = $engine;

            fn options() -> Options {
                READER.set($reader);
                super::options(ENGINE)
            }

            #[path = "block.rs"]
            mod block;
            #[path = "datagrams.rs"]
            mod datagrams;
            #[path = "errands.rs"]
            mod errands;
            #[path = "life.rs"]
            mod life;
            #[path = "nap.rs"]
            mod nap;
            #[path = "push.rs"]
            mod push;
            #[path = "rules.rs"]
            mod rules;
            #[path = "service.rs"]
            mod service;
            #[path = "turns.rs"]
            mod turns;
            #[path = "unread.rs"]
            mod unread;
            $(#[path = $own]
            mod $module;)?
        }
    };
}

on_engine!(on_epoll, Engine::Epoll, Reader::Session);
#[cfg(all(feature = "io-uring", target_os = "linux"))]
on_engine!(on_io_uring, Engine::IoUring, Reader::Driver, "ring.rs" as ring);
// As for connections that send much.
#[cfg(all(feature = "io-uring", target_os = "linux"))]
on_engine!(on_io_uring_without_receiving, Engine::IoUring, Reader::Session);

/// A container's seccomp filter may refuse io_uring. Where it is known to be allowed, as in CI, that is an
/// error.
#[test]
#[cfg(all(feature = "io-uring", target_os = "linux"))]
fn io_uring_can_be_tested_here() {
    if let Err(reason) = Engine::probe_io_uring() {
        eprintln!("NOT TESTED: everything on io_uring. {reason}");
        assert!(std::env::var_os("SHOEBILL_REQUIRE_IO_URING").is_none(), "{reason}");
    }
}

/// Sends that a ring is given at once.
#[cfg(all(feature = "io-uring", target_os = "linux"))]
use crate::uring::SENDS;
#[cfg(not(all(feature = "io-uring", target_os = "linux")))]
const SENDS: usize = 0;

/// For tests that look at what is recorded: that of all tests of this process goes to one place.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

/// A reply of 10,000 bytes that names its request.
fn long_reply(line: &[u8], out: &mut SendBuf, _: &mut Context<'_>) -> Control {
    let mut reply = line.repeat(10_000 / line.len() + 1);
    reply.truncate(9_999);
    reply.push(b'\n');
    out.put(&reply);
    Control::Continue
}

/// A request is a line.
struct Lines {
    may_idle: bool,
    takes_messages: bool,
    is_stranger: bool,
}

/// The tag of connections that may idle: they have subscribed.
const PATIENT: u16 = 1;

/// The tag of connections that take no messages.
const ALOOF: u16 = 2;

/// The tag of connections whose clients have not said who they are.
const STRANGER: u16 = 3;

impl Protocol for Lines {
    const NAME: &'static str = "lines";
    const TOO_MANY_CONNECTIONS: &'static [u8] = b"busy\n";
    type Request<'a> = &'a [u8];
    type Cursor = ();

    fn parse<'a>(&self, _: &mut (), input: &'a [u8]) -> Result<Parsed<&'a [u8]>, Malformed> {
        match input.iter().position(|&byte| byte == b'\n') {
            Some(end) => Ok(Parsed::Request { request: &input[..end], consumed: end + 1 }),
            None => Ok(Parsed::NeedMore { at_least: 1 }),
        }
    }

    fn too_large(&self) -> ErrorReply {
        ErrorReply::fixed(b"too large\n")
    }

    fn may_idle(&self) -> bool {
        self.may_idle
    }

    fn is_subscriber(&self) -> bool {
        self.may_idle
    }

    fn is_stranger(&self) -> bool {
        self.is_stranger
    }

    fn takes_messages(&self) -> bool {
        self.takes_messages
    }
}

/// Which side reads from sockets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    Driver,
    Session,
    /// As outside of tests.
    Usual,
}

thread_local! {
    /// Which side reads from sockets in this test.
    static READER: Cell<Reader> = const { Cell::new(Reader::Driver) };
    /// For how many turns more the service has work to do.
    static CHORES: Cell<usize> = const { Cell::new(0) };
    /// What the service of this test's thread was asked to prefetch and to do.
    static DIARY: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    /// Which other calls it got.
    static HEARD: RefCell<Vec<Heard>> = const { RefCell::new(Vec::new()) };
    /// What it puts into the outbox when it next does background work.
    static ERRANDS: RefCell<Vec<(ConnectionId, Errand)>> = const { RefCell::new(Vec::new()) };
    /// What it puts into the outbox before replies are written.
    static GATHERED: RefCell<Vec<(ConnectionId, Errand)>> = const { RefCell::new(Vec::new()) };
    /// What it puts into the outbox when the next connection has come.
    static WELCOME: RefCell<Vec<(ConnectionId, Errand)>> = const { RefCell::new(Vec::new()) };
    /// What it puts into the outbox when a connection has ended.
    static WILL: RefCell<Vec<(ConnectionId, Errand)>> = const { RefCell::new(Vec::new()) };
    /// A client that is asked, when a connection has ended, whether it has seen an end.
    static WITNESS: RefCell<Option<UnixStream>> = const { RefCell::new(None) };
    /// When it wants to be woken.
    static WAKE_AT: Cell<Option<Ticks>> = const { Cell::new(None) };
    /// For how long it has nothing to do.
    static MAY_NAP: Cell<Duration> = const { Cell::new(Duration::ZERO) };
    /// How often it was asked for that.
    static ASKED: Cell<usize> = const { Cell::new(0) };
}

/// What a worker tells its service besides requests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Heard {
    Maintain,
    Rest,
    Buffers(u64),
    Closed(u64, Ending),
}

/// Puts what a test has laid down into the outbox.
fn put(errands: Vec<(ConnectionId, Errand)>, outbox: &mut Outbox) {
    for (to, errand) in errands {
        match errand {
            Errand::Push(message) => outbox.push(to, message),
            Errand::Resume(ticket, reply) => outbox.resume(to, ticket, reply),
            Errand::Close => outbox.close(to),
            Errand::Cut => outbox.cut(to),
        }
    }
}

fn note(what: &str, line: &[u8]) {
    DIARY.with_borrow_mut(|diary| diary.push(format!("{what} {}", line.escape_ascii())));
}

/// Each test's own service.
struct Serve<F>(F);

impl<F> Execute<Lines> for Serve<F>
where
    F: FnMut(&[u8], &mut SendBuf, &mut Context<'_>) -> Control,
{
    fn prefetch(&self, _: &Lines, line: &&[u8], stage: Stage) {
        note(&format!("{stage:?}"), line);
    }

    fn execute(
        &mut self,
        _: &mut Lines,
        line: &[u8],
        out: &mut SendBuf,
        context: &mut Context<'_>,
    ) -> Control {
        note("run", line);
        (self.0)(line, out, context)
    }

    fn opened(&mut self, _: &mut Lines, context: &mut Context<'_>) {
        put(WELCOME.take(), context.outbox);
    }

    fn closed(&mut self, _: &mut Lines, ending: Ending, context: &mut Context<'_>) {
        let closed = Heard::Closed(context.connection.serial(), ending);
        HEARD.with_borrow_mut(|heard| heard.push(closed));
        put(WILL.take(), context.outbox);
        if let Some(mut client) = WITNESS.take() {
            let mut reply = Vec::new();
            note(if read_ready(&mut client, &mut reply) { "seen" } else { "not seen" }, b"");
        }
    }

    fn wake_at(&self) -> Option<Ticks> {
        WAKE_AT.get()
    }

    fn may_nap(&self, _: Now, nap: Duration) -> bool {
        ASKED.set(ASKED.get() + 1);
        nap <= MAY_NAP.get()
    }

    fn post(&mut self, outbox: &mut Outbox) {
        put(GATHERED.take(), outbox);
    }

    fn maintain(&mut self, _: Now, _: usize, outbox: &mut Outbox) -> bool {
        put(ERRANDS.take(), outbox);
        HEARD.with_borrow_mut(|heard| heard.push(Heard::Maintain));
        CHORES.replace(CHORES.get().saturating_sub(1)) > 1
    }

    fn rest(&mut self) {
        HEARD.with_borrow_mut(|heard| heard.push(Heard::Rest));
    }

    fn buffers(&mut self, buffers: Buffers) {
        HEARD.with_borrow_mut(|heard| heard.push(Heard::Buffers(buffers.bytes)));
    }
}

/// Answers each line with itself; `quit` closes.
fn echo(line: &[u8], out: &mut SendBuf, _: &mut Context<'_>) -> Control {
    out.put(line);
    out.put(b"\n");
    if line == b"quit" { Control::Close } else { Control::Continue }
}

/// A worker that is stepped by the test.
struct Rig<F> {
    worker: Worker<Lines, Serve<F>, fn(u16) -> Lines>,
    census: Census,
    clock: Clock,
    serial: u64,
}

/// Short sleeps, for a step in which nothing happens is not to take long, and turns of any length, for it
/// is not the machine that decides what is served in one.
///
/// Where the kernel refuses io_uring epoll takes its place, and `io_uring_can_be_tested_here` says so.
fn options(engine: Engine) -> Options {
    let engine = if Engine::usable().contains(&engine) { engine } else { Engine::Epoll };
    Options {
        engine,
        tick: Duration::from_millis(1),
        turn_time: Duration::MAX,
        ..Options::default()
    }
}

impl<F> Rig<F>
where
    F: FnMut(&[u8], &mut SendBuf, &mut Context<'_>) -> Control,
{
    fn new(options: Options, service: F) -> Self {
        Self::with(options, service, |_| Ok(()))
    }

    /// A rig whose worker is prepared by `prepare` before it begins.
    fn with(
        options: Options,
        service: F,
        prepare: impl FnOnce(&mut Worker<Lines, Serve<F>, fn(u16) -> Lines>) -> io::Result<()>,
    ) -> Self {
        let clock = Clock::manual(0);
        let directory = Arc::new(Directory::new());
        let make: fn(u16) -> Lines = |tag| Lines {
            may_idle: tag == PATIENT,
            takes_messages: tag != ALOOF,
            is_stranger: tag == STRANGER,
        };
        let worker = Worker::new(0, Serve(service), make, options, clock.clone(), directory);
        let mut worker = worker.unwrap();
        prepare(&mut worker).unwrap();
        worker.begin().unwrap();
        #[cfg(all(feature = "io-uring", target_os = "linux"))]
        if let Driver::Completions(uring) = &mut worker.driver {
            match READER.get() {
                Reader::Driver => uring.receive_for_all(),
                Reader::Session => uring.leave_reading_to_sessions(),
                Reader::Usual => {}
            }
        }
        Rig { worker, census: Census::new(1), clock, serial: 0 }
    }

    /// The client's end of a connection that the worker finds in its mailbox.
    fn connect(&mut self) -> UnixStream {
        self.connect_with(0)
    }

    /// As [`Rig::connect`], accepted by the listener of this tag.
    fn connect_with(&mut self, tag: u16) -> UnixStream {
        let (near, far) = UnixStream::pair().unwrap();
        near.set_nonblocking(true).unwrap();
        far.set_nonblocking(true).unwrap();
        self.serial += 1;
        let newcomer = Newcomer {
            stream: mio::net::UnixStream::from_std(near).into(),
            from: None,
            tls: None,
            serial: self.serial,
            local: "unix:test".into(),
            tag,
            seat: self.census.seat(),
        };
        self.worker.mailbox().send(Message::Connection(Box::new(newcomer))).unwrap();
        far
    }

    /// The peer's end of a connection that shakes hands as a client, with a serial number that no other
    /// has.
    fn shake_hands(&mut self, serial: u64, connector: &TlsConnector) -> UnixStream {
        let (near, far) = UnixStream::pair().unwrap();
        near.set_nonblocking(true).unwrap();
        far.set_nonblocking(true).unwrap();
        let stream = mio::net::UnixStream::from_std(near).into();
        let session = Session::tls_client(stream, connector).unwrap();
        let id = ConnectionId::new(0, u64::MAX - serial);
        let peer = Peer::new(id, "unix:peer".into(), "unix:test", self.clock.now().ticks);
        self.worker.admit(session, true, 0, Arc::new(peer), self.census.seat()).unwrap();
        far
    }

    /// Takes a step; returns whether it was the worker's last.
    fn step(&mut self) -> bool {
        self.worker.step().unwrap()
    }

    /// Takes steps until nothing more happens: neither in one step nor, since what a step prepares is
    /// submitted with the next, in the one after it.
    fn settle(&mut self) {
        let mut quiet = 0;
        while quiet < 2 || self.is_sending() {
            self.step();
            let is_quiet = self.worker.events == 0 && self.worker.again.is_empty();
            quiet = if is_quiet { quiet + 1 } else { 0 };
        }
    }

    /// Whether bytes are on their way to a socket that has room for them. A thread of the kernel's may
    /// carry them there, and what it does is no event before it is done.
    #[cfg(all(feature = "io-uring", target_os = "linux"))]
    fn is_sending(&mut self) -> bool {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};

        let Driver::Completions(uring) = &self.worker.driver else { return false };
        let has_room = |stream: &_| {
            let mut socket = [PollFd::new(stream, PollFlags::OUT)];
            let now = Timespec { tv_sec: 0, tv_nsec: 0 };
            poll(&mut socket, Some(&now)).unwrap() > 0
        };
        let mut connections = self.worker.connections.iter_mut();
        connections.any(|(_, one)| uring.is_sending(one.link) && has_room(one.session.stream()))
    }

    #[cfg(not(all(feature = "io-uring", target_os = "linux")))]
    fn is_sending(&mut self) -> bool {
        false
    }

    /// The connection that came `serial`-th.
    fn connection(&mut self, serial: u64) -> Option<&mut Connection<Lines>> {
        let slot = self.worker.slots.get(&ConnectionId::new(0, serial))?;
        Some(&mut self.worker.connections[*slot])
    }

    /// Writes to a connection as another worker does.
    fn write(&mut self, serial: u64, errand: Errand) {
        let letter = (ConnectionId::new(0, serial), errand);
        self.worker.mailbox().deliver(&mut vec![letter]).unwrap();
    }

    /// Bytes that wait to be sent to the connection that came `serial`-th.
    fn pending(&mut self, serial: u64) -> usize {
        self.connection(serial).map_or(0, |connection| connection.session.send().pending())
    }

    /// Reads all that ever comes while the worker goes on; whether the stream has ended.
    fn read_all(&mut self, client: &mut UnixStream) -> (Vec<u8>, bool) {
        let mut all = Vec::new();
        loop {
            self.settle();
            let before = all.len();
            if read_ready(client, &mut all) {
                return (all, true);
            }
            if all.len() == before {
                return (all, false);
            }
        }
    }
}

/// Appends what is there; whether the stream has ended.
fn read_ready(client: &mut UnixStream, into: &mut Vec<u8>) -> bool {
    let mut block = [0; 4096];
    loop {
        match client.read(&mut block) {
            Ok(0) => return true,
            Ok(n) => into.extend_from_slice(&block[..n]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
            Err(error) => panic!("{error}"),
        }
    }
}
