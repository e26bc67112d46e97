// SPDX-License-Identifier: Apache-2.0
//! What HOTKEYS finds.

use super::support::Ours;
use protocol_resp::Version;
use protocol_resp::client::Value;

/// The reply to HOTKEYS GET: names with values.
fn found(server: &mut Ours) -> Vec<(Vec<u8>, Value)> {
    let Value::Array(replies) = server.ask(&["HOTKEYS", "GET"]) else { panic!("an array") };
    let [Value::Array(fields)] = &replies[..] else { panic!("{replies:?}") };
    let pairs = fields.chunks(2).map(|pair| match &pair[0] {
        Value::Bulk(name) => (name.clone(), pair[1].clone()),
        other => panic!("{other:?}"),
    });
    pairs.collect()
}

fn keys(found: &[(Vec<u8>, Value)], name: &[u8]) -> Option<Vec<Vec<u8>>> {
    let (_, list) = found.iter().find(|(other, _)| other == name)?;
    let Value::Array(list) = list else { panic!("{list:?}") };
    let keys = list.chunks(2).map(|pair| match pair {
        [Value::Bulk(key), Value::Integer(_)] => key.clone(),
        other => panic!("{other:?}"),
    });
    Some(keys.collect())
}

#[test]
fn the_keys_with_the_most_bytes_come_first() {
    let mut server = Ours::new(Version::Resp2);
    server.ask(&["HOTKEYS", "START", "METRICS", "2", "CPU", "NET", "COUNT", "3"]);
    for _ in 0..5 {
        server.ask(&["SET", "large", &"x".repeat(10_000)]);
    }
    for number in 0..500 {
        server.ask(&["SET", &format!("key{}", number % 100), "v"]);
        server.ask(&["GET", "often"]);
    }
    server.ask(&["EXISTS", "large", "often"]);
    server.ask(&["HOTKEYS", "STOP"]);
    (0..20).for_each(|_| _ = server.ask(&["SET", "later", &"x".repeat(10_000)]));

    let found = found(&mut server);
    let names: Vec<&[u8]> = found.iter().map(|(name, _)| name.as_slice()).collect();
    let expected = [
        "tracking-active",
        "sample-ratio",
        "selected-slots",
        "all-commands-all-slots-us",
        "net-bytes-all-commands-all-slots",
        "collection-start-time-unix-ms",
        "collection-duration-ms",
        "total-cpu-time-user-ms",
        "total-cpu-time-sys-ms",
        "total-net-bytes",
        "by-cpu-time-us",
        "by-net-bytes",
    ];
    assert_eq!(names, expected.map(str::as_bytes));
    let by_bytes = keys(&found, b"by-net-bytes").expect("it was wanted");
    assert_eq!(by_bytes[..2], [b"large".to_vec(), b"often".to_vec()]);
    assert_eq!(by_bytes.len(), 3);
    assert_eq!(keys(&found, b"by-cpu-time-us").map(|keys| keys.len()), Some(3));
}

#[test]
fn what_was_not_wanted_is_not_told() {
    let mut server = Ours::new(Version::Resp2);
    server.ask(&["HOTKEYS", "START", "METRICS", "1", "NET"]);
    server.ask(&["SET", "k", "v"]);
    let found = found(&mut server);
    assert_eq!(keys(&found, b"by-net-bytes"), Some(vec![b"k".to_vec()]));
    assert_eq!(keys(&found, b"by-cpu-time-us"), None);
}
