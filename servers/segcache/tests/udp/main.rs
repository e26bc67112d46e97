// SPDX-License-Identifier: Apache-2.0
//! memcache in UDP datagrams: as memcached answers it, and what is bounded.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod asker;

use asker::{Asker, frame};
use std::net::{SocketAddr, UdpSocket};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};
use test_support::child::{self, Child};
use test_support::memcached::Memcached;

/// A server at a port of TCP and UDP.
struct Server {
    _child: Child,
    address: SocketAddr,
    _folder: tempfile::TempDir,
}

/// The binary under test: `SHOEBILL_SEGCACHE` names another build of it.
fn segcache_path() -> PathBuf {
    let named = std::env::var_os("SHOEBILL_SEGCACHE");
    named.map_or_else(|| env!("CARGO_BIN_EXE_segcache").into(), PathBuf::from)
}

/// Starts `segcache` with `-U`, more `flags` and `sections`.
fn segcache(flags: &[&str], sections: &str) -> Server {
    let folder = tempfile::tempdir().unwrap();
    let config = folder.path().join("segcache.toml");
    std::fs::write(&config, format!("[admin]\nenabled = false\n{sections}")).unwrap();
    let command = |port: u16| {
        let mut command = Command::new(segcache_path());
        command.arg("-U").arg(port.to_string()).args(flags).arg(&config);
        command
    };
    let (child, address) = child::at_free_port(command).expect("segcache starts");
    Asker::new(address).await_answer();
    Server { _child: child, address, _folder: folder }
}

/// Requests, a datagram each.
const SESSIONS: &[&[&[u8]]] = &[
    &[b"set a 5 0 5\r\nhello\r\n", b"get a\r\n", b"get b\r\n", b"get a b a\r\n", b"gat 0 a\r\n"],
    &[
        b"add n 0 0 1\r\n1\r\n",
        b"add n 0 0 1\r\n2\r\n",
        b"replace n 0 0 1\r\n7\r\n",
        b"incr n 5\r\n",
    ],
    &[
        b"decr n 100\r\n",
        b"append n 0 0 1\r\n1\r\n",
        b"get n\r\n",
        b"prepend n 0 0 1\r\n2\r\n",
        b"get n\r\n",
    ],
    &[b"touch n 0\r\n", b"touch none 0\r\n", b"delete n\r\n", b"delete n\r\n"],
    &[b"set q 0 0 1 noreply\r\nx\r\n", b"get q\r\n", b"delete q noreply\r\n", b"get q\r\n"],
    &[b"get a\r\nget b\r\nset c 0 0 1\r\nc\r\nget c\r\n"],
    &[
        b"ms m 2 T0 F7\r\nhi\r\n",
        b"mg m v f k\r\n",
        b"mg none v\r\n",
        b"mg m v q\r\nmg none v q\r\n",
    ],
    &[b"md m\r\n", b"md m\r\n", b"mn\r\n"],
    &[b"foo\r\n", b"get\r\n", b"set a b c d\r\n", b"\r\n", b"set a 0 0 -1\r\n", b"incr a 1\r\n"],
    &[b"verbosity 0\r\n", b"get a\r\n"],
    &[b"\x80\x0a\0\0\0\0\0\0\0\0\0\0\0\0\0\x07\0\0\0\0\0\0\0\0", b"get a\r\n"],
    &[b"\x80\x00\0\x04\0\0\0\0\0\0\0\x04\0\0\0\x07\0\0\0\0\0\0\0\0none"],
    &[b"get a\r\n", b"get a", b"get a\r\n", b"se", b"get a\r\n"],
];

/// Datagrams that are no request: nothing may come of them.
fn dropped() -> Vec<Vec<u8>> {
    let get = b"get a\r\n";
    let framed = |header: [u8; 8]| [&header[..], get].concat();
    vec![
        vec![],
        vec![0],
        vec![0, 9, 0, 0, 0, 1, 0],
        vec![0, 9, 0, 0, 0, 1, 0, 0],
        framed([0, 9, 0, 0, 0, 0, 0, 0]),
        framed([0, 9, 0, 0, 0, 2, 0, 0]),
        framed([0, 9, 0, 1, 0, 2, 0, 0]),
        framed([0, 9, 0, 0, 1, 1, 0, 0]),
        framed([0xff; 8]),
        get.to_vec(),
    ]
}

/// Headers with numbers that say nothing: the request is answered.
const ODD_HEADERS: [[u8; 8]; 3] =
    [[0, 9, 0, 7, 0, 1, 0, 0], [0, 9, 0xff, 0xff, 0, 1, 0, 0], [0, 9, 0, 0, 0, 1, 0xff, 0xff]];

/// All that a server answers to [`SESSIONS`], to what is [`dropped`], and to [`ODD_HEADERS`].
fn transcript(address: SocketAddr) -> Vec<String> {
    let mut asker = Asker::new(address);
    let mut all = Vec::new();
    for session in SESSIONS {
        for request in *session {
            let answer = asker.ask(request);
            all.push(format!("{} -> {}", request.escape_ascii(), answer.escape_ascii()));
        }
    }
    for datagram in dropped() {
        let answer = asker.send(&datagram, 9);
        all.push(format!("{} -> {}", datagram.escape_ascii(), answer.escape_ascii()));
    }
    for header in ODD_HEADERS {
        let answer = asker.send(&[&header[..], b"get a\r\n"].concat(), 9);
        all.push(format!("{} -> {}", header.escape_ascii(), answer.escape_ascii()));
    }
    // Larger than the datagrams of an answer, and what comes back in several.
    let large = [&b"set l 0 0 20000\r\n"[..], &[b'l'; 20_000], b"\r\n"].concat();
    all.push(asker.ask(&large).escape_ascii().to_string());
    all.push(asker.ask(b"get l\r\n").escape_ascii().to_string());
    all.push(asker.ask(b"get l a l\r\n").escape_ascii().to_string());
    for length in [1360..1376, 2750..2770].into_iter().flatten() {
        asker.ask(format!("set l 0 0 {length}\r\n{}\r\n", "x".repeat(length)).as_bytes());
        all.push(asker.ask(b"get l\r\n").escape_ascii().to_string());
    }
    all
}

#[test]
fn datagrams_are_answered_as_memcached_answers_them() {
    let flags: [&[&str]; 2] = [&[], &["-t", "4"]];
    let sections = ["[udp]\nanswer_datagrams = 100\n"; 2];
    let ours: Vec<_> = flags.into_iter().zip(sections).map(|(f, s)| segcache(f, s)).collect();
    let ours: Vec<_> = ours.iter().map(|server| transcript(server.address)).collect();
    assert_eq!(ours[0], ours[1], "with one worker and with several");
    let Some(memcached) = Memcached::find() else { return };
    if !memcached.is_reference() {
        memcached.not_compared("memcache in UDP datagrams");
        return;
    }
    let command = |port: u16| {
        let mut command = memcached.command(port);
        command.args(["-t", "1", "-U"]).arg(port.to_string());
        command
    };
    let (_child, address) = child::at_free_port(command).expect("memcached starts");
    Asker::new(address).await_answer();
    for (ours, theirs) in ours[0].iter().zip(transcript(address)) {
        assert_eq!(*ours, theirs);
    }
}

#[test]
fn an_item_in_a_datagram_is_too_large_where_it_is_for_memcached() {
    let server = segcache(&["-I", "2k"], "");
    let mut asker = Asker::new(server.address);
    let mut set = |len: usize| {
        let request = format!("set k 0 0 {len}\r\n{}\r\n", "x".repeat(len));
        String::from_utf8(asker.ask(request.as_bytes())).unwrap()
    };
    // The key and 59 bytes more are a part of the item.
    assert_eq!(set(2048 - 60), "STORED\r\n");
    assert_eq!(set(2048 - 59), "SERVER_ERROR object too large for cache\r\n");
    assert_eq!(String::from_utf8(asker.ask(b"get k\r\n")).unwrap(), "END\r\n");
}

#[test]
fn it_is_off_unless_it_is_asked_for() {
    let command = |port: u16| {
        let mut command = Command::new(segcache_path());
        command.args(["--admin-port", "0", "-p"]).arg(port.to_string());
        command
    };
    // Nobody else takes it: it is none of the ports that clients get.
    let (_child, address) = child::at_free_port(command).expect("segcache starts");
    UdpSocket::bind(address).expect("nobody else is bound");
}

#[test]
fn a_port_is_not_taken_from_another_server() {
    let server = segcache(&["-t", "2"], "");
    let port = server.address.port().to_string();
    let other = |flags: &[&str]| {
        let mut command = Command::new(segcache_path());
        command.args(["-p", "0", "--admin-port", "0", "-U", &port]).args(flags).output().unwrap()
    };
    for flags in [&["-t", "1"], &["-t", "2"]] {
        let output = other(flags);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && told.contains(&format!("udp:127.0.0.1:{port}")),
            "{told}"
        );
    }
}

#[test]
fn every_client_is_answered_by_one_worker_or_another() {
    let server = segcache(&["-t", "4"], "");
    let mut clients: Vec<Asker> = (0..64).map(|_| Asker::new(server.address)).collect();
    for (i, client) in clients.iter_mut().enumerate() {
        let set = format!("set key{i} 0 0 3\r\n{i:03}\r\n");
        assert_eq!(client.ask(set.as_bytes()), b"STORED\r\n");
    }
    for (i, client) in clients.iter_mut().enumerate() {
        let expected = format!("VALUE key{i} 0 3\r\n{i:03}\r\nEND\r\n");
        assert_eq!(client.ask(format!("get key{i}\r\n").as_bytes()), expected.as_bytes());
    }
    let settings = String::from_utf8(clients[0].ask(b"stats settings\r\n")).unwrap();
    assert!(
        settings.contains(&format!("STAT udpport {}\r\n", server.address.port())),
        "{settings}"
    );
    let stats = String::from_utf8(clients[0].ask(b"stats\r\n")).unwrap();
    let read = stats.lines().find_map(|line| line.strip_prefix("STAT bytes_read ")).unwrap();
    assert!(read.parse::<u64>().unwrap() > 64 * 20, "datagrams are counted: {read}");
}

#[test]
fn a_long_answer_is_refused() {
    let server = segcache(&[], "[udp]\nanswer_datagrams = 2\n");
    let mut asker = Asker::new(server.address);
    let value = "x".repeat(2784 - "VALUE k 0 2700\r\n\r\nEND\r\n".len());
    let set = |more: &str| format!("set k 0 0 {}\r\n{value}{more}\r\n", value.len() + more.len());
    assert_eq!(asker.ask(set("").as_bytes()), b"STORED\r\n");
    assert!(asker.ask(b"get k\r\n").ends_with(b"x\r\nEND\r\n"));
    assert_eq!(asker.ask(set("x").as_bytes()), b"STORED\r\n");
    let error = b"SERVER_ERROR object too large for cache\r\n";
    assert_eq!(asker.ask(b"get k\r\n"), error);
    assert_eq!(asker.ask(b"mg k v\r\n").len(), 9 + 2 + value.len() + 1, "without the key it fits");
    assert_eq!(asker.ask(format!("get{}\r\n", " k".repeat(500)).as_bytes()), error);
    let get = b"\x80\x0c\0\x01\0\0\0\0\0\0\0\x01\x01\x02\x03\x04\0\0\0\0\0\0\0\0k";
    let refused = b"\x81\x0c\0\0\0\0\0\x03\0\0\0\x0a\x01\x02\x03\x04\0\0\0\0\0\0\0\0Too large.";
    assert_eq!(asker.ask(&get.repeat(2)), refused);
}

#[test]
fn a_source_is_sent_so_many_datagrams_in_a_second() {
    let server = segcache(&["-t", "2"], "[udp]\ndatagrams_per_second = 5\n");
    let begun = Instant::now();
    let sockets: Vec<UdpSocket> =
        (0..40).map(|_| UdpSocket::bind("127.0.0.1:0").unwrap()).collect();
    for round in 0..10 {
        for socket in &sockets {
            socket.send_to(&frame(round, b"get a\r\n"), server.address).unwrap();
        }
    }
    // When this one is answered, a second has begun after the last of them was served.
    let mut asker = Asker::new(server.address);
    asker.await_answer();
    asker.await_answer();
    let mut answers = 0;
    let mut datagram = [0; 2000];
    for socket in &sockets {
        socket.set_nonblocking(true).unwrap();
        while socket.recv(&mut datagram).is_ok() {
            answers += 1;
        }
    }
    let seconds = begun.elapsed().as_secs() + 2;
    assert!(answers as u64 <= 5 * seconds, "{answers} answers in {seconds} seconds");
}

/// What is sent bit by bit needs a connection. memcached answers `stats cachedump`, but none of the others, nor any later
/// datagram on that thread.
#[test]
fn what_goes_on_after_its_answer_is_refused() {
    let server = segcache(&[], "");
    let mut asker = Asker::new(server.address);
    assert_eq!(asker.ask(b"set a 0 0 1\r\nx\r\n"), b"STORED\r\n");
    let refused = b"SERVER_ERROR not available over UDP\r\n";
    for request in [
        &b"watch fetchers\r\n"[..],
        b"watch\r\n",
        b"lru_crawler metadump all\r\n",
        b"lru_crawler mgdump hash\r\n",
        b"stats cachedump 1 0\r\n",
    ] {
        let answer = asker.ask(request);
        assert_eq!(answer, refused, "{}", request.escape_ascii());
    }
    assert_eq!(asker.ask(b"watch nothing\r\n"), b"ERROR\r\n");
    let answer = asker.ask(b"mn\r\nlru_crawler metadump all\r\nmn\r\n");
    assert_eq!(answer, [&b"MN\r\n"[..], refused, b"MN\r\n"].concat(), "others are served");
    assert_eq!(asker.ask(b"stats sizes\r\n"), b"STAT sizes_status disabled\r\nEND\r\n");
    let answer = String::from_utf8(asker.ask(b"stats conns\r\n")).unwrap();
    assert!(answer.ends_with("END\r\n"), "{answer}");
}

#[test]
fn no_datagram_harms() {
    let server = segcache(&["-t", "2"], "");
    let mut asker = Asker::new(server.address);
    asker.ask(b"set a 5 0 5\r\nhello\r\n");
    let mut hostile: Vec<Vec<u8>> = dropped();
    let payloads: [&[u8]; 14] = [
        b"set x 0 0 2000000\r\nhello\r\n",
        b"set x 0 0 99999999999999999999\r\nhello\r\n",
        b"set x 0 0 10\r\nhel",
        b"quit\r\n",
        b"watch fetchers\r\n",
        b"lru_crawler metadump all\r\n",
        b"lru_crawler mgdump all\r\n",
        b"shutdown\r\n",
        b"get ",
        b"ms x 5 I\r\n",
        b"\x80\x00\0\xff\0\0\0\0\xff\xff\xff\xff\0\0\0\0\0\0\0\0\0\0\0\0",
        b"\x80\x01\0\x05\x08\0\0\0\0\0\0\x01\0\0\0\0\0\0\0\0\0\0\0\0",
        b"\x80\x21\0\x05\0\0\0\0\0\x0f\0\0\0\0\0\0\0\0\0\0\0\0\0\0PLAIN",
        b"\x16\x03\x01\x02\0",
    ];
    hostile.extend(payloads.iter().map(|payload| frame(9, payload)));
    for byte in [b' ', b'x', b'\n', 0, 0x80, 0xff] {
        hostile.push(frame(9, &[byte; 1392]));
        hostile.push(frame(9, &[byte; 65_000]));
    }
    hostile.push(frame(9, &b"get a ".repeat(10_000)));
    hostile.push(frame(9, &b"get a\r\n".repeat(9_000)));
    for datagram in hostile {
        // Whatever comes of it, the next is answered.
        asker.send(&datagram, 9);
        let after = asker.ask(b"get a\r\n");
        assert_eq!(after, b"VALUE a 5 5\r\nhello\r\nEND\r\n", "{}", datagram.escape_ascii());
    }
}

/// Refusals come at once, so that a second of them is more than there are numbers of requests.
#[test]
fn an_asker_waits_for_a_server_that_comes_late() {
    let port = child::free_port();
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    let late = std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(1));
        let server = UdpSocket::bind(address).unwrap();
        let mut datagram = [0; 100];
        let (n, asker) = server.recv_from(&mut datagram).unwrap();
        server.send_to(&datagram[..n], asker).unwrap();
    });
    Asker::new(address).await_answer();
    late.join().unwrap();
}
