// SPDX-License-Identifier: Apache-2.0
//! Plays recorded sessions: the replies are memcached's, byte for byte, however the bytes arrive.

mod support;

use std::collections::BTreeMap;
use std::time::Duration;
use support::server::{Connection, Server};
use test_support::session::{self, Piece, Session, Step};

/// Plays a session with its bytes in pieces of `piece`.
fn play(session: &Session, piece: usize) {
    let mut server = Server::new();
    let mut connection = Connection::default();
    let mut cas = BTreeMap::new();
    let mut answered = Vec::new();
    for step in &session.steps {
        let context = || format!("{} in pieces of {piece}, at {step:?}", session.name);
        match step {
            Step::Send(written) => {
                let bytes = encode(written, &cas, &server);
                answered.extend(connection.send(&mut server, &bytes, piece));
            }
            Step::Expect(written) => {
                expect(written, &std::mem::take(&mut answered), &mut cas, &context());
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

fn encode(written: &str, cas: &BTreeMap<String, u64>, server: &Server) -> Vec<u8> {
    let mut bytes = Vec::new();
    for piece in session::pieces(written) {
        match piece {
            Piece::Bytes(more) => bytes.extend(more),
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
fn expect(written: &str, answered: &[u8], cas: &mut BTreeMap<String, u64>, context: &str) {
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
                let len = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
                let number = String::from_utf8_lossy(&rest[..len]).parse().expect("a CAS number");
                rest = &rest[len..];
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
fn time() {
    play_all(include_str!("sessions/time.txt"), &[usize::MAX, 1]);
}

#[test]
fn where_memcached_answers_otherwise() {
    play_all(include_str!("sessions/differs.txt"), &[usize::MAX, 1000, 97]);
}
