// SPDX-License-Identifier: Apache-2.0
//! A node of a cluster: the stories, and what happens when the file says something else.

use super::support::{Bench, Redis, Subject, Typed};
use protocol_resp::Version;
use protocol_resp::service::{Resp, RespService};
use std::time::Duration;
use storage_typed::TypedStore;
use test_support::story::{Server, tell};

const STORIES: &str = include_str!("stories/cluster.txt");

/// Three nodes, of which the server is the first, and a replica of it.
const NODES: &str = include_str!("cluster_nodes.conf");

/// A server that is a node of a cluster.
struct Node(Typed);

impl Subject for Node {
    type Connection = Resp;
    type Service = RespService<TypedStore>;

    fn make(workers: usize) -> (Self, Vec<Self::Service>) {
        let parameters = [("cluster-enabled", "yes"), ("cluster-require-full-coverage", "no")];
        let (typed, services) = Typed::with_parameters(workers, &parameters);
        typed.host().set_nodes(NODES.as_bytes()).expect("nodes");
        (Node(typed), services)
    }

    fn connection(&self, version: Version) -> Resp {
        self.0.connection(version)
    }

    fn check_integrity(&self) {
        self.0.check_integrity();
    }
}

#[test]
fn a_node_answers_as_told() {
    super::support::play_on::<Node>("cluster", STORIES);
}

#[test]
fn redis_server_answers_as_told() {
    for version in [Version::Resp2, Version::Resp3] {
        let Some(mut server) = Redis::start_in_cluster(version, NODES) else { return };
        // A node waits before it serves anybody after its start.
        while !format!("{:?}", server.ask(&["CLUSTER", "INFO"])).contains("cluster_state:ok") {
            std::thread::sleep(Duration::from_millis(20));
        }
        tell(&mut *server, "cluster", STORIES, version, false);
    }
}

/// The reply of a client to a command, as text.
fn reply(server: &mut Bench<Node>, client: &str) -> String {
    String::from_utf8(server.receive(client, true).expect("a reply")).expect("text")
}

fn ask(server: &mut Bench<Node>, client: &str, line: &str) -> String {
    server.send(client, line);
    reply(server, client)
}

/// The nodes, with the first's slots in place of 0-8000.
fn nodes_with(slots: &str) -> String {
    NODES.replace("0-8000", slots)
}

fn set_nodes(server: &Bench<Node>, text: &str) {
    server.subject().0.host().set_nodes(text.as_bytes()).expect("nodes");
}

/// Slots: bar 5061, {1j2} 101.
#[test]
fn keys_of_slots_that_leave_are_removed() {
    for workers in [1, 3] {
        let mut server = Bench::<Node>::with_workers(Version::Resp3, workers);
        for number in 0..500 {
            ask(&mut server, "a", &format!("SET {{bar}}{number} 1"));
            ask(&mut server, "a", &format!("SET {{1j2}}{number} 1"));
        }
        ask(&mut server, "watcher", "WATCH {bar}1");
        ask(&mut server, "waiter", "SSUBSCRIBE bar {bar}2");
        reply(&mut server, "waiter");
        server.send("blocked", "BLPOP {bar}list 0");
        set_nodes(&server, &nodes_with("0-5000"));
        assert_eq!(ask(&mut server, "a", "GET {bar}1"), "-CLUSTERDOWN Hash slot not served\r\n");
        server.pass(Duration::from_secs(1));
        assert_eq!(ask(&mut server, "a", "DBSIZE"), ":500\r\n");
        assert_eq!(reply(&mut server, "blocked"), "-CLUSTERDOWN Hash slot not served\r\n");
        let mut told = [reply(&mut server, "waiter"), reply(&mut server, "waiter")];
        told.sort();
        assert!(told[0].starts_with(">3\r\n$12\r\nsunsubscribe\r\n"), "{told:?}");
        set_nodes(&server, NODES);
        assert_eq!(ask(&mut server, "a", "GET {bar}1"), "_\r\n", "it was removed");
        assert_eq!(ask(&mut server, "a", "GET {1j2}1"), "$1\r\n1\r\n");
        // The channels are subscribed to once more, as new ones.
        let again = ask(&mut server, "waiter", "SSUBSCRIBE bar");
        assert_eq!(again, ">3\r\n$10\r\nssubscribe\r\n$3\r\nbar\r\n:1\r\n");
        assert_eq!(ask(&mut server, "a", "SPUBLISH bar x"), ":1\r\n");
        ask(&mut server, "watcher", "MULTI");
        assert_eq!(ask(&mut server, "watcher", "EXEC"), "_\r\n", "its key was removed");
    }
}

#[test]
fn a_slot_that_comes_back_keeps_what_is_written() {
    let mut server = Bench::<Node>::with_workers(Version::Resp3, 2);
    for number in 0..500 {
        ask(&mut server, "a", &format!("SET {{bar}}{number} old"));
    }
    set_nodes(&server, &nodes_with("0-5000"));
    set_nodes(&server, NODES);
    for number in 0..500 {
        ask(&mut server, "b", &format!("SET {{bar}}{number} new"));
    }
    server.pass(Duration::from_secs(1));
    assert_eq!(ask(&mut server, "a", "DBSIZE"), ":500\r\n");
    assert_eq!(ask(&mut server, "a", "GET {bar}7"), "$3\r\nnew\r\n");
}

#[test]
fn a_replica_redirects_until_the_client_reads_only() {
    let mut server = Bench::<Node>::new(Version::Resp3);
    let replica = NODES.replace("myself,", "").replace("slave a", "myself,slave a");
    set_nodes(&server, &replica);
    assert_eq!(ask(&mut server, "a", "GET bar"), "-MOVED 5061 127.0.0.1:7001\r\n");
    assert_eq!(ask(&mut server, "a", "READONLY"), "+OK\r\n");
    assert_eq!(ask(&mut server, "a", "GET bar"), "_\r\n");
    assert_eq!(ask(&mut server, "a", "SET bar 1"), "-MOVED 5061 127.0.0.1:7001\r\n");
    assert_eq!(ask(&mut server, "a", "READWRITE"), "+OK\r\n");
    assert_eq!(ask(&mut server, "a", "GET bar"), "-MOVED 5061 127.0.0.1:7001\r\n");
}

#[test]
fn a_server_that_is_no_node_sends_clients_to_the_nodes() {
    let mut server = Bench::<Node>::new(Version::Resp3);
    set_nodes(&server, &NODES.replace("myself,", ""));
    assert_eq!(ask(&mut server, "a", "GET bar"), "-MOVED 5061 127.0.0.1:7001\r\n");
    let nodes = ask(&mut server, "a", "CLUSTER NODES");
    assert!(nodes.contains(" :6379@0 myself,master - 0 0 0 connected\n"), "{nodes}");
}

#[test]
fn nodes_and_shards_are_described() {
    let mut server = Bench::<Node>::new(Version::Resp3);
    let info = ask(&mut server, "a", "CLUSTER INFO");
    for line in [
        "cluster_state:ok",
        "cluster_slots_assigned:16001",
        "cluster_slots_ok:16001",
        "cluster_slots_fail:0",
        "cluster_known_nodes:4",
        "cluster_size:3",
        "cluster_current_epoch:3",
        "cluster_my_epoch:1",
    ] {
        assert!(info.contains(&format!("{line}\r\n")), "{line} of {info}");
    }
    let shards = ask(&mut server, "a", "CLUSTER SHARDS");
    let own = "%2\r\n$5\r\nslots\r\n*2\r\n:0\r\n:8000\r\n$5\r\nnodes\r\n*2\r\n%7\r\n$2\r\nid\r\n$40\r\naaaaaaaa";
    assert!(shards.starts_with(&format!("*3\r\n{own}")), "{shards}");
    let described = "$4\r\nport\r\n:7004\r\n$2\r\nip\r\n$9\r\n127.0.0.1\r\n$8\r\nendpoint\r\n$9\r\n127.0.0.1\r\n\
                     $4\r\nrole\r\n$7\r\nreplica\r\n$18\r\nreplication-offset\r\n:0\r\n$6\r\nhealth\r\n$6\r\nonline\r\n";
    assert!(shards.contains(described), "{shards}");
    assert!(ask(&mut server, "a", "INFO cluster").contains("cluster_enabled:1\r\n"));
    assert!(ask(&mut server, "a", "INFO server").contains("redis_mode:cluster\r\n"));
    assert!(ask(&mut server, "a", "HELLO").contains("$4\r\nmode\r\n$7\r\ncluster\r\n"));
    assert!(ask(&mut server, "a", "CLIENT INFO").contains(" flags=N "));
    ask(&mut server, "a", "READONLY");
    assert!(ask(&mut server, "a", "CLIENT INFO").contains(" flags=r "));
    ask(&mut server, "a", "RESET");
    assert!(ask(&mut server, "a", "CLIENT INFO").contains(" flags=N "));
}

/// Clients of the bench connect to port 6379.
#[test]
fn clients_with_tls_are_told_the_ports_for_tls() {
    let mut server = Bench::<Node>::new(Version::Resp3);
    set_nodes(&server, &NODES.replace("@17002,b.example", "@17002,b.example,tls-port=7102"));
    assert_eq!(ask(&mut server, "a", "GET foo"), "-MOVED 12182 127.0.0.1:7002\r\n");
    server.subject().0.configure("tls-port", "6379");
    assert_eq!(ask(&mut server, "a", "GET foo"), "-MOVED 12182 127.0.0.1:7102\r\n");
    let slots = ask(&mut server, "a", "CLUSTER SLOTS");
    assert!(slots.contains(":7102\r\n") && slots.contains(":7003\r\n"), "{slots}");
    assert!(ask(&mut server, "a", "CLUSTER NODES").contains(" 127.0.0.1:7102@17002,b.example "));
}

/// All keys, each once or more, by the cursors that the node returns.
#[test]
fn a_walk_over_the_cluster_finds_all_keys_of_the_node() {
    let mut server = Bench::<Node>::with_workers(Version::Resp2, 2);
    let mut wanted = std::collections::BTreeSet::new();
    for number in 0..2000 {
        let key = format!("key:{number}");
        if ask(&mut server, "a", &format!("SET {key} 1")) == "+OK\r\n" {
            wanted.insert(key);
        }
    }
    assert!(wanted.len() > 500);
    let mut cursor = "0".to_owned();
    loop {
        let step = ask(&mut server, "a", &format!("CLUSTERSCAN {cursor}"));
        if step.starts_with('-') {
            assert!(step.starts_with("-MOVED 8001 "), "{step}");
            break;
        }
        let mut lines = step.split("\r\n").skip(2).step_by(2);
        cursor = lines.next().expect("a cursor").to_owned();
        for key in step.split("\r\n").filter(|line| line.starts_with("key:")) {
            wanted.remove(key);
        }
    }
    assert!(wanted.is_empty(), "{wanted:?}");
}
