// SPDX-License-Identifier: Apache-2.0
//! Plays recorded sessions: the replies are memcached's, byte for byte, however the bytes arrive.

mod support;

use std::collections::BTreeMap;
use std::time::Duration;
use support::server::{Connection, Server};
use test_support::session::{self, Piece, Session, Step};

/// How what is sent at once arrives.
#[derive(Clone, Copy, Debug)]
enum Arrival {
    /// In pieces of so many bytes.
    Pieces(usize),
    /// In two parts, the first of which has so many bytes.
    Parts(usize),
}

/// Plays a session with its bytes in pieces of `piece`, its values collected and taken as they arrive.
fn play(session: &Session, piece: usize) {
    for connection in [Connection::default(), Connection::in_pieces()] {
        play_on(Server::new(), connection, session, Arrival::Pieces(piece));
    }
}

fn play_on(mut server: Server, mut connection: Connection, session: &Session, arrival: Arrival) {
    let mut cas = BTreeMap::new();
    let mut answered = Vec::new();
    let is_binary =
        matches!(session.steps.first(), Some(Step::Send(text)) if text.starts_with("\\x80"));
    for step in &session.steps {
        let context = || format!("{}, {arrival:?}, at {step:?}", session.name);
        match step {
            Step::Send(written) => {
                let bytes = encode(written, &cas, &server, is_binary);
                let (parts, piece) = match arrival {
                    Arrival::Pieces(piece) => (bytes.split_at(0), piece),
                    Arrival::Parts(first) => (bytes.split_at(first.min(bytes.len())), usize::MAX),
                };
                for part in <[&[u8]; 2]>::from(parts).into_iter().filter(|part| !part.is_empty()) {
                    answered.extend(connection.send(&mut server, part, piece));
                }
            }
            Step::Expect(written) => {
                let answered = std::mem::take(&mut answered);
                expect(written, &answered, &mut cas, is_binary, &context());
            }
            Step::Pass(millis) => {
                assert_silent(&answered, &context());
                server.clock.advance(Duration::from_millis(*millis));
            }
            Step::Closed => assert!(connection.closed, "{} is not closed", context()),
        }
    }
    assert_silent(&answered, &session.name);
    let closes = matches!(session.steps.last(), Some(Step::Closed));
    assert_eq!(connection.closed, closes, "{}", session.name);
}

fn encode(written: &str, cas: &BTreeMap<String, u64>, server: &Server, is_binary: bool) -> Vec<u8> {
    let mut bytes = Vec::new();
    for piece in session::pieces(written) {
        match piece {
            Piece::Bytes(more) => bytes.extend(more),
            Piece::Cas(name) if is_binary => bytes.extend(cas[&name].to_be_bytes()),
            Piece::Cas(name) => bytes.extend(cas[&name].to_string().bytes()),
            Piece::Unix(seconds) => {
                let at = server.clock.now().unix_seconds() + seconds;
                bytes.extend(at.to_string().bytes());
            }
        }
    }
    bytes
}

/// Compares an answer and learns the CAS numbers in it.
fn expect(
    written: &str,
    answered: &[u8],
    cas: &mut BTreeMap<String, u64>,
    is_binary: bool,
    context: &str,
) {
    let mut rest = answered;
    for piece in session::pieces(written) {
        let shown = || shorten(answered);
        match piece {
            Piece::Bytes(bytes) => {
                rest = rest
                    .strip_prefix(&bytes[..])
                    .unwrap_or_else(|| panic!("{context}\nanswered: {}", shown()));
            }
            Piece::Cas(name) => {
                let number;
                (number, rest) = cas_number(rest, is_binary);
                let known = cas.iter().find(|(_, known)| **known == number);
                let known = known.map_or(&name, |(known, _)| known);
                assert_eq!(*known, name, "{context}\nanswered: {}", shown());
                let first = *cas.entry(name).or_insert(number);
                assert_eq!(first, number, "{context}\nanswered: {}", shown());
            }
            Piece::Unix(_) => panic!("a time in an answer: {context}"),
        }
    }
    assert!(rest.is_empty(), "{context}\nand more: {}", shorten(rest));
}

/// The CAS number at the start of an answer, and what follows it.
fn cas_number(answered: &[u8], is_binary: bool) -> (u64, &[u8]) {
    if is_binary {
        let (number, rest) = answered.split_first_chunk().expect("a CAS number");
        return (u64::from_be_bytes(*number), rest);
    }
    let len = answered.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = answered.split_at(len);
    (String::from_utf8_lossy(number).parse().expect("a CAS number"), rest)
}

fn assert_silent(answered: &[u8], context: &str) {
    assert!(answered.is_empty(), "{context}\nanswered: {}", shorten(answered));
}

fn shorten(bytes: &[u8]) -> String {
    bytes[..bytes.len().min(500)].escape_ascii().to_string()
}

fn play_all(text: &str, pieces: &[usize]) {
    let sessions = session::read(text);
    assert!(!sessions.is_empty());
    for session in &sessions {
        for &piece in pieces {
            play(session, piece);
        }
    }
}

#[test]
fn reading() {
    play_all(include_str!("sessions/get.txt"), &[usize::MAX, 1400, 11]);
}

#[test]
fn storing() {
    play_all(include_str!("sessions/store.txt"), &[usize::MAX, 3, 1]);
}

#[test]
fn storage_lines_that_are_refused() {
    play_all(include_str!("sessions/refused.txt"), &[usize::MAX, 50_000, 13]);
}

#[test]
fn meta_commands() {
    play_all(include_str!("sessions/meta.txt"), &[usize::MAX, 7, 1]);
}

#[test]
fn tuning_without_an_effect() {
    play_all(include_str!("sessions/tuning.txt"), &[usize::MAX, 7, 1]);
}

#[test]
fn counts_by_prefix() {
    play_all(include_str!("sessions/detail.txt"), &[usize::MAX, 7, 1]);
}

#[test]
fn the_memory_limit() {
    play_all(include_str!("sessions/memlimit.txt"), &[usize::MAX, 7, 1]);
}

#[test]
fn large_values() {
    play_all(include_str!("sessions/large.txt"), &[usize::MAX, 16_384]);
}

#[test]
fn numbers() {
    play_all(include_str!("sessions/number.txt"), &[usize::MAX, 3, 1]);
}

#[test]
fn deleting_and_touching() {
    play_all(include_str!("sessions/delete.txt"), &[usize::MAX, 3, 1]);
}

#[test]
fn lines_that_are_no_request() {
    play_all(include_str!("sessions/line.txt"), &[usize::MAX, 100, 1]);
}

#[test]
fn odd_lines() {
    play_all(include_str!("sessions/odd.txt"), &[usize::MAX, 100, 1]);
}

#[test]
fn time() {
    play_all(include_str!("sessions/time.txt"), &[usize::MAX, 1]);
}

#[test]
fn the_binary_protocol() {
    play_all(include_str!("sessions/binary.txt"), &[usize::MAX, 1 << 16, 977]);
    play_all(include_str!("sessions/binary_differs.txt"), &[usize::MAX, 1]);
}

#[test]
fn the_binary_protocol_byte_by_byte() {
    let text = include_str!("sessions/binary.txt");
    for session in session::read(text) {
        // A large value is written as a repetition of seven digits.
        let is_large = |step: &Step| matches!(step, Step::Send(text) if text.contains("v*1"));
        if !session.steps.iter().any(is_large) {
            [1, 3, 24, 25].into_iter().for_each(|piece| play(&session, piece));
        }
    }
}

#[test]
fn what_hostile_clients_send() {
    play_all(include_str!("sessions/hostile.txt"), &[usize::MAX, 1400, 7]);
    play_all(include_str!("sessions/hostile_numbers.txt"), &[usize::MAX, 7]);
    play_all(include_str!("sessions/hostile_binary.txt"), &[usize::MAX, 25, 23]);
}

/// Of text and meta commands.
const TEXT: &[&str] = &[
    include_str!("sessions/get.txt"),
    include_str!("sessions/store.txt"),
    include_str!("sessions/refused.txt"),
    include_str!("sessions/meta.txt"),
    include_str!("sessions/tuning.txt"),
    include_str!("sessions/large.txt"),
    include_str!("sessions/number.txt"),
    include_str!("sessions/delete.txt"),
    include_str!("sessions/line.txt"),
    include_str!("sessions/odd.txt"),
    include_str!("sessions/time.txt"),
    include_str!("sessions/differs.txt"),
    include_str!("sessions/hostile.txt"),
    include_str!("sessions/hostile_numbers.txt"),
];

/// Of the binary protocol.
const BINARY: &[&str] = &[
    include_str!("sessions/binary.txt"),
    include_str!("sessions/binary_differs.txt"),
    include_str!("sessions/hostile_binary.txt"),
];

/// Of clients that have to log in.
const GUESTS: &[&str] = &[
    include_str!("sessions/login.txt"),
    include_str!("sessions/login_differs.txt"),
    include_str!("sessions/login_binary.txt"),
    include_str!("sessions/login_binary_own.txt"),
];

/// Plays every session with each request split in two, at every offset, and byte by byte. Requests longer than 512 bytes are
/// split near their ends only, and at fewer offsets in sessions with large values.
fn play_in_two_parts(files: &[&str], start: impl Fn() -> (Server, Connection)) {
    for session in files.iter().flat_map(|file| session::read(file)) {
        let lens: Vec<usize> = session.steps.iter().map(len_sent).collect();
        let longest = lens.iter().copied().max().unwrap_or(0);
        let is_large = lens.iter().sum::<usize>() > 5_000;
        let most = if is_large { 16 } else { 256 };
        let places = (1..longest).filter(|&at| at < most || longest - at < most);
        let by_byte = (!is_large).then_some(Arrival::Pieces(1));
        for arrival in places.map(Arrival::Parts).chain(by_byte) {
            let (server, connection) = start();
            play_on(server, connection, &session, arrival);
        }
    }
}

/// How many bytes a step sends, about.
fn len_sent(step: &Step) -> usize {
    let Step::Send(written) = step else { return 0 };
    let len = |piece| match piece {
        Piece::Bytes(bytes) => bytes.len(),
        Piece::Cas(_) | Piece::Unix(_) => 8,
    };
    session::pieces(written).into_iter().map(len).sum()
}

#[test]
fn text_in_two_parts() {
    play_in_two_parts(TEXT, || (Server::new(), Connection::default()));
    play_in_two_parts(TEXT, || (Server::new(), Connection::in_pieces()));
}

#[test]
fn frames_in_two_parts() {
    play_in_two_parts(BINARY, || (Server::new(), Connection::default()));
    play_in_two_parts(BINARY, || (Server::new(), Connection::in_pieces()));
}

#[test]
fn logins_in_two_parts() {
    play_in_two_parts(GUESTS, || (Server::with_users(), Connection::of_guest()));
}

#[test]
fn where_memcached_answers_otherwise() {
    play_all(include_str!("sessions/differs.txt"), &[usize::MAX, 1000, 97]);
}

#[test]
fn logging_in() {
    for text in GUESTS {
        let sessions = session::read(text);
        assert!(sessions.len() > 4);
        for session in &sessions {
            for piece in [usize::MAX, 1000, 25, 24, 7, 3, 2, 1] {
                let arrival = Arrival::Pieces(piece);
                play_on(Server::with_users(), Connection::of_guest(), session, arrival);
            }
        }
    }
}
