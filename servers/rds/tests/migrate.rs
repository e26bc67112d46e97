// SPDX-License-Identifier: Apache-2.0
//! MIGRATE: values go to another server, `rds` or redis-server.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support {
    #![allow(dead_code, reason = "each test uses a part of it")]
    pub(crate) mod process;
}

use protocol_resp::client::Encoder;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};
use support::process::{Server, rds, redis};
use test_support::PATIENCE;
use test_support::certificates::Certificates;
use test_support::child::free_port;
use test_support::client::Client;

const READING: &str = "-IOERR error or timeout reading to target instance";
const WRITING: &str = "-IOERR error or timeout writing to target instance";
const CHANGED: &str = "-ERR A value changed while it was sent: it is still here, and as it was on the target instance";

/// A client, and the port of its server.
struct Peer {
    client: Client,
    port: String,
}

impl Peer {
    fn of(server: &Server) -> Self {
        let port = server.address.port().to_string();
        Peer { client: Client::tcp(server.address), port }
    }

    fn send(&mut self, words: &[&str]) {
        let mut bytes = Vec::new();
        Encoder::new(&mut bytes).request(words);
        self.client.send(&bytes);
    }

    /// A line, and for a bulk string its text.
    fn receive(&mut self) -> String {
        let line = self.client.line();
        match line.strip_prefix('$').and_then(|len| len.parse::<usize>().ok()) {
            Some(len) => {
                let text = self.client.take(len + 2);
                String::from_utf8_lossy(&text[..len]).into_owned()
            }
            None => line,
        }
    }

    #[track_caller]
    fn ask(&mut self, request: &str, reply: &str) {
        let words: Vec<&str> = request.split(' ').collect();
        self.send(&words);
        assert_eq!(self.receive(), reply, "{request}");
    }

    /// `MIGRATE` to a port of this machine, with what follows that.
    #[track_caller]
    fn migrate(&mut self, port: &str, rest: &str, reply: &str) {
        self.ask(&format!("MIGRATE 127.0.0.1 {port} {rest}"), reply);
    }
}

/// The servers that values go to.
fn targets(flags: &[&str]) -> impl Iterator<Item = Server> {
    [Some(rds(flags)), redis(flags)].into_iter().flatten()
}

#[test]
fn values_of_all_types_go_to_another_server() {
    let source = rds(&[]);
    let mut here = Peer::of(&source);
    for target in targets(&[]) {
        let mut there = Peer::of(&target);
        here.ask("FLUSHALL", "+OK");
        here.ask("SET string text EX 1000", "+OK");
        here.ask("RPUSH list a b c", ":3");
        here.ask("HSET hash f v", ":1");
        here.ask("SADD set 1 2 x", ":3");
        here.ask("ZADD zset 1.5 m", ":1");
        here.ask("XADD stream 1-1 f v", "1-1");
        let all = "list hash set missing zset stream";
        here.migrate(&there.port, "string 0 50000", "+OK");
        here.migrate(&there.port, &format!(" 0 50000 KEYS {all}"), "+OK");
        here.ask("DBSIZE", ":0");
        here.migrate(&there.port, &format!(" 0 50000 KEYS {all}"), "+NOKEY");
        there.ask("DBSIZE", ":6");
        there.ask("GET string", "text");
        let Some(Ok(left)) = ({
            there.send(&["TTL", "string"]);
            there.receive().strip_prefix(':').map(str::parse::<u64>)
        }) else {
            panic!("an integer");
        };
        assert!((500..=1000).contains(&left), "{left}");
        there.ask("LINDEX list 2", "c");
        there.ask("HGET hash f", "v");
        there.ask("SCARD set", ":3");
        there.ask("ZSCORE zset m", "1.5");
        there.ask("XLEN stream", ":1");
    }
}

#[test]
fn what_is_there_already_stays_unless_it_is_to_be_replaced() {
    let source = rds(&[]);
    let mut here = Peer::of(&source);
    let busy = "-ERR Target instance replied with error: BUSYKEY Target key name already exists.";
    for target in targets(&[]) {
        let mut there = Peer::of(&target);
        here.ask("MSET a 1 b 2 c 3", "+OK");
        there.ask("SET b old", "+OK");
        here.migrate(&there.port, " 0 50000 KEYS a b c", busy);
        here.ask("EXISTS a b c", ":1");
        here.ask("GET b", "2");
        there.ask("MSET a x c x", "+OK");
        there.ask("GET b", "old");
        here.migrate(&there.port, "b 0 50000 COPY REPLACE", "+OK");
        there.ask("GET b", "2");
        here.ask("GET b", "2");
        here.migrate(&there.port, "b 3 50000", "+OK");
        here.ask("EXISTS b", ":0");
        there.ask("SELECT 3", "+OK");
        there.ask("GET b", "2");
    }
}

#[test]
fn the_target_asks_who_is_there() {
    let source = rds(&[]);
    let mut here = Peer::of(&source);
    for target in targets(&[]) {
        let mut there = Peer::of(&target);
        there.ask("CONFIG SET requirepass secret", "+OK");
        here.ask("SET k v", "+OK");
        let refused = |text: &str| format!("-ERR Target instance replied with error: {text}");
        let wrong = refused("WRONGPASS invalid username-password pair or user is disabled.");
        here.migrate(&there.port, "k 0 50000 AUTH no", &wrong);
        here.migrate(&there.port, "k 0 50000 AUTH2 me secret", &wrong);
        here.migrate(&there.port, "k 0 50000", &refused("NOAUTH Authentication required."));
        let beyond = refused("ERR DB index is out of range");
        here.migrate(&there.port, "k 99 50000 AUTH secret", &beyond);
        there.ask("DBSIZE", ":0");
        here.ask("GET k", "v");
        here.migrate(&there.port, "k 0 50000 AUTH2 default secret", "+OK");
        there.ask("GET k", "v");
        here.ask("SET k w", "+OK");
        here.migrate(&there.port, "k 0 50000 AUTH secret REPLACE", "+OK");
        there.ask("GET k", "w");
    }
}

/// The errors are those of redis-server.
#[test]
fn servers_that_do_not_answer_are_told_of() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_port = silent.local_addr().unwrap().port();
    // One that nobody listens on, and that nobody else gets.
    let closed_port = free_port();
    for source in targets(&[]) {
        let mut here = Peer::of(&source);
        here.ask("SET k v", "+OK");
        here.migrate(&closed_port.to_string(), "k 0 50000", WRITING);
        here.migrate("nope", "k 0 50000", WRITING);
        here.migrate(&silent_port.to_string(), "k 0 100", READING);
        let unknown = "-IOERR error or timeout connecting to the client";
        here.ask("MIGRATE no.such.host.invalid 1 k 0 50000", unknown);
        here.ask("GET k", "v");
    }
}

/// The next request that a client sends.
fn request(input: &mut BufReader<TcpStream>) -> Vec<String> {
    let number = |input: &mut BufReader<TcpStream>| {
        let mut line = String::new();
        input.read_line(&mut line).unwrap();
        line[1..].trim_end().parse::<usize>().unwrap()
    };
    let count = number(input);
    let mut words = Vec::new();
    for _ in 0..count {
        let len = number(input);
        let mut word = vec![0; len + 2];
        std::io::Read::read_exact(input, &mut word).unwrap();
        words.push(String::from_utf8_lossy(&word[..len]).into_owned());
    }
    words
}

/// A target that a test plays.
struct Target {
    listener: TcpListener,
    port: String,
}

impl Target {
    fn new() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port().to_string();
        Target { listener, port }
    }

    /// Takes a connection, and `count` values up to the replies.
    fn take(&self, count: usize) -> (TcpStream, Vec<Vec<String>>) {
        let (stream, _) = self.listener.accept().unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut input = BufReader::new(stream.try_clone().unwrap());
        assert_eq!(request(&mut input), ["SELECT", "0"]);
        (&stream).write_all(b"+OK\r\n").unwrap();
        let values = (0..count).map(|_| request(&mut input)).collect();
        (stream, values)
    }
}

#[test]
fn what_changes_on_the_way_stays() {
    let (source, target) = (rds(&[]), Target::new());
    let (mut here, mut other) = (Peer::of(&source), Peer::of(&source));
    other.ask("XADD stream 1-1 f v", "1-1");
    other.ask("XGROUP CREATE stream g 0", "+OK");
    other.ask("MSET same 1 changed 1 again 1 gone 1", "+OK");
    other.ask("SET limited 1", "+OK");
    let keys = "same changed again gone stream limited";
    let words = format!("MIGRATE 127.0.0.1 {}  0 50000 KEYS {keys}", target.port);
    here.send(&words.split(' ').collect::<Vec<_>>());
    let (mut stream, values) = target.take(6);
    assert!(values.iter().all(|value| value[0] == "RESTORE" && value.len() == 4));
    // Others are served by the same worker.
    other.ask("SET changed 2", "+OK");
    other.ask("SET again 2", "+OK");
    other.ask("SET again 1", "+OK");
    other.ask("DEL gone", ":1");
    other.ask("XGROUP SETID stream g 1-1", "+OK");
    other.ask("EXPIRE limited 1000", ":1");
    other.ask("EXISTS same", ":1");
    stream.write_all(b"+OK\r\n+OK\r\n+OK\r\n+OK\r\n+OK\r\n+OK\r\n").unwrap();
    assert_eq!(here.receive(), CHANGED);
    other.ask("EXISTS same gone", ":0");
    other.ask("GET changed", "2");
    other.ask("EXISTS again stream limited", ":3");
    // Nobody looks at them any more.
    here.send(&["MIGRATE", "127.0.0.1", &target.port, "changed", "0", "50000", "REPLACE"]);
    let (mut stream, values) = target.take(1);
    assert_eq!(values[0].last().unwrap(), "REPLACE");
    stream.write_all(b"+OK\r\n").unwrap();
    assert_eq!(here.receive(), "+OK");
    other.ask("EXISTS changed", ":0");
}

#[test]
fn what_was_confirmed_before_the_connection_broke_is_gone() {
    let (source, target) = (rds(&[]), Target::new());
    let mut here = Peer::of(&source);
    here.ask("MSET a 1 b 2", "+OK");
    here.send(&["MIGRATE", "127.0.0.1", &target.port, "", "0", "50000", "KEYS", "a", "b"]);
    let (mut stream, _) = target.take(2);
    stream.write_all(b"+OK\r\n").unwrap();
    drop(stream);
    assert_eq!(here.receive(), READING);
    here.ask("EXISTS a", ":0");
    here.ask("GET b", "2");
}

#[test]
fn what_is_no_reply_is_an_error() {
    let (source, target) = (rds(&[]), Target::new());
    let mut here = Peer::of(&source);
    here.ask("SET k v", "+OK");
    for answer in [&b"what\r\n"[..], &[b'+'; 100_000]] {
        here.send(&["MIGRATE", "127.0.0.1", &target.port, "k", "0", "50000"]);
        let (mut stream, _) = target.take(1);
        // It may hang up before it has read all.
        let _ = stream.write_all(answer);
        assert_eq!(here.receive(), READING);
        here.ask("GET k", "v");
    }
}

#[test]
fn a_value_does_not_go_away_by_being_sent_to_its_own_server() {
    let source = rds(&[]);
    let mut here = Peer::of(&source);
    let own = here.port.clone();
    here.ask("SET k v", "+OK");
    here.migrate(&own, "k 0 50000 REPLACE", CHANGED);
    here.ask("GET k", "v");
    here.migrate(&own, "k 1 50000", "+OK");
    here.ask("EXISTS k", ":0");
    here.ask("SELECT 1", "+OK");
    here.ask("GET k", "v");
}

#[test]
fn only_so_many_wait_at_a_time() {
    let (source, silent) = (rds(&[]), Target::new());
    let mut other = Peer::of(&source);
    other.ask("SET k v", "+OK");
    let mut waiting = Vec::new();
    for count in 1..=16 {
        let mut client = Peer::of(&source);
        client.send(&["MIGRATE", "127.0.0.1", &silent.port, "k", "0", "3600000"]);
        waiting.push(client);
        let started = Instant::now();
        loop {
            other.send(&["CLIENT", "LIST"]);
            if other.receive().matches("cmd=migrate").count() == count {
                break;
            }
            assert!(started.elapsed() < PATIENCE, "{count} clients wait");
            std::thread::sleep(Duration::from_millis(5));
        }
    }
    other.migrate(&silent.port, "k 0 50000", "-IOERR too many migrations at a time");
    other.ask("GET k", "v");
}

#[test]
fn values_go_to_another_server_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    let certificates = Certificates::new(folder.path());
    let paths = ["server.pem", "server.key", "ca.pem"].map(|name| certificates.path(name));
    let [chain, key, ca] = paths.each_ref().map(|path| path.to_str().unwrap());
    let files = ["--tls-cert-file", chain, "--tls-key-file", key, "--tls-ca-cert-file", ca];
    let port = free_port().to_string();
    let target = rds(&[&files[..], &["--tls-port", &port]].concat());
    let mut there = Peer::of(&target);
    let own_port = free_port().to_string();
    let own = ["--tls-port", &own_port, "--tls-replication", "yes"];
    let source = rds(&[&files[..], &own].concat());
    let mut here = Peer::of(&source);
    // The target is reached by an address that its certificate does not name.
    here.ask("SET a 1", "+OK");
    here.ask("SET b 2", "+OK");
    here.migrate(&port, " 0 5000 KEYS a b", "+OK");
    here.ask("DBSIZE", ":0");
    there.ask("GET a", "1");
    // Both sides must speak TLS.
    here.ask("SET c 3", "+OK");
    here.migrate(&there.port, "c 0 5000", "-IOERR error or timeout connecting to the client");
    here.ask("CONFIG SET tls-replication no", "+OK");
    here.migrate(&port, "c 0 5000", READING);
    here.migrate(&there.port, "c 0 5000", "+OK");
    there.ask("GET c", "3");
    // One of another authority is not trusted.
    let stranger = tempfile::tempdir().unwrap();
    let strange = Certificates::new(stranger.path());
    let paths = ["server.pem", "server.key"].map(|name| strange.path(name));
    let [chain, key] = paths.each_ref().map(|path| path.to_str().unwrap());
    let strange_port = free_port().to_string();
    let files = ["--tls-cert-file", chain, "--tls-key-file", key, "--tls-auth-clients", "no"];
    let other = rds(&[&files[..], &["--tls-port", &strange_port]].concat());
    here.ask("CONFIG SET tls-replication yes", "+OK");
    here.ask("SET d 4", "+OK");
    here.migrate(&strange_port, "d 0 5000", "-IOERR error or timeout connecting to the client");
    // And without authorities nobody is.
    let mut nobody = Peer::of(&other);
    nobody.ask("CONFIG SET tls-replication yes", "+OK");
    nobody.ask("SET e 5", "+OK");
    nobody.migrate(
        &port,
        "e 0 5000",
        "-IOERR tls-replication is on, but there are no authorities to trust: tls-ca-cert-file",
    );
}
