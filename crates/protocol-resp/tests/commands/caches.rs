// SPDX-License-Identifier: Apache-2.0
//! Caches of clients (CLIENT TRACKING): what is counted, and what is bounded. The stories of `tracking.txt`
//! are about single keys.

use super::support::Ours;
use protocol_resp::Version;
use protocol_resp::client::{self, Value};
use std::time::Duration;
use test_support::story::Server;

/// Numbers of INFO that begin with `tracking_`, in order.
fn tracked(ours: &mut Ours) -> [u64; 4] {
    let reply = ours.ask(&["INFO"]);
    let text = String::from_utf8(reply.as_bytes().expect("a text").to_vec()).expect("ASCII");
    ["clients", "total_keys", "total_items", "total_prefixes"].map(|name| {
        let start = format!("tracking_{name}:");
        let line = text.lines().find_map(|line| line.strip_prefix(&start)).expect("a line");
        line.parse().expect("a number")
    })
}

/// All that a client has got.
fn received(ours: &mut Ours, client: &str) -> Vec<Value> {
    let mut all = Vec::new();
    while let Some(reply) = ours.receive(client, false) {
        all.push(client::parse(&reply).expect("RESP").expect("a whole reply").0.into());
    }
    all
}

/// How many keys each of the messages among them names.
fn keys_of(replies: &[Value]) -> Vec<usize> {
    let keys = |reply: &Value| match reply {
        Value::Push(parts) => parts.last().and_then(Value::as_items).map(<[Value]>::len),
        _ => None,
    };
    replies.iter().filter_map(keys).collect()
}

fn line(command: &str, keys: usize) -> String {
    let keys = (0..keys).map(|number| format!(" key:{number}"));
    keys.fold(command.to_owned(), |line, key| line + &key)
}

#[test]
fn what_is_tracked_is_counted() {
    let mut ours = Ours::with_workers(Version::Resp3, 2);
    for client in ["a", "b", "c"] {
        ours.send(client, "CLIENT TRACKING ON");
    }
    ours.send("a", "MGET x y z");
    ours.send("b", "MGET x y");
    ours.send("b", "GET x");
    ours.send("d", "CLIENT TRACKING ON BCAST PREFIX p: PREFIX q:");
    ours.send("e", "CLIENT TRACKING ON BCAST PREFIX p:");
    assert_eq!(tracked(&mut ours), [5, 3, 5, 2]);
    ours.ask(&["MSET", "x", "1", "z", "1"]);
    assert_eq!(tracked(&mut ours), [5, 1, 2, 2]);
    ours.leave("e");
    ours.send("d", "RESET");
    assert_eq!(tracked(&mut ours), [3, 1, 2, 0]);
    ours.ask(&["FLUSHALL"]);
    assert_eq!(tracked(&mut ours), [3, 0, 0, 0]);
    ours.send("a", "GET x");
    for client in ["a", "b", "c"] {
        ours.send(client, "CLIENT TRACKING OFF");
    }
    assert_eq!(tracked(&mut ours), [0, 0, 0, 0]);
}

#[test]
fn a_client_is_told_of_each_key_that_the_table_has_no_place_for() {
    let mut ours = Ours::with_workers(Version::Resp3, 2);
    ours.ask(&["CONFIG", "SET", "tracking-table-max-keys", "10"]);
    ours.send("a", "CLIENT TRACKING ON");
    received(&mut ours, "a");
    for number in 0..1000 {
        ours.send("a", &format!("GET key:{number}"));
    }
    ours.send("a", &line("MGET", 500));
    assert_eq!(tracked(&mut ours)[1], 10);
    let dropped = keys_of(&received(&mut ours, "a"));
    assert!(dropped.len() >= 990 && dropped.iter().all(|keys| *keys == 1), "{}", dropped.len());
    ours.ask(&["CONFIG", "SET", "tracking-table-max-keys", "1"]);
    assert_eq!(tracked(&mut ours)[1], 1);
    assert_eq!(keys_of(&received(&mut ours, "a")).len(), 9);
    ours.ask(&["CONFIG", "SET", "tracking-table-max-keys", "0"]);
    // All of them: which one is still in the table is left to chance.
    ours.send("a", &line("MGET", 1000));
    assert_eq!((tracked(&mut ours)[1], keys_of(&received(&mut ours, "a"))), (1000, vec![]));
}

#[test]
fn a_message_to_those_who_track_prefixes_has_a_bounded_number_of_keys() {
    let mut ours = Ours::with_workers(Version::Resp3, 2);
    ours.send("a", "CLIENT TRACKING ON BCAST PREFIX key:");
    ours.ask(&["SET", "other", "1"]);
    let pairs: Vec<String> =
        (0..2500).flat_map(|key| [format!("key:{key}"), key.to_string()]).collect();
    ours.ask(&[vec!["MSET".to_owned()], pairs].concat());
    assert_eq!(keys_of(&received(&mut ours, "a")), [1024, 1024, 452]);
}

#[test]
fn clients_that_have_ended_are_swept_out() {
    let mut ours = Ours::with_workers(Version::Resp3, 2);
    for client in ["stays", "leaves", "turns"] {
        ours.send(client, "CLIENT TRACKING ON");
        ours.send(client, &line("MGET", 2000));
    }
    ours.send("stays", "GET other");
    ours.leave("leaves");
    ours.pass(Duration::ZERO);
    assert_eq!(tracked(&mut ours), [2, 2001, 4001, 0]);
    ours.send("turns", "CLIENT TRACKING OFF");
    ours.pass(Duration::ZERO);
    assert_eq!(tracked(&mut ours), [1, 2001, 2001, 0]);
    ours.leave("stays");
    assert_eq!(tracked(&mut ours), [0, 0, 0, 0]);
}
