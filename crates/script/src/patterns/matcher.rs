// SPDX-License-Identifier: Apache-2.0
//! [`Matcher`]: Lua 5.1's pattern matching, with a bound on its depth and an eye on the time.
//!
//! The original recurses for each repetition of a pattern, so a long pattern overflows its stack, and it runs for
//! as long as an exploding pattern takes.

use crate::arguments::Failure;
use crate::guard::Guard;

/// The most captures.
const CAPTURES_MAX: usize = 32;

/// The most repetitions and captures in a row.
const DEPTH_MAX: u32 = 200;

/// How many steps pass between two looks at whether the script may go on.
const STEPS: usize = 1 << 14;

/// How many bytes are compared with a capture in the time of a step.
const COMPARED: usize = 32;

const ESCAPE: u8 = b'%';

/// Where a match ends, if there is one.
type Matched = Result<Option<usize>, Failure>;

/// What is between a pair of parentheses.
#[derive(Clone, Copy)]
pub(super) enum Capture {
    /// So many bytes from here on.
    Text(usize, usize),
    /// A position, of `()`.
    Position(usize),
    /// Its end has not been matched.
    Open(usize),
}

pub(super) struct Matcher<'a> {
    pub(super) text: &'a [u8],
    pattern: &'a [u8],
    guard: &'a Guard,
    captures: [Capture; CAPTURES_MAX],
    /// How many there are.
    level: usize,
    depth: u32,
    steps: usize,
}

impl<'a> Matcher<'a> {
    /// Of a pattern, which ends at its first zero byte.
    pub(super) fn new(text: &'a [u8], pattern: &'a [u8], guard: &'a Guard) -> Self {
        let captures = [Capture::Position(0); CAPTURES_MAX];
        Matcher { text, pattern, guard, captures, level: 0, depth: 0, steps: 0 }
    }

    /// The end of a match that begins at `at`.
    pub(super) fn match_at(&mut self, at: usize) -> Matched {
        self.level = 0;
        self.depth = 0;
        self.run(at, 0)
    }

    /// The captures of the last match.
    pub(super) fn captures(&self) -> &[Capture] {
        &self.captures[..self.level]
    }

    /// The byte of the pattern at a place; zero at the end.
    fn letter(&self, p: usize) -> u8 {
        self.pattern.get(p).copied().unwrap_or(0)
    }

    fn run(&mut self, s: usize, p: usize) -> Matched {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(Failure::new("pattern too complex"));
        }
        let matched = self.run_here(s, p);
        self.depth -= 1;
        matched
    }

    fn run_here(&mut self, mut s: usize, mut p: usize) -> Matched {
        loop {
            self.step(1)?;
            match (self.letter(p), self.letter(p + 1)) {
                (b'(', b')') => return self.open(s, p + 2, Capture::Position(s)),
                (b'(', _) => return self.open(s, p + 1, Capture::Open(s)),
                (b')', _) => return self.close(s, p + 1),
                (ESCAPE, b'b') => match self.balanced(s, p + 2)? {
                    Some(end) => (s, p) = (end, p + 4),
                    None => return Ok(None),
                },
                (ESCAPE, b'f') => {
                    p += 2;
                    if self.letter(p) != b'[' {
                        return Err(Failure::new("missing '[' after '%f' in pattern"));
                    }
                    let end = self.class_end(p)?;
                    let before = if s == 0 { 0 } else { self.text[s - 1] };
                    let here = self.text.get(s).copied().unwrap_or(0);
                    if self.in_set(before, p, end - 1) || !self.in_set(here, p, end - 1) {
                        return Ok(None);
                    }
                    p = end;
                }
                (ESCAPE, digit @ b'0'..=b'9') => match self.back_reference(s, digit)? {
                    Some(end) => (s, p) = (end, p + 2),
                    None => return Ok(None),
                },
                (0, _) if p >= self.pattern.len() => return Ok(Some(s)),
                (b'$', _) if p + 1 == self.pattern.len() => {
                    return Ok((s == self.text.len()).then_some(s));
                }
                _ => {
                    let end = self.class_end(p)?;
                    let is_here = s < self.text.len() && self.is_single(s, p, end);
                    match self.letter(end) {
                        b'?' => {
                            if is_here && let Some(done) = self.run(s + 1, end + 1)? {
                                return Ok(Some(done));
                            }
                            p = end + 1;
                        }
                        b'*' => return self.expand(s, p, end),
                        b'+' if is_here => return self.expand(s + 1, p, end),
                        b'-' => return self.expand_least(s, p, end),
                        b'+' => return Ok(None),
                        _ if is_here => (s, p) = (s + 1, end),
                        _ => return Ok(None),
                    }
                }
            }
        }
    }

    /// Counts steps, and looks at the time now and then.
    fn step(&mut self, steps: usize) -> Result<(), Failure> {
        self.steps += steps;
        if self.steps < STEPS {
            return Ok(());
        }
        self.steps = 0;
        if self.guard.may_go_on() { Ok(()) } else { Err(Failure::new("the script was ended")) }
    }

    fn open(&mut self, s: usize, p: usize, capture: Capture) -> Matched {
        if self.level >= CAPTURES_MAX {
            return Err(Failure::new("too many captures"));
        }
        self.captures[self.level] = capture;
        self.level += 1;
        let matched = self.run(s, p)?;
        if matched.is_none() {
            self.level -= 1;
        }
        Ok(matched)
    }

    fn close(&mut self, s: usize, p: usize) -> Matched {
        let open = self.captures().iter().rposition(|one| matches!(one, Capture::Open(_)));
        let open = open.ok_or_else(|| Failure::new("invalid pattern capture"))?;
        let before = self.captures[open];
        if let Capture::Open(start) = before {
            self.captures[open] = Capture::Text(start, s - start);
        }
        let matched = self.run(s, p)?;
        if matched.is_none() {
            self.captures[open] = before;
        }
        Ok(matched)
    }

    fn balanced(&mut self, s: usize, p: usize) -> Matched {
        let (begin, end) = (self.letter(p), self.letter(p + 1));
        if begin == 0 || end == 0 {
            return Err(Failure::new("unbalanced pattern"));
        }
        if self.text.get(s) != Some(&begin) {
            return Ok(None);
        }
        let mut open = 1;
        for (i, &byte) in self.text.iter().enumerate().skip(s + 1) {
            if byte == end {
                open -= 1;
                if open == 0 {
                    self.step(i - s)?;
                    return Ok(Some(i + 1));
                }
            } else if byte == begin {
                open += 1;
            }
        }
        self.step(self.text.len() - s)?;
        Ok(None)
    }

    fn back_reference(&mut self, s: usize, digit: u8) -> Matched {
        let at = usize::from(digit).checked_sub(usize::from(b'1'));
        match at.and_then(|at| self.captures().get(at)) {
            Some(&Capture::Text(start, len)) => {
                self.step(len / COMPARED)?;
                let is_same = self.text[s..].starts_with(&self.text[start..start + len]);
                Ok(is_same.then_some(s + len))
            }
            // The original compares with a text of an impossible length.
            Some(Capture::Position(_)) => Ok(None),
            _ => Err(Failure::new("invalid capture index")),
        }
    }

    /// The end of the class that begins at `p`. A set takes a step for each byte.
    fn class_end(&mut self, p: usize) -> Result<usize, Failure> {
        match self.letter(p) {
            ESCAPE => {
                if p + 1 >= self.pattern.len() {
                    return Err(Failure::new("malformed pattern (ends with '%')"));
                }
                Ok(p + 2)
            }
            b'[' => {
                let start = p;
                let mut p = p + 1;
                if self.letter(p) == b'^' {
                    p += 1;
                }
                loop {
                    if p >= self.pattern.len() {
                        return Err(Failure::new("malformed pattern (missing ']')"));
                    }
                    // The first may be a bracket itself.
                    p += if self.letter(p) == ESCAPE && p + 1 < self.pattern.len() { 2 } else { 1 };
                    if self.letter(p) == b']' {
                        self.step(p - start)?;
                        return Ok(p + 1);
                    }
                }
            }
            _ => Ok(p + 1),
        }
    }

    /// Whether the byte at `s` is of the class from `p` to `end`.
    fn is_single(&self, s: usize, p: usize, end: usize) -> bool {
        let byte = self.text[s];
        match self.letter(p) {
            b'.' => true,
            ESCAPE => is_of_class(byte, self.letter(p + 1)),
            b'[' => self.in_set(byte, p, end - 1),
            letter => letter == byte,
        }
    }

    /// Whether a byte is in the set whose brackets are at `p` and `end`.
    fn in_set(&self, byte: u8, p: usize, end: usize) -> bool {
        let mut p = p + 1;
        let mut is_in = true;
        if self.letter(p) == b'^' {
            is_in = false;
            p += 1;
        }
        while p < end {
            if self.letter(p) == ESCAPE {
                if is_of_class(byte, self.letter(p + 1)) {
                    return is_in;
                }
                p += 2;
            } else if self.letter(p + 1) == b'-' && p + 2 < end {
                if (self.letter(p)..=self.letter(p + 2)).contains(&byte) {
                    return is_in;
                }
                p += 3;
            } else {
                if self.letter(p) == byte {
                    return is_in;
                }
                p += 1;
            }
        }
        !is_in
    }

    /// As many of a class as there are, then fewer.
    fn expand(&mut self, s: usize, p: usize, end: usize) -> Matched {
        let mut at = s;
        let is_set = self.letter(p) == b'[';
        while at < self.text.len() && self.is_single(at, p, end) {
            at += 1;
            if is_set {
                self.step(end - p)?;
            }
        }
        loop {
            self.step(1)?;
            if let Some(done) = self.run(at, end + 1)? {
                return Ok(Some(done));
            }
            if at == s {
                return Ok(None);
            }
            at -= 1;
        }
    }

    /// As few of a class as possible.
    fn expand_least(&mut self, s: usize, p: usize, end: usize) -> Matched {
        let mut at = s;
        loop {
            if let Some(done) = self.run(at, end + 1)? {
                return Ok(Some(done));
            }
            if at >= self.text.len() || !self.is_single(at, p, end) {
                return Ok(None);
            }
            at += 1;
            self.step(end - p)?;
        }
    }
}

/// Whether a byte is of a class, `%a`; letters in upper case mean the opposite, others themselves.
fn is_of_class(byte: u8, class: u8) -> bool {
    let is_in = match class.to_ascii_lowercase() {
        b'a' => byte.is_ascii_alphabetic(),
        b'c' => byte.is_ascii_control(),
        b'd' => byte.is_ascii_digit(),
        b'l' => byte.is_ascii_lowercase(),
        b'p' => byte.is_ascii_punctuation(),
        b's' => byte.is_ascii_whitespace() || byte == 0x0b,
        b'u' => byte.is_ascii_uppercase(),
        b'w' => byte.is_ascii_alphanumeric(),
        b'x' => byte.is_ascii_hexdigit(),
        b'z' => byte == 0,
        _ => return class == byte,
    };
    is_in != class.is_ascii_uppercase()
}
