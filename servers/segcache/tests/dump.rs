// SPDX-License-Identifier: Apache-2.0
//! Lists of all items: in the form of memcached's, for its tools, under load, and to clients that do not behave.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support {
    #![allow(dead_code, reason = "each test uses a part of it")]
    pub(crate) mod ports;
}

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use support::ports::{PATIENCE, Server};
use test_support::child;
use test_support::client::Client;
use test_support::memcached::Memcached;

/// Items in a list that fills the socket of a client that does not read.
const MANY: usize = 200_000;

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Stores items `k0` to `k<n-1>`.
fn fill(address: SocketAddr, n: usize) {
    let mut client = Client::tcp(address);
    let all: Vec<usize> = (0..n).collect();
    for some in all.chunks(1000) {
        let sets: String =
            some.iter().map(|n| format!("set k{n} 0 0 1 noreply\r\nv\r\n")).collect();
        client.send(sets.as_bytes());
    }
    client.ask(b"mn\r\n", b"MN\r\n");
}

/// The answer to `request` up to the line `end`, as lines without their ends.
fn listed(address: SocketAddr, request: &str, end: &str) -> Vec<String> {
    let mut stream = connect(address);
    stream.write_all(request.as_bytes()).unwrap();
    let mut lines = Vec::new();
    for line in BufReader::new(stream).split(b'\n') {
        let line = String::from_utf8_lossy(&line.unwrap()).trim_end_matches('\r').to_owned();
        let is_end = line == end;
        lines.push(line);
        if is_end {
            return lines;
        }
    }
    panic!("no end: {lines:?}");
}

/// A line of a metadump with the words that differ between servers replaced.
fn shape(line: &str) -> String {
    let field = |word: &str| match word.split_once('=') {
        Some((name @ ("la" | "cas" | "cls" | "size"), number)) => {
            assert!(number.parse::<u64>().is_ok(), "{line}");
            format!("{name}=N")
        }
        // Segments count some reads alone.
        Some((name @ "fetch", "yes" | "no")) => format!("{name}=?"),
        _ => word.to_owned(),
    };
    line.split(' ').map(field).collect::<Vec<_>>().join(" ")
}

#[test]
fn lists_have_the_form_of_memcacheds() {
    let Some(memcached) = Memcached::find() else { return };
    if !memcached.is_reference() {
        return memcached.not_compared("lists of all items");
    }
    let (_child, theirs) = memcached.start(&[]);
    let server = Server::start(&[], "");
    let odd: Vec<u8> = (1..=255).filter(|byte| !b" \n\r".contains(byte)).collect();
    let mut answers = [theirs, server.memcache].map(|address| {
        let mut client = connect(address);
        for key in odd.chunks(30) {
            client.write_all(&[b"set ", key, b" 7 0 1 noreply\r\nv\r\n"].concat()).unwrap();
        }
        client
            .write_all(
                b"set plain-._~ 0 0 1 noreply\r\nv\r\nget plain-._~\r\nms AAEgCg== 1 b\r\nv\r\n",
            )
            .unwrap();
        client.write_all(b"set old 0 2000000000 1 noreply\r\nv\r\nquit\r\n").unwrap();
        client.read_to_end(&mut Vec::new()).unwrap();
        ["metadump all", "metadump hash", "metadump 1", "mgdump all", "mgdump hash", "metadump 9,x"]
            .map(|list| {
                let end = match list {
                    _ if list.starts_with("mg") => "EN",
                    "metadump 9,x" => "BADCLASS invalid class id",
                    _ => "END",
                };
                let lines = listed(address, &format!("lru_crawler {list}\r\n"), end);
                let last = lines.len() - 1;
                // The order of the items is each server's own, as are their classes: ours is by time to live.
                let is_there = |line: &String| list != "metadump 1" || !line.contains("=old ");
                let items: BTreeSet<String> =
                    lines.iter().skip(1).map(|line| shape(line)).filter(is_there).collect();
                (list, lines[0].clone(), lines[last].clone(), items)
            })
    });
    let [theirs, ours] = &mut answers;
    assert_eq!(theirs, ours);
    assert_eq!(theirs[0].3.len(), 13);
}

#[test]
fn a_list_of_a_class_has_the_items_that_are_counted_in_it() {
    for (storage, classes) in [("seg", 4), ("hashmap", 1)] {
        let server = Server::start(&[], &format!("[cache]\nstorage = \"{storage}\"\n"));
        let sets: String = (0..400)
            .map(|n| {
                let exptime = [0, 60, 5_000, 1_000_000][n % 4];
                format!("set k{n} 0 {exptime} 1 noreply\r\nv\r\n")
            })
            .collect();
        Client::tcp(server.memcache).send(sets.as_bytes());
        let one = |request: &str| listed(server.memcache, request, "END");
        let items = loop {
            let lines = one("stats items\r\n");
            let numbers = lines.iter().filter_map(|line| {
                let (class, number) = line.strip_prefix("STAT items:")?.split_once(":number ")?;
                Some((class.parse::<u32>().unwrap(), number.parse::<usize>().unwrap()))
            });
            let items: Vec<(u32, usize)> = numbers.collect();
            if items.iter().map(|&(_, number)| number).sum::<usize>() == 400 {
                break items;
            }
        };
        assert_eq!(items.len(), classes, "{storage}: {items:?}");
        for (class, number) in items {
            let shown = one(&format!("stats cachedump {class} 0\r\n"));
            assert_eq!(shown.len(), number + 1, "{storage}, cachedump {class}");
            let shown = one(&format!("lru_crawler metadump {class}\r\n"));
            assert_eq!(shown.len(), number + 2, "{storage}, metadump {class}");
            assert!(shown[1].contains(&format!(" cls={class} ")), "{}", shown[1]);
            let key = shown[1].strip_prefix("key=").unwrap().split(' ').next().unwrap();
            let mut client = BufReader::new(connect(server.memcache));
            client.get_mut().write_all(format!("me {key}\r\n").as_bytes()).unwrap();
            let mut line = String::new();
            client.read_line(&mut line).unwrap();
            assert!(line.contains(&format!(" cls={class} ")), "{line}");
        }
        assert_eq!(one("lru_crawler metadump all\r\n").len(), 402);
        assert_eq!(one("stats cachedump 63 0\r\n").len(), 1);
    }
}

#[test]
fn memcacheds_tools_list_all_items() {
    let server = Server::start(&[], "");
    fill(server.memcache, 300);
    let address = server.memcache.to_string();
    let tool = Path::new("/usr/share/memcached/scripts/memcached-tool");
    if tool.exists() {
        let output = Command::new(tool).args([&address, "dump"]).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(printed.matches("add k").count(), 300, "{printed}");
        let output = Command::new(tool).args([&address, "keys"]).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        assert_eq!(printed.matches("key=k").count(), 300, "{printed}");
        // A row for each class: its number, the mean size of its items, and more; the fifth is how many there are.
        let output = Command::new(tool).args([&address, "display"]).output().unwrap();
        let printed = String::from_utf8_lossy(&output.stdout).into_owned();
        let counts = printed.lines().skip(1).map(|row| row.split_whitespace().nth(4).unwrap());
        assert_eq!(
            counts.map(|count| count.parse::<u32>().unwrap()).sum::<u32>(),
            300,
            "{printed}"
        );
    } else {
        child::missing("memcached-tool (apt-get install memcached)");
    }
    let Ok(output) = Command::new("memcdump").arg(format!("--servers={address}")).output() else {
        return child::missing("memcdump (apt-get install libmemcached-tools)");
    };
    let printed = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(printed.lines().filter(|line| line.starts_with('k')).count(), 300, "{printed}");
}

#[test]
fn a_client_that_does_not_read_holds_up_nobody() {
    for engine in ["epoll", "io_uring"] {
        for storage in ["seg", "hashmap"] {
            let sections =
                format!("[cache]\nstorage = \"{storage}\"\n[worker]\nengine = \"{engine}\"\n");
            let server = Server::start(&["-m", "128", "-t", "1"], &sections);
            fill(server.memcache, MANY);
            let mut lazy: Vec<TcpStream> = (0..16).map(|_| connect(server.memcache)).collect();
            for stream in &mut lazy {
                stream.write_all(b"lru_crawler metadump all\r\n").unwrap();
                let mut begin = [0; 4];
                stream.read_exact(&mut begin).unwrap();
                assert_eq!(&begin, b"OK\r\n");
            }
            let mut client = Client::tcp(server.memcache);
            client.ask(
                b"lru_crawler mgdump all\r\n",
                b"BUSY currently processing crawler request\r\n",
            );
            client.ask(b"get k1\r\n", b"VALUE k1 0 1\r\nv\r\nEND\r\n");
            // One leaves, another closes its side and reads on: it gets everything.
            drop(lazy.pop());
            let late = lazy.remove(0);
            late.shutdown(Shutdown::Write).unwrap();
            let lines = BufReader::new(late).split(b'\n').map(Result::unwrap);
            let mut seen = BTreeSet::new();
            let mut last = Vec::new();
            for line in lines {
                if line.starts_with(b"key=") {
                    seen.insert(
                        line[..line.iter().position(|&byte| byte == b' ').unwrap()].to_vec(),
                    );
                }
                last = line;
            }
            assert_eq!((seen.len(), &last[..]), (MANY, &b"END\r"[..]), "{engine}, {storage}");
            client.ask(b"get k2\r\n", b"VALUE k2 0 1\r\nv\r\nEND\r\n");
        }
    }
}

#[test]
fn a_list_survives_writes_and_a_growing_index() {
    for storage in ["seg", "hashmap"] {
        let sections = format!("[cache]\nstorage = \"{storage}\"\n");
        let server = Server::start(&["-m", "64", "-t", "2"], &sections);
        fill(server.memcache, 20_000);
        let mut stream = connect(server.memcache);
        stream.write_all(b"lru_crawler mgdump all\r\n").unwrap();
        let mut lines = BufReader::new(stream).lines().map(Result::unwrap);
        assert_eq!(lines.next().unwrap(), "OK");
        let mut first: BTreeSet<String> = lines.by_ref().take(100).collect();
        // All are overwritten, and nine times as many are added.
        fill(server.memcache, 200_000);
        first.extend(lines.take_while(|line| line != "EN"));
        for n in 0..20_000 {
            assert!(first.contains(&format!("mg k{n}")), "{storage}: k{n} is missing");
        }
    }
}

#[test]
fn a_port_of_binary_memcache_lists_nothing() {
    let server = Server::start(&["-B", "binary"], "");
    let mut client = connect(server.memcache);
    client.write_all(b"lru_crawler metadump all\r\n").unwrap();
    let mut heard = Vec::new();
    client.read_to_end(&mut heard).unwrap();
    assert_eq!(heard, b"");
    // Nor does a connection that has begun in binary.
    let server = Server::start(&[], "");
    let mut client = connect(server.memcache);
    client
        .write_all(&[b"\x80\x0a", &[0; 22][..], b"lru_crawler metadump all\r\n"].concat())
        .unwrap();
    client.read_to_end(&mut heard).unwrap();
    assert_eq!(heard, [b"\x81\x0a", &[0; 22][..]].concat());
}
