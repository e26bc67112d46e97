// SPDX-License-Identifier: Apache-2.0
//! The codec keeps the contract of `protocol::Protocol`, over everything the sessions contain.

mod support;

use protocol_memcache::{Memcache, commands};
use test_support::session::{self, Piece, Step};

/// The kit parses each sample at every length and many times over, so samples must be short. What
/// is special about long ones is in a test of its own.
const SAMPLE_MAX: usize = 120;

/// What most sessions begin with.
const SETUP: &[u8] = b"set a 1 0 1\r\n1\r\nset b 2 0 2\r\n22\r\n";

/// What each recorded session sends, as one sample.
fn samples() -> Vec<Vec<u8>> {
    let files = [
        include_str!("sessions/binary.txt"),
        include_str!("sessions/delete.txt"),
        include_str!("sessions/differs.txt"),
        include_str!("sessions/get.txt"),
        include_str!("sessions/hostile.txt"),
        include_str!("sessions/line.txt"),
        include_str!("sessions/meta.txt"),
        include_str!("sessions/number.txt"),
        include_str!("sessions/odd.txt"),
        include_str!("sessions/refused.txt"),
        include_str!("sessions/store.txt"),
        include_str!("sessions/time.txt"),
    ];
    let sessions = files.iter().flat_map(|file| session::read(file));
    sessions.map(|session| sample(&session.steps)).collect()
}

fn sample(steps: &[Step]) -> Vec<u8> {
    let mut sample = Vec::new();
    for step in steps {
        let Step::Send(written) = step else { continue };
        for piece in session::pieces(written) {
            match piece {
                Piece::Bytes(bytes) => sample.extend(bytes),
                Piece::Cas(_) | Piece::Unix(_) => sample.extend(b"1795000000"),
            }
        }
    }
    let setup = if sample.starts_with(SETUP) { SETUP.len() } else { 0 };
    let end = sample.len().min(setup + SAMPLE_MAX);
    sample[setup..end].to_vec()
}

#[test]
fn nothing_depends_on_how_bytes_arrive() {
    let mut samples = samples();
    samples.sort();
    samples.dedup();
    assert!(samples.len() >= 60, "{} samples", samples.len());
    let samples: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
    for pieces_above in [usize::MAX, 0] {
        let codec = Memcache::new(1 << 20).pieces_above(pieces_above);
        protocol::conformance::check(|| codec.clone(), &samples);
    }
}

/// Nor what a client that has to log in is answered. Nobody can log in, for there is no service.
#[test]
fn neither_before_a_login() {
    let files = [
        include_str!("sessions/login.txt"),
        include_str!("sessions/login_differs.txt"),
        include_str!("sessions/login_binary.txt"),
    ];
    let sessions = files.iter().flat_map(|file| session::read(file));
    let samples: Vec<_> = sessions.map(|session| sample(&session.steps)).collect();
    let samples: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
    protocol::conformance::check(|| Memcache::new(1 << 20).with_login(), &samples);
}

#[test]
fn neither_at_the_limits() {
    let keys = b"a ".repeat(40_000);
    let line_max = protocol_memcache::LINE_MAX;
    let samples: [Vec<u8>; 8] = [
        [&b"x".repeat(line_max)[..], b"\nget a\r\n"].concat(),
        [&b"x".repeat(line_max + 1)[..], b"\nget a\r\n"].concat(),
        [&b" ".repeat(line_max - 3)[..], b"get a b\r\n"].concat(),
        [&b"add k 0 0 10"[..], &b" ".repeat(line_max - 13), b"\r\n0123456789\r\n"].concat(),
        [b"gets a ", &b"k".repeat(250)[..], b"\r\nget ", &b"k".repeat(251), b"\r\n"].concat(),
        [b"get ", &keys[..], b"b\r\nget a\r\n"].concat(),
        [b"gats 0 ", &keys[..], &b"k".repeat(251), b" b\r\n"].concat(),
        [b"get ", &keys[..60_000], &b" ".repeat(9000), b"\0x\r\nget a\r\n"].concat(),
    ];
    for sample in &samples {
        let whole = outcome(sample, sample.len());
        for piece in [251, 1000, 2048, 2049, 65_535, 65_536, 65_537] {
            assert_eq!(outcome(sample, piece), whole, "in pieces of {piece}");
        }
    }
}

/// What a sample comes to in pieces: bytes taken by each request, and the rejections' replies.
fn outcome(sample: &[u8], piece: usize) -> (Vec<usize>, Vec<Vec<u8>>) {
    use protocol::{Parsed, Protocol};
    let codec = Memcache::new(1 << 20);
    let mut cursor = Default::default();
    let (mut at, mut end) = (0, 0);
    let (mut taken, mut rejections) = (Vec::new(), Vec::new());
    while end < sample.len() {
        end = (end + piece).min(sample.len());
        loop {
            match codec.parse(&mut cursor, &sample[at..end]) {
                Ok(Parsed::Request { consumed, .. } | Parsed::Part { consumed, .. }) => {
                    taken.push(consumed);
                    at += consumed;
                }
                Ok(Parsed::NeedMore { .. }) => break,
                Err(malformed) => {
                    rejections.push(malformed.reply.as_bytes().to_vec());
                    let Some(skip) = malformed.skip else {
                        return (taken, rejections);
                    };
                    at += skip;
                }
            }
        }
    }
    (taken, rejections)
}

#[test]
fn every_command_of_the_table_is_parsed() {
    use protocol::{Parsed, Protocol};
    for command in commands().filter(|command| command.is_text()) {
        let words = match command.name {
            "flush_all" | "stats" | "version" | "quit" | "shutdown" | "refresh_certs" => "",
            "delete" | "get" | "gets" => " key",
            "gat" | "gats" => " 0 key",
            "incr" | "decr" | "touch" => " key 1",
            "verbosity" => " 1",
            "cache_memlimit" => " 64",
            "lru_crawler" => " metadump all",
            "slabs" => " automove 1",
            "lru" => " mode flat",
            "config" => " get cluster",
            "extstore" => " item_size 1",
            "mg" | "md" | "ma" | "me" | "mn" => " key",
            "ms" => " key 0",
            "cas" => " key 0 0 0 1",
            _ => " key 0 0 0",
        };
        let line = format!("{}{words}\r\n\r\n", command.name);
        let parsed = Memcache::new(1 << 10).parse(&mut Default::default(), line.as_bytes());
        let Ok(Parsed::Request { request, .. }) = parsed else {
            panic!("{} {}: {parsed:?}", command.name, command.usage);
        };
        assert_eq!(request.command, command.id, "{}", command.name);
    }
}
