// SPDX-License-Identifier: Apache-2.0
//! Whether a history is linearizable: whether each operation can have happened at one moment between its
//! call and its answer, so that all answers are right one after the other.
//!
//! This is the search of Wing and Gong as Lowe does it ("Testing for linearizability", 2017), event by
//! event: it keeps every *configuration* that explains all answers so far, which is a state and how
//! many operations of each client have happened. A call opens an operation. At an answer, operations
//! that are open happen in every order in which they can, until the answered one has; configurations
//! where it cannot are dropped. When none is left, there is no explanation. Three things keep that small:
//!
//! 1. Operations of one connection happen in order, so a number tells which have. This is what servers
//!    of pipelines promise, and more than linearizability asks for.
//! 2. Configurations are a set: equal ones are looked at once (memoisation).
//! 3. An open operation that fits, and that with its answer never changes anything, happens at once. It
//!    can only be too late for it, never too early.
//!
//! A history is that of keys that no other history touches, since linearizability is local: a history
//! of all keys is linearizable if each key's is.

use super::model::{Action, Answer, Op, Rules, State, Value, explain};
use std::collections::{HashMap, HashSet};

/// Configurations that are looked at for one answer before the search is given up.
const CONFIGURATIONS_MAX: usize = 500_000;

/// Events that are told of before those of a violation.
const EARLIER_MAX: usize = 12;

/// An operation and when it was called and answered.
#[derive(Clone, Debug)]
pub struct Event {
    /// The connection.
    pub client: usize,
    /// What was asked for.
    pub op: Op,
    /// What was answered.
    pub answer: Answer,
    /// Before its first byte was sent: nanoseconds of a clock that all clients share.
    pub called_ns: u64,
    /// After its last byte was received. [`u64::MAX`] if it was never answered: it may happen at any
    /// later time or not at all.
    pub answered_ns: u64,
}

/// Why a history was not accepted.
#[derive(Clone, Debug)]
pub struct Violation {
    /// What is wrong.
    pub what: String,
    /// What the keys may have held when nothing was open for the last time.
    pub before: Vec<State>,
    /// The last that was answered until then, for people to see where that comes from.
    pub earlier: Vec<Event>,
    /// What was called from then on, as far as it matters. The last is the one that cannot be.
    pub events: Vec<Event>,
}

impl Violation {
    /// One that needs no other operations to be seen.
    fn of_itself(what: String, events: Vec<Event>) -> Self {
        Violation { what, before: Vec::new(), earlier: Vec::new(), events }
    }
}

/// What came of a check.
#[derive(Debug)]
pub enum Verdict {
    /// It is linearizable, and leaves one of these states.
    Sound(Vec<State>),
    /// It is not.
    Wrong(Box<Violation>),
    /// The search was given up after `CONFIGURATIONS_MAX`.
    Undecided,
}

/// Checks a history that begins in one of some states. The events of a client are in the order in
/// which they were sent.
#[must_use]
pub fn check(before: &[State], events: &[Event], rules: Rules) -> Verdict {
    for event in events {
        if let Answer::Odd(what) = &event.answer {
            let (what, events) = (what.clone(), vec![event.clone()]);
            return Verdict::Wrong(Box::new(Violation::of_itself(what, events)));
        }
    }
    if let Some(violation) = twice_the_same_mark(events) {
        return Verdict::Wrong(Box::new(violation));
    }
    match Search::new(before, events, rules).run() {
        Ok(states) => Verdict::Sound(states),
        Err(Failure::TooMany) => Verdict::Undecided,
        Err(Failure::At { before, since, event }) => {
            let window = window(events, since, event);
            let (earlier, events) = (earlier(events, since), shrink(&before, window, rules));
            let what = "no order explains the answers".to_owned();
            Verdict::Wrong(Box::new(Violation { what, before, earlier, events }))
        }
    }
}

/// One CAS number for two values: whatever the order was, `cas` could take one for the other.
fn twice_the_same_mark(events: &[Event]) -> Option<Violation> {
    let mut seen: HashMap<u64, (&Value, &Event)> = HashMap::new();
    for event in events {
        let Answer::Marked(value, mark) = &event.answer else { continue };
        let (first, earlier) = *seen.entry(*mark).or_insert((value, event));
        if first != value {
            let what = format!("CAS number {mark} of two values");
            let events = vec![earlier.clone(), event.clone()];
            return Some(Violation::of_itself(what, events));
        }
    }
    None
}

/// The last events that were called before a time, in the order of calls.
fn earlier(events: &[Event], since: u64) -> Vec<Event> {
    let mut earlier: Vec<Event> =
        events.iter().filter(|event| event.called_ns < since).cloned().collect();
    earlier.sort_by_key(|event| (event.called_ns, event.answered_ns));
    earlier.split_off(earlier.len().saturating_sub(EARLIER_MAX))
}

/// The events from place `since` of the calls up to the answer of `failed`, in the order of calls, and
/// that one last.
fn window(events: &[Event], since: u64, failed: usize) -> Vec<Event> {
    let end = events[failed].answered_ns;
    let in_time = |event: &&Event| event.called_ns >= since && event.called_ns <= end;
    let mut window: Vec<Event> = events.iter().filter(in_time).cloned().collect();
    window.sort_by_key(|event| (event.called_ns, event.answered_ns));
    window
}

/// Leaves out what changed nothing, as long as what is left is still no history: it is none because of
/// the rest.
fn shrink(before: &[State], mut events: Vec<Event>, rules: Rules) -> Vec<Event> {
    let mut at = events.len();
    while at > 0 {
        at -= 1;
        if !leaves_no_trace(&events[at]) {
            continue;
        }
        let mut fewer = events.clone();
        fewer.remove(at);
        if let Err(Failure::At { .. }) = Search::new(before, &fewer, rules).run() {
            events = fewer;
        }
    }
    events
}

/// Whether an operation with this answer cannot have changed anything, whatever was there. That a key
/// was evicted before is not its doing: the next one that needs that finds it evicted, too.
fn leaves_no_trace(event: &Event) -> bool {
    match (&event.answer, &event.op) {
        (Answer::Missing, Op::On(_, Action::Swap(_))) => false,
        (Answer::Refused, Op::On(_, Action::Write(_))) => false,
        (
            Answer::Missing
            | Answer::NotDone
            | Answer::Changed
            | Answer::NotNumber
            | Answer::WrongType
            | Answer::Refused,
            _,
        ) => true,
        (Answer::Value(_), op) => {
            matches!(op, Op::On(_, Action::Read | Action::ReadTouch | Action::Range))
        }
        (
            Answer::Done | Answer::Marked(..) | Answer::Number(_) | Answer::All(_) | Answer::Odd(_),
            _,
        ) => false,
    }
}

/// Why a search ended.
enum Failure {
    TooMany,
    At {
        /// The states when nothing was open for the last time.
        before: Vec<State>,
        /// The time of the first call after that.
        since: u64,
        /// The event whose answer has no explanation.
        event: usize,
    },
}

/// What explains all answers so far.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Configuration {
    state: State,
    /// How many operations of each client have happened.
    happened: Vec<u32>,
}

struct Search<'a> {
    events: &'a [Event],
    rules: Rules,
    /// The events of each client, in its order.
    of_client: Vec<Vec<usize>>,
    /// For each event, its place among those of its client.
    place: Vec<u32>,
    /// How many operations of each client were called.
    called: Vec<u32>,
    configurations: HashSet<Configuration>,
}

impl<'a> Search<'a> {
    fn new(before: &[State], events: &'a [Event], rules: Rules) -> Self {
        let clients = events.iter().map(|event| event.client + 1).max().unwrap_or(0);
        let mut of_client = vec![Vec::new(); clients];
        let mut place = Vec::with_capacity(events.len());
        for (index, event) in events.iter().enumerate() {
            place.push(of_client[event.client].len() as u32);
            of_client[event.client].push(index);
        }
        let happened = vec![0; clients];
        let start =
            |state: &State| Configuration { state: state.clone(), happened: happened.clone() };
        let configurations = before.iter().map(start).collect();
        let called = vec![0; clients];
        Search { events, rules, of_client, place, called, configurations }
    }

    /// The states that the history may end in.
    fn run(mut self) -> Result<Vec<State>, Failure> {
        // A call comes before an answer of the same moment: the clock may be coarse.
        let calls = self.events.iter().enumerate().map(|(at, event)| (event.called_ns, false, at));
        let answers =
            self.events.iter().enumerate().map(|(at, event)| (event.answered_ns, true, at));
        let answered = answers.filter(|(time, ..)| *time != u64::MAX);
        let mut moments: Vec<(u64, bool, usize)> = calls.chain(answered).collect();
        moments.sort_unstable();
        let (mut open, mut since, mut before) = (0_usize, 0, self.states());
        for (time, is_answer, event) in moments {
            if is_answer {
                if let Err(too_many) = self.answer(event) {
                    return Err(if too_many {
                        Failure::TooMany
                    } else {
                        Failure::At { before, since, event }
                    });
                }
                open -= 1;
                continue;
            }
            if open == 0 {
                (since, before) = (time, self.states());
            }
            self.called[self.events[event].client] += 1;
            open += 1;
        }
        Ok(self.states())
    }

    fn states(&self) -> Vec<State> {
        let mut states: Vec<State> =
            self.configurations.iter().map(|configuration| configuration.state.clone()).collect();
        states.sort_unstable();
        states.dedup();
        states
    }

    /// Lets operations happen until `event` has. An error says whether there were too many ways; if not,
    /// there was none.
    fn answer(&mut self, event: usize) -> Result<(), bool> {
        let (client, place) = (self.events[event].client, self.place[event]);
        let (mut kept, mut seen) = (HashSet::new(), HashSet::new());
        let mut left: Vec<Configuration> = self.configurations.drain().collect();
        while let Some(configuration) = left.pop() {
            let configuration = self.with_what_changes_nothing(configuration);
            if configuration.happened[client] > place {
                kept.insert(configuration);
                continue;
            }
            if !seen.insert(configuration.clone()) {
                continue;
            }
            if seen.len() > CONFIGURATIONS_MAX {
                return Err(true);
            }
            for next in 0..self.called.len() {
                self.happens(&configuration, next, &mut left);
            }
        }
        if kept.is_empty() {
            return Err(false);
        }
        self.configurations = kept;
        Ok(())
    }

    /// The next operation of a client, if one is open.
    fn next(&self, configuration: &Configuration, client: usize) -> Option<&'a Event> {
        let happened = configuration.happened[client];
        (happened < self.called[client])
            .then(|| &self.events[self.of_client[client][happened as usize]])
    }

    /// Adds the ways in which the next operation of a client can happen.
    fn happens(&self, from: &Configuration, client: usize, into: &mut Vec<Configuration>) {
        let Some(event) = self.next(from, client) else { return };
        let mut states = Vec::new();
        explain(&from.state, &event.op, &event.answer, self.rules, &mut states);
        for state in states {
            let mut happened = from.happened.clone();
            happened[client] += 1;
            into.push(Configuration { state, happened });
        }
    }

    /// Reason 3 of the head of this file.
    fn with_what_changes_nothing(&self, mut configuration: Configuration) -> Configuration {
        let mut states = Vec::new();
        for client in 0..self.called.len() {
            while let Some(event) = self.next(&configuration, client) {
                states.clear();
                explain(&configuration.state, &event.op, &event.answer, self.rules, &mut states);
                if !leaves_no_trace(event) || !states.contains(&configuration.state) {
                    break;
                }
                configuration.happened[client] += 1;
            }
        }
        configuration
    }
}
