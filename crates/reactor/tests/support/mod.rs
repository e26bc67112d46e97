// SPDX-License-Identifier: Apache-2.0
//! What the tests share: workers and an acceptor on threads, and clients that do not hang.
#![allow(dead_code, reason = "each test file uses its own part")]
#![allow(unreachable_pub, reason = "a module of several test binaries")]

use buffer::SendBuf;
use clock::Clock;
use protocol::{Context, Control, Directory, ErrorReply, Execute, Malformed, Parsed, Protocol};
use reactor::{
    Acceptor, AcceptorHandle, Census, Dials, Door, Endpoint, Engine, Listener, Mailbox, Message,
};
use reactor::{Options, Worker};
use std::io::{self, Read};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// How long a test waits for what must come.
pub const PATIENCE: Duration = Duration::from_secs(50);

/// Every byte is a request, answered with itself and the number of the worker.
#[derive(Debug)]
pub struct Echo;

/// The service of the worker of this number.
#[derive(Debug)]
pub struct Mirror(pub u8);

impl Protocol for Echo {
    const NAME: &'static str = "echo";
    const TOO_MANY_CONNECTIONS: &'static [u8] = b"busy\n";
    type Request<'a> = u8;
    type Cursor = ();

    fn parse(&self, _: &mut (), input: &[u8]) -> Result<Parsed<u8>, Malformed> {
        Ok(match input.first() {
            Some(&request) => Parsed::Request { request, consumed: 1 },
            None => Parsed::NeedMore { at_least: 1 },
        })
    }

    fn too_large(&self) -> ErrorReply {
        ErrorReply::NONE
    }
}

impl Execute<Echo> for Mirror {
    fn execute(
        &mut self,
        _: &mut Echo,
        request: u8,
        out: &mut SendBuf,
        _: &mut Context<'_>,
    ) -> Control {
        out.put(&[request, b'0' + self.0]);
        Control::Continue
    }
}

/// Tells the story on every engine that the kernel allows.
pub fn on_every_engine(story: impl Fn(Engine)) {
    for engine in Engine::usable() {
        println!("{engine}");
        story(engine);
    }
}

/// Workers on threads of their own.
#[derive(Debug)]
pub struct Crew {
    engine: Engine,
    pub census: Census,
    pub mailboxes: Vec<Mailbox>,
    threads: Vec<JoinHandle<io::Result<()>>>,
    clock: Clock,
}

impl Crew {
    pub fn start(engine: Engine, workers: usize) -> Self {
        let clock = Clock::system();
        let mut crew = Crew {
            engine,
            census: Census::new(workers),
            mailboxes: Vec::new(),
            threads: Vec::new(),
            clock: clock.clone(),
        };
        for index in 0..workers {
            let (clock, directory) = (clock.clone(), Arc::new(Directory::new()));
            let options = Options { engine, ..Options::default() };
            let service = Mirror(index as u8);
            let mut worker =
                Worker::new(index, service, |_| Echo, options, clock, directory).unwrap();
            crew.mailboxes.push(worker.mailbox());
            crew.threads.push(std::thread::spawn(move || worker.run()));
        }
        crew
    }

    /// An acceptor on a loopback port, not yet running.
    pub fn acceptor(&self, most: usize) -> (Acceptor, AcceptorHandle, SocketAddr) {
        let listener =
            Listener::bind(&Endpoint::Tcp("127.0.0.1:0".parse().unwrap()), 1024).unwrap();
        let Endpoint::Tcp(address) = *listener.endpoint() else { panic!("a TCP endpoint") };
        let rejection = Echo::TOO_MANY_CONNECTIONS;
        let doors = vec![Door { listener, tls: None, tag: 0, rejection }];
        let (workers, census) = (self.mailboxes.clone(), self.census.clone());
        let dials = Dials::new(most, &Options::default());
        let mut acceptor = Acceptor::new(doors, workers, census, dials).unwrap();
        acceptor.open().unwrap();
        let handle = acceptor.handle();
        (acceptor, handle, address)
    }

    /// Drains the workers and waits for their end.
    pub fn finish(self) {
        let deadline = self.clock.now().ticks + PATIENCE;
        for mailbox in &self.mailboxes {
            mailbox.send(Message::Drain { deadline }).unwrap();
        }
        for thread in self.threads {
            thread.join().unwrap().unwrap();
        }
    }
}

/// A client that fails rather than waits for ever.
pub fn connect(address: SocketAddr) -> TcpStream {
    let client = TcpStream::connect(address).unwrap();
    client.set_read_timeout(Some(PATIENCE)).unwrap();
    client.set_write_timeout(Some(PATIENCE)).unwrap();
    client
}

/// The next `N` bytes.
pub fn read<const N: usize>(client: &mut TcpStream) -> [u8; N] {
    let mut bytes = [0; N];
    client.read_exact(&mut bytes).unwrap();
    bytes
}

/// Waits until `condition` holds.
pub fn wait_until(what: &str, mut condition: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !condition() {
        assert!(begun.elapsed() < PATIENCE, "{what}: it does not happen");
        std::thread::sleep(Duration::from_millis(1));
    }
}
