// SPDX-License-Identifier: Apache-2.0
//! What a `get` costs a memcache server in a UDP datagram, beside one on a TCP connection.
//!
//! The server runs already, listens on the same port for both, and does nothing else:
//!
//! ```text
//! taskset -c 0 segcache -p 22122 -U 22122 -t 1 -m 1024 &
//! taskset -c 1 datagrams 127.0.0.1:22122 $!
//! ```
//!
//! 50 clients each ask for one key after the other, by TCP and by UDP in turns. Printed is the CPU time of the whole
//! server process per request, and the median of the rounds' ratios.

use benches::child::cpu_ns;
use clap::Parser;
use mio::net::{TcpStream, UdpSocket};
use mio::{Events, Interest, Poll, Token};
use std::io::{self, ErrorKind, Read, Write};
use std::net::SocketAddr;
use std::process::ExitCode;
use std::time::{Duration, Instant};

/// Bytes before the payload of a datagram.
const HEADER: usize = 8;
/// Bytes of a value.
const VALUE: usize = 64;
/// How long a datagram's answer is waited for before it counts as lost.
const PATIENCE: Duration = Duration::from_secs(1);

/// Compares the CPU time of a `get` in a datagram with that on a connection.
#[derive(Debug, Parser)]
struct Arguments {
    /// Where the server listens, for TCP and UDP.
    address: SocketAddr,
    /// Its process number.
    pid: u32,
    /// Clients.
    #[arg(long, default_value_t = 50)]
    clients: usize,
    /// Keys that are written first.
    #[arg(long, default_value_t = 1_000_000)]
    keys: u64,
    /// Rounds, each of a measurement by TCP and one by UDP.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// Seconds of a measurement.
    #[arg(long, default_value_t = 4)]
    seconds: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transport {
    Tcp,
    Udp,
}

#[derive(Debug)]
enum Link {
    Tcp(TcpStream),
    Udp(UdpSocket),
}

/// A client with one request on its way.
#[derive(Debug)]
struct Client {
    link: Link,
    key: u64,
    /// The number of its request; in a datagram, the last 16 bits of it.
    id: u16,
    asked: Instant,
    reply: Vec<u8>,
}

fn main() -> ExitCode {
    match measure(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("datagrams: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(arguments: &Arguments) -> io::Result<()> {
    if arguments.clients == 0 || arguments.keys == 0 || arguments.rounds == 0 {
        return Err(io::Error::other("clients, keys and rounds are at least 1"));
    }
    preload(arguments)?;
    let mut ratios = Vec::new();
    for round in 1..=arguments.rounds {
        // The order changes, so that a drift of the machine is no advantage.
        let (tcp, udp);
        if round % 2 == 0 {
            (udp, tcp) = (load(arguments, Transport::Udp)?, load(arguments, Transport::Tcp)?);
        } else {
            (tcp, udp) = (load(arguments, Transport::Tcp)?, load(arguments, Transport::Udp)?);
        }
        println!("round {round}: TCP {tcp:.0} ns, UDP {udp:.0} ns, ratio {:.3}", udp / tcp);
        ratios.push(udp / tcp);
    }
    ratios.sort_by(f64::total_cmp);
    let (least, median, most) = (ratios[0], ratios[ratios.len() / 2], ratios[ratios.len() - 1]);
    println!("UDP to TCP, CPU per get: median {median:.3} ({least:.3} to {most:.3})");
    Ok(())
}

fn key(number: u64) -> String {
    format!("key:{number:016}")
}

fn value(number: u64) -> String {
    format!("{number:0VALUE$}")
}

/// Writes all keys by TCP.
fn preload(arguments: &Arguments) -> io::Result<()> {
    let mut stream = std::net::TcpStream::connect(arguments.address)?;
    let mut lines = String::new();
    for number in 0..arguments.keys {
        lines += &format!("set {} 0 0 {VALUE} noreply\r\n{}\r\n", key(number), value(number));
        if lines.len() > 1 << 16 || number + 1 == arguments.keys {
            stream.write_all(lines.as_bytes())?;
            lines.clear();
        }
    }
    stream.write_all(b"version\r\n")?;
    let mut reply = [0; 1];
    let read = stream.read(&mut reply)?;
    if &reply[..read] == b"V" { Ok(()) } else { Err(io::Error::other("the server refuses keys")) }
}

/// Nanoseconds of CPU per request by one transport.
fn load(arguments: &Arguments, transport: Transport) -> io::Result<f64> {
    let mut poll = Poll::new()?;
    let mut clients = Vec::new();
    for number in 0..arguments.clients {
        let mut client = Client::open(arguments.address, transport)?;
        client.register(&poll, Token(number))?;
        client.ask(arguments.keys)?;
        clients.push(client);
    }
    let (mut events, mut answered, mut lost) = (Events::with_capacity(1024), 0_u64, 0_u64);
    let end = Instant::now() + Duration::from_secs(arguments.seconds);
    let before = cpu_ns(arguments.pid)?;
    while Instant::now() < end {
        match poll.poll(&mut events, Some(PATIENCE)) {
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            other => other?,
        }
        for event in &events {
            let client = &mut clients[event.token().0];
            while client.receive()? {
                answered += 1;
                client.ask(arguments.keys)?;
            }
        }
        if events.is_empty() {
            for client in clients.iter_mut().filter(|client| client.asked.elapsed() > PATIENCE) {
                lost += 1;
                client.ask(arguments.keys)?;
            }
        }
    }
    let spent = cpu_ns(arguments.pid)? - before;
    if lost * 1_000 > answered {
        return Err(io::Error::other(format!("{lost} answers were lost, {answered} came")));
    }
    Ok(spent as f64 / answered as f64)
}

impl Client {
    fn open(address: SocketAddr, transport: Transport) -> io::Result<Self> {
        let link = match transport {
            Transport::Tcp => {
                let stream = std::net::TcpStream::connect(address)?;
                stream.set_nodelay(true)?;
                stream.set_nonblocking(true)?;
                Link::Tcp(TcpStream::from_std(stream))
            }
            Transport::Udp => {
                let socket = UdpSocket::bind(SocketAddr::new(address.ip(), 0))?;
                socket.connect(address)?;
                Link::Udp(socket)
            }
        };
        Ok(Client { link, key: 0, id: 0, asked: Instant::now(), reply: Vec::with_capacity(4096) })
    }

    fn register(&mut self, poll: &Poll, token: Token) -> io::Result<()> {
        let registry = poll.registry();
        match &mut self.link {
            Link::Tcp(stream) => registry.register(stream, token, Interest::READABLE),
            Link::Udp(socket) => registry.register(socket, token, Interest::READABLE),
        }
    }

    /// Asks for some key.
    fn ask(&mut self, keys: u64) -> io::Result<()> {
        self.key = fastrand::u64(..keys);
        self.id = self.id.wrapping_add(1);
        self.asked = Instant::now();
        self.reply.clear();
        let line = format!("get {}\r\n", key(self.key));
        match &mut self.link {
            Link::Tcp(stream) => stream.write_all(line.as_bytes()),
            Link::Udp(socket) => {
                let [high, low] = self.id.to_be_bytes();
                let mut datagram = vec![high, low, 0, 0, 0, 1, 0, 0];
                datagram.extend_from_slice(line.as_bytes());
                socket.send(&datagram).map(drop)
            }
        }
    }

    /// Receives what has come; whether that is the whole reply, which it then checks.
    fn receive(&mut self) -> io::Result<bool> {
        let mut bytes = [0; 4096];
        let received = match &mut self.link {
            Link::Tcp(stream) => stream.read(&mut bytes),
            Link::Udp(socket) => socket.recv(&mut bytes),
        };
        let received = match received {
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(false),
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            other => other?,
        };
        match &self.link {
            Link::Tcp(_) => self.reply.extend_from_slice(&bytes[..received]),
            // A late answer to a request that was given up.
            Link::Udp(_) if received < HEADER || bytes[..2] != self.id.to_be_bytes() => {
                return Ok(false);
            }
            Link::Udp(_) => self.reply.extend_from_slice(&bytes[HEADER..received]),
        }
        if !self.reply.ends_with(b"END\r\n") {
            return Ok(false);
        }
        let expected =
            format!("VALUE {} 0 {VALUE}\r\n{}\r\nEND\r\n", key(self.key), value(self.key));
        if self.reply != expected.as_bytes() {
            let reply = self.reply.escape_ascii();
            return Err(io::Error::other(format!("not the value of {}: {reply}", key(self.key))));
        }
        Ok(true)
    }
}
