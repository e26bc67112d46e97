// SPDX-License-Identifier: Apache-2.0
//! Commands that name many elements of a collection: more than are looked up together, some of them several times and
//! some that are not there, in small collections and in large ones.

use super::support::Ours;
use protocol_resp::Version;
use protocol_resp::client::Value;

/// How many elements commands name.
const NAMED: usize = 75;

fn ask(ours: &mut Ours, command: &[&str], words: &[String]) -> Value {
    let words: Vec<&str> =
        command.iter().copied().chain(words.iter().map(String::as_str)).collect();
    ours.ask(&words)
}

fn text(text: &str) -> Value {
    Value::Bulk(text.as_bytes().to_vec())
}

fn array<T>(elements: &[T], reply: impl Fn(&T) -> Value) -> Value {
    Value::Array(elements.iter().map(reply).collect())
}

/// Elements of a collection of `count`; every second is in it, and the first is named once more at the end.
fn names(count: usize) -> Vec<(usize, String)> {
    let step = (count * 2 / NAMED) | 1;
    let numbers = (0..NAMED).map(|at| at * step).chain([0]);
    numbers.map(|number| (number, format!("name:{number}"))).collect()
}

fn is_in(number: usize, count: usize) -> bool {
    number.is_multiple_of(2) && number < 2 * count
}

#[test]
fn elements_that_are_named_together_are_found_one_by_one() {
    for count in [3, 60, 2000] {
        let mut ours = Ours::new(Version::Resp2);
        let all: Vec<usize> = (0..count).map(|number| 2 * number).collect();
        let words = |parts: &[&str]| -> Vec<String> {
            all.iter()
                .flat_map(|n| {
                    parts.iter().map(|part| part.replace('#', &n.to_string())).collect::<Vec<_>>()
                })
                .collect()
        };
        let new = Value::Integer(count as i64);
        assert_eq!(ask(&mut ours, &["HSET", "h"], &words(&["name:#", "value:#"])), new);
        assert_eq!(ask(&mut ours, &["SADD", "s"], &words(&["name:#"])), new);
        assert_eq!(ask(&mut ours, &["ZADD", "z"], &words(&["#", "name:#"])), new);

        let named = names(count);
        let keys: Vec<String> = named.iter().map(|(_, name)| name.clone()).collect();
        let or_null = |number: usize, there: String| {
            if is_in(number, count) { text(&there) } else { Value::Null }
        };
        let values = array(&named, |(number, _)| or_null(*number, format!("value:{number}")));
        let found = array(&named, |(number, _)| Value::Integer(is_in(*number, count).into()));
        let scores = array(&named, |(number, _)| or_null(*number, number.to_string()));
        assert_eq!(ask(&mut ours, &["HMGET", "h"], &keys), values, "{count}");
        assert_eq!(ask(&mut ours, &["SMISMEMBER", "s"], &keys), found, "{count}");
        assert_eq!(ask(&mut ours, &["ZMSCORE", "z"], &keys), scores, "{count}");

        // Others get back what they had not.
        let there =
            named[..NAMED].iter().filter(|(number, _)| is_in(*number, count)).count() as i64;
        let absent = NAMED as i64 - there;
        let pairs = |first: &str| -> Vec<String> {
            named
                .iter()
                .flat_map(|(number, name)| {
                    let other = first.replace('#', &number.to_string());
                    if first == "#" { [other, name.clone()] } else { [name.clone(), other] }
                })
                .collect()
        };
        assert_eq!(ask(&mut ours, &["HSET", "h"], &pairs("new:#")), Value::Integer(absent));
        assert_eq!(ask(&mut ours, &["SADD", "s"], &keys), Value::Integer(absent));
        assert_eq!(ask(&mut ours, &["ZADD", "z", "NX"], &pairs("#")), Value::Integer(absent));
        let values = array(&named, |(number, _)| text(&format!("new:{number}")));
        assert_eq!(ask(&mut ours, &["HMGET", "h"], &keys), values, "{count}");
        let scores = array(&named, |(number, _)| text(&number.to_string()));
        assert_eq!(ask(&mut ours, &["ZMSCORE", "z"], &keys), scores, "{count}");

        for (command, key) in [("HDEL", "h"), ("SREM", "s"), ("ZREM", "z")] {
            let removed = Value::Integer(NAMED as i64);
            assert_eq!(ask(&mut ours, &[command, key], &keys), removed, "{command} {count}");
            let again = Value::Integer(0);
            assert_eq!(ask(&mut ours, &[command, key], &keys), again, "{command} {count}");
        }
        let left = Value::Integer(count as i64 - there);
        for (command, key) in [("HLEN", "h"), ("SCARD", "s"), ("ZCARD", "z")] {
            assert_eq!(ask(&mut ours, &[command, key], &[]), left, "{command} {count}");
        }
    }
}

#[test]
fn patterns_lead_many_elements_to_their_own_keys() {
    let mut ours = Ours::new(Version::Resp2);
    let count = 150;
    for number in 0..count {
        let (weight, name) = ((count - number).to_string(), number.to_string());
        ours.ask(&["RPUSH", "ids", &name]);
        // Some lead nowhere, and one to a key of another type.
        match number {
            7 => ours.ask(&["RPUSH", "value:7", "x"]),
            _ if number % 5 == 3 => Value::Null,
            _ => ours.ask(&["SET", &format!("value:{name}"), &format!("of {name}")]),
        };
        ours.ask(&["HSET", &format!("weight:{name}"), "of", &weight]);
    }
    let sort =
        ["SORT", "ids", "BY", "weight:*->of", "GET", "value:*", "GET", "#", "GET", "weight:*->of"];
    let expected: Vec<Value> = (0..count)
        .rev()
        .flat_map(|number| {
            let is_there = number != 7 && number % 5 != 3;
            let value = if is_there { text(&format!("of {number}")) } else { Value::Null };
            [value, text(&number.to_string()), text(&(count - number).to_string())]
        })
        .collect();
    assert_eq!(ours.ask(&sort), Value::Array(expected.clone()));

    let stored =
        expected.into_iter().map(|value| if value == Value::Null { text("") } else { value });
    let store = [&sort[..], &["STORE", "to"]].concat();
    assert_eq!(ours.ask(&store), Value::Integer(3 * count));
    assert_eq!(ours.ask(&["LRANGE", "to", "0", "-1"]), Value::Array(stored.collect()));
}
