// SPDX-License-Identifier: Apache-2.0
//! What is of each protocol alone: pipelines, errors, and what RESP knows of connections.

use crate::{Stage, on_every_row};

#[test]
fn pipelines_of_both_protocols_are_answered_in_order() {
    on_every_row(|stage| {
        let (mut requests, mut replies) = (Vec::new(), Vec::new());
        for n in 0..1_000 {
            let request = format!(
                "*3\r\n$3\r\nSET\r\n$4\r\n{n:04}\r\n$4\r\n{n:04}\r\nGET {n:04}\r\nGET none\r\n\
                 EXPIRE {n:04} 100\r\nTTL {n:04}\r\nFOO\r\nDEL {n:04}\r\nMGET {n:04} none\r\n"
            );
            let reply = format!(
                "+OK\r\n$4\r\n{n:04}\r\n$-1\r\n:1\r\n:100\r\n\
                 -ERR unknown command 'FOO', with args beginning with: \r\n:1\r\n\
                 *2\r\n$-1\r\n$-1\r\n"
            );
            requests.extend(request.bytes());
            replies.extend(reply.bytes());
        }
        stage.resp.ask(&requests, &replies);
        let (mut requests, mut replies) = (Vec::new(), Vec::new());
        for n in 0..1_000 {
            let request = format!("set {n:04} 1 0 4\r\n{n:04}\r\nget {n:04} none\r\nfoo\r\n");
            let reply = format!("STORED\r\nVALUE {n:04} 1 4\r\n{n:04}\r\nEND\r\nERROR\r\n");
            requests.extend(request.bytes());
            replies.extend(reply.bytes());
        }
        stage.memcache.ask(&requests, &replies);
        stage.resp("DBSIZE", ":1000");
    });
}

#[test]
fn what_is_no_request_gets_the_error_of_its_protocol() {
    on_every_row(|stage| {
        stage.memcache("get\r\n", "CLIENT_ERROR bad command line format\r\n");
        stage.resp("set k", "-ERR wrong number of arguments for 'set' command");
        stage.resp("gets k", "-ERR unknown command 'gets', with args beginning with: 'k' ");
        stage.resp("PING", "+PONG");
        stage.resp("*1\r\n!", "-ERR Protocol error: expected '$', got '!'");
        assert_eq!(stage.resp.rest(), b"");
        stage.memcache("get k\r\n", "END\r\n");
        // Clients of RESP are told by the first bytes of a connection. This one has spoken memcache.
        stage.memcache("*1\r\n", "ERROR\r\n");
    });
}

#[test]
fn clients_of_resp_see_and_close_each_other_and_leave_those_of_memcache_alone() {
    on_every_row(|stage| {
        stage.memcache("get k\r\n", "END\r\n");
        stage.resp("CLIENT SETNAME me", "+OK");
        stage.other.ask(b"CLIENT SETNAME other\r\n", b"+OK\r\n");
        let list = stage.text("CLIENT LIST");
        assert_eq!(list.len(), 2, "{list:?}");
        let other = list.iter().find(|line| line.contains(" name=other ")).unwrap();
        assert!(other.contains(" cmd=client|setname user=default redir=-1 resp=2 "), "{other}");
        let id = other.strip_prefix("id=").unwrap().split(' ').next().unwrap();
        let of_id = stage.text(&format!("CLIENT LIST ID {id}"));
        // Behind `omem` are figures that are noted at the end of a turn, after the reply has been sent.
        let settled = |line: &str| line.split(" omem=").next().map(str::to_owned);
        assert_eq!(of_id.len(), 1, "{of_id:?}");
        assert_eq!(settled(&of_id[0]), settled(other));
        let info = stage.text("CLIENT INFO");
        assert!(info[0].contains(" name=me ") && info[0].contains(" cmd=client|info "), "{info:?}");
        stage.resp(&format!("CLIENT KILL ID {id}"), ":1");
        assert_eq!(stage.other.rest(), b"");
        stage.resp("CLIENT KILL TYPE normal", ":0");
        stage.memcache("get k\r\n", "END\r\n");
        stage.resp("PING", "+PONG");
    });
}

#[test]
fn info_tells_the_truth() {
    on_every_row(|stage| {
        stage.memcache("set m 0 0 1\r\nx\r\n", "STORED\r\n");
        stage.resp("SET r x EX 1", "+OK");
        let line = |stage: &mut Stage, section: &str, name: &str| {
            let start = format!("{name}:");
            let lines = stage.text(&format!("INFO {section}"));
            let found = lines.iter().find_map(|line| line.strip_prefix(&start));
            found.unwrap_or_else(|| panic!("no {name} in {lines:?}")).to_owned()
        };
        assert_eq!(line(stage, "keyspace", "db0"), "keys=2");
        assert_eq!(line(stage, "clients", "connected_clients"), "1");
        stage.other.ask(b"PING\r\n", b"+PONG\r\n");
        assert_eq!(line(stage, "clients", "connected_clients"), "2");
        assert_eq!(line(stage, "server", "uptime_in_seconds"), "100");
        let used: u64 = line(stage, "memory", "used_memory").parse().unwrap();
        let most: u64 = line(stage, "memory", "maxmemory").parse().unwrap();
        assert!(0 < used && used <= most, "{used} of {most}");
        stage.resp("INCR m", "-ERR value is not an integer or out of range");
        stage.resp("INCR", "-ERR wrong number of arguments for 'incr' command");
        let incr = line(stage, "commandstats", "cmdstat_incr");
        let (usec, rest) = incr.strip_prefix("calls=1,usec=").unwrap().split_once(',').unwrap();
        assert!(usec.parse::<u64>().unwrap() < 10_000_000, "{incr}");
        assert!(rest.ends_with(",rejected_calls=1,failed_calls=1"), "{incr}");
        assert!(stage.text("INFO").iter().all(|line| !line.starts_with("cmdstat_")));
        let hits =
            |stage: &mut Stage| -> u64 { line(stage, "stats", "keyspace_hits").parse().unwrap() };
        // Other tests of this process count, too.
        let before = hits(stage);
        stage.resp("MGET m r none", "*3\r\n$1\r\nx\r\n$1\r\nx\r\n$-1");
        assert!(hits(stage) >= before + 2);
    });
}
