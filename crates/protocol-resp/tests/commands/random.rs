// SPDX-License-Identifier: Apache-2.0
//! Commands that pick elements at random, and walks in steps: what must hold whatever comes out.

use super::support::Ours;
use protocol_resp::Version;
use protocol_resp::client::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Sizes of collections: packed, and large.
const SIZES: [usize; 4] = [1, 7, 60, 1500];

/// Commands that pick elements.
const PICKS: [[&str; 2]; 3] = [["SRANDMEMBER", "s"], ["HRANDFIELD", "h"], ["ZRANDMEMBER", "z"]];

/// The texts of a reply that is a list of them.
fn texts(reply: &Value) -> Vec<String> {
    let items = reply.as_items().unwrap_or_else(|| panic!("no list: {reply:?}"));
    items.iter().map(text).collect()
}

fn text(value: &Value) -> String {
    String::from_utf8(value.as_bytes().expect("a text").to_vec()).expect("UTF-8")
}

/// A server with a set, a hash and a sorted set of `size` elements, `m0`, `m1`, ... The value of a field
/// is its name with a `v`, the score of a member the number in its name.
fn filled(version: Version, size: usize) -> Ours {
    let mut server = Ours::new(version);
    for number in 0..size {
        let (member, value) = (format!("m{number}"), format!("m{number}v"));
        server.ask(&["SADD", "s", &member]);
        server.ask(&["HSET", "h", &member, &value]);
        server.ask(&["ZADD", "z", &number.to_string(), &member]);
    }
    server
}

fn members(size: usize) -> BTreeSet<String> {
    (0..size).map(|number| format!("m{number}")).collect()
}

#[test]
fn different_elements_are_picked_as_many_as_there_are() {
    for size in SIZES {
        let all = members(size);
        for command in PICKS {
            let mut server = filled(Version::Resp2, size);
            for count in [1, 2, size / 4, size / 2, size, size + 1] {
                let reply = server.ask(&[command[0], command[1], &count.to_string()]);
                let picked = texts(&reply);
                let different: BTreeSet<_> = picked.iter().cloned().collect();
                assert_eq!(picked.len(), count.min(size), "{command:?} {count} of {size}");
                assert_eq!(different.len(), picked.len(), "{command:?} {count} of {size}");
                assert!(different.is_subset(&all));
            }
        }
    }
}

#[test]
fn elements_are_picked_again_where_that_is_allowed() {
    for size in SIZES {
        let all = members(size);
        let mut server = filled(Version::Resp3, size);
        for command in PICKS {
            let picked = texts(&server.ask(&[command[0], command[1], "-2000"]));
            assert_eq!(picked.len(), 2000);
            assert!(picked.into_iter().collect::<BTreeSet<_>>().is_subset(&all));
        }
        let pairs = server.ask(&["HRANDFIELD", "h", "-100", "WITHVALUES"]);
        for pair in pairs.as_items().expect("a list") {
            let pair = texts(pair);
            assert_eq!(pair[1], format!("{}v", pair[0]));
        }
        for count in [size.to_string(), "-100".to_owned()] {
            let pairs = server.ask(&["ZRANDMEMBER", "z", &count, "WITHSCORES"]);
            for pair in pairs.as_items().expect("a list") {
                let [member, Value::Double(score)] = pair.as_items().expect("a pair") else {
                    panic!("{pair:?}");
                };
                assert_eq!(text(member), format!("m{score}"));
            }
        }
    }
}

#[test]
fn no_element_is_preferred() {
    for size in [7, 500] {
        let mut server = filled(Version::Resp2, size);
        let (rounds, share) = (400, size / 5 + 1);
        for command in PICKS {
            let mut seen: BTreeMap<String, usize> = BTreeMap::new();
            for _ in 0..rounds {
                let reply = server.ask(&[command[0], command[1], &share.to_string()]);
                for picked in texts(&reply) {
                    *seen.entry(picked).or_default() += 1;
                }
            }
            let expected = rounds * share / size;
            let even = expected / 4..expected * 4;
            assert_eq!(seen.len(), size, "all come once");
            assert!(seen.values().all(|times| even.contains(times)), "{command:?} {seen:?}");
        }
    }
}

#[test]
fn members_are_taken_until_none_is_left() {
    for size in SIZES {
        for count in [None, Some(1), Some(size / 3 + 1), Some(size)] {
            let mut server = filled(Version::Resp3, size);
            let mut taken = Vec::new();
            while taken.len() < size {
                match count {
                    None => taken.push(text(&server.ask(&["SPOP", "s"]))),
                    Some(count) => {
                        taken.extend(texts(&server.ask(&["SPOP", "s", &count.to_string()])));
                    }
                }
                let left = server.ask(&["SCARD", "s"]);
                assert_eq!(left, Value::Integer((size - taken.len()) as i64));
            }
            assert_eq!(server.ask(&["EXISTS", "s"]), Value::Integer(0));
            assert_eq!(taken.into_iter().collect::<BTreeSet<_>>(), members(size));
        }
    }
}

/// Takes the steps of a walk, and `between` two of them; what was shown.
fn walk(
    server: &mut Ours,
    command: [&str; 2],
    options: &[&str],
    mut between: impl FnMut(&mut Ours),
) -> Vec<String> {
    let (mut cursor, mut shown) = ("0".to_owned(), Vec::new());
    loop {
        let [name, key] = command;
        let reply = server.ask(&[&[name, key, &cursor], options].concat());
        let [next, step] = reply.as_items().expect("a list") else { panic!("{reply:?}") };
        cursor = text(next);
        shown.extend(texts(step));
        if cursor == "0" {
            return shown;
        }
        between(server);
    }
}

#[test]
fn a_walk_shows_all_that_stays() {
    for size in SIZES {
        let walks =
            [(["SSCAN", "s"], None), (["HSCAN", "h"], Some("NOVALUES")), (["ZSCAN", "z"], None)];
        for (command, options) in walks {
            for count in ["1", "10", "1000"] {
                let options: Vec<_> = ["COUNT", count].into_iter().chain(options).collect();
                let mut server = filled(Version::Resp2, size);
                let mut round = 0;
                let shown = walk(&mut server, command, &options, |server| {
                    // Others come and go, many enough for the table to grow and to shrink.
                    round += 1;
                    let other = format!("other{}", round % 2000);
                    if round % 4000 < 2000 {
                        server.ask(&["SADD", "s", &other]);
                        server.ask(&["HSET", "h", &other, "1"]);
                        server.ask(&["ZADD", "z", "1", &other]);
                    } else {
                        server.ask(&["SREM", "s", &other]);
                        server.ask(&["HDEL", "h", &other]);
                        server.ask(&["ZREM", "z", &other]);
                    }
                });
                let shown: BTreeSet<_> = shown.into_iter().collect();
                assert!(members(size).is_subset(&shown), "{command:?} {count} of {size}");
            }
        }
    }
}

#[test]
fn a_walk_shows_what_matches_and_with_values_both() {
    let mut server = filled(Version::Resp2, 1500);
    let options = ["MATCH", "m?7", "COUNT", "100"];
    let shown = walk(&mut server, ["SSCAN", "s"], &options, |_| ());
    let expected: BTreeSet<_> = (1..10).map(|tens| format!("m{tens}7")).collect();
    assert_eq!(shown.into_iter().collect::<BTreeSet<_>>(), expected);
    let shown = walk(&mut server, ["HSCAN", "h"], &options, |_| ());
    let pairs: BTreeMap<_, _> = shown.chunks(2).map(|pair| (&pair[0], &pair[1])).collect();
    assert_eq!(pairs.len(), 9);
    assert!(pairs.into_iter().all(|(field, value)| *value == format!("{field}v")));
    let shown = walk(&mut server, ["ZSCAN", "z"], &options, |_| ());
    let pairs: BTreeMap<_, _> = shown.chunks(2).map(|pair| (&pair[0], &pair[1])).collect();
    assert_eq!(pairs.len(), 9);
    assert!(pairs.into_iter().all(|(member, score)| *member == format!("m{score}")));
}
