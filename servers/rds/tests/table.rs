// SPDX-License-Identifier: Apache-2.0
//! The whole server inside the test, with one worker and two, over every transport: bytes in, bytes
//! out. The replies of commands are tested elsewhere; these tests are about the effects of connections on
//! each other.
#![allow(clippy::unwrap_used, reason = "a test fails by it")]

use keyspace::Keyspace;
use protocol_resp::service::{Host, RespService};
use server::{Limits, Options, Process};
use std::sync::Arc;
use storage_typed::TypedStore;
use test_support::client::Client;
use test_support::table::{Row, on_every_row, options};
use test_support::wait_until;

/// Spawns what `main` wires, over an empty keyspace.
fn spawn(row: &Row) -> (Process, TypedStore) {
    let store = TypedStore::builder().shards(16).databases(4).build();
    let host = Arc::new(Host::new(store.databases()));
    let (connections, keys) = (Arc::clone(&host), store.clone());
    let limits = Limits { request_bytes: 64 << 20, ..Limits::default() };
    let process = row.builder().options(Options { limits, ..options() }).spawn(
        move |_| connections.connection(),
        move |_| RespService::new(keys.clone(), Arc::clone(&host)),
    );
    (process.unwrap(), store)
}

/// Tells a story to a server with as many clients; all keys must be in order afterwards.
fn with_clients<const N: usize>(story: impl Fn([Client; N])) {
    on_every_row(|row| {
        let (process, store) = spawn(row);
        story(std::array::from_fn(|_| row.connect(&process)));
        process.stop().unwrap();
        store.check_integrity();
    });
}

/// The reply to a request, each written as a line without its end.
fn ask(client: &mut Client, request: &str, reply: &str) {
    client.ask(format!("{request}\r\n").as_bytes(), lines(reply).as_bytes());
}

/// What comes by itself.
fn expect(client: &mut Client, reply: &str) {
    client.expect(lines(reply).as_bytes());
}

fn lines(text: &str) -> String {
    format!("{}\r\n", text.replace('|', "\r\n"))
}

#[test]
fn a_pipeline_is_answered_in_order() {
    with_clients(|[mut client]| {
        let requests: String = (0..500).map(|n| format!("SET k{n} {n}\r\nGET k{n}\r\n")).collect();
        let reply = |n: usize| format!("+OK\r\n${}\r\n{n}\r\n", n.to_string().len());
        let replies: String = (0..500).map(reply).collect();
        client.send(requests.as_bytes());
        client.expect(replies.as_bytes());
        ask(&mut client, "DBSIZE", ":500");
    });
}

#[test]
fn large_values_go_in_and_out() {
    with_clients(|[mut one, mut other]| {
        let value = "0123456789abcdef".repeat(200_000);
        let bulk = format!("${}\r\n{value}\r\n", value.len());
        let set = format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n{bulk}");
        one.ask(set.as_bytes(), b"+OK\r\n");
        one.ask(b"GET k\r\n", bulk.as_bytes());
        other.send(b"GET k\r\nSTRLEN k\r\n");
        one.ask(b"DEL k\r\n", b":1\r\n");
        // It was asked for before it went, or after: it is whole or not there.
        let first = other.take(2);
        if first == b"$-" {
            other.expect(b"1\r\n:0\r\n");
        } else {
            other.expect(&bulk.as_bytes()[2..]);
            let len = other.take(2);
            assert!(len == b":3" || len == b":0", "{len:?}");
        }
    });
}

#[test]
fn messages_reach_subscribers_on_any_worker() {
    with_clients(|[mut a, mut b, mut publisher]| {
        ask(&mut a, "SUBSCRIBE news", "*3|$9|subscribe|$4|news|:1");
        ask(&mut b, "PSUBSCRIBE n*", "*3|$10|psubscribe|$2|n*|:1");
        ask(&mut publisher, "PUBLISH news hello", ":2");
        expect(&mut a, "*3|$7|message|$4|news|$5|hello");
        expect(&mut b, "*4|$8|pmessage|$2|n*|$4|news|$5|hello");
        ask(&mut a, "PING", "*2|$4|pong|$0|");
        ask(&mut a, "UNSUBSCRIBE", "*3|$11|unsubscribe|$4|news|:0");
        ask(&mut publisher, "PUBLISH news again", ":1");
        ask(&mut a, "PING", "+PONG");
    });
}

/// Returns when as many clients wait, as `client` is told.
fn await_blocked(client: &mut Client, count: usize) {
    let line = format!("blocked_clients:{count}\r\n");
    wait_until("they wait", || {
        client.send(b"INFO clients\r\n");
        let len: usize = client.line()[1..].parse().unwrap();
        let info = String::from_utf8(client.take(len + 2)).unwrap();
        info.contains(&line)
    });
}

#[test]
fn who_waits_is_served_from_any_worker() {
    with_clients(|[mut first, mut second, mut giver]| {
        first.send(b"BLPOP list other 0\r\n");
        await_blocked(&mut giver, 1);
        second.send(b"BRPOP list 0\r\nPING\r\n");
        await_blocked(&mut giver, 2);
        ask(&mut giver, "RPUSH list x y z", ":3");
        expect(&mut first, "*2|$4|list|$1|x");
        expect(&mut second, "*2|$4|list|$1|z|+PONG");
        ask(&mut giver, "LRANGE list 0 -1", "*1|$1|y");
    });
}

#[test]
fn elements_go_through_those_who_wait_on_all_workers() {
    with_clients(|[mut a, mut b, mut c, mut d, mut giver]| {
        let lines = ["BLMOVE p q LEFT RIGHT 0", "BRPOPLPUSH q r 0", "BLPOP r 0", "BZPOPMIN s 0"];
        for (at, client) in [&mut a, &mut b, &mut c, &mut d].into_iter().enumerate() {
            client.send(format!("{}\r\n", lines[at]).as_bytes());
            await_blocked(&mut giver, at + 1);
        }
        ask(&mut giver, "MULTI", "+OK");
        ask(&mut giver, "ZADD s 5 m", "+QUEUED");
        ask(&mut giver, "RPUSH p x", "+QUEUED");
        ask(&mut giver, "EXEC", "*2|:1|:1");
        expect(&mut a, "$1|x");
        expect(&mut b, "$1|x");
        expect(&mut c, "*2|$1|r|$1|x");
        expect(&mut d, "*3|$1|s|$1|m|$1|5");
        ask(&mut giver, "DBSIZE", ":0");
    });
}

#[test]
fn who_leaves_waits_no_more() {
    with_clients(|[mut a, mut b, mut last, mut giver]| {
        a.send(b"BLPOP list 0\r\n");
        await_blocked(&mut giver, 1);
        b.send(b"BLMOVE list other LEFT RIGHT 0\r\n");
        await_blocked(&mut giver, 2);
        last.send(b"BLPOP list 0\r\n");
        await_blocked(&mut giver, 3);
        drop((a, b));
        await_blocked(&mut giver, 1);
        ask(&mut giver, "RPUSH list x", ":1");
        expect(&mut last, "*2|$4|list|$1|x");
        ask(&mut giver, "DBSIZE", ":0");
    });
}

/// The number that the server knows a client by.
fn id(client: &mut Client) -> String {
    client.send(b"CLIENT ID\r\n");
    let mut reply = Vec::new();
    while !reply.ends_with(b"\r\n") {
        reply.extend(client.take(1));
    }
    std::str::from_utf8(&reply[1..reply.len() - 2]).unwrap().to_owned()
}

#[test]
fn who_came_first_is_served_first_whatever_becomes_of_the_others() {
    /// Ways to wait for an element of a list, and the reply to each.
    const WAYS: [(&str, &str); 4] = [
        ("BLPOP queue other 0", "*2|$5|queue|$1|{}"),
        ("BLMPOP 0 1 queue LEFT", "*2|$5|queue|*1|$1|{}"),
        ("BLMOVE queue done LEFT RIGHT 0", "$1|{}"),
        ("BLPOP other queue 0", "*2|$5|queue|$1|{}"),
    ];
    with_clients(|clients: [Client; 13]| {
        let mut clients = Vec::from(clients);
        let mut giver = clients.pop().unwrap();
        let ids: Vec<String> = clients.iter_mut().map(id).collect();
        for (at, client) in clients.iter_mut().enumerate() {
            client.send(format!("{}\r\n", WAYS[at % 4].0).as_bytes());
            await_blocked(&mut giver, at + 1);
        }
        let mut waiting: Vec<_> = clients.into_iter().enumerate().collect();
        // One is told to stop, another that something is wrong; then one leaves.
        let (_, mut told) = waiting.remove(9);
        ask(&mut giver, &format!("CLIENT UNBLOCK {} ERROR", ids[9]), ":1");
        expect(&mut told, "-UNBLOCKED client unblocked via CLIENT UNBLOCK");
        let (_, mut told) = waiting.remove(4);
        ask(&mut giver, &format!("CLIENT UNBLOCK {} TIMEOUT", ids[4]), ":1");
        expect(&mut told, "*-1");
        drop(waiting.remove(1));
        await_blocked(&mut giver, waiting.len());
        // One by one, several at once, and in a transaction.
        ask(&mut giver, "RPUSH queue 0", ":1");
        ask(&mut giver, "RPUSH queue 1 2 3", ":3");
        ask(&mut giver, "MULTI", "+OK");
        ask(&mut giver, "RPUSH queue 4", "+QUEUED");
        ask(&mut giver, "BLPOP none 0", "+QUEUED");
        ask(&mut giver, "RPUSH queue 5 6", "+QUEUED");
        ask(&mut giver, "EXEC", "*3|:1|*-1|:3");
        ask(&mut giver, "RPUSH queue 7", ":1");
        ask(&mut giver, "RPUSH queue 8 9", ":2");
        for (number, (at, client)) in waiting.iter_mut().enumerate() {
            expect(client, &WAYS[*at % 4].1.replace("{}", &number.to_string()));
        }
        ask(&mut giver, "LRANGE queue 0 -1", "*1|$1|9");
    });
}

#[test]
fn a_wait_ends_in_time() {
    with_clients(|[mut a, mut b]| {
        a.send(b"BLPOP list 0.05\r\nPING\r\n");
        b.send(b"BZMPOP 0.05 1 set MIN\r\nPING\r\n");
        expect(&mut a, "*-1|+PONG");
        expect(&mut b, "*-1|+PONG");
        ask(&mut a, "RPUSH list x", ":1");
        ask(&mut a, "BLPOP list 0.05", "*2|$4|list|$1|x");
    });
}

#[test]
fn a_transaction_sees_what_others_do_to_watched_keys() {
    with_clients(|[mut a, mut b]| {
        ask(&mut a, "WATCH key", "+OK");
        ask(&mut b, "SET key 1", "+OK");
        ask(&mut a, "MULTI", "+OK");
        ask(&mut a, "INCR key", "+QUEUED");
        ask(&mut a, "EXEC", "*-1");
        ask(&mut b, "MULTI", "+OK");
        ask(&mut b, "INCR key", "+QUEUED");
        ask(&mut a, "GET key", "$1|1");
        ask(&mut b, "EXEC", "*1|:2");
        ask(&mut a, "GET key", "$1|2");
    });
}

#[test]
fn clients_end_each_other() {
    with_clients(|[mut a, mut b]| {
        ask(&mut b, "CLIENT SETNAME victim", "+OK");
        let id = id(&mut b);
        ask(&mut a, &format!("CLIENT KILL ID {id}"), ":1");
        assert_eq!(b.rest(), b"");
        ask(&mut a, &format!("CLIENT KILL ID {id}"), ":0");
    });
}

#[test]
fn nonsense_ends_a_connection_and_no_other() {
    with_clients(|[mut a, mut b]| {
        a.send(b"*1\r\n$x\r\n");
        assert_eq!(a.rest(), b"-ERR Protocol error: invalid bulk length\r\n");
        ask(&mut b, "PING", "+PONG");
    });
}
