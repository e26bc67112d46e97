// SPDX-License-Identifier: Apache-2.0
//! `COMMAND DOCS`.

use crate::ours::{get, items, ours, pairs, text};
use crate::redis::Redis;
use protocol_resp::Version;
use protocol_resp::client::Value;
use protocol_resp::table::{self, Catalogue};

/// Commands whose arguments differ from Redis 7.0 on purpose, and why.
const DIFFERENT: [(&str, &str); 22] = [
    ("set", "comparisons came with Valkey 8.1 and Redis 8.4"),
    ("hscan", "NOVALUES came with Redis 7.4"),
    ("zincrby", "Redis calls the increment an integer; it is a double"),
    ("zinter", "COUNT came with Redis 8.8"),
    ("zinterstore", "COUNT came with Redis 8.8"),
    ("zrank", "WITHSCORE came with Redis 7.2"),
    ("zrevrank", "WITHSCORE came with Redis 7.2"),
    ("zscan", "NOSCORES came with Valkey 8.0"),
    ("zunion", "COUNT came with Redis 8.8"),
    ("zunionstore", "COUNT came with Redis 8.8"),
    ("xadd", "KEEPREF and others came with Redis 8.2, IDMP with 8.6"),
    ("xread", "MAXCOUNT and MAXSIZE came with Redis 8.10"),
    ("xreadgroup", "CLAIM came with Redis 8.4, MAXCOUNT and MAXSIZE with 8.10"),
    ("xtrim", "KEEPREF and others came with Redis 8.2"),
    ("bitcount", "the end may be left out since Valkey 8.0"),
    ("bitop", "Redis calls the operation a string until 7.2, and DIFF and others came with 8.2"),
    ("pfmerge", "sources may be left out, which was written down later"),
    ("geosearch", "BYPOLYGON came with Valkey 9.0"),
    ("geosearchstore", "BYPOLYGON came with Valkey 9.0"),
    ("migrate", "a token of Redis is empty, and each of its choices may be left out once more"),
    (
        "client|kill",
        "MAXAGE came with Redis 7.4, and the choice of types has the name of all types",
    ),
    ("client|list", "USER and others came with Valkey 8.1 and 9.0"),
];

/// What Redis says about arguments and we do not: since when there is one of them.
const NOT_TOLD_OF_ARGUMENTS: [&str; 2] = ["since", "deprecated_since"];

fn docs(version: Version, name: &str) -> Value {
    ours(version, |out| Catalogue::ALL.docs(out, [name.as_bytes()].into_iter()))
}

/// One argument as a line: its fields in order, the parts behind.
fn line(argument: &Value) -> String {
    let mut line = String::new();
    for (key, value) in pairs(argument) {
        if NOT_TOLD_OF_ARGUMENTS.contains(&key) {
            continue;
        }
        let value = match key {
            "arguments" => format!("({})", lines(value).join(", ")),
            "flags" => format!("{:?}", items(value).iter().map(text).collect::<Vec<_>>()),
            "key_spec_index" => format!("{value:?}"),
            _ => text(value).to_owned(),
        };
        line += &format!("{key}={value} ");
    }
    line.trim_end().to_owned()
}

fn lines(arguments: &Value) -> Vec<String> {
    items(arguments).iter().map(line).collect()
}

#[test]
fn what_is_written_about_a_command_has_the_shape_and_the_facts_that_redis_has() {
    for version in [Version::Resp2, Version::Resp3] {
        let Some(mut redis) = Redis::start(version) else { return };
        let mut wrong = Vec::new();
        for command in table::all() {
            let name = command.spec().name;
            let theirs = redis.ask(&["COMMAND", "DOCS", name]);
            let ours = docs(version, name);
            let ours = get(&ours, name).expect("it is in the table");
            let Some(theirs) = get(&theirs, name) else { continue };
            for fact in ["since", "group", "doc_flags", "deprecated_since"] {
                assert_eq!(get(ours, fact), get(theirs, fact), "{name}: {fact}");
            }
            let mut keys: Vec<&str> = pairs(theirs).into_iter().map(|(key, _)| key).collect();
            // Which version added which option is not told.
            keys.retain(|key| *key != "history" && *key != "complexity");
            let expected = get(theirs, "arguments").map(lines).unwrap_or_default();
            let found = get(ours, "arguments").map(lines).unwrap_or_default();
            if expected != found {
                wrong.push((name, found, expected));
            }
            let mut ours: Vec<&str> = pairs(ours).into_iter().map(|(key, _)| key).collect();
            // Redis does not know that of a few.
            ours.retain(|key| *key != "complexity");
            assert_eq!(ours, keys, "{name}");
        }
        let names: Vec<&str> = wrong.iter().map(|(name, ..)| *name).collect();
        let listed: Vec<&str> = DIFFERENT.iter().map(|(name, _)| *name).collect();
        assert_eq!(names, listed, "{wrong:#?}");
    }
}
