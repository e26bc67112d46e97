// SPDX-License-Identifier: Apache-2.0
//! `COMMAND`, `COMMAND INFO`, `COMMAND LIST`, `COMMAND COUNT`.

use crate::ours::{items, ours, text};
use crate::redis::Redis;
use protocol_resp::Version;
use protocol_resp::client::Value;
use protocol_resp::table::{self, Catalogue, info};
use std::collections::BTreeSet;

/// Where an entry has what.
const ARITY: usize = 1;
const FLAGS: usize = 2;
const CATEGORIES: usize = 6;
const SUBCOMMANDS: usize = 9;

const WAITS: &str = "scripts may call what waits since Redis 7.2";

/// What differs from Redis 7.0 on purpose: the command, the field and why.
const DIFFERENT: [(&str, usize, &str); 12] = [
    ("blmove", FLAGS, WAITS),
    ("blpop", FLAGS, WAITS),
    ("brpop", FLAGS, WAITS),
    ("brpoplpush", FLAGS, WAITS),
    ("bzpopmax", FLAGS, WAITS),
    ("bzpopmin", FLAGS, WAITS),
    ("command|getkeys", ARITY, "since Redis 7.2 the command may have no arguments"),
    ("command|getkeysandflags", ARITY, "since Redis 7.2 the command may have no arguments"),
    ("wait", FLAGS, "scripts may call it since Redis 7.2"),
    ("wait", CATEGORIES, "it is blocking since Redis 7.2"),
    ("zrank", ARITY, "WITHSCORE came with Redis 7.2"),
    ("zrevrank", ARITY, "WITHSCORE came with Redis 7.2"),
];

/// What came after Redis 7.0.
const NEWER: [&str; 51] = [
    "blmovem",
    "client|capa",
    "client|import-source",
    "client|no-touch",
    "client|setinfo",
    "clusterscan",
    "cluster|myshardid",
    "cluster|slot-stats",
    "commandlog",
    "commandlog|get",
    "commandlog|help",
    "commandlog|len",
    "commandlog|reset",
    "delex",
    "delifeq",
    "digest",
    "hexpire",
    "hexpireat",
    "hexpiretime",
    "hgetdel",
    "hgetex",
    "himport",
    "himport|discard",
    "himport|discardall",
    "himport|help",
    "himport|prepare",
    "himport|set",
    "hotkeys",
    "hotkeys|get",
    "hotkeys|help",
    "hotkeys|reset",
    "hotkeys|start",
    "hotkeys|stop",
    "hpersist",
    "hpexpire",
    "hpexpireat",
    "hpexpiretime",
    "hpttl",
    "hsetex",
    "httl",
    "increx",
    "lmovem",
    "msetex",
    "script|show",
    "sdiffcard",
    "sunioncard",
    "waitaof",
    "xackdel",
    "xcfgset",
    "xdelex",
    "xnack",
];

fn name(entry: &Value) -> &str {
    text(&items(entry)[0])
}

/// An entry with what is compared: sub-commands come in any order and are compared for themselves.
fn comparable(entry: &Value) -> Vec<Value> {
    let mut fields = items(entry).to_vec();
    assert_eq!(fields.len(), 10);
    fields.truncate(SUBCOMMANDS);
    fields
}

#[test]
fn every_entry_is_that_of_redis() {
    for version in [Version::Resp2, Version::Resp3] {
        let Some(mut redis) = Redis::start(version) else { return };
        let mut newer = Vec::new();
        for command in table::all() {
            let command = command.spec().name;
            let theirs = redis.ask(&["COMMAND", "INFO", command]);
            let theirs = &items(&theirs)[0];
            let ours = ours(version, |out| {
                Catalogue::ALL.some_entries(out, [command.as_bytes()].into_iter());
            });
            let ours = &items(&ours)[0];
            if *theirs == Value::Null {
                newer.push(command);
                continue;
            }
            let mut expected = comparable(theirs);
            let found = comparable(ours);
            for (_, field, reason) in DIFFERENT.iter().filter(|(name, ..)| *name == command) {
                assert_ne!(
                    expected[*field], found[*field],
                    "{command}: no longer differs: {reason}"
                );
                expected[*field] = found[*field].clone();
            }
            assert_eq!(found, expected, "{command}");
            assert_eq!(
                std::mem::discriminant(&items(ours)[SUBCOMMANDS]),
                std::mem::discriminant(&items(theirs)[SUBCOMMANDS]),
                "{command}: the type of the list of sub-commands"
            );
        }
        newer.sort_unstable();
        assert_eq!(newer, NEWER);
    }
}

#[test]
fn sub_commands_are_inside_of_their_containers() {
    let all = ours(Version::Resp3, |out| Catalogue::ALL.entries(out));
    let mut names = Vec::new();
    for entry in items(&all) {
        names.push(name(entry));
        for subcommand in items(&items(entry)[SUBCOMMANDS]) {
            let (container, _) = name(subcommand).split_once('|').unwrap();
            assert_eq!(container, name(entry));
            names.push(name(subcommand));
        }
    }
    let listed = ours(Version::Resp3, |out| Catalogue::ALL.list(out, info::Filter::All));
    assert_eq!(names, items(&listed).iter().map(text).collect::<Vec<_>>());
    assert_eq!(names.len(), table::COUNT);
}

#[test]
fn all_commands_come_without_a_name_and_what_is_unknown_is_null() {
    for version in [Version::Resp2, Version::Resp3] {
        let all = ours(version, |out| Catalogue::ALL.entries(out));
        assert_eq!(ours(version, |out| Catalogue::ALL.some_entries(out, [].into_iter())), all);
        let count = Value::Integer(items(&all).len() as i64);
        assert_eq!(ours(version, |out| Catalogue::ALL.count(out)), count);
        let names = [&b"nope"[..], b"GET", b"config|nope", b"Config|Get"];
        let some = ours(version, |out| Catalogue::ALL.some_entries(out, names.into_iter()));
        let known = |value: &Value| (*value != Value::Null).then(|| name(value).to_owned());
        assert_eq!(
            items(&some).iter().map(known).collect::<Vec<_>>(),
            [None, Some("get".to_owned()), None, Some("config|get".to_owned())]
        );
    }
}

#[test]
fn lists_are_filtered_as_by_redis() {
    let Some(mut redis) = Redis::start(Version::Resp2) else { return };
    let known: BTreeSet<&str> = table::all().map(|command| command.spec().name).collect();
    let filters = [
        "",
        "FILTERBY MODULE json",
        "filterby aclcat HASH",
        "FILTERBY ACLCAT dangerous",
        "FILTERBY ACLCAT nope",
        "FILTERBY PATTERN *E?*",
        "FILTERBY PATTERN config|[gr]*",
        "FILTERBY PATTERN nope",
        "FILTERBY PATTERN",
        "FILTERBY",
        "FILTERBY GROUP hash",
        "hash",
        "FILTERBY PATTERN a b",
        "FILTERBY PATTERN *a* FILTERBY ACLCAT hash",
    ];
    for filter in filters {
        let words: Vec<&str> = filter.split_whitespace().collect();
        let theirs = redis.ask(&[&["COMMAND", "LIST"], &words[..]].concat());
        let Some(filter) = info::Filter::parse(&words[..]) else {
            assert_eq!(theirs, Value::Error(b"ERR syntax error".to_vec()), "{filter}");
            continue;
        };
        let ours = ours(Version::Resp2, |out| Catalogue::ALL.list(out, filter));
        let ours: BTreeSet<&str> = items(&ours).iter().map(text).collect();
        let theirs: BTreeSet<&str> = items(&theirs).iter().map(text).collect();
        let ours: BTreeSet<&str> = ours.into_iter().filter(|name| !NEWER.contains(name)).collect();
        assert_eq!(ours, theirs.intersection(&known).copied().collect(), "{words:?}");
    }
}

#[test]
fn help_has_two_lines_for_each_sub_command() {
    for container in table::commands().filter(|command| command.is_container()) {
        let help = ours(Version::Resp3, |out| Catalogue::ALL.help(out, container));
        let help: Vec<&str> = items(&help).iter().map(text).collect();
        let name = container.spec().name.to_uppercase();
        let first = format!("{name} <subcommand> [<arg> [value] [opt] ...]. Subcommands are:");
        assert_eq!(help[0], first);
        assert_eq!(help[help.len() - 2], "HELP");
        assert_eq!(help[help.len() - 1], "    Lists the sub-commands.");
        let alone = usize::from(name == "COMMAND");
        assert_eq!(help.len(), 1 + 2 * (container.subcommands().len() + alone), "{name}");
        assert!(help.iter().all(|line| line.trim_end() == *line), "{help:?}");
    }
}
