// SPDX-License-Identifier: Apache-2.0
//! The recorded sessions come to the same, byte for byte, however the bytes arrive.

use super::script::{self, DIFFERS, OPEN, Session, Step, UNAUTHENTICATED};
use super::toy::Connection;
use protocol_resp::Codec;
use protocol_resp::parse::Framing;

/// The conformance kit parses each sample at every length and many times over.
const SAMPLE_MAX: usize = 160;

/// Plays a session with its bytes in pieces of `piece`.
fn play(session: &Session, authenticated: bool, piece: usize) {
    let mut connection = Connection::new(authenticated);
    let mut answered = Vec::new();
    let context = format!("{} in pieces of {piece}", session.name);
    for step in &session.steps {
        match step {
            Step::Send(bytes) => answered.extend(connection.send(bytes, piece)),
            Step::Expect(expected) => {
                assert_eq!(shorten(&answered), shorten(expected), "{context}");
                assert!(answered == *expected, "{context}: a difference further on");
                answered.clear();
            }
            Step::Closed => assert!(connection.closed, "{context}: it is not closed"),
        }
    }
    assert_eq!(shorten(&answered), "", "{context}");
    assert_eq!(connection.closed, session.closes(), "{context}");
}

fn shorten(bytes: &[u8]) -> String {
    bytes[..bytes.len().min(500)].escape_ascii().to_string()
}

fn play_all(text: &str, authenticated: bool) {
    for session in script::read(text) {
        let small = session.sent().len() < 1000;
        let pieces: &[usize] =
            if small { &[usize::MAX, 7, 2, 1] } else { &[usize::MAX, 16_384, 1021] };
        for &piece in pieces {
            play(&session, authenticated, piece);
        }
    }
}

#[test]
fn recorded_sessions_come_to_the_same() {
    for file in OPEN {
        play_all(file, true);
    }
}

#[test]
fn a_client_that_has_not_authenticated_sends_little() {
    play_all(UNAUTHENTICATED, false);
}

#[test]
fn where_redis_answers_otherwise() {
    play_all(DIFFERS, true);
}

#[test]
fn the_codec_keeps_its_contract() {
    for (files, authenticated) in
        [(&[OPEN[0], OPEN[2], DIFFERS][..], true), (&[UNAUTHENTICATED], false)]
    {
        let sessions = files.iter().flat_map(|file| script::read(file));
        let mut samples: Vec<Vec<u8>> = sessions.map(|session| session.sent()).collect();
        for sample in &mut samples {
            sample.truncate(SAMPLE_MAX);
        }
        let samples: Vec<&[u8]> = samples.iter().map(Vec::as_slice).collect();
        let framing = Framing { restricted: !authenticated, ..Framing::default() };
        protocol::conformance::check(|| Codec { framing }, &samples);
    }
}
