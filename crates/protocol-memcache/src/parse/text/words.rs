// SPDX-License-Identifier: Apache-2.0
//! The words of a line.

use memchr::memchr;

/// memcached looks at this many words of a line, the command's name included, and ignores the rest. Lists of keys
/// have no limit.
pub(super) const WORDS_MAX: usize = 23;

/// Takes the next word off the front of `line`; `None` when only spaces are left.
#[inline]
pub(crate) fn next_word<'a>(line: &mut &'a [u8]) -> Option<&'a [u8]> {
    let start = line.iter().position(|&byte| byte != b' ')?;
    let rest = &line[start..];
    let end = memchr(b' ', rest).unwrap_or(rest.len());
    *line = &rest[end..];
    Some(&rest[..end])
}

/// The words after a command's name.
#[derive(Debug)]
pub(crate) struct Words<'a> {
    words: [&'a [u8]; Words::KEPT],
    /// For each of these words, the line from its start.
    tails: [&'a [u8]; Words::KEPT],
    last: &'a [u8],
    /// The number of words, including those that are not kept.
    pub(crate) count: usize,
}

impl<'a> Words<'a> {
    /// The most words that any command uses.
    const KEPT: usize = 6;

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "positions in the input: at most its length, and a few bytes"
    )]
    pub(in crate::parse) fn split(line: &'a [u8]) -> Self {
        let mut words = [&b""[..]; Self::KEPT];
        let mut tails = words;
        let mut last = &b""[..];
        let mut count = 0;
        let mut rest = line;
        while count < WORDS_MAX - 1
            && let Some(word) = next_word(&mut rest)
        {
            if count < Self::KEPT {
                words[count] = word;
                tails[count] = &line[line.len() - rest.len() - word.len()..];
            }
            last = word;
            count += 1;
        }
        Words { words, tails, last, count }
    }

    /// The word at `index`; empty when the line has fewer.
    pub(crate) fn get(&self, index: usize) -> &'a [u8] {
        self.words.get(index).copied().unwrap_or_default()
    }

    /// The line from the word at `index` on, where a number is read that may be preceded by white space; empty when
    /// the line has fewer words.
    pub(super) fn from(&self, index: usize) -> &'a [u8] {
        self.tails.get(index).copied().unwrap_or_default()
    }

    /// Whether the last word asks for no reply.
    pub(super) fn say_noreply(&self) -> bool {
        self.last == b"noreply"
    }
}
