// SPDX-License-Identifier: Apache-2.0
//! Tests of files of nodes.

use super::super::topology::Topology;
use super::*;

const A: &str = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
const B: &str = "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb";
const C: &str = "cccccccccccccccccccccccccccccccccccccccc";

/// The text with the names of nodes for A, B and C.
fn named(text: &str) -> String {
    text.replace('A', A).replace('B', B).replace('C', C)
}

fn problem(text: &str) -> String {
    Topology::read(named(text).as_bytes()).expect_err(text)
}

#[test]
fn what_redis_writes_is_read() {
    let text = named(
        "# a comment\n\
         A 10.0.0.1:6379@16379,a.example,shard-id=C,nodename=one,tls-port=6380 myself,master - 0 0 7 connected 0-99 200 [99->-B] [300-<-B]\n\
         B ::1:6379@16379 master - 1 2 3 connected 300-16383\r\n\
         \n\
         C 10.0.0.3:0@0 slave,fail?,nofailover A 0 0 7 disconnected\n\
         vars currentEpoch 9 lastVoteEpoch 0\n",
    );
    let topology = Topology::read(text.as_bytes()).unwrap();
    let [a, b, c] = topology.nodes() else { panic!("three nodes") };
    assert_eq!((&*a.ip, a.port, a.tls_port, a.bus_port), ("10.0.0.1", 6379, 6380, 16_379));
    assert_eq!((&*a.hostname, &*a.nodename, &*a.shard), ("a.example", "one", C));
    assert_eq!((&*b.ip, b.seen, b.epoch), ("::1", [1, 2], 3));
    assert_eq!((c.primary, c.health, c.no_failover), (Some(0), Health::Suspected, true));
    assert!(!c.is_connected);
    assert_eq!(topology.epoch(), 9);
    assert_eq!(topology.slots_of(0), [(0, 99), (200, 200)]);
    assert_eq!(topology.moving(99), Some(Move::To(1)));
    assert_eq!(topology.moving(300), Some(Move::From(1)));
    assert_eq!((topology.shard_of(2), topology.shard_of(1)), (C, B));
    assert!(topology.is_mine(99) && !topology.is_mine(300) && topology.may_hold(300));
    assert!(!topology.is_whole(), "slots 100 to 199 have no owner");
    assert_eq!(topology.size(), 2);
    assert_eq!(
        topology.to_text(),
        named(
            "A 10.0.0.1:6379@16379,a.example myself,master - 0 0 7 connected 0-99 200 [99->-B] [300-<-B]\n\
             B ::1:6379@16379 master - 1 2 3 connected 300-16383\n\
             C 10.0.0.3:0@0 slave,fail?,nofailover A 0 0 7 disconnected\n"
        )
    );
}

#[test]
fn a_node_that_speaks_tls_to_others_writes_its_port_for_tls_first() {
    let text = named("A 10.0.0.1:6380@16380,,tcp-port=6379 master - 0 0 1 connected");
    let topology = Topology::read(text.as_bytes()).unwrap();
    assert_eq!((topology.nodes()[0].port, topology.nodes()[0].tls_port), (6379, 6380));
}

#[test]
fn what_is_wrong_is_told_with_its_line() {
    for (text, expected) in [
        (
            "x 1.2.3.4:1@1 master - 0 0 1 connected",
            "line 1: the name of a node has 40 letters and digits",
        ),
        ("\nA", "line 2: there is no address"),
        ("A 1.2.3.4 master - 0 0 1 connected", "line 1: an address is ip:port@bus-port,hostname"),
        ("A 1.2.3.4:70000@1 master - 0 0 1 connected", "line 1: \"70000\" is no number that fits"),
        (
            "A 1.2.3.4:1@1,\u{e9} master - 0 0 1 connected",
            "line 1: \"\u{e9}\" is no address or name",
        ),
        ("A :1@1 boss - 0 0 1 connected", "line 1: \"boss\" is no flag"),
        ("A :1@1 master - 0 0 x connected", "line 1: \"x\" is no number that fits"),
        ("A :1@1 master - 0 0 1 up", "line 1: the link state is connected or disconnected"),
        ("A :1@1 master - 0 0 1 connected 16384", "line 1: \"16384\" is no slot"),
        ("A :1@1 master - 0 0 1 connected 5-1", "line 1: the range 5-1 ends before it begins"),
        (
            "A :1@1 master - 0 0 1 connected [1]",
            "line 1: a slot that moves is [slot->-id] or [slot-<-id]",
        ),
        ("A :1@1 master - 0 0 1 connected [1->-zz]", "line 1: there is no node \"zz\""),
        ("A :1@1 slave zz 0 0 1 connected", "line 1: there is no node \"zz\""),
        ("vars currentEpoch", "line 1: \"currentEpoch\" has no value"),
    ] {
        assert_eq!(problem(text), expected, "{text}");
    }
    let a = "A :1@1 master - 0 0 1 connected";
    assert_eq!(problem(&format!("{a}\n{a}")), "line 2: this node is there twice");
    let both = format!("{a} 0-5\nB :2@2 master - 0 0 1 connected 5");
    assert_eq!(problem(&both), "line 2: slot 5 has two owners");
    let chain = format!("{a}\nB :2@2 slave A 0 0 1 connected\nC :3@3 slave B 0 0 1 connected");
    assert_eq!(problem(&chain), "line 3: its primary is a replica itself");
    assert_eq!(
        problem(&format!("{a}\nB :2@2 slave A 0 0 1 connected 1")),
        "line 2: a replica has no slots of its own"
    );
    assert_eq!(
        problem("A :1@1 myself,master - 0 0 1 connected\nB :2@2 myself,master - 0 0 1 connected"),
        "line 2: two nodes have the flag myself"
    );
    assert_eq!(Topology::read(b"\xff").unwrap_err(), "it is not text");
    let long = problem(&format!("vars {}", "n".repeat(1_000)));
    assert_eq!(long, format!("line 1: \"{}\" has no value", "n".repeat(40)));
}
