// SPDX-License-Identifier: Apache-2.0
//! Slow, hostile and broken clients: what they get, and that other clients are not affected.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use common::{Client, NEVER, PATIENCE, SOON, get, server, until};

const PARTIAL: &str = "GET /health HTTP/1.1\r\nHost: x\r\nX-Slow: ";

#[test]
fn slow_clients_hold_their_own_places_only() {
    let admin = server().connections_max(8).spawn().unwrap();
    let mut slow: Vec<_> = (0..7).map(|_| Client::connect(&admin)).collect();
    for client in &mut slow {
        client.send(PARTIAL);
    }
    assert_eq!(get(&admin, "/health").unwrap().body, "ok\n");

    // They were slow, not wrong: each is served once it goes on.
    for mut client in slow {
        client.send("done\r\n\r\n");
        assert_eq!(client.response(true).unwrap().body, "ok\n");
    }
}

#[test]
fn slow_clients_that_hold_every_place_lose_them() {
    let admin = server().connections_max(4).header_timeout(SOON).spawn().unwrap();
    let mut slow: Vec<_> = (0..4).map(|_| Client::connect(&admin)).collect();
    for client in &mut slow {
        client.try_send(PARTIAL);
    }
    until("a place is free", || get(&admin, "/health").is_some());
    for mut client in slow {
        assert_eq!(client.drain_to_end(), 0, "closed without an answer");
    }
}

#[test]
fn a_silent_client_is_closed() {
    let admin = server().header_timeout(SOON).spawn().unwrap();
    assert_eq!(Client::connect(&admin).drain_to_end(), 0);
}

#[test]
fn a_byte_now_and_then_does_not_buy_time() {
    let admin = server().header_timeout(SOON).spawn().unwrap();
    let mut client = Client::connect(&admin);
    client.try_send(PARTIAL);
    until("the dripping client is closed", || {
        client.try_send("x");
        !client.is_open()
    });
    assert_eq!(client.drain_to_end(), 0, "for its time, not for its length");
}

#[test]
fn an_idle_connection_is_closed() {
    let admin = server().idle_timeout(SOON).spawn().unwrap();
    let mut client = Client::connect(&admin);
    assert_eq!(client.request("GET", "/health").status, 200);
    assert_eq!(client.drain_to_end(), 0);
}

#[test]
fn a_client_that_never_reads_is_closed() {
    // More than the kernel's buffers on both sides take.
    let bytes = 64 << 20;
    let admin = server()
        .connections_max(1)
        .request_timeout(SOON)
        .config_text("x".repeat(bytes))
        .spawn()
        .unwrap();
    let mut stuck = Client::connect(&admin);
    stuck.send("GET /config HTTP/1.1\r\nHost: x\r\n\r\n");
    until("its place is free", || get(&admin, "/health").is_some());
    assert!(stuck.drain_to_end() < bytes, "the response was cut short");
}

#[test]
fn too_long_or_too_many_headers_are_refused() {
    let admin = server().spawn().unwrap();
    let long_value = format!("GET / HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(16 << 10));
    let long_path = format!("GET /{} HTTP/1.1\r\n\r\n", "x".repeat(16 << 10));
    let many = format!("GET / HTTP/1.1\r\n{}\r\n", "X: y\r\n".repeat(100));
    let endless = format!("GET / HTTP/1.1\r\nX: {}", "x".repeat(16 << 10));
    for request in [long_value, long_path, many, endless] {
        let mut client = Client::connect(&admin);
        client.try_send(&request);
        let response = client.response(true).expect("a refusal, not a reset");
        assert_eq!(response.status, 431, "{}", &request[..40]);
        assert!(client.ends_with_a_close());
    }
}

#[test]
fn headers_just_below_the_limit_are_fine() {
    let admin = server().spawn().unwrap();
    let mut client = Client::connect(&admin);
    client.send(format!("GET /health HTTP/1.1\r\nX: {}\r\n\r\n", "x".repeat(8000)));
    assert_eq!(client.response(true).unwrap().status, 200);
}

#[test]
fn garbage_is_refused_and_closed() {
    let admin = server().spawn().unwrap();
    let tls_hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n";
    let refused: [&[u8]; 4] = [
        tls_hello,
        b"get hello\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"GET / HTTP/1.1\r\n: y\r\n\r\n",
    ];
    for bytes in refused {
        let mut client = Client::connect(&admin);
        client.send(bytes);
        assert_eq!(client.response(true).unwrap().status, 400, "{bytes:?}");
        assert_eq!(client.drain_to_end(), 0);
    }

    let mut http2 = Client::connect(&admin);
    http2.send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
    http2.drain_to_end();
    assert_eq!(get(&admin, "/health").unwrap().status, 200);
}

#[test]
fn a_body_is_not_read() {
    let admin = server().spawn().unwrap();
    for (request, status) in [
        ("GET /health HTTP/1.1\r\nContent-Length: 1000000000\r\n\r\nabc", 200),
        ("POST /health HTTP/1.1\r\nContent-Length: 1000000000\r\n\r\nabc", 405),
        ("POST /health HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nfffffff\r\nabc", 405),
        ("POST / HTTP/1.1\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n", 405),
    ] {
        let mut client = Client::connect(&admin);
        client.send(request);
        let response = client.response(true).unwrap();
        assert_eq!(response.status, status, "{request}");
        assert_eq!(response.header("connection"), Some("close"), "{request}");
        client.finish_sending();
        assert_eq!(client.drain_to_end(), 0, "{request}");
    }
}

#[test]
fn a_peer_that_ignores_our_close_is_dropped() {
    let admin = server().connections_max(1).spawn().unwrap();
    let mut client = Client::connect(&admin);
    client.send("nonsense\r\n\r\n");
    assert_eq!(client.response(true).unwrap().status, 400);
    // It neither closes nor sends, yet its place becomes free.
    until("its place is free", || get(&admin, "/health").is_some());
}

#[test]
fn connections_are_bounded() {
    const PLACES: usize = 16;
    let admin = server().connections_max(PLACES).spawn().unwrap();
    let served: Vec<Client> = thread::scope(|scope| {
        let visit = || {
            let mut client = Client::connect(&admin);
            client.try_send("GET /health HTTP/1.1\r\nHost: x\r\n\r\n");
            client.response(true).is_some().then_some(client)
        };
        let visitors: Vec<_> = (0..200).map(|_| scope.spawn(visit)).collect();
        visitors.into_iter().filter_map(|visitor| visitor.join().unwrap()).collect()
    });
    assert_eq!(served.len(), PLACES, "each keeps its place, so nobody else gets one");
    assert!(get(&admin, "/health").is_none());
    drop(served);
    until("the places are free", || get(&admin, "/health").is_some());
}

#[test]
fn busy_clients_do_not_starve_the_tasks() {
    let (beat, beats) = mpsc::channel();
    let admin = server()
        .task(Duration::from_millis(5), move || {
            // The receiver is gone once the test has seen enough.
            let _ = beat.send(());
        })
        .spawn()
        .unwrap();
    let enough = Arc::new(AtomicBool::new(false));
    let pipeline = "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n".repeat(32);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut client = Client::connect(&admin);
                while !enough.load(Ordering::Relaxed) {
                    client.send(&pipeline);
                    (0..32).for_each(|_| assert!(client.response(true).is_some()));
                }
            });
        }
        let seen = (0..50).all(|_| beats.recv_timeout(PATIENCE).is_ok());
        enough.store(true, Ordering::Relaxed);
        assert!(seen, "the task stopped running");
    });
}

#[test]
fn timeouts_do_not_touch_quick_clients() {
    let admin = server().header_timeout(PATIENCE).idle_timeout(NEVER).spawn().unwrap();
    let mut client = Client::connect(&admin);
    for _ in 0..100 {
        assert_eq!(client.request("GET", "/health").status, 200);
    }
}
