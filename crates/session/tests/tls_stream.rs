// SPDX-License-Identifier: Apache-2.0
//! What flows through TLS once the handshake is over, and how it ends.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use buffer::Pool;
use bytes::Bytes;
use rustls::{AlertDescription, Error};
use session::{Fill, Flush};
use std::io::{ErrorKind, Read, Write};
use std::net::Shutdown;
use support::certificates::Files;
use support::pattern;
use support::tls_client::{Pair, VERSIONS, reason};

const PLENTY: usize = 8 << 20;
/// What a session may encrypt ahead of the socket, as its documentation says.
const AHEAD: usize = 64 << 10;

/// Runs `test` on a connected pair of each version.
fn each_version(test: impl Fn(&mut Pair)) {
    let files = Files::new();
    for (name, version) in VERSIONS {
        println!("TLS {name}");
        test(&mut Pair::connected(&files, version));
    }
}

#[test]
fn requests_and_replies() {
    each_version(|pair| {
        assert_eq!(pair.fill().unwrap(), Fill::Blocked);
        for round in 0..3u8 {
            pair.client_writes(&[round; 100]);
            pair.client_sends();
            assert_eq!(pair.fill().unwrap(), Fill::Some { drained: true });
            assert_eq!(pair.take(), [round; 100]);
            pair.put(&[round; 200]);
            assert_eq!(pair.flush().unwrap(), Flush::Done);
            pair.client_receives().unwrap();
            assert_eq!(pair.client_reads(), [round; 200]);
        }
    });
}

#[test]
fn what_is_no_plaintext_does_not_keep_a_session_for_long() {
    const BURSTS: usize = 200;
    let files = Files::new();
    let mut pair = Pair::connected(&files, &rustls::version::TLS13);
    pair.client.set_buffer_limit(None);
    // 30 new keys and a byte, again and again: more than a read, and no more than the socket takes.
    for _ in 0..BURSTS {
        for _ in 0..30 {
            pair.client.refresh_traffic_keys().unwrap();
        }
        pair.client_writes(b"x");
    }
    pair.client_sends();
    let _ = pair.fill().unwrap();
    let first = pair.take().len();
    assert!(first < BURSTS / 2, "{first} of {BURSTS} at once");
    let mut all = first;
    while pair.fill().unwrap() != Fill::Blocked {
        all += pair.take().len();
    }
    assert_eq!(all, BURSTS);
}

#[test]
fn a_record_in_pieces_arrives_with_its_last_byte() {
    each_version(|pair| {
        pair.client_writes(&pattern(3000));
        let record = pair.client_flight();
        let (last, most) = record.split_last().unwrap();
        for piece in most.chunks(11) {
            pair.socket.write_all(piece).unwrap();
            assert_eq!(pair.fill().unwrap(), Fill::Blocked);
        }
        pair.socket.write_all(&[*last]).unwrap();
        assert_eq!(pair.fill().unwrap(), Fill::Some { drained: true });
        assert_eq!(pair.take(), pattern(3000));
    });
}

#[test]
fn plaintext_without_room_waits_in_tls_and_is_announced() {
    each_version(|pair| {
        pair.session.release(&mut pair.pool);
        pair.pool = Pool::new(64, 64, 4);
        pair.client_writes(&pattern(1000));
        pair.client_sends();
        let mut all = Vec::new();
        let mut fills = 0;
        loop {
            let fill = pair.fill().unwrap();
            all.extend(pair.take());
            fills += 1;
            if fill == (Fill::Some { drained: true }) {
                break;
            }
            assert_eq!(fill, Fill::Some { drained: false }, "after {} bytes", all.len());
        }
        assert!(all == pattern(1000), "{} bytes, not what was sent", all.len());
        assert_eq!(fills, 1000 / 64 + 1);
        assert_eq!(pair.fill().unwrap(), Fill::Blocked);
    });
}

#[test]
fn a_large_request_is_received_whole() {
    each_version(|pair| {
        let bytes = pattern(1 << 20);
        let mut all = Vec::new();
        for part in bytes.chunks(50_000) {
            pair.client_writes(part);
            pair.client_sends();
            loop {
                let fill = pair.fill().unwrap();
                all.extend(pair.take());
                if fill != (Fill::Some { drained: false }) {
                    break;
                }
            }
        }
        assert!(all == bytes, "{} bytes, not what was sent", all.len());
    });
}

#[test]
fn an_orderly_end_comes_after_the_bytes_before_it() {
    each_version(|pair| {
        pair.client_writes(b"quit");
        pair.client.send_close_notify();
        pair.client_sends();
        // The socket stays open, so no event would tell of the end: it must not be `drained`.
        assert_eq!(pair.fill().unwrap(), Fill::Some { drained: false });
        assert_eq!(pair.fill().unwrap(), Fill::Closed);
        assert_eq!(pair.fill().unwrap(), Fill::Closed, "it stays closed");
        assert_eq!(pair.take(), b"quit");
        pair.put(b"bye");
        assert_eq!(pair.flush().unwrap(), Flush::Done);
        pair.client_receives().unwrap();
        assert_eq!(pair.client_reads(), b"bye", "the other direction is open");
    });
}

#[test]
fn a_stream_that_is_cut_is_an_error_after_the_bytes_before_it() {
    each_version(|pair| {
        pair.client_writes(b"set a");
        pair.client_sends();
        pair.socket.shutdown(Shutdown::Write).unwrap();
        assert!(matches!(pair.fill().unwrap(), Fill::Some { .. }));
        let error = pair.fill().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof, "{error}");
        assert_eq!(pair.take(), b"set a");
    });
}

#[test]
fn a_cut_that_is_seen_together_with_bytes_is_reported_after_them() {
    each_version(|pair| {
        // A record as long as one read of rustls, so that the session reads again and meets the end.
        pair.client_writes(&[0; 1000]);
        let record = pair.client_flight();
        let bytes = pattern(4096 - (record.len() - 1000));
        pair.socket.write_all(&record).unwrap();
        assert_eq!(pair.fill().unwrap(), Fill::Some { drained: true });
        pair.take();
        pair.client_writes(&bytes);
        pair.client_sends();
        pair.socket.shutdown(Shutdown::Write).unwrap();
        assert_eq!(pair.fill().unwrap(), Fill::Some { drained: false });
        assert!(pair.take() == bytes);
        assert_eq!(pair.fill().unwrap_err().kind(), ErrorKind::UnexpectedEof);
    });
}

#[test]
fn a_cut_in_the_middle_of_a_record_is_an_error() {
    each_version(|pair| {
        pair.client_writes(b"set a");
        let record = pair.client_flight();
        pair.socket.write_all(&record[..record.len() / 2]).unwrap();
        pair.socket.shutdown(Shutdown::Write).unwrap();
        assert_eq!(pair.fill().unwrap_err().kind(), ErrorKind::UnexpectedEof);
        assert!(pair.session.recv().is_empty());
    });
}

#[test]
fn a_forged_record_is_answered_by_an_alert() {
    each_version(|pair| {
        pair.client_writes(b"get a\r\n");
        let mut record = pair.client_flight();
        *record.last_mut().unwrap() ^= 1;
        pair.socket.write_all(&record).unwrap();
        let error = pair.fill().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        assert_eq!(*reason(&error), Error::DecryptError);
        assert!(pair.session.recv().is_empty(), "nothing forged is let through");
        let alert = pair.client_receives().unwrap_err();
        assert_eq!(alert, Error::AlertReceived(AlertDescription::BadRecordMac));
    });
}

#[test]
fn a_client_that_does_not_read_is_bounded_and_later_gets_everything() {
    each_version(|pair| {
        let bytes = pattern(PLENTY);
        let shared = Bytes::from(bytes.clone());
        let (_, send) = pair.session.buffers();
        // Small copied pieces between large values by reference.
        let mut at = 0;
        for length in [10, 1 << 20, 200, 100_000].iter().cycle() {
            let end = PLENTY.min(at + length);
            if *length < 1000 {
                send.put(&bytes[at..end]);
            } else {
                send.put_pinned(shared.slice(at..end));
            }
            at = end;
            if at == PLENTY {
                break;
            }
        }
        assert_eq!(pair.flush().unwrap(), Flush::Blocked);
        assert_eq!(pair.flush().unwrap(), Flush::Blocked);
        let taken = PLENTY - pair.session.send().pending();
        let on_the_wire = pair.client_receives_into(&mut Vec::new());
        assert!(taken <= on_the_wire + AHEAD, "{taken} encrypted, {on_the_wire} written");
        assert!(taken > 0 && taken < PLENTY / 2, "{taken} encrypted");
    });
}

#[test]
fn backpressure_loses_nothing() {
    each_version(|pair| {
        let bytes = pattern(PLENTY);
        for (index, piece) in bytes.chunks(77_777).enumerate() {
            let (_, send) = pair.session.buffers();
            match index % 2 {
                0 => send.put(piece),
                _ => send.put_pinned(Bytes::copy_from_slice(piece)),
            }
        }
        let mut all = Vec::with_capacity(PLENTY);
        let mut blocked = 0;
        while pair.flush().unwrap() == Flush::Blocked {
            blocked += 1;
            pair.client_receives_into(&mut all);
        }
        pair.client_receives_into(&mut all);
        assert!(blocked > 1, "the socket never filled up");
        assert!(all == bytes, "{} bytes, not what was sent", all.len());
    });
}

#[test]
fn many_small_pieces_share_records() {
    each_version(|pair| {
        let bytes = pattern(6000);
        let (_, send) = pair.session.buffers();
        for (index, piece) in bytes.chunks(20).enumerate() {
            match index % 2 {
                0 => send.put(piece),
                _ => send.put_pinned(Bytes::copy_from_slice(piece)),
            }
        }
        assert_eq!(pair.flush().unwrap(), Flush::Done);
        let wire = pair.client_receives().unwrap();
        assert_eq!(pair.client_reads(), bytes);
        // 300 pieces, at most 64 to a record, of which each adds some 30 bytes.
        assert!(wire < 6000 + 10 * 40, "{wire} bytes for 6000");
    });
}

#[test]
fn a_shutdown_says_goodbye() {
    each_version(|pair| {
        pair.put(b"last");
        assert_eq!(pair.flush().unwrap(), Flush::Done);
        pair.session.shutdown();
        pair.client_receives().unwrap();
        let mut all = Vec::new();
        pair.client.reader().read_to_end(&mut all).unwrap();
        assert_eq!(all, b"last", "and then an orderly end");
        pair.session.shutdown();
    });
}

#[test]
fn a_shutdown_with_replies_left_does_not_pass_for_an_orderly_end() {
    each_version(|pair| {
        pair.put(b"never flushed");
        pair.session.shutdown();
        pair.client_receives().unwrap();
        let error = pair.client.reader().read(&mut [0; 64]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::UnexpectedEof);
    });
}

#[test]
fn a_key_update_of_the_client_goes_unnoticed() {
    let files = Files::new();
    let mut pair = Pair::connected(&files, VERSIONS[1].1);
    for _ in 0..3 {
        pair.client.refresh_traffic_keys().unwrap();
        pair.client_writes(b"before and after");
        pair.client_sends();
        assert_eq!(pair.fill().unwrap(), Fill::Some { drained: true });
        assert_eq!(pair.take(), b"before and after");
        pair.put(b"reply");
        assert_eq!(pair.flush().unwrap(), Flush::Done);
        pair.client_receives().unwrap();
        assert_eq!(pair.client_reads(), b"reply");
    }
}

#[test]
fn a_client_that_is_gone_fails_the_flush() {
    let files = Files::new();
    let Pair { mut session, mut pool, socket, .. } = Pair::connected(&files, VERSIONS[1].1);
    drop(socket);
    session.buffers().1.put(b"nobody hears this");
    assert_eq!(session.flush(&mut pool).unwrap_err().kind(), ErrorKind::BrokenPipe);
    session.shutdown();
}
