// SPDX-License-Identifier: Apache-2.0
//! `COMMAND GETKEYS`, `COMMAND GETKEYSANDFLAGS`.

use crate::ours::ours;
use crate::redis::Redis;
use protocol_resp::client::Value;
use protocol_resp::table::info::{self, NoKeys};
use protocol_resp::table::{self, keys};
use protocol_resp::{Version, Writer};

/// Commands of every shape, right and wrong.
const COMMANDS: &[&str] = &[
    "get k",
    "GET",
    "get k k",
    "nope k",
    "ping",
    "ping k",
    "set k v",
    "set k v EX 10 gEt",
    "set k GET",
    "set k v NX",
    "set k",
    "del a b c",
    "mset a 1 b 2",
    "mset a 1 b",
    "msetnx a 1",
    "rename a b",
    "lcs a b LEN",
    "lmove a b LEFT RIGHT",
    "blpop a b c 0",
    "blpop a 0",
    "blpop 0",
    "bzpopmin a b 0",
    "blmpop 0 2 a b LEFT",
    "blmpop 0 2 a LEFT COUNT 2",
    "lmpop 1 a LEFT",
    "lmpop 0 a LEFT",
    "lmpop -1 a LEFT",
    "lmpop 4 a LEFT",
    "lmpop 9223372036854775807 a LEFT",
    "lmpop 99999999999999999999 a LEFT",
    "lmpop x a LEFT",
    "sintercard 2 a b LIMIT 1",
    "zunion 2 a b WEIGHTS 1 2",
    "zunionstore d 2 a b WEIGHTS 1 2",
    "zunionstore d 0 a b",
    "zunionstore d 9 a b",
    "zdiffstore d 1 a",
    "zrangestore d s 0 1",
    "sdiffstore d a b",
    "sort k",
    "sort k BY w_* GET # GET o_* LIMIT 0 3 STORE d",
    "sort k STORE a STORE b",
    "sort k STORE a STORE",
    "sort k STORE",
    "sort k BY STORE x",
    "sort k GET STORE STORE d",
    "sort k LIMIT STORE STORE store d",
    "sort_ro k STORE d",
    "object encoding k",
    "object help",
    "object nope k",
    "object",
    "memory usage k",
    "memory usage k SAMPLES 5",
    "memory doctor",
    "config get k",
    "subscribe a b",
    "ssubscribe a b",
    "spublish a b",
    "watch a b",
    "copy a b DB 1",
    "hset h f v",
    "hset h f",
    "zadd z 1 m",
    "touch a a",
    "exec",
    "command getkeys get k",
];

fn redis_asked(redis: &mut Redis, subcommand: &str, command: &[&str]) -> Value {
    redis.ask(&[&["COMMAND", subcommand], command].concat())
}

/// Our reply, an error being that of the function.
fn answer(
    version: Version,
    write: impl FnOnce(&mut Writer<'_, Vec<u8>>) -> Result<(), NoKeys>,
) -> Value {
    ours(version, |out| {
        if let Err(error) = write(out) {
            out.error(format!("ERR {error}"));
        }
    })
}

#[test]
fn the_keys_are_those_that_redis_finds() {
    for version in [Version::Resp2, Version::Resp3] {
        let Some(mut redis) = Redis::start(version) else { return };
        for command in COMMANDS {
            let words: Vec<&str> = command.split(' ').collect();
            // Redis checks the number of arguments of GETKEYS itself first.
            if words.len() < 2 {
                continue;
            }
            let ours = answer(version, |out| info::keys(out, &words[..]));
            assert_eq!(ours, redis_asked(&mut redis, "GETKEYS", &words), "{command}");
            let ours = answer(version, |out| info::keys_and_flags(out, &words[..]));
            assert_eq!(ours, redis_asked(&mut redis, "GETKEYSANDFLAGS", &words), "{command}");
        }
    }
}

/// A rule that leads nowhere, or too far, is an error and no panic.
#[test]
fn any_arguments_have_keys_or_an_error() {
    let words = ["", "0", "1", "2", "-1", "9223372036854775807", "STORE", "GET", "LIMIT", "k"];
    for command in table::all() {
        let spec = command.spec();
        for len in 1..7 {
            for seed in 0..200_usize {
                let name = spec.name.split('|').take(len);
                let rest = (0..6).map(|at| words[seed.wrapping_mul(31 + at * 7) / 3 % words.len()]);
                let given: Vec<&str> = name.chain(rest).take(len).collect();
                let mut visited = Vec::new();
                let done = keys::visit(spec, &given[..], |at| visited.push(at));
                let keys = keys::keys(spec, &given[..]);
                assert_eq!(keys.is_ok(), done.is_ok());
                if let Ok(keys) = keys {
                    assert_eq!(keys.positions().collect::<Vec<_>>(), visited);
                }
                assert!(visited.iter().all(|at| (1..len).contains(at)), "{given:?}: {visited:?}");
            }
        }
    }
}

#[test]
fn the_element_of_a_command_is_where_a_simple_call_has_it() {
    for (call, element) in [
        ("HGET key element", true),
        ("HSET key element value", true),
        ("HINCRBY key element 1", true),
        ("SADD key element other", true),
        ("SISMEMBER key element", true),
        ("ZADD key 1 element", true),
        ("ZINCRBY key 1 element", true),
        ("ZSCORE key element", true),
        ("GET key", false),
        ("LPUSH key element", false),
        ("SMOVE key other element", false),
    ] {
        let words: Vec<&str> = call.split(' ').collect();
        let id = table::find(words[0].as_bytes()).expect("a command");
        let at = element.then(|| words.iter().position(|word| *word == "element"));
        assert_eq!(id.element(), at.flatten(), "{call}");
    }
}
