// SPDX-License-Identifier: Apache-2.0
//! What clients ask for, at random.

use super::model::{Action, Answer, End, Form, Op};
use super::text::{Piece, token};
use super::wire::Wire;
use fastrand::Rng;

/// Keys that are checked together.
pub const SLOTS: usize = 2;

/// The kinds of operations on a group of keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Texts that are reached by memcache and by the string commands of RESP: `segcache`.
    Shared,
    /// Texts, two at a time: `rds`.
    Texts,
    /// Lists, and elements that go from one to the other: `rds`.
    Lists,
    /// All of that on the same keys: `rds`.
    Mixed,
}

/// One connection's part of the plan.
#[derive(Debug)]
pub struct Planner {
    wire: Wire,
    /// The number of the next token; no other connection has it.
    next: u64,
    /// CAS numbers that were read lately, and of which group.
    marks: Vec<(usize, u64)>,
    /// What was watched since the last EXEC: a group, a key and a mark.
    watched: Option<(usize, usize, u64)>,
}

/// Numbers of tokens that a connection has for itself.
const TOKENS: u64 = 1 << 36;
/// CAS numbers that are remembered.
const MARKS_MAX: usize = 16;

impl Planner {
    /// That of a connection, which is one of at most 200.
    #[must_use]
    pub fn new(wire: Wire, client: usize) -> Self {
        assert!(client < 200, "tokens have place for so many");
        Planner { wire, next: client as u64 * TOKENS + 1, marks: Vec::new(), watched: None }
    }

    /// The next operation on a group.
    pub fn next(&mut self, group: usize, kind: Kind, rng: &mut Rng) -> Op {
        match (self.wire, kind) {
            (Wire::Memcache, _) => Op::On(0, self.of_memcache(group, rng)),
            (Wire::Resp, Kind::Shared) => Op::On(0, self.of_strings(true, rng)),
            (Wire::Resp, kind) => self.of_redis(group, kind, rng),
        }
    }

    /// Learns from an answer.
    pub fn answered(&mut self, group: usize, answer: &Answer) {
        if let Answer::Marked(_, mark) = answer {
            if self.marks.len() == MARKS_MAX {
                self.marks.remove(0);
            }
            self.marks.push((group, *mark));
        }
    }

    fn token(&mut self, rng: &mut Rng) -> u64 {
        let len = match rng.u8(..100) {
            0..70 => rng.usize(20..150),
            70..95 => rng.usize(150..4_000),
            _ => rng.usize(4_000..40_000),
        };
        self.next += 1;
        token(self.next, len)
    }

    fn short(&mut self, rng: &mut Rng) -> Piece {
        self.next += 1;
        Piece::Token(token(self.next, rng.usize(18..80)))
    }

    /// Mostly a token, sometimes a number, which can be counted in.
    fn text(&mut self, rng: &mut Rng) -> Vec<Piece> {
        if rng.u8(..4) == 0 {
            return vec![Piece::Number(rng.u64(..1_000_000))];
        }
        vec![Piece::Token(self.token(rng))]
    }

    fn of_memcache(&mut self, group: usize, rng: &mut Rng) -> Action {
        let marks = self.marks.iter().rev().filter(|(of, _)| *of == group);
        let mark = marks.map(|(_, mark)| *mark).nth(usize::from(rng.u8(..8) == 0));
        match rng.u8(..100) {
            0..22 => Action::Read,
            22..36 => Action::ReadMark,
            36..40 => Action::ReadTouch,
            40..54 => Action::Write(self.text(rng)),
            54..60 => Action::Add(self.text(rng)),
            60..65 => Action::Replace(self.text(rng)),
            65..79 => match mark {
                Some(mark) => Action::Compare(self.text(rng), mark),
                None => Action::ReadMark,
            },
            79..83 => Action::Append(self.short(rng)),
            83..86 => Action::Prepend(self.short(rng)),
            86..92 => Action::Increase(rng.u64(1..100)),
            92..96 => Action::Remove,
            96..99 => Action::Touch,
            _ => Action::Lapse,
        }
    }

    /// One of the commands that `segcache` and `rds` both have.
    fn of_strings(&mut self, is_shared: bool, rng: &mut Rng) -> Action {
        let touch = if is_shared { Action::Touch } else { Action::Expire };
        match rng.u8(..100) {
            0..28 => Action::Read,
            28..32 if is_shared => Action::ReadTouch,
            28..48 => Action::Write(self.text(rng)),
            48..55 => Action::Add(self.text(rng)),
            55..60 => Action::Replace(self.text(rng)),
            60..68 => Action::Swap(self.text(rng)),
            68..75 => Action::Extend(self.short(rng)),
            75..85 => Action::Count(if rng.bool() { 1 } else { rng.u64(1..100) }),
            85..90 => Action::Take,
            90..95 => Action::Remove,
            95..98 => touch,
            _ => Action::Lapse,
        }
    }

    fn of_lists(&mut self, rng: &mut Rng) -> Action {
        let end = if rng.bool() { End::Left } else { End::Right };
        match rng.u8(..100) {
            0..18 => Action::Range,
            18..44 => {
                let count = if rng.u8(..4) == 0 { 2 } else { 1 };
                Action::Push(end, (0..count).map(|_| self.element(rng)).collect())
            }
            44..80 => Action::Pop(end),
            80..94 => Action::Await(end),
            94..98 => Action::Remove,
            _ => Action::Expire,
        }
    }

    /// An element: short ones are packed together, long ones are not.
    fn element(&mut self, rng: &mut Rng) -> u64 {
        self.next += 1;
        token(self.next, if rng.u8(..8) == 0 { rng.usize(150..3_000) } else { rng.usize(18..60) })
    }

    fn one(&mut self, kind: Kind, rng: &mut Rng) -> Op {
        let slot = rng.usize(..SLOTS);
        let lists = match kind {
            Kind::Shared | Kind::Texts => false,
            Kind::Lists => true,
            Kind::Mixed => rng.bool(),
        };
        if lists && rng.u8(..6) == 0 {
            let mut end = || if rng.bool() { End::Left } else { End::Right };
            let (from, to) = ((slot, end()), end());
            return Op::Move { from, to: (rng.usize(..SLOTS), to) };
        }
        Op::On(slot, if lists { self.of_lists(rng) } else { self.of_strings(false, rng) })
    }

    fn of_redis(&mut self, group: usize, kind: Kind, rng: &mut Rng) -> Op {
        if let Some((watched, slot, mark)) = self.watched
            && watched == group
            && rng.u8(..2) == 0
        {
            self.watched = None;
            return self.transaction(kind, vec![(slot, mark)], rng);
        }
        match rng.u8(..20) {
            // Only one at a time: an EXEC ends all watches of its connection.
            0..2 if self.watched.is_none() => {
                let (slot, mark) = (rng.usize(..SLOTS), self.next);
                self.next += 1;
                self.watched = Some((group, slot, mark));
                Op::On(slot, Action::Watch(mark))
            }
            2..4 if self.watched.is_none() => self.transaction(kind, Vec::new(), rng),
            4 if kind == Kind::Texts => {
                let ops = (0..SLOTS).map(|slot| Op::On(slot, Action::Read)).collect();
                Op::All { form: Form::Mget, guards: Vec::new(), ops }
            }
            5 if kind == Kind::Texts => {
                let write = |slot| Op::On(slot, Action::Write(self.text(rng)));
                Op::All {
                    form: Form::Mset,
                    guards: Vec::new(),
                    ops: (0..SLOTS).map(write).collect(),
                }
            }
            _ => self.one(kind, rng),
        }
    }

    fn transaction(&mut self, kind: Kind, guards: Vec<(usize, u64)>, rng: &mut Rng) -> Op {
        let count = rng.usize(1..4);
        let mut ops = Vec::with_capacity(count);
        while ops.len() < count {
            let op = self.one(kind, rng);
            // Nothing waits in a transaction, and it says the same as one that pops.
            if !matches!(op, Op::On(_, Action::Await(_))) {
                ops.push(op);
            }
        }
        Op::All { form: Form::Exec, guards, ops }
    }
}
