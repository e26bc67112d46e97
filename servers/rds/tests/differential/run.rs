// SPDX-License-Identifier: Apache-2.0
//! [`Run`]: takes steps on both servers and compares their replies.

use crate::client::{Connection, End, encoded};
use crate::generate::{Command, SESSIONS, Step};
use crate::pair::{Answer, Both, Pair, Target};
use crate::reference::Reference;
use crate::reply::Reply;
use crate::rules::Rule;
use crate::tally::Tally;
use crate::{choices, stage, state};
use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;
use test_support::random::Random;

/// Two answers that differ.
#[derive(Debug)]
pub(crate) struct Difference {
    /// What was asked.
    pub(crate) question: String,
    pub(crate) answers: Both<String>,
}

/// What a step comes to.
pub(crate) type Outcome = Result<(), Box<Difference>>;

impl Difference {
    pub(crate) fn new(question: &str, answers: Both<String>) -> Box<Self> {
        Box::new(Difference { question: question.to_owned(), answers })
    }

    /// Of a command that was not answered alike.
    pub(crate) fn of(question: &dyn fmt::Display, answers: Both<&Answer>) -> Box<Self> {
        let shown = |answer: &Answer| match answer {
            Ok(reply) => reply.to_string(),
            Err(end) => format!("no reply: {end:?}"),
        };
        Difference::new(&question.to_string(), answers.map(shown))
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { question, answers: [oracle, ours] } = self;
        writeln!(f, "asked:  {question}\nredis:  {}\nrds:    {}", cut(oracle), cut(ours))?;
        let same = oracle.bytes().zip(ours.bytes()).take_while(|(a, b)| a == b).count();
        if same > 200 {
            let from = |text: &str| {
                let tail = &text.as_bytes()[same - 100..];
                String::from_utf8_lossy(&tail[..tail.len().min(400)]).into_owned()
            };
            writeln!(f, "they differ at\nredis:  …{}\nrds:    …{}", from(oracle), from(ours))?;
        }
        Ok(())
    }
}

/// As much of a reply as can be looked at.
fn cut(text: &str) -> String {
    if text.len() <= 2000 { text.to_owned() } else { format!("{:.2000}…", text) }
}

/// Both servers and the connections to them.
#[derive(Debug)]
pub(crate) struct Run {
    pub(crate) target: Target,
    sessions: [Session; SESSIONS],
    /// Asks what the harness wants to know.
    pub(crate) control: Pair,
    /// Decides how what is sent is cut.
    pub(crate) random: Random,
    /// Counts the marks by which the end of what comes is recognised.
    pub(crate) marks: u64,
    /// The lines of the table that were answered with something other than an error.
    pub(crate) answered: HashSet<&'static str>,
    pub(crate) tally: Tally,
}

/// One of the connections that take turns.
#[derive(Debug)]
struct Session {
    pair: Pair,
    /// What EXEC would execute, in a transaction.
    queued: Option<Vec<Command>>,
}

impl Session {
    fn open(target: Target) -> Self {
        Session { pair: Pair::open(target), queued: None }
    }
}

impl Run {
    pub(crate) fn new(target: Target, seed: u64) -> Self {
        Run {
            target,
            sessions: std::array::from_fn(|_| Session::open(target)),
            control: Pair::open(Target { protocol: 2, ..target }),
            random: Random::new(seed),
            marks: 0,
            answered: HashSet::new(),
            tally: Tally::default(),
        }
    }

    /// Takes a step.
    pub(crate) fn step(&mut self, step: &Step) -> Outcome {
        match step {
            Step::Story { name, group, acts } => stage::perform(self, name, group, acts),
            Step::Commands { session, commands } => self.commands(*session, commands),
        }
    }

    /// Compares all that both servers hold.
    pub(crate) fn compare_state(&mut self) -> Outcome {
        state::compare(&mut self.control, &mut self.random)
    }

    /// Both servers close the connection behind `last`; another takes its place.
    fn closed(&mut self, index: usize, last: &Command) -> Outcome {
        let [oracle, ours] = self.sessions[index].pair.0.each_mut().map(Connection::read);
        self.sessions[index] = Session::open(self.target);
        if [&oracle, &ours] == [&Err(End::Closed); 2] {
            return Ok(());
        }
        Err(Difference::of(&format!("{last}, and what follows"), [&oracle, &ours]))
    }

    fn commands(&mut self, index: usize, commands: &[Command]) -> Outcome {
        let session = &mut self.sessions[index];
        let sent = sent_to(Reference::this(), commands, session.queued.is_some());
        let commands = &sent[..];
        if let [command] = commands
            && command.alone
        {
            if session.queued.is_some() {
                return Ok(());
            }
            match command.rule {
                Rule::Scan => {
                    self.tally.of(command.group).commands += 1;
                    self.answered.extend(command.line.as_ref().map(|line| line.text));
                    return choices::iterate(&mut session.pair, command);
                }
                Rule::Size => choices::await_end_of_expired(&mut session.pair)?,
                _ => {}
            }
        }
        let bytes: Vec<u8> =
            commands.iter().flat_map(|command| encoded(&command.arguments)).collect();
        let answers = session.pair.exchange(&bytes, commands.len(), &mut self.random);
        let [oracle, ours] = &answers;
        for (command, (oracle, ours)) in commands.iter().zip(oracle.iter().zip(ours)) {
            match (oracle, ours) {
                (Ok(oracle), Ok(ours)) => {
                    session.compare(command, oracle, ours, &mut self.tally)?;
                    let counts = self.tally.of(command.group);
                    counts.commands += 1;
                    counts.in_pipelines += usize::from(commands.len() > 1);
                    counts.in_transactions += usize::from(oracle.is_simple(b"QUEUED"));
                    counts.spoilt += usize::from(command.spoilt);
                    counts.errors += usize::from(oracle.is_error());
                    if !oracle.is_error() && !oracle.is_simple(b"QUEUED") {
                        self.answered.extend(command.line.as_ref().map(|line| line.text));
                    }
                    if command.is("QUIT") && oracle.is_simple(b"OK") {
                        return self.closed(index, command);
                    }
                }
                _ => return Err(Difference::of(command, [oracle, ours])),
            }
        }
        match (commands, &oracle[..], &ours[..]) {
            ([command], [Ok(oracle)], [Ok(ours)]) if session.queued.is_none() => {
                choices::check(&mut session.pair, command, [oracle, ours])
            }
            _ => Ok(()),
        }
    }
}

impl Session {
    /// Compares two replies to a command, and follows the transaction that it may be in.
    fn compare(
        &mut self,
        command: &Command,
        oracle: &Reply,
        ours: &Reply,
        tally: &mut Tally,
    ) -> Outcome {
        let alone = command.arguments.len() == 1;
        let same = match &mut self.queued {
            // Also one with too many arguments ends the transaction.
            Some(queued) if command.is("EXEC") => {
                let queued = std::mem::take(queued);
                self.queued = None;
                return executed(command, &queued, oracle, ours, tally);
            }
            Some(queued) if oracle.is_simple(b"QUEUED") => {
                queued.push(command.clone());
                oracle == ours
            }
            Some(_) => Rule::Same.agree(&command.arguments, oracle, ours),
            None => command.rule.agree(&command.arguments, oracle, ours),
        };
        if !same {
            return Err(Difference::new(
                &command.to_string(),
                [oracle, ours].map(Reply::to_string),
            ));
        }
        if command.is("MULTI") && oracle.is_simple(b"OK") {
            self.queued = Some(Vec::new());
        } else if alone && (command.is("DISCARD") || command.is("RESET")) {
            self.queued = None;
        }
        Ok(())
    }
}

/// Those of `commands` that this server is sent, by a session that has a transaction open or not. MULTI and WATCH within
/// one make Valkey's EXEC fail, and only get an error from the others.
fn sent_to(reference: Reference, commands: &[Command], is_open: bool) -> Cow<'_, [Command]> {
    if reference != Reference::Valkey {
        return Cow::Borrowed(commands);
    }
    let mut is_open = is_open;
    let mut sent = Vec::new();
    for command in commands {
        let is_alone = command.arguments.len() == 1;
        if command.is("MULTI") || command.is("WATCH") {
            if is_open {
                continue;
            }
            is_open = command.is("MULTI") && is_alone;
        } else if command.is("EXEC") || is_alone && (command.is("DISCARD") || command.is("RESET")) {
            is_open = false;
        }
        sent.push(command.clone());
    }
    Cow::Owned(sent)
}

/// Compares two replies to EXEC, each element by the rule of its command.
fn executed(
    exec: &Command,
    queued: &[Command],
    oracle: &Reply,
    ours: &Reply,
    tally: &mut Tally,
) -> Outcome {
    let (Reply::Array(a), Reply::Array(b)) = (oracle, ours) else {
        if oracle == ours {
            return Ok(());
        }
        return Err(Difference::new(&exec.to_string(), [oracle, ours].map(Reply::to_string)));
    };
    if a.len() != queued.len() || b.len() != queued.len() {
        let question = format!("{exec} of {} commands", queued.len());
        return Err(Difference::new(&question, [oracle, ours].map(Reply::to_string)));
    }
    for (command, (oracle, ours)) in queued.iter().zip(a.iter().zip(b)) {
        tally.errors(command.group, [oracle]);
        if !command.rule.agree(&command.arguments, oracle, ours) {
            let question = format!("{command}, in a transaction");
            return Err(Difference::new(&question, [oracle, ours].map(Reply::to_string)));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_within_a_transaction_makes_exec_of_valkey_alone_fail() {
        let commands: Vec<Command> = [
            "WATCH k",
            "multi",
            "WATCH k",
            "GET k",
            "MULTI",
            "EXEC",
            "WATCH k",
            "MULTI",
            "DISCARD x",
            "WATCH k",
        ]
        .iter()
        .map(|text| {
            let arguments: Vec<&[u8]> = text.split(' ').map(str::as_bytes).collect();
            Command::new(&arguments, Rule::Same)
        })
        .collect();
        let sent = |reference, is_open| {
            let sent = sent_to(reference, &commands, is_open);
            sent.iter().map(Command::to_string).collect::<Vec<_>>().join(", ")
        };
        let rest = "EXEC, WATCH k, MULTI, DISCARD x";
        assert_eq!(sent(Reference::Valkey, false), format!("WATCH k, multi, GET k, {rest}"));
        assert_eq!(sent(Reference::Valkey, true), format!("GET k, {rest}"));
        assert_eq!(sent(Reference::Redis8, true).matches(',').count(), commands.len() - 1);
    }
}
