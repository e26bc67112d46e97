// SPDX-License-Identifier: Apache-2.0
//! Bounds, fairness and idle connections.

use super::*;
use crate::worker::ahead::AHEAD;
use crate::worker::tests::SENDS;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

#[test]
fn rule_bound_without_memory_a_client_that_never_reads_costs_the_mark_and_a_reply() {
    let limits = Limits { high_water: 20_000, ..Limits::default() };
    let output = Output { memory: 0, ..Output::default() };
    let mut rig = Rig::new(Options { limits, output, ..options() }, long_reply);
    let (mut deaf, mut lively) = (rig.connect(), rig.connect());
    let requests: Vec<u8> = (100..400).flat_map(|n| format!("{n}\n").into_bytes()).collect();
    deaf.write_all(&requests).unwrap();
    rig.settle();
    let pending = rig.pending(1);
    assert!((1..30_000).contains(&pending), "{pending} bytes wait");

    lively.write_all(b"x\n").unwrap();
    rig.settle();
    let mut reply = Vec::new();
    read_ready(&mut lively, &mut reply);
    assert_eq!(reply.len(), 10_000, "the others are served");
    assert_eq!(rig.pending(1), pending, "and nothing is added for the one that does not read");

    let mut all = Vec::new();
    let mut most = 0;
    while all.len() < 300 * 10_000 {
        let before = all.len();
        assert!(!read_ready(&mut deaf, &mut all), "it stays connected");
        assert!(all.len() > before, "it gets everything, and got {before} bytes");
        rig.settle();
        most = most.max(rig.pending(1));
    }
    assert!(most < 30_000, "{most} bytes waited");
    for (reply, n) in all.chunks(10_000).zip(100..) {
        assert!(reply.starts_with(format!("{n}{n}{n}").as_bytes()), "the reply to {n}, intact");
        assert_eq!(reply[9_999], b'\n');
    }
}

#[test]
fn rule_fair_a_long_pipeline_lets_others_in_between() {
    let flood = Rc::new(Cell::new(0));
    let seen = Rc::new(RefCell::new(Vec::new()));
    let service = {
        let (flood, seen) = (flood.clone(), seen.clone());
        move |line: &[u8], _: &mut SendBuf, _: &mut Context<'_>| {
            match line {
                b"f" => flood.set(flood.get() + 1),
                _ => seen.borrow_mut().push(flood.get()),
            }
            Control::Continue
        }
    };
    let limits = Limits { requests_per_turn: 10, ..Limits::default() };
    let mut rig = Rig::new(Options { limits, ..options() }, service);
    let (mut greedy, mut modest) = (rig.connect(), rig.connect());
    greedy.write_all(&b"f\n".repeat(5_000)).unwrap();
    modest.write_all(b"m\n").unwrap();
    rig.settle();
    assert_eq!(flood.get(), 5_000);
    assert!(seen.borrow()[0] <= 20, "the modest one waited for {:?} requests", seen.borrow());
}

/// Serves a connection that always has 60 KB of requests in its socket, for each that is served brings
/// another, and whose replies of `reply` bytes are read at once, beside one that sends a single
/// request. Returns how many of the flood's requests were served before it.
fn served_before_the_modest_one(request: usize, reply: usize) -> usize {
    const GIVE_UP: usize = 10_000;
    let (flood, seen) = (Rc::new(Cell::new(0)), Rc::new(Cell::new(None)));
    let source: Rc<RefCell<Option<UnixStream>>> = Rc::default();
    let service = {
        let (flood, seen, source) = (flood.clone(), seen.clone(), source.clone());
        let mut line = vec![b'f'; request - 1];
        line.push(b'\n');
        move |text: &[u8], out: &mut SendBuf, _: &mut Context<'_>| {
            if text == b"m" {
                seen.set(Some(flood.get()));
                return Control::Continue;
            }
            flood.set(flood.get() + 1);
            out.put(&vec![b'r'; reply]);
            let mut source = source.borrow_mut();
            let source = source.as_mut().unwrap();
            read_ready(source, &mut Vec::new());
            if seen.get().is_none() && flood.get() < GIVE_UP {
                source.write_all(&line).unwrap();
            }
            Control::Continue
        }
    };
    let mut rig = Rig::new(options(), service);
    let mut greedy = rig.connect();
    let mut modest = rig.connect();
    let mut first = vec![b'f'; request - 1];
    first.push(b'\n');
    greedy.write_all(&first.repeat(60_000 / request)).unwrap();
    modest.write_all(b"m\n").unwrap();
    *source.borrow_mut() = Some(greedy);
    rig.settle();
    source.borrow_mut().take();
    seen.get().expect("the modest one is served in the end")
}

#[test]
fn rule_fair_a_socket_that_never_runs_dry_lets_others_in_between() {
    let before = served_before_the_modest_one(1_000, 0);
    assert!(before <= 512, "{before} requests were served before it");
}

#[test]
fn rule_fair_a_client_that_reads_large_replies_at_once_lets_others_in_between() {
    let before = served_before_the_modest_one(10, 60_000);
    assert!(before <= 512, "{before} requests were served before it");
}

#[test]
fn rule_idle_an_idle_connection_keeps_no_buffer() {
    let mut rig = Rig::new(options(), echo);
    let mut clients: Vec<UnixStream> = (0..50).map(|_| rig.connect()).collect();
    for client in &mut clients {
        client.write_all(b"hello\n").unwrap();
    }
    rig.settle();
    for (serial, client) in (1..).zip(&mut clients) {
        let mut reply = Vec::new();
        read_ready(client, &mut reply);
        assert_eq!(reply, b"hello\n");
        let session = &rig.connection(serial).unwrap().session;
        assert_eq!((session.recv().capacity(), session.send().capacity()), (0, 0));
    }
    // A ring has the blocks of some sends until it is told of their ends.
    let sends = if rig.worker.options.engine == Engine::IoUring { SENDS } else { 1 };
    let used = AHEAD * rig.worker.options.recv_block + sends * rig.worker.options.send_block;
    assert_eq!(rig.worker.pool.idle_bytes(), used, "all took turns with the same blocks");
}

#[test]
fn rule_idle_half_a_request_keeps_its_block_until_the_client_goes() {
    let mut rig = Rig::new(options(), echo);
    let mut client = rig.connect();
    client.write_all(b"hal").unwrap();
    rig.settle();
    let recv = rig.worker.options.recv_block;
    assert_eq!(rig.connection(1).unwrap().session.recv().capacity(), recv);
    drop(client);
    rig.settle();
    assert!(rig.connection(1).is_none());
    // What is not served goes with the connection, and both blocks go back.
    assert_eq!(rig.worker.pool.idle_bytes(), recv + rig.worker.options.send_block);
}

#[test]
fn rule_batch_requests_that_come_alone_are_prefetched_together() {
    let mut rig = Rig::new(options(), echo);
    let mut clients: Vec<UnixStream> = (0..3).map(|_| rig.connect()).collect();
    rig.settle();
    for (client, line) in clients.iter_mut().zip(["a\n", "b\n", "half"]) {
        client.write_all(line.as_bytes()).unwrap();
    }
    DIARY.take();
    rig.settle();
    let expected =
        ["Index a", "Index b", "Item a", "Item b", "Value a", "Value b", "run a", "run b"];
    assert_eq!(DIARY.take(), expected);
}

#[test]
fn rule_batch_a_client_that_leaves_while_others_are_read_harms_nobody() {
    let mut rig = Rig::new(options(), echo);
    let mut clients: Vec<UnixStream> = (0..3).map(|_| rig.connect()).collect();
    rig.settle();
    for client in &mut clients {
        client.write_all(b"hello\n").unwrap();
    }
    drop(clients.remove(1));
    rig.settle();
    for client in &mut clients {
        let mut reply = Vec::new();
        read_ready(client, &mut reply);
        assert_eq!(reply, b"hello\n");
    }
    assert!(rig.connection(2).is_none(), "it is removed");
}
