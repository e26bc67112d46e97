// SPDX-License-Identifier: Apache-2.0
//! The same bytes to redis-server and to the toy must be answered the same.
//!
//! Where redis-server is not installed this says so and passes; with `SHOEBILL_REQUIRE_ORACLES=1` it
//! fails instead. `SHOEBILL_COMMANDS=100000` compares more inputs, `SHOEBILL_SEED=7` others. What Redis
//! is known to answer otherwise (`sessions/differs.txt`) is not sent to it.

use super::script::{self, OPEN, Session, Step, UNAUTHENTICATED};
use super::toy::{Connection, PASSWORD};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How long a server may take to answer.
const PATIENCE: Duration = Duration::from_secs(20);

/// Generated inputs for each server, unless `SHOEBILL_COMMANDS` says otherwise.
const INPUTS: u64 = 750;

/// What they are generated from, unless `SHOEBILL_SEED` says otherwise.
const SEED: u64 = 42;

/// A running redis-server, killed when it is dropped.
struct Redis {
    child: Child,
    address: SocketAddr,
}

impl Drop for Redis {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts redis-server; `None` when it is not installed.
fn redis(authenticated: bool) -> Option<Redis> {
    if Command::new("redis-server").arg("--version").output().is_err() {
        missing("redis-server (apt-get install redis-server)");
        return None;
    }
    for _ in 0..5 {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut command = Command::new("redis-server");
        command.args(["--bind", "127.0.0.1", "--save", "", "--port", &port.to_string()]);
        if !authenticated {
            command.arg("--requirepass").arg(std::str::from_utf8(PASSWORD).unwrap());
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let address = SocketAddr::from(([127, 0, 0, 1], port));
        let mut redis = Redis { child: command.spawn().unwrap(), address };
        let started = Instant::now();
        while redis.child.try_wait().unwrap().is_none() && started.elapsed() < PATIENCE {
            if TcpStream::connect(address).is_ok() {
                return Some(redis);
            }
            sleep(Duration::from_millis(5));
        }
    }
    panic!("redis-server does not start");
}

/// Says loudly that a test cannot do its work, and fails where it must.
fn missing(what: &str) {
    let required = std::env::var("SHOEBILL_REQUIRE_ORACLES").is_ok_and(|value| value == "1");
    assert!(!required, "{what} is missing, and SHOEBILL_REQUIRE_ORACLES is 1");
    let message =
        format!("\n*** SKIPPED: {what} is missing; this test has compared NOTHING ***\n\n");
    // Not by a macro: what those print is only shown when a test fails.
    io::stderr().write_all(message.as_bytes()).expect("standard error takes it");
}

impl Redis {
    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream
    }

    /// All that is answered to `input` until the end of the connection, which the server must bring
    /// about by itself if `closes`.
    fn ask(&self, input: &[u8], closes: bool) -> Vec<u8> {
        let mut stream = self.connect();
        // A server that closes early makes the last bytes fail.
        let _ = stream.write_all(input);
        if !closes {
            stream.shutdown(Shutdown::Write).unwrap();
        }
        let mut answer = Vec::new();
        match stream.read_to_end(&mut answer) {
            // Bytes behind a fault that nobody has read.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {}
            other => drop(other.expect("an end of the connection")),
        }
        answer
    }

    /// Plays a session as it is recorded.
    fn play(&self, session: &Session) {
        let mut stream = self.connect();
        for step in &session.steps {
            match step {
                Step::Send(bytes) => stream.write_all(bytes).unwrap(),
                Step::Expect(expected) => {
                    let mut answer = vec![0; expected.len()];
                    stream.read_exact(&mut answer).unwrap();
                    assert!(answer == *expected, "{}", session.name);
                }
                Step::Closed => {
                    let mut rest = Vec::new();
                    let end = stream.read_to_end(&mut rest);
                    let is_reset =
                        |error: &io::Error| error.kind() == io::ErrorKind::ConnectionReset;
                    assert!(end.is_ok() || end.is_err_and(|error| is_reset(&error)));
                    assert_eq!(rest.escape_ascii().to_string(), "", "{}", session.name);
                }
            }
        }
        if !session.closes() {
            stream.shutdown(Shutdown::Write).unwrap();
            let mut rest = Vec::new();
            stream.read_to_end(&mut rest).unwrap();
            assert_eq!(rest.escape_ascii().to_string(), "", "{}", session.name);
        }
    }
}

#[test]
fn redis_answers_as_it_was_recorded() {
    let Some(redis) = redis(true) else { return };
    for session in OPEN.iter().flat_map(|file| script::read(file)) {
        redis.play(&session);
    }
}

#[test]
fn redis_with_a_password_answers_as_it_was_recorded() {
    let Some(redis) = redis(false) else { return };
    for session in script::read(UNAUTHENTICATED) {
        redis.play(&session);
    }
}

#[test]
fn generated_input_is_answered_the_same() {
    for authenticated in [true, false] {
        let Some(redis) = redis(authenticated) else { return };
        let mut noise = Noise(setting("SHOEBILL_SEED", SEED) | 1 << 63);
        for _ in 0..setting("SHOEBILL_COMMANDS", INPUTS) {
            let input = noise.input();
            let mut toy = Connection::new(authenticated);
            let ours = toy.send(&input, usize::MAX);
            let theirs = redis.ask(&input, toy.closed);
            assert!(
                ours == theirs,
                "sent:  {}\nours:  {}\nRedis: {}",
                input.escape_ascii(),
                ours.escape_ascii(),
                theirs.escape_ascii()
            );
        }
    }
}

/// A number from the environment.
fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |value| value.parse().expect("a number"))
}

/// Pieces that inputs are made of.
const PIECES: [&[u8]; 40] = [
    b"*1\r\n",
    b"*2\r\n",
    b"*3\r\n",
    b"*5\r\n",
    b"*6\r\n",
    b"*0\r\n",
    b"*-1\r\n",
    b"*10\r\n",
    b"*11\r\n",
    b"$0\r\n\r\n",
    b"$1\r\nx\r\n",
    b"$4\r\nPING\r\n",
    b"$4\r\nECHO\r\n",
    b"$2\r\nxx\r\n",
    b"$5\r\n",
    b"$10\r\n",
    b"$12\r\nabcdefghijkl\r\n",
    b"$-1\r\n",
    b"$16385\r\n",
    b"PING\r\n",
    b"ECHO ",
    b"xx ",
    b"a ",
    b"\"",
    b"'",
    b"\\",
    b"\\x4",
    b"\\n",
    b"b\"",
    b" ",
    b"\t",
    b"\r",
    b"\n",
    b"\r\n",
    b"\x0b",
    b"1",
    b"9",
    b"0",
    b":",
    b"\xc3",
];

/// A small deterministic generator (xorshift64).
struct Noise(u64);

impl Noise {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 11) % end as u64) as usize
    }

    /// A few requests, mostly well formed, some with a byte dropped or changed, and a request behind
    /// them that shows where the server stands.
    fn input(&mut self) -> Vec<u8> {
        let mut input = Vec::new();
        for _ in 0..=self.below(3) {
            match self.below(3) {
                0 => self.array(&mut input),
                1 => self.line(&mut input),
                _ => {
                    for _ in 0..=self.below(12) {
                        input.extend_from_slice(PIECES[self.below(PIECES.len())]);
                    }
                }
            }
        }
        if self.below(2) == 0 {
            let at = self.below(input.len());
            match self.below(3) {
                0 => drop(input.remove(at)),
                1 => input[at] = PIECES[self.below(PIECES.len())][0],
                _ => input.insert(at, input[at]),
            }
        }
        if self.below(4) > 0 {
            input.extend_from_slice(b"\nECHO end\r\n");
        }
        input
    }

    fn array(&mut self, input: &mut Vec<u8>) {
        let count = 1 + self.below(7);
        input.extend_from_slice(format!("*{count}\r\n").as_bytes());
        for _ in 0..count {
            let len = [0, 1, 2, 3, 9, 10, 11, 99, 100][self.below(9)];
            input.extend_from_slice(format!("${len}\r\n").as_bytes());
            input.extend((0..len).map(|_| b"abx\r\n$*1 "[self.below(9)]));
            input.extend_from_slice(b"\r\n");
        }
    }

    fn line(&mut self, input: &mut Vec<u8>) {
        input.extend_from_slice([&b"xx"[..], b"ECHO", b"PING", b""][self.below(4)]);
        for _ in 0..self.below(8) {
            let word = [
                &b" "[..],
                b" a",
                b" bc",
                b" \"d e\"",
                b" 'f g'",
                b" \"\\x41\\n\\\"\"",
                b" '\\''",
                b"\th",
                b" i\"j\"",
            ];
            input.extend_from_slice(word[self.below(9)]);
        }
        input.extend_from_slice([&b"\r\n"[..], b"\n"][self.below(2)]);
    }
}
