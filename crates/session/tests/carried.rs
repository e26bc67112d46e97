// SPDX-License-Identifier: Apache-2.0
//! Sessions whose bytes a driver carries. The driver is the test: it moves bytes by hand.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use buffer::{Pool, SendBuf};
use session::{Fill, Flush, Session, TlsAcceptor};
use std::io::{self, ErrorKind, Read, Write};
use support::certificates::Files;
use support::tls_client::{Pair, VERSIONS, client_config};
use support::{pattern, unix_pair};

fn pool() -> Pool {
    Pool::new(1000, 1000, 4)
}

/// Takes what the session lets go, `most` bytes at a time, until it keeps everything.
fn sent(session: &mut Session, pool: &mut Pool, most: usize) -> Vec<u8> {
    let mut all = Vec::new();
    let mut flight = SendBuf::new();
    while session.depart(&mut flight) {
        while !flight.is_empty() {
            let n = most.min(flight.front().len());
            all.extend_from_slice(&flight.front()[..n]);
            flight.consume(n);
            session.landed(n);
        }
        flight.release(pool);
        let _ = session.flush(pool).unwrap();
    }
    all
}

#[test]
fn what_has_no_room_waits_for_fill() {
    let (stream, _client) = unix_pair();
    let (mut session, mut pool) = (Session::plain(stream), pool());
    session.carry();
    assert_eq!(session.fill(&mut pool, 1).unwrap(), Fill::Blocked);
    let bytes = pattern(2500);
    assert_eq!(session.deliver(&bytes[..900], &mut pool), 900);
    assert!(!session.has_undelivered());
    assert_eq!(session.deliver(&bytes[900..], &mut pool), 100, "the block is full");
    assert_eq!((session.undelivered(), session.recv().capacity()), (1500, 1000));
    let mut taken = Vec::new();
    loop {
        let (recv, _) = session.buffers();
        taken.extend_from_slice(recv.filled());
        recv.consume(recv.filled().len());
        if session.fill(&mut pool, 1).unwrap() == Fill::Blocked {
            break;
        }
    }
    assert!(taken == bytes);
    session.release(&mut pool);
    assert_eq!(pool.bytes(), pool.idle_bytes(), "nothing is held while it is idle");
}

#[test]
fn there_is_room_for_what_a_block_holds() {
    let (stream, _client) = unix_pair();
    let (mut session, mut pool) = (Session::plain(stream), pool());
    session.carry();
    assert_eq!(session.room(), usize::MAX, "a block comes from the pool");
    session.deliver(&[1; 600], &mut pool);
    assert_eq!(session.room(), 400);
    session.deliver(&[1; 600], &mut pool);
    session.buffers().0.consume(1000);
    assert_eq!(session.room(), 0, "some have to be fetched first");
    let _ = session.fill(&mut pool, 1).unwrap();
    assert_eq!(session.room(), 800);
}

#[test]
fn an_end_is_found_behind_what_was_delivered() {
    for is_error in [false, true] {
        let (stream, _client) = unix_pair();
        let (mut session, mut pool) = (Session::plain(stream), pool());
        session.carry();
        session.deliver(&[1; 1200], &mut pool);
        session.deliver_end(if is_error { Err(ErrorKind::ConnectionReset.into()) } else { Ok(()) });
        assert!(session.has_ended());
        session.buffers().0.consume(1000);
        let fill = session.fill(&mut pool, 1).unwrap();
        assert_eq!(fill, Fill::Some { drained: false }, "no event tells of the end");
        assert_eq!(session.recv().filled(), [1; 200]);
        match session.fill(&mut pool, 1) {
            Ok(fill) => assert_eq!((fill, is_error), (Fill::Closed, false)),
            Err(error) => {
                assert_eq!((error.kind(), is_error), (ErrorKind::ConnectionReset, true));
            }
        }
        assert_eq!(session.fill(&mut pool, 1).unwrap(), Fill::Closed);
    }
}

#[test]
fn what_the_driver_did_not_receive_is_read_from_the_socket() {
    let (stream, mut client) = unix_pair();
    let (mut session, mut pool) = (Session::plain(stream), pool());
    session.carry();
    session.deliver(&[1; 1200], &mut pool);
    client.write_all(&[2; 300]).unwrap();
    session.read_directly(true);
    session.buffers().0.consume(1000);
    let mut all = Vec::new();
    while session.fill(&mut pool, 1).unwrap() != Fill::Blocked {
        let (recv, _) = session.buffers();
        all.extend_from_slice(recv.filled());
        recv.consume(recv.filled().len());
    }
    assert_eq!(all, [&[1; 200][..], &[2; 300]].concat());
}

#[test]
fn what_departs_is_flushed_when_it_has_landed() {
    let (stream, mut client) = unix_pair();
    let (mut session, mut pool) = (Session::plain(stream), pool());
    session.carry();
    let mut flight = SendBuf::new();
    assert!(!session.depart(&mut flight), "there is nothing to send");
    session.buffers().1.put(b"first ");
    assert_eq!(session.flush(&mut pool).unwrap(), Flush::Blocked);
    assert!(session.depart(&mut flight));
    session.buffers().1.put(b"second");
    assert!(!session.depart(&mut SendBuf::new()), "one flight at a time");
    session.landed(4);
    assert_eq!(session.send().pending(), 8);
    session.landed(2);
    flight.consume(6);
    flight.release(&mut pool);
    assert!(session.has_unsent());
    assert!(session.depart(&mut flight));
    assert_eq!(flight.front(), b"second");
    session.landed(6);
    assert_eq!(session.flush(&mut pool).unwrap(), Flush::Done);
    assert!(!session.has_unsent());
    session.shutdown();
    assert_eq!(client.read(&mut [0]).unwrap(), 0, "it wrote nothing by itself");
}

#[test]
fn what_is_lost_waits_no_more() {
    let (stream, _client) = unix_pair();
    let (mut session, mut pool) = (Session::plain(stream), pool());
    session.carry();
    session.buffers().1.put(b"lost");
    assert!(session.depart(&mut SendBuf::new()));
    session.buffers().1.put(b"late");
    session.lost();
    session.discard(&mut pool);
    assert!(!session.has_unsent());
}

/// Carries bytes both ways, in pieces, until neither side has anything to say.
fn carry_all(pair: &mut Pair, piece: usize) -> io::Result<()> {
    loop {
        let flight = pair.client_flight();
        for piece in flight.chunks(piece) {
            pair.session.deliver(piece, &mut pair.pool);
        }
        while pair.session.fill(&mut pair.pool, 1)? != Fill::Blocked {}
        let _ = pair.session.flush(&mut pair.pool)?;
        let out = sent(&mut pair.session, &mut pair.pool, piece);
        if flight.is_empty() && out.is_empty() {
            return Ok(());
        }
        let mut out = &out[..];
        while !out.is_empty() {
            pair.client.read_tls(&mut out).unwrap();
            pair.client.process_new_packets().unwrap();
        }
    }
}

/// A pair of each version whose session is carried, before its handshake.
fn each_version(test: impl Fn(&mut Pair)) {
    let files = Files::new();
    let acceptor = TlsAcceptor::new(files.options()).unwrap();
    for (name, version) in VERSIONS {
        println!("TLS {name}");
        let mut pair = Pair::new(&acceptor, &client_config(&files.authority, version, None));
        pair.session.carry();
        test(&mut pair);
    }
}

#[test]
fn tls_goes_through_a_driver_however_it_cuts() {
    each_version(|pair| {
        for piece in [1, 7, 1000, 100_000] {
            carry_all(pair, piece).unwrap();
            assert!(!pair.session.is_handshaking());
            pair.client_writes(&pattern(3000));
            carry_all(pair, piece).unwrap();
            assert!(pair.take() == pattern(3000));
            pair.put(&pattern(5000));
            carry_all(pair, piece).unwrap();
            assert!(pair.client_reads() == pattern(5000));
            assert_eq!(pair.flush().unwrap(), Flush::Done);
        }
        pair.session.release(&mut pair.pool);
        assert_eq!(pair.pool.bytes(), pair.pool.idle_bytes());
    });
}

#[test]
fn tls_encrypts_a_bounded_part_ahead_of_the_driver() {
    each_version(|pair| {
        carry_all(pair, 1000).unwrap();
        pair.put(&pattern(4 << 20));
        assert_eq!(pair.flush().unwrap(), Flush::Blocked);
        let mut flight = SendBuf::new();
        assert!(pair.session.depart(&mut flight));
        assert!(flight.pending() <= 160 << 10, "{} bytes are ahead", flight.pending());
        assert!(pair.session.send().pending() > 3 << 20);
    });
}

#[test]
fn the_last_words_of_tls_are_sent() {
    each_version(|pair| {
        carry_all(pair, 1000).unwrap();
        pair.session.shutdown();
        pair.client_receives().unwrap();
        assert_eq!(pair.client.reader().read(&mut [0]).unwrap(), 0, "an end in order");
    });
    each_version(|pair| {
        pair.session.deliver(b"GET / HTTP/1.1\r\n", &mut pair.pool);
        let error = pair.session.fill(&mut pair.pool, 1).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidData);
        pair.session.shutdown();
        let mut alert = Vec::new();
        pair.socket.read_to_end(&mut alert).unwrap();
        assert_eq!(alert.first(), Some(&0x15), "the reason");
    });
}
