// SPDX-License-Identifier: Apache-2.0
//! What is counted. One test only, for the counters are the whole process's.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

mod support;

use buffer::Pool;
use session::{Fill, Flush, Session, TlsAcceptor};
use std::io::Write;
use support::certificates::Files;
use support::tls_client::{Pair, VERSIONS, client_config};
use support::{pattern, unix_pair};

const NAMES: [&str; 8] = [
    "shoebill_socket_reads_total",
    "shoebill_received_bytes_total",
    "shoebill_socket_read_errors_total",
    "shoebill_socket_writes_total",
    "shoebill_sent_bytes_total",
    "shoebill_socket_write_errors_total",
    "shoebill_tls_handshakes_total{result=\"completed\"}",
    "shoebill_tls_handshakes_total{result=\"failed\"}",
];

fn counted(act: impl FnOnce()) -> [i128; 8] {
    let before = NAMES.map(|name| metrics::value(name).unwrap());
    act();
    let after = NAMES.map(|name| metrics::value(name).unwrap());
    std::array::from_fn(|i| after[i] - before[i])
}

#[test]
fn one_read_and_one_write_per_request() {
    let mut pool = Pool::new(4096, 4096, 4);
    let (stream, mut peer) = unix_pair();
    let mut session = Session::plain(stream);
    let plain = counted(|| {
        for _ in 0..3 {
            peer.write_all(b"ping\r\n").unwrap();
            assert_eq!(session.fill(&mut pool, 1).unwrap(), Fill::Some { drained: true });
            session.buffers().1.put(b"pong");
            assert_eq!(session.flush(&mut pool).unwrap(), Flush::Done);
        }
    });
    assert_eq!(plain, [3, 18, 0, 3, 12, 0, 0, 0]);
    let nothing = counted(|| {
        assert_eq!(session.fill(&mut pool, 1).unwrap(), Fill::Blocked);
        assert_eq!(session.flush(&mut pool).unwrap(), Flush::Done);
    });
    assert_eq!(nothing, [0; 8], "what moves nothing is not counted");
    drop(peer);
    let broken = counted(|| {
        session.buffers().1.put(b"pong");
        session.flush(&mut pool).unwrap_err();
        session.fill(&mut pool, 1).unwrap_err();
    });
    assert_eq!(broken, [0, 0, 1, 0, 0, 1, 0, 0]);

    let files = Files::new();
    for (name, version) in VERSIONS {
        let mut pair = None;
        let [_, _, recv_ex, _, _, send_ex, handshake, handshake_ex] = counted(|| {
            pair = Some(Pair::connected(&files, version));
        });
        assert_eq!([recv_ex, send_ex, handshake, handshake_ex], [0, 0, 1, 0], "TLS {name}");

        let mut pair = pair.unwrap();
        let [recv, recv_byte, _, send, send_byte, ..] = counted(|| {
            pair.client_writes(b"ping\r\n");
            pair.client_sends();
            assert_eq!(pair.fill().unwrap(), Fill::Some { drained: true });
            pair.put(b"pong");
            assert_eq!(pair.flush().unwrap(), Flush::Done);
        });
        assert_eq!((recv, send), (1, 1), "TLS {name}: as many system calls as in the clear");
        assert!(recv_byte > 6 && send_byte > 4, "TLS {name}: with the framing");

        pair.take();
        let large = pattern(16 << 10);
        let [recv, ..] = counted(|| {
            pair.client_writes(&large);
            pair.client_sends();
            while pair.session.recv().filled().len() < large.len() {
                assert!(matches!(pair.fill().unwrap(), Fill::Some { .. }));
            }
        });
        assert!(pair.take() == large);
        assert_eq!(recv, 2, "TLS {name}: the begin of a record tells how long it is");
    }

    let acceptor = TlsAcceptor::new(files.options()).unwrap();
    let mut pair = Pair::new(&acceptor, &client_config(&files.authority, VERSIONS[0].1, None));
    let [_, _, recv_ex, .., handshake, handshake_ex] = counted(|| {
        pair.socket.write_all(b"get a\r\n").unwrap();
        pair.fill().unwrap_err();
    });
    assert_eq!([recv_ex, handshake, handshake_ex], [1, 0, 1]);
}
