// SPDX-License-Identifier: Apache-2.0
//! Performs a story on connections of its own.

use crate::client::{Connection, End, encoded};
use crate::pair::{Answer, Both, Pair};
use crate::reply::Reply;
use crate::rules::Rule;
use crate::run::{Difference, Outcome, Run};
use crate::stories::{Act, Await};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};
use test_support::PATIENCE;

/// A connection of a story.
#[derive(Debug)]
struct Actor {
    pair: Pair,
    /// Its ids, if the servers tell them.
    ids: Both<Option<i64>>,
}

/// All that came for a connection, and why no more will come.
type Gathered = (Vec<Reply>, Option<End>);

/// Performs `acts`, and leaves no connection behind that has subscribed, waits or watches.
pub(crate) fn perform(run: &mut Run, name: &str, group: &'static str, acts: &[Act]) -> Outcome {
    let mut actors = BTreeMap::new();
    for act in acts {
        if matches!(act, Act::Send { .. } | Act::Raw { .. }) {
            run.tally.of(group).commands += 1;
        }
        self::act(run, &mut actors, act, group).map_err(|mut difference| {
            difference.question = format!("{}, in the story: {name}", difference.question);
            difference
        })?;
    }
    for (number, actor) in &mut actors {
        let ends = actor.pair.0.each_mut().map(reset);
        if ends.iter().any(|end| !matches!(end, Ok(()) | Err(End::Closed))) {
            let question = format!("RESET of connection {number}, in the story: {name}");
            return Err(Difference::new(&question, ends.map(|end| format!("{end:?}"))));
        }
    }
    Ok(())
}

/// Makes a connection forget all; reads over what it was not asked for.
fn reset(connection: &mut Connection) -> Result<(), End> {
    connection.send(&encoded(&["RESET"]), &[]);
    while !connection.read()?.is_simple(b"RESET") {}
    Ok(())
}

fn actor<'a>(run: &Run, actors: &'a mut BTreeMap<usize, Actor>, number: usize) -> &'a mut Actor {
    actors.entry(number).or_insert_with(|| {
        let mut pair = Pair::open(run.target);
        let ids = pair.ask(&["CLIENT", "ID"]).map(|answer| match answer {
            Ok(Reply::Integer(id)) => Some(id),
            _ => None,
        });
        Actor { pair, ids }
    })
}

fn act(
    run: &mut Run,
    actors: &mut BTreeMap<usize, Actor>,
    act: &Act,
    group: &'static str,
) -> Outcome {
    match act {
        Act::Sleep { ms } => {
            std::thread::sleep(Duration::from_millis(*ms));
            Ok(())
        }
        Act::Blocked { connection } => {
            if let Some(actor) = actors.get_mut(connection) {
                await_blocked(&mut run.control, actor, act)?;
            }
            Ok(())
        }
        Act::Drain { connection, rule } => {
            let gathered = gather(run, &mut actor(run, actors, *connection).pair);
            run.tally.errors(group, &gathered[0].0);
            same(act, *rule, gathered)
        }
        Act::Raw { connection, bytes, awaits } => {
            let pair = &mut actor(run, actors, *connection).pair;
            let cuts = [(); 2].map(|()| crate::client::cuts(&mut run.random, bytes.len()));
            for (connection, cuts) in pair.0.iter().zip(&cuts) {
                connection.send(bytes, cuts);
            }
            match awaits {
                Await::Close => same_end(act, pair.0.each_mut().map(Connection::read_to_end)),
                _ => {
                    let gathered = gather(run, pair);
                    run.tally.errors(group, &gathered[0].0);
                    same(act, Rule::Same, gathered)
                }
            }
        }
        Act::Send { connection, arguments, awaits, rule } => {
            let bytes = named(run, actors, arguments);
            let pair = &mut actor(run, actors, *connection).pair;
            for (connection, bytes) in pair.0.iter().zip(&bytes) {
                connection.send(bytes, &[]);
            }
            match awaits {
                Await::Nothing => Ok(()),
                Await::One => {
                    let [oracle, ours] = pair.0.each_mut().map(Connection::read);
                    run.tally.errors(group, &oracle);
                    one(act, *rule, arguments, [&oracle, &ours])
                }
                _ => {
                    let gathered = gather(run, pair);
                    run.tally.errors(group, &gathered[0].0);
                    same(act, *rule, gathered)
                }
            }
        }
    }
}

/// The command for each server, with the ids of connections in it.
fn named(run: &Run, actors: &mut BTreeMap<usize, Actor>, arguments: &[Vec<u8>]) -> Both<Vec<u8>> {
    let mut commands = [arguments.to_vec(), arguments.to_vec()];
    for (index, argument) in arguments.iter().enumerate() {
        let number = argument.strip_prefix(b"@").and_then(|text| std::str::from_utf8(text).ok());
        if let Some(number) = number.and_then(|text| text.parse().ok()) {
            let ids = actor(run, actors, number).ids;
            for (command, id) in commands.iter_mut().zip(ids) {
                command[index] = id.unwrap_or(0).to_string().into_bytes();
            }
        }
    }
    commands.map(|command| encoded(&command))
}

fn one(act: &Act, rule: Rule, arguments: &[Vec<u8>], answers: Both<&Answer>) -> Outcome {
    let same = match answers {
        [Ok(oracle), Ok(ours)] => rule.agree(arguments, oracle, ours),
        [oracle, ours] => oracle == ours && *ours == Err(End::Closed),
    };
    if same { Ok(()) } else { Err(Difference::of(act, answers)) }
}

/// Gathers all that has come for both connections by now. What the server under test has still on its
/// way, from one thread to another, it may finish.
fn gather(run: &mut Run, pair: &mut Pair) -> Both<Gathered> {
    run.marks += 1;
    let mark = format!("mark{:08}", run.marks);
    let [oracle, ours] = &mut pair.0;
    let theirs = until(oracle, &mark, 0, false);
    let ours = until(ours, &mark, theirs.0.len(), theirs.1.is_some());
    [theirs, ours]
}

/// What comes before the reply to a PING with `mark`; after it, too, as long as it is less than `least`, or
/// the connection `ends`.
fn until(connection: &mut Connection, mark: &str, least: usize, ends: bool) -> Gathered {
    connection.send(&encoded(&["PING", mark]), &[]);
    let mut replies = Vec::new();
    let mut marked = false;
    while !marked || replies.len() < least || ends {
        match connection.read() {
            // A subscriber of RESP2 is answered with a list.
            Ok(reply) if reply.leaves().last().is_some_and(|last| last == mark.as_bytes()) => {
                marked = true;
            }
            Ok(reply) => replies.push(reply),
            Err(end) => return (replies, Some(end)),
        }
    }
    (replies, None)
}

fn same(act: &Act, rule: Rule, [oracle, ours]: Both<Gathered>) -> Outcome {
    if rule.agree_on_all(&oracle.0, &ours.0)
        && oracle.1 == ours.1
        && matches!(ours.1, None | Some(End::Closed))
    {
        return Ok(());
    }
    let shown = |(replies, end): Gathered| {
        let replies: Vec<_> = replies.iter().map(Reply::to_string).collect();
        let end = end.map_or(String::new(), |end| format!(", then {end:?}"));
        format!("{}{end}", replies.join(", "))
    };
    Err(Difference::new(&act.to_string(), [oracle, ours].map(shown)))
}

fn same_end(act: &Act, ends: Both<(Vec<u8>, End)>) -> Outcome {
    if ends[0] == ends[1] && ends[1].1 == End::Closed {
        return Ok(());
    }
    let shown = |(bytes, end): (Vec<u8>, End)| format!("{}, then {end:?}", bytes.escape_ascii());
    Err(Difference::new(&act.to_string(), ends.map(shown)))
}

/// Waits until both servers list the connection as blocked, or have answered it.
fn await_blocked(control: &mut Pair, actor: &mut Actor, act: &Act) -> Outcome {
    let deadline = Instant::now() + PATIENCE;
    for (server, connection) in actor.pair.0.iter_mut().enumerate() {
        let id = actor.ids[server].unwrap_or(0).to_string();
        while !connection.has_input() {
            let listed = control.0[server].ask(&["CLIENT", "LIST", "ID", &id]);
            let text = listed.ok().and_then(|reply| reply.text()).unwrap_or_default();
            let text = String::from_utf8_lossy(&text);
            let flags = text.split(' ').find_map(|field| field.strip_prefix("flags="));
            if flags.is_some_and(|flags| flags.contains('b')) {
                break;
            }
            if Instant::now() > deadline {
                let mut answers = [String::new(), String::new()];
                answers[server] = format!("neither blocked nor answered: {text}");
                return Err(Difference::new(&act.to_string(), answers));
            }
        }
    }
    Ok(())
}
