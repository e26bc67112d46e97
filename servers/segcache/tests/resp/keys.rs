// SPDX-License-Identifier: Apache-2.0
//! Which keys there are: memcache has up to 250 bytes without spaces and control characters, RESP any
//! bytes, and more of them.

use crate::{Stage, on_every_row};
use std::collections::BTreeSet;

/// All keys that a walk finds with these options.
fn walk(stage: &mut Stage, options: &str) -> BTreeSet<String> {
    let (mut cursor, mut found) = ("0".to_owned(), BTreeSet::new());
    loop {
        stage.resp.send(format!("SCAN {cursor} {options}\r\n").as_bytes());
        assert_eq!(stage.line(), "*2");
        stage.line();
        cursor = stage.line();
        let count: usize = stage.line()[1..].parse().unwrap();
        for _ in 0..count {
            stage.line();
            found.insert(stage.line());
        }
        if cursor == "0" {
            return found;
        }
    }
}

#[test]
fn keys_of_both_protocols_are_walked_over() {
    on_every_row(|stage| {
        stage.memcache("set one 0 0 1\r\n1\r\n", "STORED\r\n");
        stage.resp("SET \"two words\" 2", "+OK");
        stage.resp("SET three 3 EX 100", "+OK");
        stage.resp("DBSIZE", ":3");
        stage.resp("KEYS t*s", "*1\r\n$9\r\ntwo words");
        let all = ["one", "two words", "three"].map(str::to_owned);
        assert_eq!(walk(stage, "COUNT 1"), all.clone().into());
        assert_eq!(walk(stage, "COUNT 1000 TYPE string"), all.into());
        assert_eq!(walk(stage, "MATCH *o*").len(), 2);
        assert_eq!(walk(stage, "TYPE hash").len(), 0);
    });
}

#[test]
fn keys_that_memcache_cannot_name_are_out_of_its_reach_until_it_flushes_all() {
    on_every_row(|stage| {
        stage.resp("SET \"two words\" x", "+OK");
        stage.resp("SET \"line\\nend\" x", "+OK");
        stage.resp("SET \"\" x", "+OK");
        let [longest, longer] = [250, 251].map(|len| "k".repeat(len));
        stage.resp(&format!("MSET {longest} a {longer} b two c"), "+OK");
        // The words of a request are keys each.
        stage.memcache("get two words\r\n", "VALUE two 0 1\r\nc\r\nEND\r\n");
        stage.memcache(
            &format!("get {longest}\r\n"),
            &format!("VALUE {longest} 0 1\r\na\r\nEND\r\n"),
        );
        let refused = "CLIENT_ERROR bad command line format\r\n";
        stage.memcache(&format!("get {longer}\r\n"), refused);
        stage.memcache(&format!("delete {longer}\r\n"), refused);
        stage.resp(&format!("GET {longer}"), "$1\r\nb");
        stage.resp("GET \"two words\"", "$1\r\nx");
        stage.resp("GET \"\"", "$1\r\nx");
        stage.resp("DBSIZE", ":6");
        stage.memcache("flush_all\r\n", "OK\r\n");
        stage.resp(&format!("EXISTS {longer} \"two words\" \"line\\nend\" \"\" two"), ":0");
    });
}

#[test]
fn a_key_has_up_to_64_kib() {
    on_every_row(|stage| {
        let long = "k".repeat(60_000);
        stage.resp(&format!("SET {long} 3"), "+OK");
        stage.resp(&format!("GET {long}"), "$1\r\n3");
        stage.resp(&format!("APPEND {long} 4"), ":2");
        stage.resp(&format!("DEL {long}"), ":1");
        // Too long for an inline request, too.
        let longer = "k".repeat((64 << 10) + 1);
        let name = format!("${}\r\n{longer}\r\n", longer.len());
        let set = format!("*3\r\n$3\r\nSET\r\n{name}$1\r\nx\r\n");
        let too_long = b"-ERR string exceeds maximum allowed size (proto-max-bulk-len)\r\n";
        stage.resp.ask(set.as_bytes(), too_long);
        stage.resp.ask(format!("*2\r\n$3\r\nGET\r\n{name}").as_bytes(), b"$-1\r\n");
        stage.resp("PING", "+PONG");
    });
}
