// SPDX-License-Identifier: Apache-2.0
//! [`Flags`]: the flags of a meta command, checked once and read again where they are needed.

use super::base64;
use crate::op::{Act, KEY_MAX};
use crate::parse::number;
use crate::reply::meta as reply;
use protocol::ErrorReply;

/// The letters that are flags of some meta command. Each command accepts all of them, and ignores those that mean
/// nothing to it.
const LETTERS: &[u8; 25] = b"bcCDEfFhIJklLMNOPqRstTuvx";

/// The most words of a line, its name and key included.
const WORDS_MAX: usize = 20;

/// memcached looks at the first letters of this many words, and at the rest of the line not at all.
const WORDS_SEEN: usize = 23;

/// The longest opaque, its `O` included.
const OPAQUE_MAX: usize = 32;

const UNKNOWN: u8 = 32;

/// The number of a letter among the flags; [`UNKNOWN`] for all other bytes.
static NUMBERS: [u8; 256] = numbers();

#[expect(clippy::arithmetic_side_effects, reason = "counts to 25")]
const fn numbers() -> [u8; 256] {
    let mut numbers = [UNKNOWN; 256];
    let mut at = 0;
    while at < LETTERS.len() {
        numbers[LETTERS[at] as usize] = at as u8;
        at += 1;
    }
    numbers
}

/// A set of flags, a bit for each letter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Letters(u32);

impl Letters {
    /// The set of these letters, all of which are flags.
    pub(crate) const fn of(letters: &[u8]) -> Self {
        let numbers = numbers();
        let (mut set, mut rest) = (0, letters);
        while let [letter, more @ ..] = rest {
            assert!(numbers[*letter as usize] < UNKNOWN, "a letter that is no flag");
            set |= 1 << numbers[*letter as usize];
            rest = more;
        }
        Letters(set)
    }

    /// Whether one of the others is among them.
    #[inline]
    pub(crate) const fn has(self, others: Letters) -> bool {
        self.0 & others.0 != 0
    }
}

/// Flags with an argument whose form is checked.
const CHECKED: Letters = Letters::of(b"bCDEFJMNORT");

/// The flags of one command: words of a letter and its argument, each letter at most once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flags<'a> {
    text: &'a [u8],
    letters: Letters,
}

impl<'a> Flags<'a> {
    /// Checks the flags in `text`, of a line with this key. If they are not right, the error reply tells what
    /// memcached finds wrong with them.
    #[inline]
    #[expect(clippy::arithmetic_side_effects, reason = "counts words of a line")]
    pub(super) fn check(act: Act, key: &[u8], text: &'a [u8]) -> Result<Self, ErrorReply> {
        let refused = || Err(refusal(act, key, text));
        let mut letters = Letters::default();
        let mut count = words_before(act);
        for (letter, argument) in split(text) {
            let number = NUMBERS[usize::from(letter)];
            if number == UNKNOWN {
                return refused();
            }
            let bit = Letters(1 << number);
            if letters.has(bit) || CHECKED.has(bit) && !is_right(act, key, letter, argument) {
                return refused();
            }
            letters.0 |= bit.0;
            count += 1;
        }
        if count > WORDS_MAX || key.len() > KEY_MAX {
            return refused();
        }
        Ok(Flags { text, letters })
    }

    /// The flags at the start of `text`, up to the `\r\n` of their line: if that is there, each flag follows one
    /// space, and all are right. Looks at each byte once.
    #[inline]
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "positions in the text, and words of a line"
    )]
    pub(in crate::parse) fn plain(act: Act, key: &[u8], text: &'a [u8]) -> Option<Self> {
        let mut letters = Letters::default();
        let (mut at, mut count) = (0, words_before(act));
        while let &[b' ', letter, ..] = &text[at..] {
            let number = NUMBERS[usize::from(letter)];
            if number == UNKNOWN {
                return None;
            }
            let bit = Letters(1 << number);
            let argument = at + 2;
            at = argument;
            while *text.get(at)? > b' ' {
                at += 1;
            }
            let is_right = !CHECKED.has(bit) || is_right(act, key, letter, &text[argument..at]);
            if letters.has(bit) || !is_right {
                return None;
            }
            letters.0 |= bit.0;
            count += 1;
        }
        let is_whole = text[at..].starts_with(b"\r\n") && count <= WORDS_MAX;
        is_whole.then(|| Flags { text: &text[..at], letters })
    }

    /// Checks what follows the key of `me`, where nothing but a `b` means something.
    pub(super) fn of_describe(key: &[u8], text: &'a [u8]) -> Result<Self, ErrorReply> {
        let is_binary = split(text).next() == Some((b'b', b""));
        let is_right = key.len() <= KEY_MAX && (!is_binary || base64::decode(key).is_some());
        if !is_right || begins_wrong(Act::Describe, text) {
            return Err(reply::BAD_FORMAT);
        }
        Ok(Flags { text, letters: if is_binary { Letters::of(b"b") } else { Letters::default() } })
    }

    /// No flags.
    pub(super) const NONE: Flags<'static> = Flags { text: b"", letters: Letters(0) };

    /// Flags that were checked before, and whose letters these are.
    #[inline]
    pub(crate) fn checked(text: &'a [u8], letters: Letters) -> Self {
        Flags { text, letters }
    }

    #[inline]
    pub(crate) fn letters(&self) -> Letters {
        self.letters
    }

    /// Whether one of these letters is among them.
    #[inline]
    pub(crate) fn has(&self, letters: Letters) -> bool {
        self.letters.has(letters)
    }

    /// The flags in their order, each a letter and its argument.
    #[inline]
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u8, &'a [u8])> + use<'a> {
        split(self.text)
    }

    /// The argument of a flag that is there.
    #[inline]
    pub(crate) fn argument(&self, letter: u8) -> Option<&'a [u8]> {
        let number = NUMBERS[usize::from(letter)];
        if number == UNKNOWN || !self.letters.has(Letters(1 << number)) {
            return None;
        }
        self.iter().find(|&(found, _)| found == letter).map(|(_, argument)| argument)
    }

    /// The argument of a flag as a number.
    pub(crate) fn number(&self, letter: u8) -> Option<u64> {
        number::digits_u64(self.argument(letter)?)
    }

    /// The client's flags that an `ms` stores.
    pub(crate) fn client_flags(&self) -> u32 {
        self.number(b'F').map_or(0, |number| number as u32)
    }

    /// The flags as they were written.
    #[must_use]
    pub fn text(&self) -> &'a [u8] {
        self.text
    }
}

/// The words of `text`, each as its first byte and the rest.
#[inline]
fn split(mut text: &[u8]) -> impl Iterator<Item = (u8, &[u8])> {
    std::iter::from_fn(move || {
        loop {
            let (&letter, tail) = text.split_first()?;
            text = tail;
            if letter == b' ' {
                continue;
            }
            let len = tail.iter().position(|&byte| byte == b' ').unwrap_or(tail.len());
            let (argument, rest) = tail.split_at(len);
            text = rest;
            return Some((letter, argument));
        }
    })
}

/// Words before the flags.
const fn words_before(act: Act) -> usize {
    match act {
        Act::Set | Act::SetTooLarge => 3,
        Act::Get | Act::Delete | Act::Arith | Act::Describe | Act::Noop => 2,
    }
}

/// Whether a flag's argument has the form that it must have.
fn is_right(act: Act, key: &[u8], letter: u8, argument: &[u8]) -> bool {
    match (letter, act) {
        (b'b', _) => base64::decode(key).is_some(),
        (b'N' | b'R' | b'T', _) => number::digits_i32(argument).is_some(),
        (b'C' | b'D' | b'E' | b'J', _) => number::digits_u64(argument).is_some(),
        (b'F', _) => number::digits_u32(argument).is_some(),
        (b'O', _) => argument.len() < OPAQUE_MAX,
        (b'M', Act::Set | Act::SetTooLarge) => {
            matches!(argument, [b'A' | b'E' | b'P' | b'R' | b'S', ..])
        }
        (b'M', Act::Arith) => matches!(argument, [b'+' | b'-' | b'D' | b'I', ..]),
        _ => true,
    }
}

/// Whether memcached does not take one of these words for a flag.
fn begins_wrong(act: Act, text: &[u8]) -> bool {
    let seen = split(text).take(WORDS_SEEN.saturating_sub(words_before(act)));
    let mut letters = seen.map(|(letter, _)| letter);
    letters.any(|letter| !matches!(letter, b'0'..=b'9' | b'A'..=b'z'))
}

/// What is told about flags that are not right. Several things may be wrong with them. memcached tells the first
/// letter that cannot be a flag; else that there are too many words; else the first unknown or repeated flag; else
/// the last bad argument; else a bad mode, and an opaque that is too long when there is nothing else to tell.
#[cold]
fn refusal(act: Act, key: &[u8], text: &[u8]) -> ErrorReply {
    if begins_wrong(act, text) {
        return reply::BAD_FORMAT;
    }
    let told = refused_early(act, key, text);
    match (told, act) {
        // For `ma` all of these are one.
        (Some(_), Act::Arith) => reply::BAD_FLAG,
        (Some(told), _) => told,
        (None, _) => refused_late(act, key, text),
    }
}

fn refused_early(act: Act, key: &[u8], text: &[u8]) -> Option<ErrorReply> {
    if key.len() > KEY_MAX {
        return Some(reply::BAD_FORMAT);
    }
    if split(text).count().saturating_add(words_before(act)) > WORDS_MAX {
        return Some(reply::TOO_MANY_FLAGS);
    }
    let mut met = [false; 256];
    let (mut told, mut is_wrong) = (reply::BAD_FORMAT, false);
    for (letter, argument) in split(text) {
        if std::mem::replace(&mut met[usize::from(letter)], true) {
            return Some(reply::DUPLICATE_FLAG);
        }
        if NUMBERS[usize::from(letter)] == UNKNOWN {
            return Some(reply::INVALID_FLAG);
        }
        if matches!(letter, b'M' | b'O') || is_right(act, key, letter, argument) {
            continue;
        }
        is_wrong = true;
        match letter {
            b'b' => told = reply::BAD_KEY,
            b'J' => told = reply::BAD_INITIAL,
            b'D' => told = reply::BAD_DELTA,
            // memcached has no words for bad client flags.
            b'F' => {}
            _ => told = reply::BAD_TOKEN,
        }
    }
    is_wrong.then_some(told)
}

fn refused_late(act: Act, key: &[u8], text: &[u8]) -> ErrorReply {
    let mut modes = split(text).filter(|&(letter, _)| letter == b'M');
    match act {
        _ if modes.all(|(letter, mode)| is_right(act, key, letter, mode)) => reply::LONG_OPAQUE,
        Act::Arith => reply::BAD_ARITH_MODE,
        Act::Get | Act::Set | Act::SetTooLarge | Act::Delete | Act::Describe | Act::Noop => {
            reply::BAD_SET_MODE
        }
    }
}
