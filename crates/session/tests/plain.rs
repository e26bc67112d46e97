// SPDX-License-Identifier: Apache-2.0
//! Sessions without TLS, over TCP and unix sockets.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use buffer::Pool;
use bytes::Bytes;
use session::{Fill, Flush, Session, Stream};
use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::thread;
use support::{Driver, pattern, tcp_pair, unix_pair};

const PLENTY: usize = 8 << 20;
const MORE: Fill = Fill::Some { drained: false };
const DRAINED: Fill = Fill::Some { drained: true };

#[test]
fn bytes_travel_both_ways() {
    fn exchange(stream: Stream, mut peer: impl Read + Write + Send + 'static) {
        let mut driver = Driver::new(Session::plain(stream));
        assert!(!driver.session.is_handshaking());
        peer.write_all(b"ping").unwrap();
        assert_eq!(driver.receive(4), b"ping");
        driver.put(b"pong");
        driver.send_all();
        let mut reply = [0; 4];
        peer.read_exact(&mut reply).unwrap();
        assert_eq!(&reply, b"pong");
    }
    let (stream, peer) = tcp_pair();
    exchange(stream, peer);
    let (stream, peer) = unix_pair();
    exchange(stream, peer);
}

#[test]
fn a_short_read_has_drained_the_socket_and_a_full_one_has_not() {
    let (stream, mut peer) = unix_pair();
    let mut session = Session::plain(stream);
    let mut pool = Pool::new(1_000, 16, 4);
    assert_eq!(session.fill(&mut pool, 1).unwrap(), Fill::Blocked);
    peer.write_all(&pattern(2_500)).unwrap();
    let mut fills = Vec::new();
    while session.recv().filled().len() < 2_500 {
        fills.push((session.fill(&mut pool, 1).unwrap(), session.recv().filled().len()));
    }
    assert_eq!(fills, [(MORE, 1_000), (MORE, 2_000), (DRAINED, 2_500)], "the block doubles");
    assert_eq!(session.recv().filled(), pattern(2_500));
    assert_eq!(session.fill(&mut pool, 1).unwrap(), Fill::Blocked);
}

#[test]
fn a_large_request_is_read_at_once_when_its_begin_has_arrived() {
    let (stream, mut peer) = unix_pair();
    let mut session = Session::plain(stream);
    let mut pool = Pool::new(1_000, 16, 4);
    peer.write_all(&pattern(5_000)).unwrap();
    assert_eq!(session.fill(&mut pool, 5_000).unwrap(), MORE);
    assert_eq!(session.recv().filled(), pattern(1_000), "a length alone allocates nothing");
    assert_eq!(session.fill(&mut pool, 4_000).unwrap(), DRAINED);
    assert_eq!(session.recv().filled(), pattern(5_000));
    peer.write_all(b"x").unwrap();
    assert_eq!(session.fill(&mut pool, 0).unwrap(), DRAINED, "no claim is no end of the stream");
}

#[test]
fn bytes_are_received_into_a_place_and_behind_it() {
    let (stream, mut peer) = unix_pair();
    let mut session = Session::plain(stream);
    let mut pool = Pool::new(1_000, 16, 4);
    let mut place = [0; 600];
    assert!(session.can_place());
    assert_eq!(session.fill_place(&mut pool, &mut place).unwrap(), (0, Fill::Blocked));
    peer.write_all(&pattern(1_000)).unwrap();
    let (n, fill) = session.fill_place(&mut pool, &mut place).unwrap();
    assert_eq!((n, fill), (600, MORE));
    let behind = session.recv().filled();
    assert!((1..400).contains(&behind.len()), "a little of what follows: {}", behind.len());
    assert_eq!([&place[..], behind].concat(), pattern(600 + behind.len()));
    assert!(!session.can_place(), "what has been read comes first");
    assert_eq!(session.fill(&mut pool, 1).unwrap(), DRAINED);
    assert_eq!(session.recv().filled(), &pattern(1_000)[600..]);
    let (recv, _) = session.buffers();
    recv.consume(400);
    peer.write_all(&pattern(10)).unwrap();
    assert_eq!(session.fill_place(&mut pool, &mut place).unwrap(), (10, DRAINED));
    assert_eq!(place[..10], pattern(10));
    drop(peer);
    assert_eq!(session.fill_place(&mut pool, &mut place).unwrap(), (0, Fill::Closed));
}

#[test]
fn a_half_closed_peer_is_still_answered() {
    let (stream, mut peer) = tcp_pair();
    let mut driver = Driver::new(Session::plain(stream));
    let client = thread::spawn(move || {
        peer.write_all(b"last request").unwrap();
        peer.shutdown(Shutdown::Write).unwrap();
        let mut reply = String::new();
        peer.read_to_string(&mut reply).unwrap();
        reply
    });
    while driver.fill().unwrap() != Fill::Closed {}
    assert_eq!(driver.session.fill(&mut driver.pool, 1).unwrap(), Fill::Closed, "it stays closed");
    assert_eq!(driver.take(), b"last request", "what arrived before the end is kept");
    driver.put(b"last reply");
    driver.send_all();
    driver.session.shutdown();
    assert_eq!(client.join().unwrap(), "last reply");
}

/// Replies of all shapes: more pieces than one gathering write takes, some small, some huge.
fn pieces(bytes: &[u8]) -> Vec<&[u8]> {
    let mut left = bytes;
    let mut pieces = Vec::new();
    let lengths = [3, 40, 1, 5000, 17, 300_000];
    for length in lengths.iter().cycle() {
        if left.is_empty() {
            return pieces;
        }
        let (piece, rest) = left.split_at(left.len().min(*length));
        pieces.push(piece);
        left = rest;
    }
    unreachable!("the lengths repeat")
}

#[test]
fn a_peer_that_does_not_read_blocks_the_flush_and_later_gets_everything() {
    for pinned in [false, true] {
        let (stream, mut peer) = tcp_pair();
        let mut driver = Driver::new(Session::plain(stream));
        let bytes = pattern(PLENTY);
        for (index, piece) in pieces(&bytes).into_iter().enumerate() {
            let (_, send) = driver.session.buffers();
            if pinned && index % 2 == 1 {
                send.put_pinned(Bytes::copy_from_slice(piece));
            } else {
                send.put(piece);
            }
        }
        assert_eq!(driver.session.flush(&mut driver.pool).unwrap(), Flush::Blocked);
        let waiting = driver.session.send().pending();
        assert!(waiting > 0 && waiting < PLENTY, "{waiting} bytes wait");
        assert_eq!(driver.session.flush(&mut driver.pool).unwrap(), Flush::Blocked, "and again");

        let client = thread::spawn(move || {
            let mut all = vec![0; PLENTY];
            peer.read_exact(&mut all).unwrap();
            all
        });
        driver.send_all();
        assert!(client.join().unwrap() == bytes, "pinned {pinned}: not what was sent");
    }
}

#[test]
fn a_peer_that_is_gone_fails_the_flush() {
    let (stream, peer) = unix_pair();
    let mut session = Session::plain(stream);
    let mut pool = Pool::new(64, 64, 4);
    drop(peer);
    session.buffers().1.put(b"nobody hears this");
    assert_eq!(session.flush(&mut pool).unwrap_err().kind(), ErrorKind::BrokenPipe);
    assert_eq!(session.fill(&mut pool, 1).unwrap(), Fill::Closed);
    session.shutdown();
}

#[test]
fn a_reset_fails_the_fill() {
    let (stream, peer) = unix_pair();
    let mut session = Session::plain(stream);
    let mut pool = Pool::new(64, 64, 4);
    session.buffers().1.put(b"unread");
    assert_eq!(session.flush(&mut pool).unwrap(), Flush::Done);
    drop(peer);
    assert_eq!(session.fill(&mut pool, 1).unwrap_err().kind(), ErrorKind::ConnectionReset);
}

#[test]
fn blocks_come_from_the_pool_and_go_back() {
    let (stream, mut peer) = unix_pair();
    let mut session = Session::plain(stream);
    let mut pool = Pool::new(100, 1000, 4);
    peer.write_all(b"hello").unwrap();
    assert_eq!(session.fill(&mut pool, 1).unwrap(), Fill::Some { drained: true });
    let (recv, send) = session.buffers();
    send.lend(&mut pool);
    send.put(recv.filled());
    assert_eq!(session.flush(&mut pool).unwrap(), Flush::Done);
    assert_eq!(session.send().capacity(), 0, "sent, so its block is back");
    session.release(&mut pool);
    assert_eq!(session.recv().capacity(), 100, "bytes wait in this one");
    session.buffers().0.consume(5);
    session.release(&mut pool);
    assert_eq!((session.recv().capacity(), pool.idle_bytes()), (0, 1100));
}

#[test]
fn peers_are_named_as_memcached_names_them() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (near, _) = listener.accept().unwrap();
    let stream = Stream::from(mio::net::TcpStream::from_std(near));
    let port = peer.local_addr().unwrap().port();
    assert_eq!(stream.peer_name(), format!("tcp:127.0.0.1:{port}"));

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("server.sock");
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let _peer = std::os::unix::net::UnixStream::connect(&path).unwrap();
    let (near, _) = listener.accept().unwrap();
    let stream = Stream::from(mio::net::UnixStream::from_std(near));
    assert_eq!(stream.peer_name(), format!("unix:{}", path.display()));
    assert_eq!(unix_pair().0.peer_name(), "unix:", "a socket pair has no name");
}

#[test]
fn an_ipv6_peer_is_named_in_brackets() {
    let Ok(listener) = TcpListener::bind("[::1]:0") else {
        return; // a machine without IPv6
    };
    let peer = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let (near, _) = listener.accept().unwrap();
    let stream = Stream::from(mio::net::TcpStream::from_std(near));
    let port = peer.local_addr().unwrap().port();
    assert_eq!(stream.peer_name(), format!("tcp6:[::1]:{port}"));
}

#[test]
fn nodelay_reaches_a_tcp_socket_and_means_nothing_to_a_unix_one() {
    let (stream, _peer) = tcp_pair();
    let Stream::Tcp(tcp) = &stream else { panic!("not TCP: {stream:?}") };
    for on in [true, false] {
        stream.set_nodelay(on).unwrap();
        assert_eq!(tcp.nodelay().unwrap(), on);
    }
    unix_pair().0.set_nodelay(true).unwrap();
}

#[test]
fn a_shutdown_ends_the_peers_input_and_not_its_output() {
    let (stream, mut peer) = unix_pair();
    let mut session = Session::plain(stream);
    session.shutdown();
    assert_eq!(peer.read(&mut [0; 8]).unwrap(), 0);
    peer.write_all(b"more").unwrap();
    let mut pool = Pool::new(64, 64, 4);
    assert_eq!(session.fill(&mut pool, 1).unwrap(), Fill::Some { drained: true });
}
