// SPDX-License-Identifier: Apache-2.0
//! Checks whether a key's history is linearizable: whether there is a moment for each operation, between
//! its call and its return, such that all results are those of the contract.
//!
//! The search is that of Wing and Gong ("Testing and verifying concurrent objects", 1993) in the form of
//! Lowe's just-in-time linearization ("Testing for linearizability", 2017). It goes through calls and
//! returns in their order and keeps the set of possible explanations: each is a state of the key, and the
//! set of pending operations that have happened. At a return the operation that returns must have
//! happened, if need be after some of the other pending ones. The number of explanations is bounded by
//! the threads and the values being written, so a check takes time in proportion to the history's length,
//! and the history need not be kept.

use super::Allowed;
use super::history::Record;
use super::spec::{Owners, State, Step};
use super::value::Content;
use std::collections::HashMap;
use std::fmt::Write;

/// Threads are counted in the bits of a mask.
pub(super) const THREADS_MAX: usize = 8;

/// One possible explanation of the results so far.
#[derive(Clone, Debug, PartialEq)]
struct Way {
    state: State,
    /// By thread: its pending operation has happened.
    happened: u8,
}

/// A call or a return.
#[derive(Clone, Copy, Debug)]
enum Event {
    Call(usize),
    Return(usize),
}

/// Checks the history of one key, some records at a time.
#[derive(Debug)]
pub(super) struct Checker {
    allowed: Allowed,
    ways: Vec<Way>,
    owners: Owners,
    /// The write that made each value, for the message when there is no explanation.
    origins: HashMap<Content, Record>,
}

impl Checker {
    /// Begins with a key that has no item.
    pub(super) fn new(allowed: Allowed) -> Self {
        let ways = vec![Way { state: State::Absent, happened: 0 }];
        Checker { allowed, ways, owners: Owners::new(), origins: HashMap::new() }
    }

    /// The store was cleared while no operation was pending.
    pub(super) fn clear(&mut self) {
        self.ways = vec![Way { state: State::Absent, happened: 0 }];
    }

    /// Checks the operations on the key since the last call, by all threads. No operation is pending
    /// before or after them.
    ///
    /// # Errors
    ///
    /// When no order explains the results: a message with the operations in question.
    pub(super) fn take_in(&mut self, records: &[Record]) -> Result<(), String> {
        for record in records {
            self.note(record)?;
        }
        let mut pending: [Option<usize>; THREADS_MAX] = [None; THREADS_MAX];
        let mut quiet = (0, self.ways.clone());
        let events = in_order(records);
        for (at, &event) in events.iter().enumerate() {
            match event {
                Event::Call(number) => pending[usize::from(records[number].thread)] = Some(number),
                Event::Return(number) => {
                    let ways = self.happen(number, records, &pending);
                    if ways.is_empty() {
                        return Err(self.explain(number, records, &events[quiet.0..=at], &quiet.1));
                    }
                    self.ways = ways;
                    pending[usize::from(records[number].thread)] = None;
                    if pending.iter().all(Option::is_none) {
                        quiet = (at + 1, self.ways.clone());
                    }
                }
            }
        }
        Ok(())
    }

    /// Records the values and versions of an operation; refuses those that no order can explain.
    fn note(&mut self, record: &Record) -> Result<(), String> {
        if record.op.read() == Some(Content::TORN) {
            return Err(format!("a torn value was read:\n  {record}"));
        }
        if let Some(content) = record.op.written() {
            self.origins.insert(content, *record);
        }
        for (version, content) in record.op.versions() {
            let owner = *self.owners.entry(version).or_insert(content);
            if owner != content {
                let number = version.get();
                return Err(format!("version {number:x} was that of {owner}:\n  {record}"));
            }
        }
        Ok(())
    }

    /// All ways in which an operation may have happened by now.
    fn happen(
        &self,
        number: usize,
        records: &[Record],
        pending: &[Option<usize>; THREADS_MAX],
    ) -> Vec<Way> {
        let bit = 1 << records[number].thread;
        let (mut all, mut done) = (self.ways.clone(), Vec::new());
        let mut at = 0;
        while let Some(way) = all.get(at).cloned() {
            at += 1;
            if way.happened & bit != 0 {
                enter(&mut done, Way { happened: way.happened & !bit, ..way });
                continue;
            }
            for &other in pending.iter().flatten() {
                let other_bit = 1 << records[other].thread;
                if way.happened & other_bit != 0 {
                    continue;
                }
                let (allowed, owners) = (self.allowed, &self.owners);
                let step = Step { record: &records[other], allowed, owners };
                if let Some(state) = step.apply(&way.state) {
                    enter(&mut all, Way { state, happened: way.happened | other_bit });
                }
            }
        }
        done
    }

    /// The message: the states when no operation was pending, the calls since, and the writes of the
    /// values that were read.
    fn explain(
        &self,
        number: usize,
        records: &[Record],
        events: &[Event],
        quiet: &[Way],
    ) -> String {
        let mut text = format!("nothing explains this operation:\n  {}\n", records[number]);
        let _ = writeln!(text, "there was one of:");
        for way in quiet {
            let _ = writeln!(text, "  {:?}", way.state);
        }
        let _ = writeln!(text, "then, numbered by call and return:");
        for event in events {
            if let Event::Call(call) = event {
                let _ = writeln!(text, "  {}", records[*call]);
            }
        }
        let origin = records[number].op.read().and_then(|content| self.origins.get(&content));
        match origin {
            Some(origin) => drop(writeln!(text, "what it has read was written by:\n  {origin}")),
            None => drop(writeln!(text, "what it has read, if anything, nobody has written")),
        }
        text
    }
}

/// Puts a way among others, if it is not there.
fn enter(ways: &mut Vec<Way>, way: Way) {
    if !ways.contains(&way) {
        ways.push(way);
    }
}

/// Calls and returns in their order.
fn in_order(records: &[Record]) -> Vec<Event> {
    let both = |(number, record): (usize, &Record)| {
        [(record.called, Event::Call(number)), (record.returned, Event::Return(number))]
    };
    let mut events: Vec<(u64, Event)> = records.iter().enumerate().flat_map(both).collect();
    events.sort_unstable_by_key(|&(at, _)| at);
    events.into_iter().map(|(_, event)| event).collect()
}
