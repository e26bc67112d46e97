// SPDX-License-Identifier: Apache-2.0
//! Finds the keys among given arguments.
//!
//! [`keys`] applies the [`KeySpec`]s of a command. A rule finds a [`Run`], keys at equal distances.
//! No command has more than [`RUNS_MAX`] rules, so nothing is allocated, however many keys there
//! are. [`visit`] does the same on the hot path of every command.
//!
//! ```
//! use protocol_resp::table::{self, keys};
//!
//! let words = ["mset", "a", "1", "b", "2"];
//! let spec = table::find(b"mset").expect("it is in the table").spec();
//! let keys = keys::keys(spec, &words[..]).expect("it has keys");
//! assert_eq!(keys.positions().collect::<Vec<_>>(), [1, 3]);
//! ```

mod variable;

pub(crate) use variable::flags;

use super::bits::KeyFlags;
use super::key_spec::{Begin, Find, KeySpec, OptionWord};
use super::spec::Spec;
use crate::wire::parse::{Args, Request, leading_integer};

/// The most rules a command has.
pub const RUNS_MAX: usize = 3;

/// The arguments of a command, its name first.
pub trait Words {
    /// How many there are.
    fn count(&self) -> usize;

    /// The one at `index`, if there are so many.
    fn word(&self, index: usize) -> Option<&[u8]>;

    /// Those from `index` on.
    fn words_from(&self, index: usize) -> impl Iterator<Item = &[u8]>;
}

impl<T: AsRef<[u8]>> Words for [T] {
    fn count(&self) -> usize {
        self.len()
    }

    fn word(&self, index: usize) -> Option<&[u8]> {
        self.get(index).map(AsRef::as_ref)
    }

    fn words_from(&self, index: usize) -> impl Iterator<Item = &[u8]> {
        self.iter().skip(index).map(AsRef::as_ref)
    }
}

impl Words for Args<'_> {
    #[inline]
    fn count(&self) -> usize {
        self.len()
    }

    #[inline]
    fn word(&self, index: usize) -> Option<&[u8]> {
        self.get(index)
    }

    fn words_from(&self, index: usize) -> impl Iterator<Item = &[u8]> {
        self.tail(index).iter()
    }
}

impl Words for Request<'_> {
    #[inline]
    fn count(&self) -> usize {
        self.len()
    }

    #[inline]
    fn word(&self, index: usize) -> Option<&[u8]> {
        self.get(index)
    }

    fn words_from(&self, index: usize) -> impl Iterator<Item = &[u8]> {
        self.iter().skip(index)
    }
}

/// Keys at even distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// The first key, or the next.
    next: u64,
    /// No key is beyond it. Not before the first, and an argument that is there.
    last: u64,
    step: u8,
    flags: KeyFlags,
}

impl Run {
    /// No key.
    const NONE: Self = Run { next: 1, last: 0, step: 1, flags: KeyFlags::NONE };

    /// Where the keys are.
    #[inline]
    #[must_use]
    pub fn positions(self) -> Positions<'static> {
        Positions { run: self, rest: [].iter() }
    }

    /// What is done to the keys, as the rule has it.
    #[must_use]
    pub fn flags(self) -> KeyFlags {
        self.flags
    }
}

/// All keys of a command.
#[derive(Clone, Copy, Debug)]
pub struct Keys {
    runs: [Run; RUNS_MAX],
    count: usize,
}

impl Keys {
    pub(super) const NONE: Self = Keys { runs: [Run::NONE; RUNS_MAX], count: 0 };

    /// The keys by rule.
    #[inline]
    #[must_use]
    pub fn runs(&self) -> &[Run] {
        &self.runs[..self.count]
    }

    /// Where the keys are. Those of a rule are in order; rules follow each other as in the table.
    #[inline]
    #[must_use]
    pub fn positions(&self) -> Positions<'_> {
        Positions { run: Run::NONE, rest: self.runs().iter() }
    }
}

/// The positions of keys, see [`Keys::positions`].
#[derive(Clone, Debug)]
pub struct Positions<'k> {
    /// What is left of the present run.
    run: Run,
    rest: std::slice::Iter<'k, Run>,
}

impl Iterator for Positions<'_> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        if self.run.next > self.run.last {
            self.run = *self.rest.next()?;
        }
        let position = self.run.next;
        // Both are below 2^32, the number of arguments.
        self.run.next += u64::from(self.run.step);
        Some(position as usize)
    }
}

/// The keys cannot be found, because the arguments are invalid: the command will fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Misplaced;

/// Finds the keys among `words`, the first of which is the command's name. Arguments that are only
/// routed like keys are left out, and so are keys that follow from the values of others
/// ([`Begin::Unknown`]).
///
/// Costs little: it reads no key, and for most commands no argument.
///
/// # Errors
///
/// [`Misplaced`], if a rule cannot be applied. Arguments that the rules do not need are not
/// checked.
#[inline]
pub fn keys<W: Words + ?Sized>(spec: &Spec, words: &W) -> Result<Keys, Misplaced> {
    let mut keys = Keys::NONE;
    for rule in spec.keys {
        if rule.is_key()
            && let Some(run) = apply(rule, words)?
        {
            keys.runs[keys.count] = run;
            keys.count += 1;
        }
    }
    Ok(keys)
}

/// Calls `visit` with the position of each key, as [`keys`] finds them, but stores nothing. Every
/// command calls this before its keys are locked.
///
/// # Errors
///
/// [`Misplaced`], as of [`keys`]. Other rules may have led to keys before.
#[inline]
pub fn visit<W: Words + ?Sized>(
    spec: &Spec,
    words: &W,
    mut visit: impl FnMut(usize),
) -> Result<(), Misplaced> {
    for rule in spec.keys {
        if rule.is_key() {
            visit_run(rule, words, &mut visit)?;
        }
    }
    Ok(())
}

/// As [`visit`], also for arguments that are only routed like keys, such as shard channels; `visit` is told
/// whether it is a key.
///
/// # Errors
///
/// [`Misplaced`], as of [`keys`].
pub fn visit_routed<W: Words + ?Sized>(
    spec: &Spec,
    words: &W,
    mut visit: impl FnMut(usize, bool),
) -> Result<(), Misplaced> {
    for rule in spec.keys {
        visit_run(rule, words, &mut |at| visit(at, rule.is_key()))?;
    }
    Ok(())
}

/// The part of one rule.
#[inline]
fn visit_run<W: Words + ?Sized>(
    rule: &KeySpec,
    words: &W,
    visit: &mut impl FnMut(usize),
) -> Result<(), Misplaced> {
    let Some(run) = apply(rule, words)? else { return Ok(()) };
    let mut position = run.next;
    while position <= run.last {
        visit(position as usize);
        position += u64::from(run.step);
    }
    Ok(())
}

/// Applies one rule. None: there is no such key.
#[inline]
fn apply<W: Words + ?Sized>(rule: &KeySpec, words: &W) -> Result<Option<Run>, Misplaced> {
    match (rule.begin, rule.find) {
        // Most rules.
        (Begin::Index(first), Find::Range { last, step, limit: 0 }) => {
            range(first.into(), last, step, rule.flags, words.count()).map(Some)
        }
        _ => search(rule, words),
    }
}

/// Keys from one position to another.
#[inline]
fn range(
    first: usize,
    last: i8,
    step: u8,
    flags: KeyFlags,
    count: usize,
) -> Result<Run, Misplaced> {
    let base = if last < 0 { count } else { first };
    let last = base.checked_add_signed(last.into()).ok_or(Misplaced)?;
    between(first, last, step, flags, count)
}

/// Keys between two positions, if that is possible.
#[inline]
fn between(
    first: usize,
    last: usize,
    step: u8,
    flags: KeyFlags,
    count: usize,
) -> Result<Run, Misplaced> {
    let is_there = first <= last && last < count;
    let run = Run { next: first as u64, last: last as u64, step, flags };
    if is_there { Ok(run) } else { Err(Misplaced) }
}

/// Applies a rule that looks at arguments.
#[inline(never)]
fn search<W: Words + ?Sized>(rule: &KeySpec, words: &W) -> Result<Option<Run>, Misplaced> {
    let count = words.count();
    let begin = match rule.begin {
        Begin::Index(index) => index.into(),
        Begin::Keyword { word, from } => keyword(words, word, from).ok_or(Misplaced)? + 1,
        Begin::Option { word, from, others, .. } => match option(words, word, from, others) {
            Some(value) => value,
            None => return Ok(None),
        },
        Begin::Unless { index, word } => match behind(words, word) {
            None => index.into(),
            Some(_) if words.word(index.into()).is_some_and(<[u8]>::is_empty) => return Ok(None),
            Some(_) => return Err(Misplaced),
        },
        Begin::Behind(word) => match behind(words, word) {
            Some(first) => first,
            None => return Ok(None),
        },
        Begin::Unknown => return Ok(None),
    };
    match rule.find {
        Find::Range { last: -1, step, limit } if limit > 1 => {
            let part = count.saturating_sub(begin) / usize::from(limit);
            let last = (begin + part).checked_sub(1).ok_or(Misplaced)?;
            between(begin, last, step, rule.flags, count).map(Some)
        }
        Find::Range { last, step, .. } => range(begin, last, step, rule.flags, count).map(Some),
        Find::Count { at, first, step } => {
            let number = words.word(begin + usize::from(at)).map(leading_integer);
            let number = number.and_then(|number| usize::try_from(number).ok());
            // A number as large as the count of arguments is already too large, so nothing
            // overflows.
            let number = number.filter(|number| (1..count).contains(number)).ok_or(Misplaced)?;
            let first = begin + usize::from(first);
            let last = first + (number - 1) * usize::from(step);
            between(first, last, step, rule.flags, count).map(Some)
        }
        Find::Unknown => Ok(None),
    }
}

/// Where a word is. A negative place counts from the end, and from there the search goes backwards.
fn keyword<W: Words + ?Sized>(words: &W, keyword: &str, from: i8) -> Option<usize> {
    let is = |word: &[u8]| word.eq_ignore_ascii_case(keyword.as_bytes());
    match usize::try_from(from) {
        Ok(from) => words.words_from(from).position(is).map(|at| from + at),
        Err(_) => {
            let from = words.count().checked_sub(from.unsigned_abs().into())?;
            (1..=from).rev().find(|at| words.word(*at).is_some_and(is))
        }
    }
}

/// Where the value of the last option with this name is.
fn option<W: Words + ?Sized>(
    words: &W,
    name: &str,
    from: u8,
    others: &[(&str, u8)],
) -> Option<usize> {
    options(words, name, from, others).filter(|value| *value < words.count()).last()
}

/// What is behind a word that ends the options.
fn behind<W: Words + ?Sized>(words: &W, end: &OptionWord) -> Option<usize> {
    options(words, end.word, end.from, end.others).next()
}

/// What is behind each option with this name.
fn options<W: Words + ?Sized>(
    words: &W,
    name: &str,
    from: u8,
    others: &[(&str, u8)],
) -> impl Iterator<Item = usize> {
    let mut values = 0;
    words.words_from(from.into()).enumerate().filter_map(move |(at, word)| {
        let is = |name: &str| word.eq_ignore_ascii_case(name.as_bytes());
        if values > 0 {
            values -= 1;
            return None;
        }
        if let Some((_, count)) = others.iter().find(|(other, _)| is(other)) {
            values = *count;
            return None;
        }
        is(name).then(|| usize::from(from) + at + 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table;

    fn positions(command: &str) -> Result<Vec<usize>, Misplaced> {
        let words: Vec<&str> = command.split(' ').collect();
        let spec = table::resolve(words[0].as_bytes(), words.get(1).map(|word| word.as_bytes()));
        Ok(keys(spec.unwrap().spec(), &words[..])?.positions().collect())
    }

    /// What a rule finds.
    fn found(begin: Begin, find: Find, words: &[&str]) -> Result<Vec<usize>, Misplaced> {
        let rule = KeySpec { begin, find, flags: KeyFlags::RO, note: "" };
        Ok(apply(&rule, words)?.into_iter().flat_map(Run::positions).collect())
    }

    #[test]
    fn keys_of_all_shapes_are_found() {
        for (command, expected) in [
            ("get k", &[1][..]),
            ("ping", &[]),
            ("del a b c", &[1, 2, 3]),
            ("mset a 1 b 2", &[1, 3]),
            ("blpop a b 0", &[1, 2]),
            ("lmove a b LEFT LEFT", &[1, 2]),
            ("zunionstore d 2 a b", &[1, 3, 4]),
            ("object freq k", &[2]),
            ("sort a STORE b STORE c", &[1, 5]),
            ("ssubscribe c", &[]),
            ("migrate h 1 k 0 9 COPY", &[3]),
            ("migrate h 1  0 9", &[3]),
            ("migrate h 1  0 9 REPLACE AUTH KEYS keys a KEYS b", &[10, 11, 12]),
        ] {
            assert_eq!(positions(command).as_deref(), Ok(expected), "{command}");
        }
        assert_eq!(positions("zunionstore d 3 a b"), Err(Misplaced));
        assert_eq!(positions("blpop 0"), Err(Misplaced));
        assert_eq!(positions("migrate h 1 k 0 9 KEYS a"), Err(Misplaced));
        assert_eq!(positions("migrate h 1  0 9 KEYS"), Err(Misplaced));
    }

    /// As `XREAD` and `GEORADIUS` have them.
    #[test]
    fn keys_behind_a_word_are_found() {
        let half = Find::Range { last: -1, step: 1, limit: 2 };
        let streams = Begin::Keyword { word: "STREAMS", from: 1 };
        let words = ["xread", "COUNT", "2", "streams", "a", "b", "0", "0"];
        assert_eq!(found(streams, half, &words), Ok(vec![4, 5]));
        assert_eq!(found(streams, half, &words[..4]), Err(Misplaced));
        assert_eq!(found(streams, half, &words[..3]), Err(Misplaced));
        let one = Find::Range { last: 0, step: 1, limit: 0 };
        let from_the_end = Begin::Keyword { word: "KEYS", from: -2 };
        assert_eq!(found(from_the_end, one, &["m", "KEYS", "KEYS", "a", "b"]), Ok(vec![3]));
        assert_eq!(found(from_the_end, one, &["m", "KEYS"]), Err(Misplaced));
        assert_eq!(found(from_the_end, one, &["m"]), Err(Misplaced));
        assert_eq!(found(Begin::Unknown, one, &["m", "k"]), Ok(vec![]));
        assert_eq!(found(Begin::Index(1), Find::Unknown, &["m", "k"]), Ok(vec![]));
    }

    #[test]
    fn no_command_has_more_rules_than_there_is_room_for() {
        assert!(table::all().all(|command| command.spec().keys.len() <= RUNS_MAX));
    }
}
