// SPDX-License-Identifier: Apache-2.0
//! `watch`: the lines are memcached's, and a watcher that does not behave costs others nothing.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support {
    #![allow(dead_code, reason = "each test uses a part of it")]
    pub(crate) mod process;
}

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;
use support::process::{STORAGES, limited, over, segcache};
use test_support::client::Client;
use test_support::memcached::{Memcached, Version};

/// Longer than any answer takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A client that watches.
struct Watcher {
    lines: BufReader<TcpStream>,
}

impl Watcher {
    fn new(address: SocketAddr, topics: &str) -> Self {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(format!("watch {topics}\r\n").as_bytes()).unwrap();
        let mut watcher = Watcher { lines: BufReader::new(stream) };
        assert_eq!(watcher.line(), "OK\r");
        watcher
    }

    fn line(&mut self) -> String {
        let mut line = Vec::new();
        self.lines.read_until(b'\n', &mut line).unwrap();
        assert_eq!(line.pop(), Some(b'\n'), "a whole line");
        String::from_utf8(line).unwrap()
    }

    /// The lines up to one about the key `last`.
    fn until(&mut self, last: &str) -> Vec<String> {
        let last = format!(" key={last} ");
        let mut lines = Vec::new();
        while !lines.last().is_some_and(|line: &String| line.contains(&last)) {
            lines.push(self.line());
        }
        lines
    }
}

/// A line without what differs from server to server and from run to run.
fn shape(line: &str) -> String {
    let words = line.split(' ').map(|word| match word.split_once('=') {
        Some((name @ ("ts" | "gid" | "cfd" | "rport" | "clsid"), number)) => {
            assert!(number.parse::<f64>().is_ok(), "{line}");
            name
        }
        _ => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

/// The number of the connection that a line is about, if it says it.
fn cfd(line: &str) -> Option<&str> {
    line.split(' ').find_map(|word| word.strip_prefix("cfd="))
}

/// The number of a line, in the order in which things happened.
fn gid(line: &str) -> u64 {
    line.split(' ').find_map(|word| word.strip_prefix("gid=")?.parse().ok()).expect("a number")
}

/// What a watcher of everything is shown of these requests.
fn shown(address: SocketAddr, requests: &[&str]) -> Vec<String> {
    let mut watcher = Watcher::new(address, "fetchers mutations evictions connevents deletions");
    let mut client = Client::tcp(address);
    for request in requests {
        client.send(format!("{request}\r\nmn\r\n").as_bytes());
        let mut reply = Vec::new();
        while !reply.ends_with(b"MN\r\n") {
            reply.extend(client.take(1));
        }
    }
    client.send(b"get last\r\n");
    let mut lines = watcher.until("last");
    let last = lines.last().unwrap();
    let (number, asked) = (cfd(last).unwrap().to_owned(), gid(last));
    client.send(b"quit\r\n");
    let is_end = |line: &String| {
        line.contains("type=conn_close") && cfd(line) == Some(&number) && gid(line) > asked
    };
    while !lines.last().is_some_and(is_end) {
        lines.push(watcher.line());
    }
    // Connections before it were there to see whether the server has started, and in memcached they had its number. What
    // its threads tell comes in any order: that this one began may come after what it asked.
    lines.retain(|line| cfd(line).is_none_or(|cfd| cfd == number));
    lines.sort_by_key(|line| gid(line));
    let opened = lines.iter().rposition(|line| line.contains("type=conn_new")).unwrap();
    lines.drain(..opened);
    let mut lines: Vec<String> = lines.iter().map(|line| shape(line)).collect();
    // memcached looks up an item twice for some commands.
    lines.dedup();
    lines
}

#[test]
fn lines_are_memcacheds() {
    let requests = [
        "set a 0 0 1\r\nx",
        "set odd%/\u{e9}\"' 5 100 3\r\nxyz",
        "get a",
        "get a nope a",
        "gets a",
        "gat 0 a",
        "gat 0 nope",
        "touch a 0",
        "touch nope 50",
        "add a 0 0 1\r\ny",
        "add b 0 0 1\r\ny",
        "replace b 0 0 2\r\nyy",
        "replace nope 0 0 1\r\ny",
        "append b 0 0 3\r\nyyy",
        "prepend b 0 0 1\r\ny",
        "append nope 0 0 1\r\ny",
        "cas a 0 0 1 1234567890\r\nz",
        "cas nope 0 0 1 1\r\nz",
        "delete b",
        "delete b",
        "set n 0 0 1\r\n1",
        "incr n 5",
        "incr nope 5",
        "decr n 1",
        "mg n v",
        "mg nope v",
        "mg made v N30",
        "ms m 2 T50\r\nhi",
        "ms m 2 T0\r\nhi",
        "ms m 2 ME\r\nhi",
        "ms m 2 MR\r\nhiho",
        "ms m 2 MA\r\nho",
        "ms m 2 C1\r\nhi",
        "ms AAEgCg== 1 b\r\nx",
        "mg AAEgCg== b v",
        "md m",
        "md m",
        "ma n",
        "ma nope",
        "ma auto N0 J15",
        "md n I T30",
        "me n",
        "set m 0 0 1 noreply\r\nx",
        "flush_all",
        "get n",
        "version",
        "stats items",
    ];
    let Some(memcached) = Memcached::find() else { return };
    // Older ones know no deletions.
    if memcached.version < Version(1, 6, 38) {
        return memcached.not_compared("lines of watch");
    }
    let (_child, theirs) = memcached.start(&["-U", "0"]);
    let expected = shown(theirs, &requests);
    assert!(expected.iter().any(|line| line.contains("type=deleted")), "{expected:#?}");
    for storage in STORAGES {
        let server = segcache(&["-t", "2"], &over(storage));
        let lines = shown(server.address, &requests);
        for (line, expected) in lines.iter().zip(&expected) {
            assert_eq!(line, expected, "{storage}");
        }
        assert_eq!(lines.len(), expected.len(), "{storage}");
    }
}

/// What clients do before they wait for the end of their connection: what they send, and whether they leave then.
type Doing = (&'static str, Vec<u8>, bool);

/// What ends a connection by itself.
fn doings() -> Vec<Doing> {
    vec![
        ("it asks for the end", b"quit\r\n".into(), false),
        ("it asks in binary", [&b"\x80\x07"[..], &[0; 22]].concat(), false),
        ("it leaves", b"".into(), true),
        ("it leaves inside a request", b"set k 0 0 10\r\nabc".into(), true),
        ("it speaks HTTP", b"GET / HTTP/1.1\r\nHost: here\r\n\r\n".into(), true),
        ("its line is too long", vec![b'x'; 4000], true),
        ("a frame that cannot be", [&b"\x80\x0a\0\xc8"[..], &[0; 300]].concat(), true),
    ]
}

/// What ends a connection at the time limit of its server.
fn idlers() -> Vec<Doing> {
    vec![
        ("it sends nothing", b"".into(), false),
        ("it does not end a line", b"get k".into(), false),
    ]
}

/// Why connections end, as a watcher is told.
fn reasons(address: SocketAddr, doings: Vec<Doing>) -> Vec<(&'static str, String)> {
    let mut watcher = Watcher::new(address, "connevents");
    let reason = |(what, send, leaves): Doing| {
        let mut client = TcpStream::connect(address).unwrap();
        let port = format!(" rport={} ", client.local_addr().unwrap().port());
        client.write_all(&send).unwrap();
        let client = (!leaves).then_some(client);
        let line = loop {
            let line = watcher.line();
            if line.contains("type=conn_close") && line.contains(&port) {
                break line;
            }
        };
        drop(client);
        let reason = line.split(' ').find_map(|word| word.strip_prefix("reason=")).unwrap();
        (what, reason.to_owned())
    };
    doings.into_iter().map(reason).collect()
}

#[test]
fn connections_end_for_memcacheds_reasons() {
    let Some(memcached) = Memcached::find() else { return };
    if !memcached.is_reference() {
        return memcached.not_compared("why connections end");
    }
    let (_child, theirs) = memcached.start(&[]);
    let expected = reasons(theirs, doings());
    let named = |name: &str| expected.iter().any(|(_, reason)| reason == name);
    assert!(["normal", "error"].map(named).iter().all(|&is| is));
    assert_eq!(reasons(segcache(&[], "").address, doings()), expected);

    // Where there is a time limit, a client on a busy machine may reach it before it does anything.
    let flags = ["-o", "idle_timeout=1"];
    let (_child, theirs) = memcached.start(&flags);
    let expected = reasons(theirs, idlers());
    assert!(expected.iter().all(|(_, reason)| reason == "idle_timeout"), "{expected:?}");
    let server = limited("1s", &flags, "");
    assert_eq!(reasons(server.address, idlers()), expected);
}

#[test]
fn what_cannot_be_watched_is_refused_as_by_memcached() {
    let refusals = |address: SocketAddr| {
        let asked = |request: &str| {
            let mut client = Client::tcp(address);
            client.send(request.as_bytes());
            let mut reply = Vec::new();
            while !reply.ends_with(b"\r\n") {
                reply.extend(client.take(1));
            }
            (String::from_utf8(reply).unwrap(), client)
        };
        let mut replies = Vec::new();
        for request in [
            "watch nothing\r\n",
            "watch Fetchers\r\n",
            "watch fetchers noreply\r\n",
            " watch\r\n",
            "watch fetchers fetchers rawcmds proxyreqs sysevents proxyevents proxyuser\r\n",
            "watch\r\nget what is sent later is not carried out\r\n",
        ] {
            replies.push(asked(request).0);
        }
        replies
    };
    let Some(memcached) = Memcached::find() else { return };
    if !memcached.is_reference() {
        return memcached.not_compared("what cannot be watched");
    }
    let (_child, theirs) = memcached.start(&["-U", "0"]);
    let server = segcache(&[], "");
    assert_eq!(refusals(server.address), refusals(theirs));

    let (_other, theirs) = memcached.start(&["-W"]);
    let server = segcache(&["-W"], "");
    for address in [theirs, server.address] {
        let mut client = Client::tcp(address);
        let refused = b"CLIENT_ERROR watch commands not allowed\r\n";
        client.ask(b"watch\r\n", refused);
        client.ask(b"watch nothing\r\n", refused);
    }
}

#[test]
fn there_are_no_more_than_twenty() {
    let server = segcache(&["-t", "2"], "");
    let mut watchers: Vec<Watcher> =
        (0..20).map(|_| Watcher::new(server.address, "fetchers")).collect();
    let mut client = Client::tcp(server.address);
    client.ask(b"watch\r\n", b"WATCHER_TOO_MANY log watcher limit reached\r\n");
    client.ask(b"get k\r\n", b"END\r\n");
    for watcher in &mut watchers {
        assert!(watcher.until("k")[0].contains("type=item_get key=k status=not_found"));
    }
    // One that goes, in the middle of a line or not, leaves its place to another.
    watchers.pop();
    let added = (0..).find(|_| {
        let mut client = Client::tcp(server.address);
        client.send(b"watch\r\n");
        client.take(1) == b"O"
    });
    assert!(added.is_some());
}

#[test]
fn what_leaves_to_make_room_is_shown() {
    for storage in STORAGES {
        let server = segcache(&["-t", "2", "-m", "8"], &over(storage));
        let mut watcher = Watcher::new(server.address, "evictions deletions");
        let mut clients = [Client::tcp(server.address), Client::tcp(server.address)];
        let value = "v".repeat(1000);
        for first in (0..30_000).step_by(100) {
            let set = |n| format!("set key{n} 7 0 1000 noreply\r\n{value}\r\n");
            let sets: String = (first..first + 100).map(set).collect();
            let client = &mut clients[first / 100 % 2];
            client.ask((sets + "mn\r\n").as_bytes(), b"MN\r\n");
        }
        let line = watcher.line();
        let words: Vec<&str> = line.split(' ').collect();
        assert!(words[2..].starts_with(&["type=eviction"]), "{storage}: {line}");
        assert!(words[3].starts_with("key=key") && words[4] == "fetch=no", "{storage}: {line}");
        assert_eq!((words[5], words[8]), ("ttl=-1", "size=1000"), "{storage}: {line}");
        let number = |prefix: &str, word: &str| -> u64 {
            word.strip_prefix(prefix).and_then(|number| number.parse().ok()).unwrap()
        };
        assert!(
            number("la=", words[6]) < 600 && number("clsid=", words[7]) > 0,
            "{storage}: {line}"
        );
        let client = &mut clients[0];
        let known = stat(client, "log_worker_written") + stat(client, "log_worker_dropped");
        assert!(known <= stat(client, "evictions"), "{storage}: none is shown twice");
        // Nothing is left of it when the watcher has gone.
        drop(watcher);
        while stat(client, "log_watchers") > 0 {}
        let before = stat(client, "log_worker_written");
        client.ask(b"delete key29999\r\n", b"DELETED\r\n");
        assert_eq!(stat(client, "log_worker_written"), before, "{storage}");
    }
}

/// The value of a general statistic.
fn stat(client: &mut Client, name: &str) -> u64 {
    client.send(b"stats\r\n");
    let mut stats = Vec::new();
    while !stats.ends_with(b"END\r\n") {
        stats.extend(client.take(1));
    }
    let text = String::from_utf8(stats).unwrap();
    let prefix = format!("STAT {name} ");
    let value = text.lines().find_map(|line| line.strip_prefix(&prefix)).unwrap();
    value.parse().unwrap()
}

/// A watcher that reads nothing while others work misses lines, is told how many, and costs nobody anything.
#[test]
fn one_that_does_not_read_misses_lines() {
    let server = segcache(&["-t", "2"], "");
    let mut watcher = Watcher::new(server.address, "fetchers");
    let mut gone = Watcher::new(server.address, "fetchers");
    let mut clients = [Client::tcp(server.address), Client::tcp(server.address)];
    let key = "k".repeat(250);
    let batch = format!("mg {key} v q\r\n").repeat(200) + "mn\r\n";
    for _ in 0..500 {
        for client in &mut clients {
            client.ask(batch.as_bytes(), b"MN\r\n");
        }
    }
    assert!(gone.line().contains(&key));
    // It leaves in the middle of what it is being sent.
    drop(gone);
    let client = &mut clients[0];
    assert!(stat(client, "log_watcher_skipped") > 0);
    let (mut told, mut seen) = (0, 0);
    let mut count = |line: &str| match line.strip_prefix("skipped=") {
        Some(number) => told += number.parse::<u64>().unwrap(),
        None => seen += 1,
    };
    // Lines for which there is room again come after the number of those that it has missed.
    loop {
        client.ask(format!("mg {key} v q\r\nmn\r\n").as_bytes(), b"MN\r\n");
        let line = watcher.line();
        count(&line);
        if line.starts_with("skipped=") {
            break;
        }
    }
    client.ask(b"get last\r\n", b"END\r\n");
    watcher.until("last").iter().for_each(|line| count(line));
    let written = stat(client, "log_worker_written");
    // Every line that a worker has written was seen or is missed.
    assert_eq!(told + seen, written);
    assert!(told > 10_000, "{told} lines missed, {seen} seen");
}
