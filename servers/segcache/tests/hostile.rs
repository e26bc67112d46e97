// SPDX-License-Identifier: Apache-2.0
//! Clients that mean harm, where it takes sockets and the store to see it: floods of quiet requests that nobody reads
//! the replies of, items that go while their replies wait, and a megabyte where a password stands. What such clients are
//! answered, byte by byte, is in the sessions of `protocol-memcache`; what they can make the server hold is in `walk.rs`.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support {
    #![allow(dead_code, reason = "each test uses a part of it")]
    pub(crate) mod ports;
}

use std::fs;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};
use support::ports::{PATIENCE, Server};
use test_support::daemon::{Config, Daemon};

const SEGCACHE: &str = env!("CARGO_BIN_EXE_segcache");

const KIB: usize = 1 << 10;
const MIB: usize = 1 << 20;

const HEADER_LEN: usize = 24;
const GETQ: u8 = 0x09;
const NOOP: u8 = 0x0a;
const GETK: u8 = 0x0c;
const SASL_AUTH: u8 = 0x21;

/// How many quiet requests a client writes before it reads.
const FLOOD: usize = 1_000_000;

/// The memory limit, `-m`.
const MEMORY: usize = 16 * MIB;

/// The high-water mark and one reply, and what an allocator keeps of what came and went.
const SLACK: usize = 8 * MIB;

fn connect(address: SocketAddr) -> TcpStream {
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

fn frame(opcode: u8, key: &[u8], value: &[u8]) -> Vec<u8> {
    let mut frame = vec![0x80, opcode];
    frame.extend((key.len() as u16).to_be_bytes());
    frame.resize(8, 0);
    frame.extend(((key.len() + value.len()) as u32).to_be_bytes());
    frame.resize(HEADER_LEN, 0);
    [&frame, key, value].concat()
}

/// The status of the next reply, and what is behind its header.
fn reply(reader: &mut impl Read) -> (u16, Vec<u8>) {
    let mut header = [0; HEADER_LEN];
    reader.read_exact(&mut header).unwrap();
    let mut body = vec![0; u32::from_be_bytes(header[8..12].try_into().unwrap()) as usize];
    reader.read_exact(&mut body).unwrap();
    (u16::from_be_bytes([header[6], header[7]]), body)
}

/// Resident bytes of a process.
fn resident(id: u32) -> usize {
    let status = fs::read_to_string(format!("/proc/{id}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().strip_suffix(" kB").unwrap().trim().parse::<usize>().unwrap() * KIB
}

/// Sends `bytes` and reads nothing, until the server has taken all of them, or none for half a second. Returns how many
/// it has taken.
fn write_unread(stream: &TcpStream, bytes: &[u8]) -> usize {
    stream.set_nonblocking(true).unwrap();
    let (mut at, mut last) = (0, Instant::now());
    while at < bytes.len() && last.elapsed() < Duration::from_millis(500) {
        match (&*stream).write(&bytes[at..]) {
            Ok(n) => (at, last) = (at + n, Instant::now()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => sleep(Duration::from_millis(1)),
            Err(error) => panic!("closed: {error}"),
        }
    }
    stream.set_nonblocking(false).unwrap();
    at
}

/// Sends `request` a million times and then `mark`, reads nothing until the server takes no more, and then reads
/// the answers: `answer` each time, and `marked`.
fn flood(server: &Server, request: &[u8], answer: &[u8], [mark, marked]: [&[u8]; 2]) {
    let shown = request.escape_ascii().to_string();
    let before = resident(server.child.id());
    let bytes = [&request.repeat(FLOOD), mark].concat();
    let stream = connect(server.memcache);
    let taken = write_unread(&stream, &bytes);
    let most = resident(server.child.id());
    assert!(most <= before + SLACK, "{shown}: {most} bytes after {before}");
    let mut other = connect(server.memcache);
    other.write_all(b"mn\r\n").unwrap();
    other.read_exact(&mut [0; 4]).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| (&stream).write_all(&bytes[taken..]).unwrap());
        let mut reader = BufReader::with_capacity(MIB, &stream);
        let expected = answer.repeat(1000);
        let mut block = vec![0; expected.len()];
        for at in 0..FLOOD / 1000 {
            reader.read_exact(&mut block).unwrap();
            assert!(block == expected, "{shown}: an answer after {at},000 others");
        }
        let mut end = vec![0; marked.len()];
        reader.read_exact(&mut end).unwrap();
        assert_eq!(end.escape_ascii().to_string(), marked.escape_ascii().to_string(), "{shown}");
    });
    assert!(resident(server.child.id()) <= before + SLACK, "{shown}: it is kept");
}

#[test]
fn a_flood_of_quiet_requests_is_answered_and_held_back() {
    for engine in ["epoll", "io_uring"] {
        let section = format!("[worker]\nengine = \"{engine}\"\n");
        let server = Server::start(&["-m", "16", "-t", "1"], &section);
        // With memory full nothing of it is counted as growth.
        let mut filler = connect(server.memcache);
        let set = [&b"set fill 0 0 100000 noreply\r\n"[..], &[b'f'; 100_000], b"\r\n"].concat();
        filler.write_all(&set.repeat(2 * MEMORY / set.len())).unwrap();
        filler.write_all(b"set hit 0 0 3\r\nhit\r\n").unwrap();
        filler.read_exact(&mut [0; 8]).unwrap();

        let text = [&b"mn\r\n"[..], b"MN\r\n"];
        flood(&server, b"mg miss v q\r\n", b"", text);
        flood(&server, b"mg hit v q\r\n", b"VA 3\r\nhit\r\n", text);
        flood(&server, b"set f 0 0 1 noreply\r\nx\r\n", b"", text);
        let noop = frame(NOOP, b"", b"");
        let answer_to = |frame: &[u8]| [&[0x81][..], &frame[1..]].concat();
        let binary = [&noop[..], &answer_to(&noop)];
        flood(&server, &frame(GETQ, b"miss", b""), b"", binary);
        // A hit has the item's CAS number, so it is asked for first.
        let hit = frame(GETQ, b"hit", b"");
        let mut client = connect(server.memcache);
        client.write_all(&hit).unwrap();
        let mut answer = [0; HEADER_LEN + 7];
        client.read_exact(&mut answer).unwrap();
        assert_eq!(answer[HEADER_LEN..], *b"\0\0\0\0hit");
        flood(&server, &hit, &answer, binary);
    }
}

/// Replies that wait hold the bytes of their items, whatever becomes of these: each is a whole value, or a miss.
#[test]
fn an_item_may_go_while_its_replies_wait() {
    for storage in ["seg", "hashmap"] {
        let section = format!("[cache]\nstorage = {storage:?}\n");
        let server = Server::start(&["-m", "16", "-t", "2"], &section);
        let value = |number: usize| -> Vec<u8> {
            (0..100_000).map(|at| ((at + number) % 251) as u8).collect()
        };
        let mut writer = connect(server.memcache);
        let mut store = |key: &str, value: &[u8]| {
            writer.write_all(format!("set {key} 0 0 {}\r\n", value.len()).as_bytes()).unwrap();
            writer.write_all(&[value, b"\r\n"].concat()).unwrap();
            writer.read_exact(&mut [0; 8]).unwrap();
        };
        // Each is read once before and in the flood again and again: more than the buffers of sockets take.
        let keys = 50;
        let asks = 1000;
        (0..keys).for_each(|number| store(&format!("going{number}"), &value(number)));
        let client = connect(server.memcache);
        let get = |at: usize| frame(GETK, format!("going{}", at % keys).as_bytes(), b"");
        let gets: Vec<u8> = (0..asks).flat_map(get).collect();
        (&client).write_all(&gets).unwrap();
        let mut reader = BufReader::with_capacity(MIB, &client);
        // The server is at it when items begin to go.
        reader.fill_buf().unwrap();
        let other = vec![b'c'; 100_000];
        (0..6 * MEMORY / other.len()).for_each(|number| store(&format!("coming{number}"), &other));
        let mut misses = 0;
        for at in 0..asks {
            let number = at % keys;
            let (status, body) = reply(&mut reader);
            let hit =
                [&b"\0\0\0\0"[..], format!("going{number}").as_bytes(), &value(number)].concat();
            let is_miss = (status, &body[..]) == (1, format!("going{number}").as_bytes());
            assert!(
                is_miss || (status, &body) == (0, &hit),
                "{storage}: status {status}, {} bytes, reply {at}",
                body.len()
            );
            misses += usize::from(is_miss);
        }
        assert!((1..asks).contains(&misses), "{misses} of {asks} are misses over {storage}");
    }
}

/// Whatever has a megabyte, it is refused, and held by nobody.
#[test]
fn a_megabyte_is_no_mechanism() {
    let config = Config::empty();
    let users = config.folder().join("users");
    fs::write(&users, "user:password\n").unwrap();
    config.write(&format!(
        "[server]\nport = 0\n[admin]\nenabled = false\n[memcache]\nauth_file = {users:?}\n"
    ));
    let mut command = Command::new(SEGCACHE);
    let mut server = Daemon::spawn(command.args(["-m", "16", "-S"]).arg(&config.file));
    let (address, id) = (server.address(), server.pid());
    let before = resident(id);
    let megabyte = vec![b'm'; MIB];
    let credentials = [&[0][..], &megabyte, b"\0", &megabyte].concat();
    for round in 0..40 {
        // A key has 16 bits of length; a mechanism of more than 32 bytes is none, and one that is no key ends it.
        let mut client = connect(address);
        client.write_all(&frame(SASL_AUTH, &megabyte[..250], &megabyte)).unwrap();
        assert_eq!(reply(&mut client), (4, b"Invalid arguments".to_vec()), "round {round}");
        client.write_all(&frame(SASL_AUTH, b"PLAIN", &credentials[..MIB])).unwrap();
        assert_eq!(reply(&mut client), (0x20, b"Auth failure.".to_vec()), "round {round}");
        client.write_all(&frame(SASL_AUTH, b"PLAIN", b"\0user\0password")).unwrap();
        assert_eq!(reply(&mut client), (0, b"Authenticated".to_vec()), "round {round}");

        let mut client = connect(address);
        let _ = client.write_all(&frame(SASL_AUTH, &megabyte[..65_535], &megabyte));
        let mut rest = Vec::new();
        let ended = client.read_to_end(&mut rest);
        assert!(ended.is_ok_and(|_| rest[6..8] == [0, 4]) || rest.is_empty(), "{rest:?}");
    }
    assert!(resident(id) <= before + SLACK, "{} after {before}", resident(id));
}
