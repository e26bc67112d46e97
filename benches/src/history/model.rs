// SPDX-License-Identifier: Apache-2.0
//! What a few keys hold, and what each operation does to them one after the other: the specification
//! that histories are checked against.
//!
//! What is random in a cache, and allowed, is in [`Rules`]: evictions, refused writes.

use super::text::Piece;

/// What a key holds.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// A text of any number of pieces.
    Text(Vec<Piece>),
    /// The tokens of a list that is not empty.
    List(Vec<u64>),
}

/// A key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Slot {
    /// What it holds, if it is there.
    pub value: Option<Value>,
    /// The marks of it as it is now: CAS numbers that were read, and watches. A write leaves none.
    pub marks: Vec<u64>,
}

/// The keys that a history is about.
pub type State = Vec<Slot>;

/// What may be done to one key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Reads it: `get`, `GET`.
    Read,
    /// Reads it and gives it an expiry far away: `gat`, `GETEX`.
    ReadTouch,
    /// Reads it together with its CAS number: `gets`.
    ReadMark,
    /// `set`, `SET`.
    Write(Vec<Piece>),
    /// Writes if it is not there: `add`, `SETNX`.
    Add(Vec<Piece>),
    /// Writes if it is there: `replace`, `SET XX`.
    Replace(Vec<Piece>),
    /// Writes if its CAS number is still this one: `cas`.
    Compare(Vec<Piece>, u64),
    /// Writes and returns what was there: `GETSET`.
    Swap(Vec<Piece>),
    /// Adds to its end if it is there: `append`.
    Append(Piece),
    /// Adds to its front if it is there: `prepend`.
    Prepend(Piece),
    /// Adds to its end, and makes it if need be: `APPEND`.
    Extend(Piece),
    /// Adds to the number in it, if it is there: `incr`.
    Increase(u64),
    /// Adds to the number in it, and makes it if need be: `INCRBY`.
    Count(u64),
    /// `delete`, `DEL`.
    Remove,
    /// Removes and returns it: `GETDEL`.
    Take,
    /// Gives it an expiry far away, which leaves marks as they are: `touch`.
    Touch,
    /// Gives it an expiry far away, which counts as a write: `EXPIRE` of `rds`.
    Expire,
    /// Gives it an expiry that is over: `touch -1`, `EXPIRE -1`.
    Lapse,
    /// From here on, `EXEC` wants it unchanged: `WATCH`.
    Watch(u64),
    /// Adds to an end of a list: `LPUSH`, `RPUSH`.
    Push(End, Vec<u64>),
    /// Takes from an end of a list: `LPOP`, `RPOP`.
    Pop(End),
    /// As [`Pop`](Self::Pop), and waits a little for an element: `BLPOP`, `BRPOP`. That there was none
    /// when it began to wait is enough for it to say so.
    Await(End),
    /// The whole list: `LRANGE`.
    Range,
}

/// An end of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The front.
    Left,
    /// The back.
    Right,
}

/// How several operations are sent that happen at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// `MULTI`, each of them, `EXEC`.
    Exec,
    /// `MGET`.
    Mget,
    /// `MSET`.
    Mset,
}

/// An operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Op {
    /// On one key, by its place.
    On(usize, Action),
    /// From an end of a list to an end of another: `LMOVE`.
    Move {
        /// Where from.
        from: (usize, End),
        /// Where to.
        to: (usize, End),
    },
    /// All at once. With guards, each a key and a mark, only if all of them are still there.
    All {
        /// How it is sent.
        form: Form,
        /// What was watched.
        guards: Vec<(usize, u64)>,
        /// What is done.
        ops: Vec<Op>,
    },
}

/// What was answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Carried out.
    Done,
    /// Not carried out because of a condition: `NOT_STORED`, `:0`.
    NotDone,
    /// Changed in between: `EXISTS`, and null to `EXEC`.
    Changed,
    /// Not there.
    Missing,
    /// What is or was there.
    Value(Value),
    /// What is there, and its CAS number.
    Marked(Value, u64),
    /// A number: a length, or one that was counted.
    Number(u64),
    /// There is no number to count in.
    NotNumber,
    /// A list where a text is wanted, or the other way round.
    WrongType,
    /// There is no room for it.
    Refused,
    /// One for each of several operations.
    All(Vec<Answer>),
    /// Nothing that a server may answer, or a value that nobody has ever written.
    Odd(String),
}

/// What a server may do of itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rules {
    /// A key may be lost at any moment.
    pub evicts: bool,
    /// A write may be refused.
    pub refuses: bool,
    /// A `set` that is refused may remove what was there, as memcached does.
    pub refused_set_removes: bool,
    /// A CAS number may change by itself, so that `cas` fails without need. It never succeeds so.
    pub marks_move: bool,
}

/// Adds to `into` the states after `op` was answered so, for each way that this can be.
pub fn explain(state: &State, op: &Op, answer: &Answer, rules: Rules, into: &mut Vec<State>) {
    if *answer == Answer::Refused {
        refused(state, op, rules, into);
        return;
    }
    match op {
        Op::On(slot, action) => {
            on(state, *slot, rules, into, |slot| slot.answers(action, answer, rules));
        }
        Op::Move { from, to } => moved(state, *from, *to, answer, rules, into),
        Op::All { guards, ops, .. } => all(state, guards, ops, answer, rules, into),
    }
}

/// The key as it is, or evicted before.
fn on(
    state: &State,
    slot: usize,
    rules: Rules,
    into: &mut Vec<State>,
    run: impl Fn(&mut Slot) -> bool,
) {
    for evicted in [false, true] {
        if evicted && (!rules.evicts || state[slot].value.is_none()) {
            continue;
        }
        let mut next = state.clone();
        if evicted {
            next[slot] = Slot::default();
        }
        if run(&mut next[slot]) {
            into.push(next);
        }
    }
}

fn refused(state: &State, op: &Op, rules: Rules, into: &mut Vec<State>) {
    if !rules.refuses || !op.takes_room() {
        return;
    }
    into.push(state.clone());
    if let Op::On(slot, Action::Write(_)) = op
        && rules.refused_set_removes
        && state[*slot].value.is_some()
    {
        let mut next = state.clone();
        next[*slot] = Slot::default();
        into.push(next);
    }
}

fn moved(
    state: &State,
    from: (usize, End),
    to: (usize, End),
    answer: &Answer,
    rules: Rules,
    into: &mut Vec<State>,
) {
    let mut taken = Vec::new();
    on(state, from.0, rules, &mut taken, |slot| slot.answers(&Action::Pop(from.1), answer, rules));
    let Answer::Value(Value::List(tokens)) = answer else {
        // Also a source that is right, and a destination that is not.
        if *answer == Answer::WrongType && matches!(state[to.0].value, Some(Value::Text(_))) {
            taken.push(state.clone());
        }
        into.append(&mut taken);
        return;
    };
    for next in taken {
        on(&next, to.0, rules, into, |slot| {
            slot.run(&Action::Push(to.1, tokens.clone())) != Answer::WrongType
        });
    }
}

fn all(
    state: &State,
    guards: &[(usize, u64)],
    ops: &[Op],
    answer: &Answer,
    rules: Rules,
    into: &mut Vec<State>,
) {
    let unchanged = guards.iter().all(|(slot, mark)| state[*slot].marks.contains(mark));
    match answer {
        Answer::Changed if !guards.is_empty() && (!unchanged || rules.evicts) => {
            into.push(state.clone());
        }
        Answer::All(answers) if unchanged && answers.len() == ops.len() => {
            let mut states = vec![state.clone()];
            for (op, answer) in ops.iter().zip(answers) {
                let mut next = Vec::new();
                for state in &states {
                    explain(state, op, answer, rules, &mut next);
                }
                next.sort_unstable();
                next.dedup();
                states = next;
            }
            into.append(&mut states);
        }
        _ => {}
    }
}

impl Op {
    /// Whether it may be refused for want of room.
    fn takes_room(&self) -> bool {
        match self {
            Op::On(_, action) => action.takes_room(),
            Op::Move { .. } => true,
            // What is queued for EXEC takes room, whatever it is.
            Op::All { form: Form::Exec, .. } => true,
            Op::All { form: Form::Mget | Form::Mset, ops, .. } => ops.iter().any(Op::takes_room),
        }
    }
}

impl Action {
    fn is_of_lists(&self) -> bool {
        matches!(self, Action::Push(..) | Action::Pop(_) | Action::Await(_) | Action::Range)
    }

    fn takes_room(&self) -> bool {
        match self {
            Action::Write(_)
            | Action::Add(_)
            | Action::Replace(_)
            | Action::Compare(..)
            | Action::Swap(_)
            | Action::Append(_)
            | Action::Prepend(_)
            | Action::Extend(_)
            | Action::Increase(_)
            | Action::Count(_)
            | Action::Touch
            | Action::ReadTouch
            | Action::Expire
            | Action::Push(..) => true,
            Action::Read
            | Action::ReadMark
            | Action::Remove
            | Action::Take
            | Action::Lapse
            | Action::Watch(_)
            | Action::Pop(_)
            | Action::Await(_)
            | Action::Range => false,
        }
    }
}

impl Slot {
    /// Does `action`; whether `answer` is right for it.
    fn answers(&mut self, action: &Action, answer: &Answer, rules: Rules) -> bool {
        match (action, answer) {
            (Action::ReadMark, Answer::Marked(value, mark)) => {
                let known = self.marks.is_empty() || self.marks.contains(mark);
                if !self.marks.contains(mark) {
                    self.marks.push(*mark);
                    self.marks.sort_unstable();
                }
                self.value.as_ref() == Some(value) && (known || rules.marks_move)
            }
            (Action::Compare(_, mark), Answer::Changed) => {
                self.value.is_some() && (rules.marks_move || !self.marks.contains(mark))
            }
            _ => self.run(action) == *answer,
        }
    }

    /// Does `action`, and says what is answered where only one answer is right.
    fn run(&mut self, action: &Action) -> Answer {
        let wants_list = action.is_of_lists();
        match (&self.value, action) {
            (_, Action::Watch(mark)) => {
                self.marks.push(*mark);
                self.marks.sort_unstable();
                Answer::Done
            }
            // What looks at no value.
            (_, Action::Write(_) | Action::Add(_) | Action::Replace(_) | Action::Remove)
            | (_, Action::Touch | Action::Expire | Action::Lapse) => self.run_any(action),
            (Some(Value::Text(_)), _) if wants_list => Answer::WrongType,
            (Some(Value::List(_)), _) if !wants_list => Answer::WrongType,
            _ if wants_list => self.run_list(action),
            _ => self.run_text(action),
        }
    }

    fn write(&mut self, value: Option<Value>) {
        *self = Slot { value, marks: Vec::new() };
    }

    fn run_any(&mut self, action: &Action) -> Answer {
        match (action, self.value.is_some()) {
            (Action::Add(_), true) => Answer::NotDone,
            (Action::Replace(_), false) => Answer::NotDone,
            (Action::Write(text) | Action::Add(text) | Action::Replace(text), _) => {
                self.write(Some(Value::Text(text.clone())));
                Answer::Done
            }
            (_, false) => Answer::Missing,
            (Action::Remove | Action::Lapse, true) => {
                self.write(None);
                Answer::Done
            }
            (Action::Expire, true) => {
                self.marks.clear();
                Answer::Done
            }
            _ => Answer::Done,
        }
    }

    fn run_text(&mut self, action: &Action) -> Answer {
        let text = match &self.value {
            Some(Value::Text(text)) => Some(text.clone()),
            _ => None,
        };
        let found = self.value.clone().map_or(Answer::Missing, Answer::Value);
        match (action, text) {
            (Action::Read | Action::ReadTouch, _) => found,
            (Action::Take, Some(_)) => {
                self.write(None);
                found
            }
            (Action::Swap(new), _) => {
                self.write(Some(Value::Text(new.clone())));
                found
            }
            (Action::Compare(new, mark), Some(_)) => {
                if !self.marks.contains(mark) {
                    return Answer::Changed;
                }
                self.write(Some(Value::Text(new.clone())));
                Answer::Done
            }
            (Action::Append(_) | Action::Prepend(_), None) => Answer::NotDone,
            (Action::Append(piece), Some(text)) => {
                self.write(Some(Value::Text([&text[..], &[*piece]].concat())));
                Answer::Done
            }
            (Action::Prepend(piece), Some(text)) => {
                self.write(Some(Value::Text([&[*piece], &text[..]].concat())));
                Answer::Done
            }
            (Action::Extend(piece), text) => {
                let text = [&text.unwrap_or_default()[..], &[*piece]].concat();
                let len = text.iter().map(|piece| piece.len() as u64).sum();
                self.write(Some(Value::Text(text)));
                Answer::Number(len)
            }
            (Action::Increase(by) | Action::Count(by), Some(text)) => match text[..] {
                [Piece::Number(number)] => self.number(number + by),
                _ => Answer::NotNumber,
            },
            (Action::Count(by), None) => self.number(*by),
            _ => Answer::Missing,
        }
    }

    fn number(&mut self, number: u64) -> Answer {
        self.write(Some(Value::Text(vec![Piece::Number(number)])));
        Answer::Number(number)
    }

    fn run_list(&mut self, action: &Action) -> Answer {
        let mut list = match &self.value {
            Some(Value::List(list)) => list.clone(),
            _ => Vec::new(),
        };
        match action {
            Action::Push(end, tokens) => {
                for token in tokens {
                    let at = if *end == End::Left { 0 } else { list.len() };
                    list.insert(at, *token);
                }
                let len = list.len() as u64;
                self.write(Some(Value::List(list)));
                Answer::Number(len)
            }
            Action::Range => Answer::Value(Value::List(list)),
            _ if list.is_empty() => Answer::Missing,
            Action::Pop(End::Left) | Action::Await(End::Left) => {
                let token = list.remove(0);
                self.popped(list, token)
            }
            _ => {
                let token = list.pop().expect("it is not empty");
                self.popped(list, token)
            }
        }
    }

    fn popped(&mut self, left: Vec<u64>, token: u64) -> Answer {
        self.write((!left.is_empty()).then_some(Value::List(left)));
        Answer::Value(Value::List(vec![token]))
    }
}
