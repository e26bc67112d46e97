// SPDX-License-Identifier: Apache-2.0
//! Every parameter of redis-server by CONFIG GET and CONFIG SET: with its present value, with rubbish
//! and beyond its bounds, the answers are those of redis-server, but for what is listed here.

use super::support::{Ours, Redis};
use protocol_resp::Version;
use protocol_resp::client::Value;
use std::collections::BTreeSet;

/// What each parameter is set to, beside the value it has.
const VALUES: [&str; 13] = [
    "rubbish",
    "-1",
    "99999999999999999999",
    "9223372036854775807",
    "4294967296",
    "1.5",
    "",
    "0",
    "1",
    "yes",
    "a b c",
    "65536",
    "-2147483649",
];

/// Those that CONFIG GET shows by their whole name only.
const HIDDEN: [&str; 6] = [
    "key-load-delay",
    "loading-process-events-interval-bytes",
    "lua-enable-deprecated-api",
    "rdb-key-save-delay",
    "use-exit-on-panic",
    "watchdog-period",
];

/// What is not asked, for redis-server does not survive it or serves nobody any more.
const NOT_ASKED: [(&str, &str); 5] = [
    ("maxclients", "it hangs with large numbers, and with small ones serves nobody"),
    ("maxmemory-clients", "it closes the connection that asks"),
    ("port", "it listens to the world; the stories have what is wrong"),
    ("bind", "as port"),
    ("watchdog-period", "a signal every millisecond"),
];

/// Values that redis-server takes and we do not, or in other words, and why.
const REFUSED: &[(&str, &str)] = &[
    ("appendonly", "nothing is kept on disk"),
    ("cluster-link-sendbuf-limit", "nothing has more bytes than fit 63 bits"),
    ("loglevel", "given at the start; and `nothing` is a level since Redis 7.2"),
    ("maxmemory-policy", "there are policies of Redis 8.6"),
    ("maxmemory-samples", "64 at most, as since Redis 8.0"),
    ("min-replicas-to-write", "writes would have to fail: there are no replicas"),
    ("min-slaves-to-write", "writes would have to fail: there are no replicas"),
    ("proto-max-bulk-len", "requests end before 4 GiB"),
    ("tls-ca-cert-dir", "not supported"),
    ("tls-ca-cert-file", "given at the start"),
    ("tls-cert-file", "given at the start"),
    ("tls-ciphers", "rustls chooses"),
    ("tls-ciphersuites", "rustls chooses"),
    ("tls-dh-params-file", "rustls chooses"),
    ("tls-key-file", "given at the start"),
    ("tls-key-file-pass", "not supported"),
    ("tls-port", "given at the start"),
    ("tls-prefer-server-ciphers", "rustls chooses"),
    ("tls-protocols", "given at the start"),
];

/// Values that we take and redis-server does not, and why.
const TAKEN: &[(&str, &str)] = &[
    ("tls-cluster", "redis-server has no TLS here; to us it makes no difference"),
    ("tls-replication", "redis-server has no TLS here"),
];

fn text(value: &Value) -> String {
    match value {
        Value::Bulk(text) => String::from_utf8_lossy(text).into_owned(),
        other => format!("{other:?}"),
    }
}

/// The names and values that CONFIG GET shows.
fn get(ask: &mut dyn FnMut(&[&str]) -> Value, name: &str) -> Vec<(String, String)> {
    let Value::Array(shown) = ask(&["CONFIG", "GET", name]) else { panic!("no array") };
    shown.chunks(2).map(|pair| (text(&pair[0]), text(&pair[1]))).collect()
}

/// The answer to CONFIG SET, and what is shown then if it is OK. The old value is put back.
fn set(ask: &mut dyn FnMut(&[&str]) -> Value, name: &str, old: &str, new: &str) -> String {
    let reply = ask(&["CONFIG", "SET", name, new]);
    let is_error = matches!(reply, Value::Error(_));
    let shown = if is_error { Vec::new() } else { get(ask, name) };
    if !is_error {
        ask(&["CONFIG", "SET", name, old]);
    }
    format!("{reply:?} {shown:?}")
}

fn is_error(answer: &str) -> bool {
    answer.starts_with("error")
}

#[test]
fn parameters_are_taken_and_refused_as_by_redis_server() {
    let mut ours = Ours::new(Version::Resp2);
    let Some(mut redis) = Redis::start(Version::Resp2) else { return };
    let mut ours = |words: &[&str]| ours.ask(words);
    let mut redis = |words: &[&str]| redis.ask(words);
    let mut names: Vec<_> = get(&mut redis, "*").into_iter().map(|(name, _)| name).collect();
    names.extend(HIDDEN.map(str::to_owned));
    assert!(names.len() > 190, "{}", names.len());
    let mut differ = BTreeSet::new();
    let mut wrong = String::new();
    for name in &names {
        let is_listed = |list: &[(&str, &str)]| list.iter().any(|(listed, _)| listed == name);
        let (here, there) = (get(&mut ours, name), get(&mut redis, name));
        let ([(_, here)], [(_, there)]) = (here.as_slice(), there.as_slice()) else {
            wrong.push_str(&format!("{name}: shown as {here:?}, not {there:?}\n"));
            continue;
        };
        if is_listed(&NOT_ASKED) {
            continue;
        }
        for value in [None].into_iter().chain(VALUES.map(Some)) {
            let found = set(&mut ours, name, here, value.unwrap_or(here));
            let expected = set(&mut redis, name, there, value.unwrap_or(there));
            let is_same = match value {
                Some(_) => found == expected,
                // The values may differ, but each server takes its own, or refuses it in the same words.
                None if is_error(&found) => found == expected,
                None => !is_error(&expected),
            };
            let is_justified = match (is_error(&found), is_error(&expected)) {
                (true, _) => is_listed(REFUSED),
                (false, true) => is_listed(TAKEN),
                (false, false) => false,
            };
            if is_justified && !is_same {
                differ.insert(name.as_str());
            } else if !is_same {
                let value = value.unwrap_or("its own value");
                wrong.push_str(&format!("{name} {value:?}: {found}\n    not {expected}\n"));
            }
        }
    }
    for (name, why) in REFUSED.iter().chain(TAKEN) {
        if !differ.contains(name) {
            wrong.push_str(&format!("{name} no longer differs: {why}\n"));
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn what_is_hidden_is_shown_by_its_whole_name_only() {
    let mut ours = Ours::new(Version::Resp2);
    let mut ours = |words: &[&str]| ours.ask(words);
    let all = get(&mut ours, "*");
    for name in HIDDEN {
        assert_eq!(get(&mut ours, name).len(), 1, "{name}");
        assert!(all.iter().all(|(shown, _)| shown != name), "{name}");
    }
}
