// SPDX-License-Identifier: Apache-2.0
//! What a session promises about memory, counted: a plain one allocates nothing once it has its
//! blocks, and an idle one is small.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use buffer::Pool;
use bytes::Bytes;
use session::{Fill, Flush, Session};
use std::io::{Read, Write};
use support::certificates::Files;
use support::tls_client::{Pair, VERSIONS};
use support::{tcp_pair, unix_pair};
use test_support::counting::{Counting, allocations, held};

#[global_allocator]
static ALLOCATOR: Counting = Counting::new();

#[test]
fn a_request_allocates_nothing() {
    fn serve(session: &mut Session, peer: &mut (impl Read + Write), pool: &mut Pool) {
        peer.write_all(b"get a\r\n").unwrap();
        // Over TCP the bytes may take a moment.
        let fill = loop {
            match session.fill(pool, 1).unwrap() {
                Fill::Blocked => std::thread::yield_now(),
                fill => break fill,
            }
        };
        assert_eq!(fill, Fill::Some { drained: true });
        let (recv, send) = session.buffers();
        recv.consume(recv.filled().len());
        send.lend(pool);
        send.put(b"END\r\n");
        assert_eq!(session.flush(pool).unwrap(), Flush::Done);
        session.release(pool);
        peer.read_exact(&mut [0; 5]).unwrap();
    }
    let mut pool = Pool::new(4096, 4096, 4);
    let (stream, mut peer) = unix_pair();
    let mut unix = Session::plain(stream);
    serve(&mut unix, &mut peer, &mut pool);
    let counted = allocations(|| (0..100).for_each(|_| serve(&mut unix, &mut peer, &mut pool)));
    assert_eq!(counted, 0, "over a unix socket");

    let (stream, mut peer) = tcp_pair();
    let mut tcp = Session::plain(stream);
    let counted = allocations(|| (0..100).for_each(|_| serve(&mut tcp, &mut peer, &mut pool)));
    assert_eq!(counted, 0, "over TCP");
}

#[test]
fn a_gathering_write_allocates_nothing() {
    let mut pool = Pool::new(4096, 4096, 4);
    let (stream, mut peer) = unix_pair();
    let mut session = Session::plain(stream);
    let value = Bytes::from(vec![7; 100]);
    // The thread's first count allocates its counters.
    session.buffers().1.put(b"first");
    assert_eq!(session.flush(&mut pool).unwrap(), Flush::Done);
    peer.read_exact(&mut [0; 5]).unwrap();
    let (_, send) = session.buffers();
    for _ in 0..100 {
        send.put(b"VALUE a 0 100\r\n");
        send.put_pinned(value.clone());
    }
    let total = send.pending();
    let counted = allocations(|| assert_eq!(session.flush(&mut pool).unwrap(), Flush::Done));
    assert_eq!(counted, 0);
    peer.read_exact(&mut vec![0; total]).unwrap();
}

#[test]
fn an_idle_session_is_small() {
    assert!(size_of::<Session>() <= 256, "{}", size_of::<Session>());

    let files = Files::new();
    for (name, version) in VERSIONS {
        let pair = Pair::connected(&files, version);
        let Pair { mut session, mut pool, client, socket } = pair;
        session.release(&mut pool);
        drop((client, socket, pool));
        let with = held();
        drop(session);
        let held = with.wrapping_sub(held());
        assert!(held <= 8 << 10, "TLS {name} holds {held} bytes");
    }
}
