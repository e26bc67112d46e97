// SPDX-License-Identifier: Apache-2.0
//! Value, flags, expiry and version of an item are one, whichever protocol writes them.

use crate::{START_S, VALUE_MAX, on_every_row};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn what_memcache_writes_resp_reads() {
    on_every_row(|stage| {
        stage.memcache("set k 7 100 5\r\nhello\r\n", "STORED\r\n");
        stage.resp("GET k", "$5\r\nhello");
        stage.resp("TTL k", ":100");
        stage.resp("PTTL k", ":100000");
        stage.resp("EXPIRETIME k", &format!(":{}", START_S + 200));
        stage.resp("STRLEN k", ":5");
        stage.resp("TYPE k", "+string");
        stage.memcache("append k 0 0 1\r\n!\r\n", "STORED\r\n");
        stage.resp("GETRANGE k 4 -1", "$2\r\no!");
        stage.memcache("touch k 50\r\n", "TOUCHED\r\n");
        stage.resp("TTL k", ":50");
        stage.memcache("touch k 0\r\n", "TOUCHED\r\n");
        stage.resp("TTL k", ":-1");
        stage.memcache("add k 0 0 1\r\nx\r\n", "NOT_STORED\r\n");
        stage.memcache("delete k\r\n", "DELETED\r\n");
        stage.resp("GET k", "$-1");
        // A unix time, and one that is past.
        stage.memcache(&format!("set k 0 {} 1\r\nx\r\n", START_S + 500), "STORED\r\n");
        stage.resp("EXPIRETIME k", &format!(":{}", START_S + 500));
        stage.memcache("set k 0 -1 1\r\nx\r\n", "STORED\r\n");
        stage.resp("EXISTS k", ":0");
    });
}

#[test]
fn what_resp_writes_memcache_reads() {
    on_every_row(|stage| {
        stage.resp("SET k hello EX 100", "+OK");
        stage.memcache("get k\r\n", "VALUE k 0 5\r\nhello\r\nEND\r\n");
        stage.memcache("add k 0 0 1\r\nx\r\n", "NOT_STORED\r\n");
        stage.resp("MSET a 1 b 2", "+OK");
        stage.memcache("get a k b\r\n", {
            "VALUE a 0 1\r\n1\r\nVALUE k 0 5\r\nhello\r\nVALUE b 0 1\r\n2\r\nEND\r\n"
        });
        stage.resp("DEL a k", ":2");
        stage.memcache("get a k\r\n", "END\r\n");
        stage.resp("SETNX a x", ":1");
        stage.memcache("replace a 3 0 1\r\ny\r\n", "STORED\r\n");
        stage.resp("SETNX a z", ":0");
        stage.resp("SET a z XX GET", "$1\r\ny");
        stage.memcache("get a\r\n", "VALUE a 0 1\r\nz\r\nEND\r\n");
        stage.resp("FLUSHALL", "+OK");
        stage.memcache("get a b\r\n", "END\r\n");
        stage.memcache("set a 0 0 1\r\nx\r\n", "STORED\r\n");
        stage.memcache("flush_all\r\n", "OK\r\n");
        stage.resp("GET a", "$-1");
    });
}

#[test]
fn an_expiry_is_one_moment_whoever_sets_it() {
    on_every_row(|stage| {
        stage.memcache("set m 0 10 1\r\nx\r\n", "STORED\r\n");
        stage.resp("SET r x EX 10", "+OK");
        stage.resp(&format!("SET at x EXAT {}", START_S + 110), "+OK");
        stage.memcache("set both 0 0 1\r\nx\r\n", "STORED\r\n");
        stage.resp("PEXPIRE both 10000", ":1");
        stage.pass(10 * SECOND - Duration::from_millis(1));
        let all =
            "VALUE m 0 1\r\nx\r\nVALUE r 0 1\r\nx\r\nVALUE at 0 1\r\nx\r\nVALUE both 0 1\r\nx\r\n";
        stage.memcache("get m r at both\r\n", &format!("{all}END\r\n"));
        stage.resp("EXISTS m r at both", ":4");
        stage.pass(Duration::from_millis(1));
        stage.memcache("get m r at both\r\n", "END\r\n");
        stage.resp("EXISTS m r at both", ":0");

        stage.resp("SET k x EX 10", "+OK");
        stage.memcache("gat 20 k\r\n", "VALUE k 0 1\r\nx\r\nEND\r\n");
        stage.resp("TTL k", ":20");
        stage.resp("PERSIST k", ":1");
        stage.pass(100 * SECOND);
        stage.memcache("get k\r\n", "VALUE k 0 1\r\nx\r\nEND\r\n");
    });
}

#[test]
fn flags_stay_with_an_item_that_resp_changes_and_go_when_it_is_stored_anew() {
    on_every_row(|stage| {
        let mut changes = |set: &str, request: &str, reply: &str, flags: u32, value: &str| {
            stage.memcache(&format!("set k 42 100 {}\r\n{set}\r\n", set.len()), "STORED\r\n");
            let before = stage.cas("k", 42, set);
            stage.resp(request, reply);
            let after = stage.cas("k", flags, value);
            assert_eq!(before == after, set == value, "{request}: the version");
            let ttl = if flags == 42 { ":100" } else { ":-1" };
            stage.resp("TTL k", ttl);
        };
        changes("10", "INCR k", ":11", 42, "11");
        changes("10", "DECRBY k 20", ":-10", 42, "-10");
        changes("1.5", "INCRBYFLOAT k 1", "$3\r\n2.5", 42, "2.5");
        changes("a", "APPEND k b", ":2", 42, "ab");
        changes("abc", "SETRANGE k 1 xyz", ":4", 42, "axyz");
        changes("a", "GETEX k EX 100", "$1\r\na", 42, "a");
        changes("a", "EXPIRE k 100", ":1", 42, "a");
        changes("a", "SET k b", "+OK", 0, "b");
        changes("a", "SET k b GET", "$1\r\na", 0, "b");
        changes("a", "GETSET k b", "$1\r\na", 0, "b");
        changes("a", "MSET k b", "+OK", 0, "b");
    });
}

#[test]
fn a_write_of_resp_makes_a_new_version() {
    on_every_row(|stage| {
        stage.memcache("set k 0 0 1\r\n1\r\n", "STORED\r\n");
        let mut seen = vec![stage.cas("k", 0, "1")];
        let writes = [
            ("INCR k", ":2", "2"),
            ("APPEND k 0", ":2", "20"),
            ("SETRANGE k 0 3", ":2", "30"),
            ("INCRBYFLOAT k 0.5", "$4\r\n30.5", "30.5"),
            // The same value again is a write, too.
            ("SET k 30.5", "+OK", "30.5"),
            ("SET k 7 KEEPTTL", "+OK", "7"),
            ("DECR k", ":6", "6"),
        ];
        for (request, reply, value) in writes {
            stage.resp(request, reply);
            let number = stage.cas("k", 0, value);
            assert!(!seen.contains(&number), "{request}: {number} again, after {seen:?}");
            for old in &seen {
                stage.memcache(&format!("cas k 0 0 1 {old}\r\nx\r\n"), "EXISTS\r\n");
            }
            seen.push(number);
        }
        for request in ["EXPIRE k 100", "PERSIST k", "TOUCH k", "SETNX k x", "GETEX k PERSIST"] {
            stage.resp.send(format!("{request}\r\n").as_bytes());
            stage.resp.expect(if request.starts_with("GETEX") {
                b"$1\r\n6\r\n"
            } else if request.starts_with("SETNX") {
                b":0\r\n"
            } else {
                b":1\r\n"
            });
            let number = stage.cas("k", 0, "6");
            assert_eq!(Some(&number), seen.last(), "{request} writes no value");
        }
        let last = seen.last().unwrap();
        stage.memcache(&format!("cas k 0 0 1 {last}\r\nx\r\n"), "STORED\r\n");
        stage.resp("GET k", "$1\r\nx");
    });
}

#[test]
fn numbers_go_back_and_forth() {
    on_every_row(|stage| {
        stage.resp("INCRBY n 10", ":10");
        stage.memcache("incr n 5\r\n", "15\r\n");
        stage.resp("DECR n", ":14");
        stage.memcache("decr n 6\r\n", "8\r\n");
        // memcache has left a space behind the number that got shorter.
        stage.resp("GET n", "$2\r\n8 ");
        stage.resp("INCR n", ":9");
        stage.resp("GET n", "$1\r\n9");
        // What each protocol takes for a number is its own affair.
        stage.resp("DECRBY n 10", ":-1");
        let not_a_number = "CLIENT_ERROR cannot increment or decrement non-numeric value\r\n";
        stage.memcache("incr n 1\r\n", not_a_number);
        stage.resp("SET n 007", "+OK");
        stage.resp("INCR n", "-ERR value is not an integer or out of range");
        stage.resp("GET n", "$3\r\n007");
        stage.memcache("get n\r\n", "VALUE n 0 3\r\n007\r\nEND\r\n");
        stage.memcache("incr n 1\r\n", "8\r\n");
        stage.resp("GET n", "$3\r\n8  ");
        stage.memcache("set n 0 0 20\r\n18446744073709551615\r\n", "STORED\r\n");
        stage.resp("INCR n", "-ERR value is not an integer or out of range");
        stage.memcache("incr n 2\r\n", "1\r\n");
    });
}

#[test]
fn large_values_are_the_same_to_both() {
    on_every_row(|stage| {
        let value: String = (0..100_000).map(|n| char::from(b'a' + (n % 23) as u8)).collect();
        stage.memcache(&format!("set k 5 0 100000\r\n{value}\r\n"), "STORED\r\n");
        stage.resp("GET k", &format!("$100000\r\n{value}"));
        stage.resp("GETRANGE k 10000 89999", &format!("$80000\r\n{}", &value[10_000..90_000]));
        stage.resp("MGET k nothing k", &{
            format!("*3\r\n$100000\r\n{value}\r\n$-1\r\n$100000\r\n{value}")
        });
        stage.resp("APPEND k !", ":100001");
        stage.memcache("get k\r\n", &format!("VALUE k 5 100001\r\n{value}!\r\nEND\r\n"));
        stage.resp("GETDEL k", &format!("$100001\r\n{value}!"));
        stage.memcache("get k\r\n", "END\r\n");

        let largest = "x".repeat(VALUE_MAX);
        let set = format!("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n${VALUE_MAX}\r\n{largest}\r\n");
        stage.resp.ask(set.as_bytes(), b"+OK\r\n");
        stage.memcache("get k\r\n", &format!("VALUE k 0 {VALUE_MAX}\r\n{largest}\r\nEND\r\n"));
        stage.resp("APPEND k x", {
            "-ERR string exceeds maximum allowed size (proto-max-bulk-len)"
        });
        stage.resp("STRLEN k", &format!(":{VALUE_MAX}"));
    });
}

#[test]
fn a_delayed_flush_of_memcache_is_seen_a_second_before_its_time() {
    on_every_row(|stage| {
        stage.resp("SET k x", "+OK");
        stage.memcache("flush_all 10\r\n", "OK\r\n");
        stage.pass(9 * SECOND - Duration::from_millis(1));
        stage.resp("GET k", "$1\r\nx");
        stage.pass(Duration::from_millis(1));
        stage.resp("GET k", "$-1");
        stage.resp("SET k y", "+OK");
        stage.resp("GET k", "$1\r\ny");
    });
}
