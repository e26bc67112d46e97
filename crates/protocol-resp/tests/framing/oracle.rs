// SPDX-License-Identifier: Apache-2.0
//! The same bytes to redis-server and to the toy must be answered the same.
//!
//! Where redis-server is not installed this says so and passes; with `SHOEBILL_REQUIRE_ORACLES=1` it
//! fails instead. `SHOEBILL_COMMANDS=100000` compares more inputs, `SHOEBILL_SEED=7` others. What Redis
//! is known to answer otherwise (`sessions/differs.txt`) is not sent to it.

use super::generate::Noise;
use super::script::{self, OPEN, Session, Step, UNAUTHENTICATED};
use super::toy::{Connection, PASSWORD};
use protocol_resp::client::{self, Encoder, Reply};
use protocol_resp::{Version, Writer};
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::process::Command;
use test_support::PATIENCE;
use test_support::child::{self, Child};

/// Generated inputs for each server, unless `SHOEBILL_COMMANDS` says otherwise.
const INPUTS: u64 = 750;

/// What they are generated from, unless `SHOEBILL_SEED` says otherwise.
const SEED: u64 = 42;

/// A running redis-server.
struct Redis {
    _child: Child,
    address: SocketAddr,
}

/// Starts redis-server; `None` when it is not installed.
fn redis(authenticated: bool) -> Option<Redis> {
    if !child::is_installed("redis-server", "--version") {
        return None;
    }
    let command = |port: u16| {
        let mut command = Command::new("redis-server");
        command.args(["--bind", "127.0.0.1", "--save", "", "--port", &port.to_string()]);
        if !authenticated {
            command.arg("--requirepass").arg(std::str::from_utf8(PASSWORD).unwrap());
        }
        command
    };
    let (child, address) = child::at_free_port(command).expect("redis-server starts");
    Some(Redis { _child: child, address })
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
        let mut noise = Noise::new(setting("SHOEBILL_SEED", SEED));
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

#[test]
fn floating_point_numbers_mean_the_same_and_have_no_more_digits() {
    let Some(redis) = redis(true) else { return };
    let mut noise = Noise::new(setting("SHOEBILL_SEED", SEED));
    let mut numbers = vec![0.0, 1e17, -1e16, 5e-324, f64::MAX, f64::INFINITY, -f64::INFINITY];
    for _ in 0..2000 {
        let bits = f64::from_bits(noise.next());
        let decimal = noise.below(1 << 40) as f64 / [1.0, 10.0, 1000.0, 1e7, 1e15][noise.below(5)];
        // Between two numbers of 17 digits, often.
        let tie = 1e14 + noise.below(1 << 50) as f64 / 8.0;
        numbers.extend([bits, decimal, -decimal, tie].iter().filter(|number| !number.is_nan()));
    }
    for version in [Version::Resp2, Version::Resp3] {
        let (mut asked, mut expected) = (Vec::new(), Vec::new());
        let mut encoder = Encoder::new(&mut asked);
        let mut writer = Writer::new(&mut expected, version);
        encoder.request(["DEL", "zset"]);
        for number in &numbers {
            encoder.request(["ZADD", "zset", &format!("{number:?}"), "member"]);
            encoder.request(["ZSCORE", "zset", "member"]);
            writer.double(*number);
        }
        let hello: &[u8] = if version == Version::Resp3 { b"HELLO 3\n" } else { b"" };
        let answer = redis.ask(&[hello, &asked].concat(), false);
        let (theirs, ours) = (numbers_in(&answer), numbers_in(&expected));
        assert_eq!((theirs.len(), ours.len()), (numbers.len(), numbers.len()));
        for ((theirs, ours), number) in theirs.iter().zip(&ours).zip(&numbers) {
            let (ours_means, theirs_means) = (ours.parse::<f64>(), theirs.parse::<f64>());
            assert_eq!((&ours_means, &theirs_means), (&Ok(*number), &Ok(*number)));
            let is_whole = ours.parse::<i64>().is_ok();
            let has_more = significant(ours) > significant(theirs);
            assert!(is_whole || !has_more, "{ours} for {theirs}");
        }
    }
}

/// The texts of the strings and doubles among replies.
fn numbers_in(mut replies: &[u8]) -> Vec<String> {
    let mut numbers = Vec::new();
    while let Some((reply, len)) = client::parse(replies).unwrap() {
        if matches!(reply, Reply::Bulk(_) | Reply::Double(_)) {
            let text = std::str::from_utf8(&replies[..len]).expect("numbers are ASCII");
            let text = text.trim_end().rsplit(['\n', ',']).next().expect("it is not empty");
            numbers.push(text.to_owned());
        }
        replies = &replies[len..];
    }
    numbers
}

/// How many digits a number has between zeros at both ends.
fn significant(number: &str) -> usize {
    let digits: String = number
        .split('e')
        .next()
        .into_iter()
        .flat_map(str::chars)
        .filter(char::is_ascii_digit)
        .collect();
    digits.trim_matches('0').len()
}

/// A number from the environment.
fn setting(name: &str, otherwise: u64) -> u64 {
    std::env::var(name).map_or(otherwise, |value| value.parse().expect("a number"))
}
