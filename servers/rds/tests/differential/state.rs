// SPDX-License-Identifier: Apache-2.0
//! Compares all data of both servers: the keys of each database, their types, values and expiries.

use crate::client::encoded;
use crate::generate::Command;
use crate::pair::Pair;
use crate::reference::Reference;
use crate::reply::Reply;
use crate::rules::Rule;
use crate::run::{Difference, Outcome};
use test_support::random::Random;

/// The databases that commands select.
const DATABASES: [&[u8]; 5] = [b"0", b"1", b"2", b"9", b"15"];

/// Compares everything.
pub(crate) fn compare(control: &mut Pair, random: &mut Random) -> Outcome {
    for database in DATABASES {
        ask(control, random, &[Command::new(&[b"SELECT", database], Rule::Same)])?;
        let all = Command::new(&[b"KEYS", b"*"], Rule::Unordered);
        let keys = ask(control, random, &[all])?.remove(0).leaves();
        let ask_type = |key: &Vec<u8>| Command::new(&[b"TYPE", key], Rule::Same);
        let types = ask(control, random, &keys.iter().map(ask_type).collect::<Vec<_>>())?;
        let types: Vec<_> = types.iter().map(|of| of.text().unwrap_or_default()).collect();
        let mut questions = Vec::new();
        for (key, of) in keys.iter().zip(&types) {
            let (value, rule): (&[&[u8]], _) = match &of[..] {
                b"string" => (&[b"GET", key], Rule::Same),
                b"hash" => (&[b"HGETALL", key], Rule::Pairs),
                b"list" => (&[b"LRANGE", key, b"0", b"-1"], Rule::Same),
                b"set" => (&[b"SMEMBERS", key], Rule::Unordered),
                b"zset" => (&[b"ZRANGE", key, b"0", b"-1", b"WITHSCORES"], Rule::Scores),
                b"stream" => (&[b"XRANGE", key, b"-", b"+"], Rule::Same),
                _ => (&[b"EXISTS", key], Rule::Same),
            };
            questions.push(Command::new(value, rule));
        }
        let values = ask(control, random, &questions)?;
        let mut questions = Vec::new();
        for ((key, of), value) in keys.iter().zip(&types).zip(&values) {
            let rule = Rule::encoding_of_value(Reference::this(), of, key, value);
            questions.push(Command::new(&[b"OBJECT", b"ENCODING", key], rule));
            questions.push(Command::new(&[b"PEXPIRETIME", key], Rule::Milliseconds));
        }
        ask(control, random, &questions)?;
    }
    Ok(())
}

/// Asks both, in one pipeline; what the oracle says.
fn ask(
    pair: &mut Pair,
    random: &mut Random,
    commands: &[Command],
) -> Result<Vec<Reply>, Box<Difference>> {
    let bytes: Vec<u8> = commands.iter().flat_map(|command| encoded(&command.arguments)).collect();
    let [oracle, ours] = pair.exchange(&bytes, commands.len(), random);
    let mut replies = Vec::new();
    for (command, (oracle, ours)) in commands.iter().zip(oracle.into_iter().zip(ours)) {
        match (&oracle, &ours) {
            (Ok(a), Ok(b)) if command.rule.agree(&command.arguments, a, b) => {
                replies.push(a.clone());
            }
            _ => {
                let question = format!("{command}, of the state of both");
                return Err(Difference::of(&question, [&oracle, &ours]));
            }
        }
    }
    Ok(replies)
}
