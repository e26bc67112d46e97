// SPDX-License-Identifier: Apache-2.0
//! Scripts that run for long on one worker, and clients of the others. Nothing depends on how long anything takes: each
//! step waits for what the server says.

use crate::{connect, process};
use process::Server;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::{Duration, Instant};
use test_support::PATIENCE;

/// A client that reads replies line by line.
struct Peer {
    stream: TcpStream,
    input: Vec<u8>,
    /// It has not been answered.
    is_waiting: bool,
}

impl Peer {
    fn new(server: &Server) -> Self {
        Peer { stream: connect(server.address), input: Vec::new(), is_waiting: false }
    }

    fn send(&mut self, words: &[&str]) {
        let mut bytes = format!("*{}\r\n", words.len());
        for word in words {
            bytes.push_str(&format!("${}\r\n{word}\r\n", word.len()));
        }
        self.stream.write_all(bytes.as_bytes()).unwrap();
        self.is_waiting = true;
    }

    /// The next line, if it comes within this time.
    fn line_within(&mut self, time: Duration) -> Option<String> {
        self.stream.set_read_timeout(Some(time)).unwrap();
        loop {
            if let Some(end) = self.input.windows(2).position(|pair| pair == b"\r\n") {
                let line = self.input.drain(..end + 2).collect::<Vec<_>>();
                self.is_waiting = false;
                return Some(String::from_utf8(line[..end].to_vec()).unwrap());
            }
            let mut block = [0; 1024];
            match self.stream.read(&mut block) {
                Ok(0) => panic!("the server closed the connection"),
                Ok(len) => self.input.extend_from_slice(&block[..len]),
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) =>
                {
                    return None;
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    fn line(&mut self) -> String {
        self.line_within(PATIENCE).expect("an answer comes")
    }

    fn ask(&mut self, words: &[&str]) -> String {
        self.send(words);
        self.line()
    }
}

/// Clients enough that some are served by each worker.
fn others(server: &Server) -> Vec<Peer> {
    (0..12).map(|_| Peer::new(server)).collect()
}

/// Asks on all connections that are answered, until one gets an answer that begins like this. Those of a worker that
/// does nothing else than run a script are not answered.
fn ask_until(peers: &mut [Peer], words: &[&str], start: &str) {
    let started = Instant::now();
    let mut last = String::new();
    while started.elapsed() < PATIENCE {
        for peer in &mut *peers {
            if !peer.is_waiting {
                peer.send(words);
            }
            if let Some(line) = peer.line_within(Duration::from_millis(2)) {
                if line.starts_with(start) {
                    return;
                }
                last = line;
            }
        }
    }
    panic!("{words:?}: {last} instead of {start}");
}

/// Takes all answers that are still to come, when no script runs any more. A `SCRIPT KILL` that waited behind a script
/// would else be carried out later, and end the next one.
fn hear_all(peers: &mut [Peer]) {
    for peer in peers.iter_mut().filter(|peer| peer.is_waiting) {
        peer.line();
    }
}

/// A server whose scripts are never ended by themselves.
fn patient(workers: &str) -> Server {
    process::rds(&["--io-threads", workers, "--busy-reply-threshold", "0"])
}

const LOOPS: [&str; 5] = [
    "while true do end",
    "while true do pcall(function() while true do end end) end",
    "while true do pcall(redis.call, 'get', KEYS[1]) end",
    "local function f() local ok = pcall(f) return f() end f()",
    "while true do string.find(('a'):rep(1000), ('.-'):rep(30) .. 'b') end",
];

const KILLED: &str = "-ERR Script killed by user with SCRIPT KILL...";

#[test]
fn a_script_that_does_not_end_is_killed_from_another_worker() {
    let server = patient("3");
    for script in LOOPS {
        let (mut own, mut others) = (Peer::new(&server), others(&server));
        own.send(&["EVAL", script, "1", "k"]);
        ask_until(&mut others, &["SCRIPT", "KILL"], "+OK");
        let end = own.line();
        assert!(end.starts_with(KILLED), "{script}: {end}");
        assert_eq!(own.ask(&["GET", "k"]), "$-1", "after {script}");
        hear_all(&mut others);
    }
}

#[test]
fn the_log_says_which_script_was_killed() {
    let folder = tempfile::tempdir().unwrap();
    let log = folder.path().join("log");
    let server = process::rds(&[
        "--io-threads",
        "3",
        "--busy-reply-threshold",
        "0",
        "--logfile",
        log.to_str().unwrap(),
    ]);
    let (mut own, mut others) = (Peer::new(&server), others(&server));
    own.send(&["EVAL", LOOPS[1], "1", "k"]);
    ask_until(&mut others, &["SCRIPT", "KILL"], "+OK");
    assert!(own.line().starts_with(KILLED));
    let told = || -> Vec<String> {
        let text = std::fs::read_to_string(&log).unwrap_or_default();
        text.lines().filter(|line| line.contains("ended by a client")).map(str::to_owned).collect()
    };
    let started = Instant::now();
    while told().is_empty() && started.elapsed() < PATIENCE {
        thread::sleep(Duration::from_millis(10));
    }
    let told = told();
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(told[0].contains("script ") && told[0].ends_with("it has written nothing"), "{told:?}");
}

#[test]
fn a_worker_that_waits_for_a_script_goes_on_when_it_is_killed() {
    let server = patient("4");
    for script in LOOPS {
        let (mut own, mut waiting, mut others) =
            (Peer::new(&server), Peer::new(&server), others(&server));
        own.send(&["EVAL", script, "1", "k"]);
        // It may come before the script; then it does not wait.
        waiting.send(&["GET", "k"]);
        ask_until(&mut others, &["SCRIPT", "KILL"], "+OK");
        let end = own.line();
        assert!(end.starts_with(KILLED), "{script}: {end}");
        assert_eq!(waiting.line(), "$-1", "{script}");
        hear_all(&mut others);
    }
}

#[test]
fn a_script_that_has_written_is_not_killed_and_makes_the_server_busy() {
    const TOO_LONG: &str = "-ERR Script ended because it ran for longer than busy-reply-threshold.";
    let server = patient("4");
    let (mut own, mut waiting, mut others) =
        (Peer::new(&server), Peer::new(&server), others(&server));
    let begun = Instant::now();
    own.send(&["EVAL", "redis.call('set', KEYS[1], 1) while true do end", "1", "k"]);
    ask_until(&mut others, &["SCRIPT", "KILL"], "-UNKILLABLE");
    // The script holds the lock, so this waits, unless the same worker serves both.
    waiting.send(&["EXISTS", "k"]);
    // From now on, or soon, it takes too long, and goes on for nine times as long as until now, at the least: for long
    // enough to see it, however slow this machine is.
    let limit = begun.elapsed().max(Duration::from_secs(2)).as_millis().to_string();
    ask_until(&mut others, &["CONFIG", "SET", "lua-time-limit", &limit], "+OK");
    ask_until(&mut others, &["EVAL", "return 1", "0"], "-BUSY");
    ask_until(&mut others, &["GET", "k"], "-BUSY");
    ask_until(&mut others, &["PING"], "+PONG");
    ask_until(&mut others, &["SCRIPT", "KILL"], "-UNKILLABLE");
    ask_until(&mut others, &["CONFIG", "SET", "lua-time-limit", "1"], "+OK");
    assert!(own.line().starts_with(TOO_LONG));
    assert_eq!(waiting.line(), ":1");
    ask_until(&mut others, &["GET", "k"], "$1");
}

#[test]
fn a_script_that_goes_astray_while_it_is_busy_makes_the_whole_server_busy() {
    // It keeps to its key in the runs of its probation. In the last it waits, once it has written, until it is told to go on.
    const SCRIPT: &str = "redis.call('set', KEYS[1], 1) if not ARGV[1] then return 0 end \
         while redis.call('pubsub', 'numsub', 'go')[2] == 0 do end \
         redis.call('get', ARGV[1]) while true do end";
    let server = patient("4");
    let (mut own, mut others) = (Peer::new(&server), others(&server));
    let mut signals = self::others(&server);
    for _ in 0..200 {
        assert_eq!(own.ask(&["EVAL", SCRIPT, "1", "k"]), ":0");
    }
    let begun = Instant::now();
    own.send(&["EVAL", SCRIPT, "1", "k", "far"]);
    ask_until(&mut others, &["SCRIPT", "KILL"], "-UNKILLABLE");
    let limit = begun.elapsed().max(Duration::from_secs(5)).as_millis().to_string();
    ask_until(&mut others, &["CONFIG", "SET", "lua-time-limit", &limit], "+OK");
    ask_until(&mut others, &["EVAL", "return 1", "0"], "-BUSY");
    ask_until(&mut others, &["GET", "far"], "$-1");
    // Some of them are served by workers that do not run the script.
    signals.iter_mut().for_each(|signal| signal.send(&["SUBSCRIBE", "go"]));
    ask_until(&mut others, &["GET", "far"], "-BUSY");
    ask_until(&mut others, &["CONFIG", "SET", "lua-time-limit", "1"], "+OK");
    assert!(own.line().starts_with("-ERR Script ended"));
    assert_eq!(own.ask(&["GET", "far"]), "$-1");
}

#[test]
fn a_script_that_only_reads_is_ended_at_the_limit() {
    let server = process::rds(&["--io-threads", "2", "--lua-time-limit", "50"]);
    let mut own = Peer::new(&server);
    for script in LOOPS {
        let end = own.ask(&["EVAL", script, "1", "k"]);
        assert!(end.starts_with("-ERR Script ended because it ran for longer"), "{script}: {end}");
    }
}

/// Each script is new, declares one key of two, and expects that both are equal whenever it looks.
#[test]
fn nobody_comes_in_between_when_a_script_uses_keys_that_it_has_not_declared() {
    const READ_FIRST: &str = "local a, b = redis.call('get', KEYS[1]), redis.call('get', ARGV[1]) \
         if a ~= b then return redis.error_reply('torn') end \
         redis.call('incr', KEYS[1]) redis.call('incr', ARGV[1]) return redis.status_reply('OK')";
    const WRITE_FIRST: &str = "local a = redis.call('incr', KEYS[1]) local b = redis.call('incr', ARGV[1]) \
         if a ~= b then return redis.error_reply('torn') end return redis.status_reply('OK')";
    const CLIENTS: usize = 6;
    const ROUNDS: usize = 200;
    let server = process::rds(&["--io-threads", "4"]);
    thread::scope(|threads| {
        for client in 0..CLIENTS {
            let mut peer = Peer::new(&server);
            threads.spawn(move || {
                for round in 0..ROUNDS {
                    let script = [READ_FIRST, WRITE_FIRST][round % 2];
                    let script = format!("{script} -- {client} {}", round / 4);
                    let keys = [["a", "b"], ["b", "a"]][(client + round) % 2];
                    assert_eq!(peer.ask(&["EVAL", &script, "1", keys[0], keys[1]]), "+OK");
                }
            });
        }
    });
    let mut peer = Peer::new(&server);
    for key in ["a", "b"] {
        assert_eq!(peer.ask(&["INCRBY", key, "0"]), format!(":{}", CLIENTS * ROUNDS));
    }
    peer.send(&["INFO", "memory"]);
    let line = loop {
        let line = peer.line();
        if line.starts_with("scripts_not_atomic") {
            break line;
        }
    };
    assert_eq!(line, "scripts_not_atomic:0");
}

#[test]
fn no_time_passes_within_a_transaction() {
    let server = process::rds(&[]);
    let mut peer = Peer::new(&server);
    const WAIT: &str = "local c = os.clock() while os.clock() < c + 0.003 do end return 1";
    assert_eq!(peer.ask(&["MULTI"]), "+OK");
    for command in [&["TIME"][..], &["EVAL", WAIT, "0"], &["TIME"]] {
        assert_eq!(peer.ask(command), "+QUEUED");
    }
    assert_eq!(peer.ask(&["EXEC"]), "*3");
    // Each TIME is an array of two strings.
    let lines: Vec<String> = (0..11).map(|_| peer.line()).collect();
    assert_eq!(lines[5], ":1");
    assert_eq!(lines[..5], lines[6..]);
}
