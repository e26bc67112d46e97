// SPDX-License-Identifier: Apache-2.0
//! What is counted. Commands that wait: as in Redis 7.2 and later, at their end. (7.0 counts some when they
//! begin to wait, and forgets others.) Hits and misses: those of commands that reply with what they read.

use super::support::Ours;
use protocol_resp::Version;
use protocol_resp::client::Value;
use std::time::Duration;
use test_support::story::Server;

fn text(value: &Value) -> String {
    match value {
        Value::Bulk(text) => String::from_utf8_lossy(text).into_owned(),
        other => panic!("no text: {other:?}"),
    }
}

fn items(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) => items,
        other => panic!("no array: {other:?}"),
    }
}

/// How often a command was carried out, and how often it failed.
fn counts(ours: &mut Ours, command: &str) -> Option<(u64, u64)> {
    let info = text(&ours.ask(&["INFO", "commandstats"]));
    let line = info.lines().find_map(|line| line.strip_prefix(&format!("cmdstat_{command}:")))?;
    let of = |name: &str| {
        let field = line.split(',').find_map(|field| field.strip_prefix(name)).expect(name);
        field.parse().expect("a number")
    };
    Some((of("calls="), of("failed_calls=")))
}

/// The arguments of the slow commands with this name, the latest first.
fn slow(ours: &mut Ours, command: &str) -> Vec<String> {
    let log = ours.ask(&["SLOWLOG", "GET", "-1"]);
    let args = items(&log).iter().map(|entry| items(&items(entry)[3]).iter().map(text));
    let lines = args.map(|args| args.collect::<Vec<_>>().join(" "));
    lines.filter(|line| line.starts_with(command)).collect()
}

#[test]
fn no_wait_ends_before_its_time() {
    let mut ours = Ours::new(Version::Resp2);
    ours.send("b", "BLPOP k 0.5");
    ours.pass(Duration::from_millis(500));
    assert_eq!(ours.receive("b", false), None, "the clock may have been a millisecond behind");
    ours.pass(Duration::from_millis(1));
    assert!(ours.receive("b", false).is_some());
}

#[cfg(feature = "scripts")]
#[test]
fn scripts_that_were_evicted_are_counted_anew() {
    let mut ours = Ours::new(Version::Resp2);
    let evicted = |ours: &mut Ours| -> u64 {
        let info = text(&ours.ask(&["INFO", "stats"]));
        let count = info.lines().find_map(|line| line.strip_prefix("evicted_scripts:"));
        count.expect("it is told").parse().expect("a number")
    };
    (0..600).for_each(|number| {
        ours.ask(&["EVAL", &format!("return {number}"), "0"]);
    });
    assert!(evicted(&mut ours) > 0);
    ours.ask(&["CONFIG", "RESETSTAT"]);
    assert_eq!(evicted(&mut ours), 0);
}

#[test]
fn the_index_of_each_database_with_keys_is_told() {
    let mut ours = Ours::new(Version::Resp2);
    ours.ask(&["SELECT", "3"]);
    ours.ask(&["SET", "k", "v"]);
    let stats = ours.ask(&["MEMORY", "STATS"]);
    let stats = items(&stats);
    let of = |stats: &[Value], name: &str| {
        let at = stats.iter().position(|word| *word == Value::Bulk(name.as_bytes().to_vec()));
        at.map(|at| stats[at + 1].clone())
    };
    assert_eq!(of(stats, "db.0"), None, "it is empty");
    let database = of(stats, "db.3").expect("it has a key");
    let main = of(items(&database), "overhead.hashtable.main");
    assert!(main == of(stats, "index.bytes") && main != Some(Value::Integer(0)), "{main:?}");
    assert_eq!(of(items(&database), "overhead.hashtable.expires"), Some(Value::Integer(0)));
}

#[test]
fn the_directory_is_told_as_seen_from_the_root() {
    let mut ours = Ours::new(Version::Resp2);
    let here = std::env::current_dir().expect("it is there").display().to_string();
    assert_eq!(text(&items(&ours.ask(&["CONFIG", "GET", "dir"]))[1]), here);
}

#[test]
fn a_command_that_waits_is_counted_at_its_end() {
    let mut ours = Ours::new(Version::Resp2);
    ours.ask(&["CONFIG", "SET", "slowlog-log-slower-than", "0"]);
    ours.ask(&["CONFIG", "SET", "latency-monitor-threshold", "1"]);
    let wait = |ours: &mut Ours, line: &str| {
        while ours.receive("b", false).is_some() {}
        ours.send("b", line);
        assert_eq!(ours.receive("b", false), None, "{line} waits");
    };

    wait(&mut ours, "BLPOP k 0");
    assert_eq!(counts(&mut ours, "blpop"), None, "it has not ended");
    assert_eq!(slow(&mut ours, "BLPOP"), [""; 0]);
    ours.ask(&["RPUSH", "k", "v"]);
    assert_eq!(counts(&mut ours, "blpop"), Some((1, 0)), "it was served");
    assert_eq!(slow(&mut ours, "BLPOP"), ["BLPOP k 0"]);
    let histogram = ours.ask(&["LATENCY", "HISTOGRAM", "blpop"]);
    assert!(!items(&histogram).is_empty());

    wait(&mut ours, "BLPOP k 0.5");
    ours.pass(Duration::from_millis(600));
    assert_eq!(counts(&mut ours, "blpop"), Some((2, 0)), "its time was up");
    assert_eq!(slow(&mut ours, "BLPOP")[0], "BLPOP k 0.5");

    let id = ours.client_id("b").to_string();
    wait(&mut ours, "BLPOP k 1");
    ours.ask(&["CLIENT", "UNBLOCK", &id]);
    assert_eq!(counts(&mut ours, "blpop"), Some((3, 0)), "it was told that its time was up");
    wait(&mut ours, "BLPOP k 2");
    ours.ask(&["CLIENT", "UNBLOCK", &id, "ERROR"]);
    assert_eq!(counts(&mut ours, "blpop"), Some((4, 1)), "it was told of an error");

    ours.ask(&["SET", "text", "v"]);
    wait(&mut ours, "BLMOVE k text LEFT LEFT 0");
    ours.ask(&["RPUSH", "k", "v"]);
    assert_eq!(counts(&mut ours, "blmove"), Some((1, 1)), "it was served with an error");

    ours.ask(&["DEL", "k"]);
    wait(&mut ours, "BLPOP k 3");
    ours.leave("b");
    assert_eq!(counts(&mut ours, "blpop"), Some((4, 1)), "nobody was answered");
    assert_eq!(slow(&mut ours, "BLPOP").len(), 4);
}

#[test]
fn a_slow_wait_is_its_clients() {
    let mut ours = Ours::new(Version::Resp2);
    ours.send("b", "CLIENT SETNAME waiter");
    ours.ask(&["CONFIG", "SET", "slowlog-log-slower-than", "0"]);
    ours.send("b", "BZPOPMIN z 0");
    ours.ask(&["ZADD", "z", "1", "v"]);
    let log = ours.ask(&["SLOWLOG", "GET", "-1"]);
    let entry = items(&log).iter().find(|entry| text(&items(&items(entry)[3])[0]) == "BZPOPMIN");
    let entry = items(entry.expect("it is in the log"));
    assert_eq!((text(&entry[4]), text(&entry[5])), ("127.0.0.1:50001".into(), "waiter".into()));
}

#[cfg(feature = "scripts")]
#[test]
fn a_slow_command_of_a_script_is_that_of_the_scripts_client() {
    let mut ours = Ours::new(Version::Resp2);
    ours.ask(&["CLIENT", "SETNAME", "caller"]);
    for parameter in ["slowlog-log-slower-than", "commandlog-request-larger-than"] {
        ours.ask(&["CONFIG", "SET", parameter, "0"]);
    }
    ours.ask(&["EVAL", "return redis.call('SET', KEYS[1], 'v')", "1", "k"]);
    ours.ask(&["MULTI"]);
    ours.ask(&["EVAL", "return redis.call('GET', KEYS[1])", "1", "k"]);
    ours.ask(&["EXEC"]);
    for kind in ["slow", "large-request"] {
        let log = ours.ask(&["COMMANDLOG", "GET", "-1", kind]);
        for command in ["EVAL", "SET", "GET"] {
            let is_it = |entry: &&Value| text(&items(&items(entry)[3])[0]) == command;
            let entry = items(items(&log).iter().find(is_it).expect(command));
            let client = (text(&entry[4]), text(&entry[5]));
            assert_eq!(client, ("127.0.0.1:50001".into(), "caller".into()), "{kind}: {command}");
        }
    }
}

#[test]
fn commands_that_read_in_order_to_write_count_no_hits_and_misses() {
    let mut ours = Ours::new(Version::Resp2);
    let mut found = |line: &str| {
        ours.ask(&["CONFIG", "RESETSTAT"]);
        ours.ask(&line.split(' ').collect::<Vec<_>>());
        let info = text(&ours.ask(&["INFO", "stats"]));
        let of = |name: &str| {
            let line = info.lines().find_map(|line| line.strip_prefix(name)).expect(name);
            line.parse::<u64>().expect("a number")
        };
        (of("keyspace_hits:"), of("keyspace_misses:"))
    };
    // As redis-server 7.0.15 counts them.
    for line in [
        "INCRBYFLOAT f 1.5",
        "INCRBYFLOAT f 1.5",
        "INCR i",
        "APPEND s more",
        "APPEND s more",
        "SETRANGE s 1 x",
        "SETNX s v",
        "MSETNX s v t v",
    ] {
        assert_eq!(found(line), (0, 0), "{line}");
    }
    for (line, expected) in [
        ("GET s", (1, 0)),
        ("GETRANGE none 0 1", (0, 1)),
        ("GETSET s v", (1, 0)),
        ("SET s v XX GET", (1, 0)),
        ("GETEX s EX 100", (1, 0)),
        ("MGET s none i", (2, 1)),
        ("GETDEL none", (0, 1)),
        ("TTL s", (1, 0)),
        ("EXISTS s none", (1, 1)),
    ] {
        assert_eq!(found(line), expected, "{line}");
    }
    let empty = ["SETRANGE", "s", "1", ""];
    ours.ask(&["CONFIG", "RESETSTAT"]);
    ours.ask(&empty);
    let info = text(&ours.ask(&["INFO", "stats"]));
    assert!(info.contains("keyspace_hits:0\r\n"), "it writes nothing: {info}");
}

/// Hits and misses so far.
fn found(ours: &mut Ours) -> [String; 2] {
    ["keyspace_hits", "keyspace_misses"].map(|name| of_info(ours, "stats", name))
}

#[test]
fn what_sort_reads_by_its_patterns_is_counted_and_used() {
    let mut ours = Ours::new(Version::Resp2);
    for line in [
        "RPUSH l a b c",
        "MSET w_a 3 w_b 1",
        "HSET h_a f x",
        "CONFIG SET notify-keyspace-events Km",
        "CONFIG SET maxmemory-policy allkeys-lru",
    ] {
        ours.ask(&line.split(' ').collect::<Vec<_>>());
    }
    ours.send("b", "PSUBSCRIBE *");
    assert!(ours.receive("b", true).is_some());
    ours.pass(Duration::from_secs(100));
    // As redis-server 7.0.15 counts them: the list, and each key that a pattern leads to.
    for (line, expected, missed) in [
        ("SORT l BY w_* GET # GET h_*->f", ["4", "3"], "w_c h_c h_b"),
        ("SORT l BY w_* STORE to", ["3", "1"], "w_c"),
        ("SORT l BY nosort GET none_*", ["1", "3"], "none_a none_b none_c"),
        ("SORT l ALPHA", ["1", "0"], ""),
        ("SORT missing BY w_*", ["0", "1"], "missing"),
        ("SORT l BY h_*->f", ["2", "2"], "h_b h_c"),
    ] {
        ours.ask(&["CONFIG", "RESETSTAT"]);
        ours.ask(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(found(&mut ours), expected, "{line}");
        let mut told = Vec::new();
        while let Some(message) = ours.receive("b", false) {
            told.push(String::from_utf8(message).expect("text"));
        }
        let missed = missed.split(' ').filter(|key| !key.is_empty());
        for key in missed.clone() {
            assert!(told.iter().any(|message| message.contains(&format!("__:{key}\r\n"))), "{key}");
        }
        assert_eq!(told.len(), missed.count(), "{line}");
    }
    for key in ["w_a", "w_b", "h_a"] {
        assert_eq!(ours.ask(&["OBJECT", "IDLETIME", key]), Value::Integer(0), "{key}");
    }
}

#[test]
fn object_looks_keys_up_without_using_them() {
    let mut ours = Ours::new(Version::Resp2);
    ours.ask(&["SET", "k", "v"]);
    ours.ask(&["CONFIG", "SET", "maxmemory-policy", "allkeys-lru"]);
    ours.pass(Duration::from_secs(100));
    for of in ["ENCODING", "REFCOUNT", "IDLETIME"] {
        ours.ask(&["CONFIG", "RESETSTAT"]);
        ours.ask(&["OBJECT", of, "k"]);
        ours.ask(&["OBJECT", of, "missing"]);
        assert_eq!(found(&mut ours), ["1", "1"], "{of}");
    }
    let Value::Integer(idle) = ours.ask(&["OBJECT", "IDLETIME", "k"]) else { panic!("a number") };
    assert!(idle >= 90, "{idle}");
}

/// How often a command was refused, if it is listed.
fn rejected(ours: &mut Ours, command: &str) -> Option<String> {
    let info = text(&ours.ask(&["INFO", "commandstats"]));
    let line = info.lines().find_map(|line| line.strip_prefix(&format!("cmdstat_{command}:")))?;
    let field = line.split(',').find_map(|field| field.strip_prefix("rejected_calls="));
    Some(field.expect("a count").to_owned())
}

#[test]
fn a_refused_subcommand_is_counted_for_itself() {
    let mut ours = Ours::new(Version::Resp2);
    for line in ["CONFIG SET a", "CONFIG NOPE", "CONFIG NOPE", "CONFIG", "OBJECT ENCODING"] {
        ours.ask(&line.split(' ').collect::<Vec<_>>());
    }
    ours.ask(&["MULTI"]);
    ours.ask(&["CLIENT", "NOPE"]);
    let end = ours.ask(&["EXEC"]);
    assert!(matches!(end, Value::Error(_)), "an unknown one spoils a transaction: {end:?}");
    let once = Some("1".to_owned());
    for (command, expected) in [
        ("config|set", &once),
        ("config", &once),
        ("object|encoding", &once),
        ("object", &None),
        ("client", &None),
    ] {
        assert_eq!(&rejected(&mut ours, command), expected, "{command}");
    }
}

#[test]
fn a_transaction_that_takes_long_is_a_slow_command() {
    let mut ours = Ours::new(Version::Resp2);
    let keys = vec!["k"; 5000];
    let exists = [&["EXISTS"], &keys[..]].concat();
    ours.ask(&["MULTI"]);
    for _ in 0..100 {
        ours.ask(&exists);
    }
    ours.ask(&["LATENCY", "RESET"]);
    ours.ask(&["CONFIG", "SET", "latency-monitor-threshold", "1"]);
    ours.ask(&["EXEC"]);
    let latest = ours.ask(&["LATENCY", "LATEST"]);
    let names: Vec<String> = items(&latest).iter().map(|event| text(&items(event)[0])).collect();
    assert!(names.contains(&"command".to_owned()), "EXEC is none of the fast ones: {names:?}");
}

#[test]
fn debug_populate_changes_keys() {
    let mut ours = Ours::new(Version::Resp2);
    ours.ask(&["CONFIG", "SET", "notify-keyspace-events", "En"]);
    ours.send("b", "PSUBSCRIBE *");
    assert!(ours.receive("b", true).is_some());
    ours.ask(&["SET", "key:1", "v"]);
    assert!(ours.receive("b", true).is_some());
    for (key, is_run) in [("key:1", true), ("key:0", false)] {
        ours.ask(&["DEL", "key:0"]);
        ours.ask(&["WATCH", key]);
        ours.ask(&["DEBUG", "POPULATE", "2"]);
        ours.ask(&["MULTI"]);
        let end = ours.ask(&["EXEC"]);
        assert_eq!(matches!(end, Value::Array(_)), is_run, "{key}: {end:?}");
        assert!(ours.receive("b", true).is_some(), "a new key");
        assert!(ours.receive("b", false).is_none(), "one event for it");
    }
}

#[test]
fn a_transaction_that_is_discarded_has_failed() {
    let mut ours = Ours::new(Version::Resp2);
    ours.ask(&["MULTI"]);
    ours.ask(&["GET"]);
    ours.ask(&["EXEC"]);
    assert_eq!(counts(&mut ours, "exec"), Some((1, 1)));
    ours.ask(&["MULTI"]);
    ours.ask(&["EXEC"]);
    assert_eq!(counts(&mut ours, "exec"), Some((2, 1)));
}

/// The value of a name in a section of INFO.
fn of_info(ours: &mut Ours, section: &str, name: &str) -> String {
    let info = text(&ours.ask(&["INFO", section]));
    let value = info.lines().find_map(|line| line.strip_prefix(&format!("{name}:")));
    value.unwrap_or_else(|| panic!("{name} in {info}")).to_owned()
}

#[test]
fn clients_that_watch_listen_and_wait_are_told_of() {
    let mut ours = Ours::new(Version::Resp2);
    let names = [
        "pubsub_clients",
        "watching_clients",
        "total_watched_keys",
        "total_blocking_keys",
        "total_blocking_keys_on_nokey",
    ];
    let told = |ours: &mut Ours| names.map(|name| of_info(ours, "clients", name));
    assert_eq!(told(&mut ours), ["0", "0", "0", "0", "0"]);
    for (client, line) in [
        ("a", "WATCH x y"),
        ("b", "WATCH y"),
        ("c", "SUBSCRIBE channel"),
        ("d", "XGROUP CREATE s g $ MKSTREAM"),
    ] {
        ours.send(client, line);
        assert!(ours.receive(client, false).is_some(), "{line}");
    }
    ours.send("d", "XREADGROUP GROUP g me BLOCK 0 STREAMS s >");
    ours.send("e", "BLPOP k l 0");
    assert_eq!(ours.receive("d", false), None, "it waits");
    assert_eq!(ours.receive("e", false), None, "it waits");
    assert_eq!(told(&mut ours), ["1", "2", "2", "3", "1"]);
}

#[test]
fn a_pause_is_told_of() {
    let mut ours = Ours::new(Version::Resp2);
    let told = |ours: &mut Ours| {
        let names = ["paused_reason", "paused_actions", "paused_timeout_milliseconds"];
        names.map(|name| of_info(ours, "clients", name))
    };
    assert_eq!(told(&mut ours), ["none", "none", "0"]);
    ours.ask(&["CLIENT", "PAUSE", "5000", "WRITE"]);
    assert_eq!(told(&mut ours), ["client_pause", "write", "5000"]);
    ours.ask(&["CLIENT", "UNPAUSE"]);
    assert_eq!(told(&mut ours), ["none", "none", "0"]);
}

#[cfg(feature = "scripts")]
#[test]
fn scripts_that_make_room_for_others_are_counted() {
    let mut ours = Ours::new(Version::Resp2);
    for number in 0..503 {
        ours.ask(&["EVAL", &format!("return {number}"), "0"]);
    }
    assert_eq!(of_info(&mut ours, "stats", "evicted_scripts"), "3");
    ours.ask(&["SCRIPT", "FLUSH"]);
    assert_eq!(of_info(&mut ours, "stats", "evicted_scripts"), "3", "those were not in the way");
}

#[test]
#[cfg(feature = "scripts")]
fn a_script_that_replies_with_an_error_has_failed() {
    let mut ours = Ours::new(Version::Resp2);
    ours.ask(&["SET", "k", "v"]);
    for (script, failed) in [
        ("return 1", 0),
        ("return {err = 'MY x'}", 1),
        ("return {1, {err = 'MY x'}}", 1),
        ("return redis.pcall('lpush', KEYS[1], 1)", 1),
        ("return redis.call('lpush', KEYS[1], 1)", 1),
        ("redis.pcall('lpush', KEYS[1], 1) return 1", 0),
        ("return redis.pcall('nope')", 1),
        ("error('x')", 1),
    ] {
        ours.ask(&["CONFIG", "RESETSTAT"]);
        ours.ask(&["EVAL", script, "1", "k"]);
        assert_eq!(counts(&mut ours, "eval"), Some((1, failed)), "{script}");
    }
}

#[cfg(feature = "scripts")]
#[test]
fn the_memory_of_scripts_and_functions_is_told_until_they_are_removed() {
    let mut ours = Ours::new(Version::Resp2);
    let of = |ours: &mut Ours, name: &str| -> u64 {
        of_info(ours, "memory", name).parse().expect("a number")
    };
    let bytes = |ours: &mut Ours| {
        let [vm, functions, total] = ["vm_eval", "vm_functions", "vm_total"]
            .map(|name| of(ours, &format!("used_memory_{name}")));
        assert_eq!(total, vm + functions);
        (vm, functions)
    };
    let stats = |ours: &mut Ours, name: &str| {
        let stats = ours.ask(&["MEMORY", "STATS"]);
        let at = items(&stats).iter().position(|item| *item == Value::Bulk(name.into()));
        items(&stats)[at.expect(name) + 1].clone()
    };
    ours.ask(&["EVAL", "return 1", "0"]);
    ours.ask(&["FUNCTION", "LOAD", "#!lua name=a\nredis.register_function('a', function() end)"]);
    let before = bytes(&mut ours);
    let large: String = (0..2000).map(|number| format!("x[1] = '{number} text' ")).collect();
    let script = format!("local x = {{}} {large} return 1");
    let library = format!("#!lua name=b\nredis.register_function('b', function() {script} end)");
    assert_eq!(ours.ask(&["EVAL", &script, "0"]), Value::Integer(1));
    assert_eq!(ours.ask(&["FUNCTION", "LOAD", &library]), Value::Bulk("b".into()));
    let full = bytes(&mut ours);
    assert!(full.0 > before.0 + 50_000 && full.1 > before.1 + 50_000, "{before:?} {full:?}");
    let (scripts, functions) =
        (of(&mut ours, "used_memory_scripts_eval"), of(&mut ours, "used_memory_functions"));
    assert!(scripts > 30_000 && functions > 30_000);
    assert_eq!(of(&mut ours, "used_memory_scripts"), scripts + functions);
    assert_eq!(stats(&mut ours, "lua.caches"), Value::Integer(scripts as i64));
    assert_eq!(stats(&mut ours, "functions.caches"), Value::Integer(functions as i64));
    ours.ask(&["SCRIPT", "FLUSH"]);
    ours.ask(&["FUNCTION", "DELETE", "b"]);
    ours.pass(Duration::from_millis(1));
    let after = bytes(&mut ours);
    assert!(after.0 + 40_000 < full.0 && after.1 + 40_000 < full.1, "{full:?} {after:?}");
    assert_eq!(stats(&mut ours, "lua.caches"), Value::Integer(0));
}
