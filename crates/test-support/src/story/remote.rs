// SPDX-License-Identifier: Apache-2.0
//! [`Remote`]: a server that is reached over sockets.

use super::Server;
use crate::PATIENCE;
use protocol_resp::Version;
use protocol_resp::client;
use std::io::{self, ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Commands whose end other clients may have to wait for.
const STALLS: [&str; 2] = ["CLIENT PAUSE", "DEBUG SLEEP"];

/// If the observer gets no answer for this long after one of these commands, it is waiting itself.
const PAUSED: Duration = Duration::from_millis(100);

/// How late requests and sleeps may be in a story whose replies depend on the time.
const LATE: Duration = Duration::from_millis(20);

/// How long looking for a reply that is not due may take, as the system's clock ticks.
const LOOK: Duration = Duration::from_millis(10);

/// The name of the connection that prepares and observes; no story has a client of this name.
const CONTROL: &str = "Control";

/// A socket of any kind.
pub trait Wire: Read + Write {
    /// Lets a read fail that takes longer.
    fn limit_reads(&self, limit: Duration) -> io::Result<()>;
}

impl Wire for UnixStream {
    fn limit_reads(&self, limit: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(limit))
    }
}

impl Wire for TcpStream {
    fn limit_reads(&self, limit: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(limit))
    }
}

/// A server, and the clients that are connected to it.
pub struct Remote {
    connect: Box<dyn Fn() -> Box<dyn Wire>>,
    version: Version,
    clients: Vec<Client>,
    /// Whether a client has sent one of [`STALLS`].
    stalls: bool,
    started: Instant,
    /// How long the story has waited on purpose since then.
    waited: Duration,
}

/// A connection.
struct Client {
    name: String,
    /// The server's id of it.
    id: u64,
    stream: Box<dyn Wire>,
    /// Bytes that have arrived and are not a whole reply yet.
    input: Vec<u8>,
    /// The server has closed it.
    is_closed: bool,
}

impl Remote {
    /// The server that `connect` leads to; its clients speak `version`.
    pub fn new(version: Version, connect: impl Fn() -> Box<dyn Wire> + 'static) -> Self {
        Remote {
            connect: Box::new(connect),
            version,
            clients: Vec::new(),
            stalls: false,
            started: Instant::now(),
            waited: Duration::ZERO,
        }
    }

    /// A client, which is connected if it is new.
    fn client(&mut self, name: &str) -> &mut Client {
        let found = self.clients.iter().position(|client| client.name == name);
        let at = found.unwrap_or_else(|| {
            let stream = (self.connect)();
            let name = name.to_owned();
            let mut client = Client { name, id: 0, stream, input: Vec::new(), is_closed: false };
            if client.name != CONTROL {
                client.greet(self.version);
            }
            self.clients.push(client);
            self.clients.len() - 1
        });
        &mut self.clients[at]
    }

    /// The reply to one request of a client, as a tree.
    pub fn ask<A: AsRef<[u8]>>(&mut self, words: &[A]) -> client::Value {
        let mut request = Vec::new();
        client::Encoder::new(&mut request).request(words);
        let client = self.client("");
        client.stream.write_all(&request).expect("the server reads");
        let reply = client.receive(PATIENCE).expect("a reply");
        let (value, _) = client::parse(&reply).expect("RESP").expect("a whole reply");
        value.into()
    }

    /// Waits until a line is in `INFO clients`. If it never is, the replies will tell what is wrong.
    fn await_info(&mut self, line: &str) {
        let patience = if self.stalls { PAUSED } else { PATIENCE };
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            let control = self.client(CONTROL);
            control.send("INFO clients");
            let Some(info) = control.receive(patience) else {
                assert!(self.stalls, "no answer for {PATIENCE:?}");
                self.clients.retain(|client| client.name != CONTROL);
                self.waited += PAUSED;
                return;
            };
            if String::from_utf8_lossy(&info).contains(&format!("{line}\r\n")) {
                return;
            }
            self.pass(Duration::from_millis(1));
        }
    }
}

impl Client {
    /// Asks for the number, and chooses the version.
    fn greet(&mut self, version: Version) {
        self.send("CLIENT ID");
        let reply = self.receive(PATIENCE).expect("a number");
        let digits = reply.iter().copied().filter(u8::is_ascii_digit);
        self.id = digits.fold(0, |id, digit| 10 * id + u64::from(digit - b'0'));
        if version == Version::Resp3 {
            self.send("HELLO 3");
            self.receive(PATIENCE);
        }
    }

    fn send(&mut self, line: &str) {
        // It may have closed the connection.
        let sent = self.stream.write_all(format!("{line}\r\n").as_bytes());
        self.is_closed |= sent.is_err();
    }

    fn receive(&mut self, limit: Duration) -> Option<Vec<u8>> {
        self.stream.limit_reads(limit).expect("a timeout");
        loop {
            if let Some((_, len)) = client::parse(&self.input).expect("RESP") {
                return Some(self.input.drain(..len).collect());
            }
            let mut piece = [0; 64 * 1024];
            match self.stream.read(&mut piece) {
                Ok(0) => {
                    self.is_closed = true;
                    return None;
                }
                Ok(len) => self.input.extend_from_slice(&piece[..len]),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    let is_late = [ErrorKind::WouldBlock, ErrorKind::TimedOut];
                    self.is_closed |= error.kind() == ErrorKind::ConnectionReset;
                    assert!(self.is_closed || is_late.contains(&error.kind()), "{error}");
                    return None;
                }
            }
        }
    }
}

impl Server for Remote {
    fn restart(&mut self) {
        self.clients.clear();
        self.stalls = false;
        let control = self.client(CONTROL);
        for line in ["FLUSHALL", "CONFIG SET notify-keyspace-events \"\"", "CLIENT UNPAUSE"] {
            control.send(line);
            assert_eq!(control.receive(PATIENCE).as_deref(), Some(&b"+OK\r\n"[..]));
        }
        self.await_info("connected_clients:1");
        (self.started, self.waited) = (Instant::now(), Duration::ZERO);
    }

    fn send(&mut self, client: &str, line: &str) {
        self.stalls |= STALLS.iter().any(|begin| line.to_ascii_uppercase().starts_with(begin));
        self.client(client).send(line);
    }

    fn receive(&mut self, client: &str, due: bool) -> Option<Vec<u8>> {
        if due {
            return self.client(client).receive(PATIENCE);
        }
        let looked = Instant::now();
        let reply = self.client(client).receive(Duration::from_millis(1));
        self.waited += looked.elapsed().min(LOOK);
        reply
    }

    fn is_closed(&mut self, client: &str) -> bool {
        self.client(client).is_closed
    }

    fn leave(&mut self, client: &str) {
        self.clients.retain(|other| other.name != client);
    }

    fn client_id(&mut self, client: &str) -> u64 {
        self.client(client).id
    }

    fn settle(&mut self, waiting: usize) {
        self.await_info(&format!("blocked_clients:{waiting}"));
    }

    fn pass(&mut self, time: Duration) {
        sleep(time);
        self.waited += time;
    }

    fn is_timed(&self) -> bool {
        true
    }

    fn is_late(&self) -> bool {
        self.started.elapsed() > self.waited + LATE
    }

    fn unix_ms(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH).expect("a time behind 1970");
        since.as_millis() as u64
    }
}
