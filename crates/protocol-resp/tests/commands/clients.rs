// SPDX-License-Identifier: Apache-2.0
//! How connections are described: CLIENT LIST and CLIENT INFO.

use super::support::{Ours, Redis};
use protocol_resp::Version;
use protocol_resp::client::Value;
use test_support::story::Server;

/// What Redis 7.2 and 7.4 and Valkey show in addition to 7.0.
const LATER: [&str; 4] = ["watch", "lib-name", "lib-ver", "tot-cmds"];

/// The fields of the lines that a command is answered with.
fn lines(reply: &Value) -> Vec<Vec<(String, String)>> {
    let text = match reply {
        Value::Bulk(text) => text,
        other => panic!("no text: {other:?}"),
    };
    let text = String::from_utf8(text.to_vec()).expect("ASCII");
    let field = |field: &str| {
        let (name, value) = field.split_once('=').expect("name=value");
        (name.to_owned(), value.to_owned())
    };
    text.lines().map(|line| line.split(' ').map(field).collect()).collect()
}

/// Some fields of the description of a client.
fn shown(ours: &mut Ours, number: usize, names: &[&str]) -> String {
    let line = lines(&ours.ask(&["CLIENT", "LIST"])).swap_remove(number - 1);
    let of = |name: &&str| line.iter().find(|(known, _)| known == name).expect(name).1.clone();
    names.iter().map(of).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_line_has_the_fields_of_redis_in_their_order() {
    let names = |line: &[(String, String)]| -> Vec<String> {
        let names = line.iter().map(|(name, _)| name.clone());
        names.filter(|name| !LATER.contains(&name.as_str())).collect()
    };
    let ours = lines(&Ours::new(Version::Resp2).ask(&["CLIENT", "INFO"])).swap_remove(0);
    assert!(LATER.iter().all(|later| ours.iter().any(|(name, _)| name == later)));
    let Some(mut redis) = Redis::start(Version::Resp2) else { return };
    let theirs = lines(&redis.ask(&["CLIENT", "INFO"])).swap_remove(0);
    assert_eq!(names(&ours), names(&theirs));
}

#[test]
fn what_a_connection_has_set_up_is_shown() {
    let mut ours = Ours::new(Version::Resp2);
    ours.ask(&["PING"]);
    for line in ["CLIENT SETNAME me", "CLIENT SETINFO LIB-NAME x", "CLIENT SETINFO LIB-VER 1.2"] {
        ours.send("b", line);
    }
    ours.send("b", "SELECT 3");
    let names = ["id", "addr", "laddr", "name", "flags", "db", "cmd", "user", "resp", "lib-name"];
    let expected = "2 127.0.0.1:50002 127.0.0.1:6379 me N 3 select default 2 x";
    assert_eq!(shown(&mut ours, 2, &names), expected);
    assert_eq!(shown(&mut ours, 1, &["cmd", "multi", "watch"]), "client|list -1 0");
    ours.send("b", "WATCH a b");
    ours.send("b", "MULTI");
    ours.send("b", "SET a 1");
    assert_eq!(shown(&mut ours, 2, &["flags", "multi", "watch", "cmd"]), "x 1 2 set");
    assert_ne!(shown(&mut ours, 2, &["multi-mem"]), "0");
    ours.send("c", "SELECT 3");
    ours.send("c", "SET b 1");
    assert_eq!(shown(&mut ours, 2, &["flags"]), "xd");
    ours.send("b", "EXEC");
    assert_eq!(shown(&mut ours, 2, &["flags", "multi", "watch", "multi-mem"]), "N -1 0 0");
    ours.send("b", "HELLO 3");
    for line in ["SUBSCRIBE a b", "PSUBSCRIBE c", "SSUBSCRIBE d", "CLIENT NO-EVICT ON"] {
        ours.send("b", line);
    }
    ours.send("b", "CLIENT NO-TOUCH ON");
    let names = ["flags", "sub", "psub", "ssub", "resp"];
    assert_eq!(shown(&mut ours, 2, &names), "PeT 2 1 1 3");
    ours.send("b", "MONITOR");
    assert_eq!(shown(&mut ours, 2, &["flags"]), "OPeT");
    ours.send("b", "RESET");
    assert_eq!(shown(&mut ours, 2, &names), "N 0 0 0 2");
    assert_eq!(shown(&mut ours, 2, &["name", "db", "lib-name", "lib-ver"]), " 0 x 1.2");
    ours.send("b", "BLPOP list 0");
    assert_eq!(shown(&mut ours, 2, &["flags", "cmd"]), "b blpop");
    ours.ask(&["RPUSH", "list", "x"]);
    ours.send("b", "NOSUCH");
    assert_eq!(shown(&mut ours, 2, &["flags"]), "N");
}

#[test]
fn the_request_that_asks_is_shown() {
    let mut ours = Ours::new(Version::Resp2);
    assert_eq!(shown(&mut ours, 1, &["qbuf"]), "26", "*2, $6, CLIENT, $4, LIST, each with its end");
    ours.send("b", "PING");
    assert_eq!(shown(&mut ours, 2, &["qbuf", "tot-cmds"]), "0 1");
    assert_eq!(shown(&mut ours, 1, &["tot-cmds"]), "2", "itself not counted");
}

#[test]
fn how_a_client_caches_keys_is_shown() {
    let mut ours = Ours::new(Version::Resp2);
    ours.ask(&["PING"]);
    ours.send("b", "CLIENT TRACKING ON BCAST PREFIX a");
    let names = ["flags", "redir"];
    assert_eq!(shown(&mut ours, 2, &names), "tB 0");
    ours.send("c", "CLIENT TRACKING ON REDIRECT 2");
    ours.send("c", "GET a");
    assert_eq!(shown(&mut ours, 3, &names), "t 2");
    ours.ask(&["CLIENT", "KILL", "ID", "2"]);
    ours.ask(&["SET", "a", "1"]);
    assert_eq!(shown(&mut ours, 2, &names), "tR 2");
    ours.send("c", "CLIENT TRACKING OFF");
    assert_eq!(shown(&mut ours, 2, &names), "N -1");
}

#[test]
fn one_who_has_never_sent_a_command_is_shown_and_closed() {
    let mut ours = Ours::new(Version::Resp2);
    ours.ask(&["PING"]);
    assert!(ours.receive("quiet", false).is_none());
    let names = ["id", "addr", "flags", "db", "cmd", "resp", "age"];
    assert_eq!(shown(&mut ours, 2, &names), "2 127.0.0.1:50002 N 0 NULL 2 0");
    assert_eq!(ours.ask(&["CLIENT", "KILL", "ID", "2"]), Value::Integer(1));
    assert!(ours.is_closed("quiet"));
    assert_eq!(lines(&ours.ask(&["CLIENT", "LIST"])).len(), 1);
}
