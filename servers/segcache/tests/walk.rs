// SPDX-License-Identifier: Apache-2.0
//! A walk over all actions that clients can repeat to make `segcache` hold memory, on its three ports. After
//! each step the resident memory of the process must be within the limits of `docs/limits.md`, and another
//! client must get an answer.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support {
    #![allow(dead_code, reason = "each test uses a part of it")]
    pub(crate) mod ports;
}

use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};
use support::ports::{PATIENCE, Server};

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

/// The memory limit, `-m`.
const MEMORY: usize = 16 * MIB;

/// What an allocator keeps of what came and went, and the parts of the process that grow once.
const SLACK: usize = 8 * MIB;

/// A step: what each of some connections sends, and what each may cost beside the memory limit.
struct Step {
    name: &'static str,
    port: Port,
    connections: usize,
    /// Sent by each; what the server does not take is given up.
    bytes: Vec<u8>,
    /// The most that one connection holds.
    each: usize,
    /// It is answered or closed, and holds this from then on: before, there is a whole request.
    is_answered: bool,
}

#[derive(Clone, Copy)]
enum Port {
    Memcache,
    Resp,
    Admin,
}

/// The server, and its resident memory when it is full of items.
struct Stage {
    server: Server,
    resident: usize,
}

impl Stage {
    fn new() -> Self {
        let mut stage = Stage { server: Server::start(&["-m", "16"], ""), resident: 0 };
        stage.fill();
        stage.resident = stage.resident_now();
        stage
    }

    fn address(&self, port: Port) -> SocketAddr {
        match port {
            Port::Memcache => self.server.memcache,
            Port::Resp => self.server.resp,
            Port::Admin => self.server.admin,
        }
    }

    /// Writes twice as many bytes as there is memory.
    fn fill(&self) {
        let mut stream = connect(self.server.memcache);
        let value = "v".repeat(100 * KIB);
        for number in 0..2 * MEMORY / value.len() {
            let set = format!("set fill{number} 0 0 {} noreply\r\n{value}\r\n", value.len());
            stream.write_all(set.as_bytes()).unwrap();
        }
        self.ask();
        expect(&mut stream, b"mn\r\n", b"MN\r\n");
    }

    /// Another client is answered on each port.
    fn ask(&self) {
        expect(&mut connect(self.server.memcache), b"get nothing\r\n", b"END\r\n");
        expect(&mut connect(self.server.resp), b"GET nothing\r\n", b"$-1\r\n");
    }

    /// Resident bytes of the process.
    fn resident_now(&self) -> usize {
        let status =
            fs::read_to_string(format!("/proc/{}/status", self.server.child.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().trim().parse::<usize>().unwrap() * KIB
    }

    /// Resident bytes, once they are as few as promised or nothing more is to be expected: a worker that has
    /// answered may yet have to let go of what the request was in.
    fn resident_settled(&self, promised: usize) -> usize {
        let since = Instant::now();
        loop {
            let resident = self.resident_now();
            if resident <= promised || since.elapsed() > PATIENCE {
                return resident;
            }
            sleep(Duration::from_millis(5));
        }
    }

    /// Carries out a step: the most that was resident while its connections were there.
    fn run(&self, step: &Step, promised: usize) -> usize {
        let address = self.address(step.port);
        let mut held = Vec::new();
        let mut most = 0;
        for _ in 0..step.connections {
            // What is to be answered is taken, however long it takes.
            let still = if step.is_answered { PATIENCE } else { Duration::from_millis(300) };
            let stream = send(address, &step.bytes, still);
            held.push(stream);
            let resident = if step.is_answered {
                wait_for_answer(&held[held.len() - 1]);
                self.resident_settled(promised)
            } else {
                self.resident_now()
            };
            most = most.max(resident);
        }
        self.ask();
        most = most.max(self.resident_now());
        drop(held);
        most
    }
}

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn expect(stream: &mut TcpStream, request: &[u8], reply: &[u8]) {
    stream.write_all(request).unwrap();
    let mut answered = vec![0; reply.len()];
    stream.read_exact(&mut answered).unwrap();
    assert_eq!(answered, reply, "{} to {}", answered.escape_ascii(), request.escape_ascii());
}

/// A connection that has sent as much of `bytes` as the server takes, and reads nothing. The server takes no more when
/// it has not for `still`.
fn send(address: SocketAddr, mut bytes: &[u8], still: Duration) -> TcpStream {
    let mut stream = connect(address);
    stream.set_nonblocking(true).unwrap();
    let mut last = Instant::now();
    while !bytes.is_empty() && last.elapsed() < still {
        match stream.write(bytes) {
            Ok(n) => {
                bytes = &bytes[n..];
                last = Instant::now();
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => sleep(Duration::from_millis(2)),
            // Closed: it holds nothing any more.
            Err(_) => break,
        }
    }
    stream
}

/// Waits until there is a reply to read, which is left there, or the connection has ended.
fn wait_for_answer(stream: &TcpStream) {
    stream.set_nonblocking(false).unwrap();
    if let Err(error) = stream.peek(&mut [0]) {
        assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    }
}

/// What clients repeat. `each` is of docs/limits.md: a receive block of 16 KiB that doubles up to the
/// largest request as its bytes arrive, and the entry of a connection.
fn steps() -> Vec<Step> {
    let of_memcache = 2 * (MIB + 4 * KIB);
    let of_resp = 2 * (3 * MIB);
    let block = 40 * KIB;
    // The high-water mark and one reply beside what all may hold together, which is part of the limit.
    let unread = 300 * KIB;
    let step = |name, port, connections, bytes: Vec<u8>, each| Step {
        name,
        port,
        connections,
        bytes,
        each,
        is_answered: false,
    };
    let answered = |name, connections, bytes: Vec<u8>, each| Step {
        is_answered: true,
        ..step(name, Port::Resp, connections, bytes, each)
    };
    let unfinished = |head: &[u8], len: usize| [head, &vec![b'x'; len][..]].concat();
    let keys =
        |head: &str, len: usize| format!("{head}{}", "nothing ".repeat(len / 8)).into_bytes();
    let argument = format!("$1000\r\n{}\r\n", "x".repeat(1000));
    let name = format!("CLIENT SETNAME {}\r\n", "n".repeat(60_000));
    let named =
        format!("*3\r\n$6\r\nCLIENT\r\n$7\r\nSETNAME\r\n$900000\r\n{}\r\n", "n".repeat(900_000));
    let library = format!(
        "*4\r\n$6\r\nCLIENT\r\n$7\r\nSETINFO\r\n$8\r\nLIB-NAME\r\n$900000\r\n{}\r\n",
        "n".repeat(900_000)
    );
    vec![
        step("idle connections", Port::Memcache, 1000, Vec::new(), 4 * KIB),
        step("unfinished lines", Port::Memcache, 500, b"get aaaa".to_vec(), block),
        step("claims of a body", Port::Memcache, 500, b"set k 0 0 1000000\r\n".to_vec(), block),
        step(
            "unfinished bodies",
            Port::Memcache,
            16,
            unfinished(b"set k 0 0 1000000\r\n", 999_000),
            of_memcache,
        ),
        step(
            "bodies of refused lines",
            Port::Memcache,
            16,
            unfinished(b"set k a 0 2000000000\r\n", 4 * MIB),
            block,
        ),
        step("endless lists of keys", Port::Memcache, 16, keys("get ", 4 * MIB), 256 * KIB),
        step("claims of arguments", Port::Resp, 500, b"*1000000\r\n$1000000\r\n".to_vec(), block),
        step("unfinished inline requests", Port::Resp, 100, unfinished(b"", 60_000), 160 * KIB),
        step(
            "unfinished requests",
            Port::Resp,
            8,
            format!("*100000\r\n{}", argument.repeat(2500)).into_bytes(),
            of_resp,
        ),
        answered("requests beyond the limit", 8, argument.repeat(8000).into_bytes(), block),
        answered("names of clients", 100, name.into_bytes(), 160 * KIB),
        answered("large names of clients", 40, named.into_bytes(), 160 * KIB),
        answered("large names of libraries", 40, library.into_bytes(), 160 * KIB),
        step("unread replies", Port::Memcache, 40, b"get fill320 fill321\r\n".repeat(1000), unread),
        step("unread replies", Port::Resp, 40, b"MGET fill320 fill321\r\n".repeat(1000), unread),
        step(
            "unfinished requests",
            Port::Admin,
            200,
            b"GET /metrics HTTP/1.1\r\n".to_vec(),
            64 * KIB,
        ),
        step(
            "headers without end",
            Port::Admin,
            100,
            format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(MIB)).into_bytes(),
            64 * KIB,
        ),
        step(
            "responses that nobody reads",
            Port::Admin,
            64,
            b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".repeat(100),
            320 * KIB,
        ),
    ]
}

#[test]
fn what_clients_repeat_stays_within_its_bounds() {
    let stage = Stage::new();
    let full = stage.resident;
    assert!(full < MEMORY + 24 * MIB, "{} MiB resident when full", full / MIB);
    for step in steps() {
        // What the step before held is gone, however late its workers hear that its connections have ended.
        let before = stage.resident_settled(full + SLACK);
        assert!(before <= full + SLACK, "{} KiB are held before {}", before / KIB, step.name);
        let promised = full + step.connections * step.each + SLACK;
        let most = stage.run(&step, promised);
        let (name, port) = (step.name, stage.address(step.port));
        println!("{name} ({port}): {} KiB of {} KiB", most / KIB, promised / KIB);
        assert!(
            most <= promised,
            "{name}: {} KiB resident, {} KiB promised, {} KiB before",
            most / KIB,
            promised / KIB,
            full / KIB
        );
        stage.ask();
    }
}
