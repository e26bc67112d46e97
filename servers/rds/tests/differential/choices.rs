// SPDX-License-Identifier: Apache-2.0
//! Replies that a server may choose: random elements must be there, popped elements must have been there, and
//! an iteration in any order must return everything.

use crate::client::{Connection, End};
use crate::generate::Command;
use crate::pair::{Both, Pair};
use crate::reference::Reference;
use crate::reply::Reply;
use crate::rules::Rule;
use crate::run::{Difference, Outcome};
use std::collections::BTreeSet;
use std::thread::sleep;
use std::time::{Duration, Instant};

/// An iteration that takes more calls has no end.
const CALLS_MAX: usize = 100_000;

/// A key that has expired is gone sooner.
const EXPIRED_FOR_MAX: Duration = Duration::from_secs(50);

/// Looks closer at a command that was sent by itself, outside of a transaction.
pub(crate) fn check(pair: &mut Pair, command: &Command, replies: Both<&Reply>) -> Outcome {
    let found = replies.map(Reply::leaves);
    if found.iter().all(Vec::is_empty) {
        return Ok(());
    }
    match command.rule {
        Rule::Random if command.is("RANDOMKEY") => {
            for (connection, key) in pair.0.iter_mut().zip(found.iter().flatten()) {
                if connection.ask(&[b"EXISTS", &key[..]]) != Ok(Reply::Integer(1)) {
                    return Err(differ(command, replies));
                }
            }
            Ok(())
        }
        Rule::Random => random(pair, command, replies, &found),
        Rule::Popped => popped(pair, command, replies, &found),
        Rule::Encoding(_) if replies[0] != replies[1] => {
            let key = command.arguments.get(2).map_or(&b""[..], |key| key);
            let of = pair.0[0].ask(&[b"TYPE", key]).ok().and_then(|of| of.text());
            let rule = Rule::encoding(Reference::this(), &of.unwrap_or_default(), key);
            let agree = rule.agree(&command.arguments, replies[0], replies[1]);
            if agree { Ok(()) } else { Err(differ(command, replies)) }
        }
        _ => Ok(()),
    }
}

fn differ(command: &Command, replies: Both<&Reply>) -> Box<Difference> {
    Difference::new(&command.to_string(), replies.map(Reply::to_string))
}

/// Random elements are there, and all different unless the count is negative.
fn random(
    pair: &mut Pair,
    command: &Command,
    replies: Both<&Reply>,
    found: &Both<Vec<Vec<u8>>>,
) -> Outcome {
    let (all, pairs): (&[&[u8]], bool) = match &command.arguments[0].to_ascii_uppercase()[..] {
        b"SRANDMEMBER" => (&[b"SMEMBERS"], false),
        b"HRANDFIELD" => (&[b"HGETALL"], true),
        _ => (&[b"ZRANGE", b"0", b"-1", b"WITHSCORES"], true),
    };
    let mut all = all.to_vec();
    all.insert(1, &command.arguments[1]);
    let negative = command.arguments.get(2).is_some_and(|count| count.starts_with(b"-"));
    let with_values = command.arguments.len() > 3;
    for (connection, found) in pair.0.iter_mut().zip(found) {
        let Ok(all) = connection.ask(&all) else { return Err(differ(command, replies)) };
        let all = all.leaves();
        let step = if pairs && !with_values { 2 } else { 1 };
        let width = if pairs && with_values { 2 } else { 1 };
        let there: BTreeSet<&[Vec<u8>]> =
            all.chunks(step.max(width)).map(|element| &element[..width]).collect();
        let chosen: Vec<&[Vec<u8>]> = found.chunks(width).collect();
        let distinct: BTreeSet<_> = chosen.iter().copied().collect();
        if !distinct.is_subset(&there) || (!negative && distinct.len() < chosen.len()) {
            return Err(differ(command, replies));
        }
    }
    Ok(())
}

/// What one server popped is removed from the other, which must have had it.
fn popped(
    pair: &mut Pair,
    command: &Command,
    replies: Both<&Reply>,
    found: &Both<Vec<Vec<u8>>>,
) -> Outcome {
    let sets = found.each_ref().map(|found| found.iter().collect::<BTreeSet<_>>());
    for (index, connection) in pair.0.iter_mut().enumerate() {
        let (own, other) = (&sets[index], &sets[1 - index]);
        let mut remove = vec![&b"SREM"[..], &command.arguments[1]];
        remove.extend(other.iter().map(|member| &member[..]));
        let expected = Reply::Integer(other.difference(own).count() as i64);
        if own.len() < found[index].len() || connection.ask(&remove) != Ok(expected) {
            return Err(differ(command, replies));
        }
    }
    Ok(())
}

/// All that a command of the SCAN family returns, or the reply that is no iteration.
#[derive(Debug, PartialEq)]
enum Iteration {
    All(BTreeSet<Vec<Vec<u8>>>),
    Other(Reply),
}

/// Iterates from beginning to end on both servers.
pub(crate) fn iterate(pair: &mut Pair, command: &Command) -> Outcome {
    let [oracle, ours] = pair.0.each_mut().map(|connection| all(connection, &command.arguments));
    if oracle.is_ok() && oracle == ours {
        return Ok(());
    }
    let shown = |iteration: Result<Iteration, End>| match iteration {
        Ok(Iteration::All(elements)) => {
            let lines = elements.iter().map(|element| {
                let texts: Vec<_> = element.iter().map(|text| crate::reply::shown(text)).collect();
                texts.join("=")
            });
            lines.collect::<Vec<_>>().join(", ")
        }
        Ok(Iteration::Other(reply)) => reply.to_string(),
        Err(end) => format!("no reply: {end:?}"),
    };
    Err(Difference::new(&format!("{command}, to its end"), [oracle, ours].map(shown)))
}

/// Looks at all keys and waits until those that have expired are gone for good, which both servers
/// see to on their own. What is still different then is for the next command to show.
pub(crate) fn await_end_of_expired(pair: &mut Pair) -> Outcome {
    iterate(pair, &Command::new(&[b"SCAN", b"0"], Rule::Scan))?;
    let started = Instant::now();
    while started.elapsed() < EXPIRED_FOR_MAX {
        let [oracle, ours] = pair.ask(&[b"DBSIZE"]);
        if oracle.is_err() || oracle == ours {
            break;
        }
        sleep(Duration::from_millis(10));
    }
    Ok(())
}

fn all(connection: &mut Connection, arguments: &[Vec<u8>]) -> Result<Iteration, End> {
    let is = |name: &str| arguments[0].eq_ignore_ascii_case(name.as_bytes());
    let cursor_at = if is("SCAN") { 1 } else { 2 };
    let width = if is("HSCAN") || is("ZSCAN") { 2 } else { 1 };
    let mut arguments = arguments.to_vec();
    let mut elements = BTreeSet::new();
    for _ in 0..CALLS_MAX {
        let reply = connection.ask(&arguments)?;
        let (cursor, found) = match reply.elements() {
            Some([Reply::Bulk(cursor), Reply::Array(found)]) => (cursor, found),
            _ => return Ok(Iteration::Other(reply)),
        };
        for element in found.chunks(width) {
            let mut texts: Vec<_> = element.iter().flat_map(Reply::text).collect();
            if is("ZSCAN") {
                texts[1] = number(&texts[1]);
            }
            elements.insert(texts);
        }
        if cursor == b"0" {
            return Ok(Iteration::All(elements));
        }
        arguments[cursor_at].clone_from(cursor);
    }
    Err(End::Malformed("an iteration without an end".into()))
}

/// A score, written in one way: redis-server writes those of small sorted sets differently here, and shows
/// the sign of a zero in large ones.
fn number(text: &[u8]) -> Vec<u8> {
    let number = std::str::from_utf8(text).ok().and_then(|text| text.parse::<f64>().ok());
    let number = number.map(|number| if number == 0.0 { 0.0 } else { number });
    number.map_or(text.to_vec(), |number| number.to_string().into_bytes())
}
