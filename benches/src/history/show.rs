// SPDX-License-Identifier: Apache-2.0
//! Violations as text: a line for each operation, in the order of calls.

use super::check::{Event, Violation};
use super::model::{Answer, Op, Slot, State, Value};
use super::text::Piece;
use std::fmt;

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", self.what)?;
        let start = self.events.iter().map(|event| event.called_ns).min().unwrap_or(0);
        writeln!(f, "  {:>10}  {:>10}  client  operation -> answer", "called/us", "answered")?;
        self.earlier.iter().try_for_each(|event| line(f, start, event))?;
        for state in &self.before {
            writeln!(f, "  then there was {}", Shown(state))?;
        }
        self.events.iter().try_for_each(|event| line(f, start, event))
    }
}

/// An operation, at times that count from `start`.
fn line(f: &mut fmt::Formatter<'_>, start: u64, event: &Event) -> fmt::Result {
    let us = |time: u64| format!("{:.1}", (i128::from(time) - i128::from(start)) as f64 / 1000.0);
    let Event { client, op, answer, called_ns, answered_ns } = event;
    let called = us(*called_ns);
    let answered = if *answered_ns == u64::MAX { "never".into() } else { us(*answered_ns) };
    let (op, answer) = (Shown(op), Shown(answer));
    writeln!(f, "  {called:>10}  {answered:>10}  {client:>6}  {op} -> {answer}")
}

/// As short as it can be read.
struct Shown<'a, T>(&'a T);

impl fmt::Display for Shown<'_, State> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, Slot { value, marks }) in self.0.iter().enumerate() {
            match value {
                Some(value) => write!(f, "{place}: {}", Shown(value))?,
                None => write!(f, "{place}: nothing")?,
            }
            write!(f, "{} ", if marks.is_empty() { String::new() } else { format!(" {marks:?}") })?;
        }
        Ok(())
    }
}

impl fmt::Display for Shown<'_, Value> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Text(pieces) => write!(f, "{}", Shown(pieces)),
            Value::List(tokens) => {
                let shown: Vec<String> = tokens.iter().map(|token| format!("{token:x}")).collect();
                write!(f, "[{}]", shown.join(" "))
            }
        }
    }
}

impl fmt::Display for Shown<'_, Vec<Piece>> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for piece in self.0 {
            match piece {
                Piece::Token(token) => write!(f, "<{token:x}>")?,
                Piece::Number(number) => write!(f, "{number}")?,
            }
        }
        Ok(())
    }
}

impl fmt::Display for Shown<'_, Op> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Op::On(slot, action) => write!(f, "{slot}: {action:x?}"),
            Op::Move { from, to } => write!(f, "{from:?} to {to:?}"),
            Op::All { form, guards, ops } => {
                write!(f, "{form:?}")?;
                if !guards.is_empty() {
                    write!(f, " if {guards:?}")?;
                }
                ops.iter().try_for_each(|op| write!(f, "; {}", Shown(op)))
            }
        }
    }
}

impl fmt::Display for Shown<'_, Answer> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Answer::Value(value) => write!(f, "{}", Shown(value)),
            Answer::Marked(value, mark) => write!(f, "{} #{mark}", Shown(value)),
            Answer::All(answers) => {
                answers.iter().try_for_each(|answer| write!(f, "{}; ", Shown(answer)))
            }
            Answer::Number(number) => write!(f, "{number}"),
            Answer::Odd(what) => f.write_str(what),
            other @ (Answer::Done
            | Answer::NotDone
            | Answer::Changed
            | Answer::Missing
            | Answer::NotNumber
            | Answer::WrongType
            | Answer::Refused) => write!(f, "{other:?}"),
        }
    }
}
