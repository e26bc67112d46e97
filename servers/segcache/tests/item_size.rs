// SPDX-License-Identifier: Apache-2.0
//! The largest item: what is too large for memcached is too large here, in every dialect, and with the same reply.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support {
    #![allow(dead_code, reason = "each test uses a part of it")]
    pub(crate) mod process;
}

use support::process::{self, STORAGES, Server};
use test_support::client::Client;

/// Of memcached, besides the value of an item with a key of one byte and without flags.
const AROUND: usize = 60;

/// How a value is stored.
#[derive(Clone, Copy, Debug, PartialEq)]
enum How {
    /// By a text command of this name.
    Text(&'static str),
    /// By `ms` with these flags; with `b` among them the key is base64.
    Meta(&'static str),
    /// By the opcode of this number.
    Binary(u8),
}

/// All lines that store a value as it is.
const LINES: &[How] = &[
    How::Text("set"),
    How::Text("add"),
    How::Text("replace"),
    How::Text("append"),
    How::Meta(""),
    How::Meta("b"),
    How::Meta("ME"),
    How::Meta("MA"),
    How::Meta("MP N0"),
];

/// Set, add, replace, append.
const FRAMES: &[How] =
    &[How::Binary(0x01), How::Binary(0x02), How::Binary(0x03), How::Binary(0x0e)];

/// Those for which a value of megabytes is sent.
const OF_LARGE: &[How] = &[How::Text("set"), How::Text("add"), How::Meta("I"), How::Binary(0x01)];

fn frame(opcode: u8, extras: &[u8], key: &[u8], value: &[u8]) -> Vec<u8> {
    let body = (extras.len() + key.len() + value.len()) as u32;
    let mut bytes = vec![0x80, opcode];
    bytes.extend((key.len() as u16).to_be_bytes());
    bytes.extend([extras.len() as u8, 0, 0, 0]);
    bytes.extend(body.to_be_bytes());
    bytes.extend([0; 12]);
    [&bytes, extras, key, value].concat()
}

/// Connections for lines and for frames.
struct Peer {
    _server: Server,
    lines: Client,
    frames: Client,
}

impl Peer {
    fn new(server: Server) -> Self {
        let [lines, frames] = [(); 2].map(|()| Client::tcp(server.address));
        Peer { _server: server, lines, frames }
    }

    /// The line that `request` is answered with.
    fn line(&mut self, request: &[u8]) -> String {
        self.lines.send(request);
        self.lines.line()
    }

    /// The reply to a frame, without its CAS number.
    fn frame(&mut self, request: &[u8]) -> String {
        self.frames.send(request);
        let head = self.frames.take(24);
        let body = u32::from_be_bytes(head[8..12].try_into().unwrap());
        let body = self.frames.take(body as usize);
        format!("{} {}", head[..16].escape_ascii(), body.escape_ascii())
    }

    /// What comes of a value of `len` bytes where there is another before or not: the reply, and the size of the item
    /// behind it.
    fn store(&mut self, how: How, key: &[u8], flags: u32, len: usize) -> [String; 2] {
        let value = vec![b'v'; len];
        // The key as a meta command has it.
        let (text, form) = match how {
            How::Meta("b") => ("a2V5".repeat(1 + key.len() / 10), "b"),
            _ => (String::from_utf8_lossy(key).into_owned(), ""),
        };
        let reply = match how {
            How::Text(name) => {
                let line = format!("{name} {text} {flags} 0 {len}\r\n");
                self.line(&[line.as_bytes(), &value, b"\r\n"].concat())
            }
            How::Meta(more) => {
                let line = format!("ms {text} {len} F{flags} {more}\r\n");
                self.line(&[line.as_bytes(), &value, b"\r\n"].concat())
            }
            How::Binary(opcode) => {
                let extras = [&flags.to_be_bytes()[..], &[0; 4]].concat();
                let extras = if opcode == 0x0e { &[] } else { &extras[..] };
                self.frame(&frame(opcode, extras, key, &value))
            }
        };
        [reply, self.line(format!("mg {text} s f {form}\r\n").as_bytes())]
    }

    /// Begins anew, with a small item or none.
    fn prepare(&mut self, key: &[u8], is_there: bool) {
        let key = String::from_utf8_lossy(key);
        if is_there {
            assert_eq!(self.line(format!("set {key} 5 0 3\r\nold\r\n").as_bytes()), "STORED");
        } else {
            self.line(format!("md {key}\r\n").as_bytes());
        }
    }

    fn too_large(&mut self) -> String {
        self.lines.send(b"stats\r\n");
        let mut found = String::new();
        loop {
            let line = self.lines.line();
            if line == "END" {
                return found;
            }
            if line.contains("store_too_large") {
                found = line;
            }
        }
    }
}

/// Starts both with `flags`, memcached with `theirs` besides.
fn both(storage: &str, flags: &[&str], theirs: &[&str]) -> Option<[Peer; 2]> {
    let memcached = process::memcached(&[flags, theirs].concat())?;
    Some([memcached, process::segcache(flags, &process::over(storage))].map(Peer::new))
}

/// memcached cuts what is larger into pieces, which must not be larger than an item.
const SMALL: [&str; 2] = ["-o", "slab_chunk_max=1"];

/// The keys, of one byte and as long as may be, and what each adds to an item.
fn keys() -> [(Vec<u8>, usize); 2] {
    [(b"k".to_vec(), 0), (vec![b'k'; 250], 249)]
}

/// Compares all sizes around that of 2 KiB.
fn compare_sizes(peers: &mut [Peer; 2], key: &[u8], flags: u32, how: How) {
    for len in (2048 - 330)..=(2048 + 10) {
        for is_there in [true, false] {
            let [theirs, ours] = peers.each_mut().map(|peer| {
                peer.prepare(key, is_there);
                peer.store(how, key, flags, len)
            });
            let key_len = key.len();
            assert_eq!(ours, theirs, "{how:?}, a key of {key_len}, flags {flags}, {len} bytes");
        }
    }
}

#[test]
fn the_largest_item_is_that_of_memcached() {
    for storage in STORAGES {
        let Some(mut peers) = both(storage, &["-I", "2k"], &SMALL) else { return };
        for hows in [LINES, FRAMES] {
            for (key, _) in keys() {
                for flags in [0, 7] {
                    for &how in hows {
                        compare_sizes(&mut peers, &key, flags, how);
                    }
                }
            }
            if hows == LINES {
                // memcached counts no frames.
                let [theirs, ours] = peers.each_mut().map(Peer::too_large);
                assert_eq!(ours, theirs, "{storage}");
                assert!(!ours.ends_with(" 0"), "{ours}");
            }
        }
    }
}

#[test]
fn what_an_item_grows_to_is_limited_as_with_memcached() {
    for storage in STORAGES {
        let Some(mut peers) = both(storage, &["-I", "2k"], &SMALL) else { return };
        for (key, more) in keys() {
            for flags in [0, 7] {
                for how in
                    [How::Text("append"), How::Text("prepend"), How::Meta("MA"), How::Binary(0x0e)]
                {
                    // An item of half the size, and the rest of it.
                    let rest = 1024 - AROUND - more;
                    for len in (rest - 10)..=(rest + 10) {
                        let [theirs, ours] = peers.each_mut().map(|peer| {
                            peer.store(How::Text("set"), &key, flags, 1024);
                            peer.store(how, &key, 0, len)
                        });
                        assert_eq!(ours, theirs, "{storage}: {how:?}, flags {flags}, {len} more");
                    }
                }
            }
        }
    }
}

#[test]
fn so_it_is_where_values_arrive_in_pieces() {
    for storage in STORAGES {
        for (size, limit) in [("1m", 1 << 20), ("8m", 8 << 20)] {
            let flags = ["-I", size, "-m", "256"];
            let Some(mut peers) = both(storage, &flags, &[]) else { return };
            for (key, more) in keys() {
                for (flags, &how) in [0, 7]
                    .into_iter()
                    .flat_map(|flags| OF_LARGE.iter().map(move |how| (flags, how)))
                {
                    let most = limit - AROUND - more - if flags == 0 { 0 } else { 4 };
                    for len in [most, most + 1, limit] {
                        let [theirs, ours] = peers.each_mut().map(|peer| {
                            peer.prepare(&key, !matches!(how, How::Text("add")));
                            peer.store(how, &key, flags, len)
                        });
                        assert_eq!(ours, theirs, "{storage}, {size}: {how:?}, {flags}, {len}");
                        let is_stored = ["STORED", "HD"].contains(&&ours[0][..])
                            || ours[0].starts_with("\\x81\\x01\\x00\\x00\\x00\\x00\\x00\\x00");
                        assert_eq!(is_stored, len == most, "{ours:?}");
                    }
                }
            }
        }
    }
}

/// An item has its CAS number here whatever is said, so it counts.
#[test]
fn without_cas_memcached_takes_eight_bytes_more() {
    let Some(mut peers) = both("seg", &["-I", "2k", "-C"], &SMALL) else { return };
    let most = 2048 - AROUND;
    for (len, expected) in [
        (most, ["STORED"; 2]),
        (most + 1, ["STORED", "SERVER_ERROR object too large for cache"]),
        (most + 8, ["STORED", "SERVER_ERROR object too large for cache"]),
        (most + 9, ["SERVER_ERROR object too large for cache"; 2]),
    ] {
        let replies = peers.each_mut().map(|peer| {
            let [reply, _] = peer.store(How::Text("set"), b"k", 0, len);
            reply
        });
        assert_eq!(replies, expected, "{len}");
    }
}
