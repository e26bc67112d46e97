// SPDX-License-Identifier: Apache-2.0
//! The words of a line.

use crate::command::Noreply;
use memchr::memchr;

/// memcached splits a line into this many words at most.
pub(super) const WORDS_SPLIT_MAX: usize = 23;

/// Takes the next word off the front of `line`; `None` when only spaces are left.
#[inline]
pub(super) fn next_word<'a>(line: &mut &'a [u8]) -> Option<&'a [u8]> {
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
    pub(super) fn split(mut line: &'a [u8]) -> Self {
        let mut words = [&b""[..]; Self::KEPT];
        let mut last = &b""[..];
        let mut count = 0;
        while let Some(word) = next_word(&mut line) {
            if let Some(place) = words.get_mut(count) {
                *place = word;
            }
            last = word;
            count += 1;
        }
        Words { words, last, count }
    }

    /// The word at `index`; empty when the line has fewer.
    pub(crate) fn get(&self, index: usize) -> &'a [u8] {
        self.words.get(index).copied().unwrap_or_default()
    }

    /// Whether the line asks for no reply, if its command allows that. A line with more words than
    /// memcached splits never does.
    pub(super) fn quiet(&self, noreply: Noreply) -> bool {
        let least = match noreply {
            Noreply::Never => return false,
            Noreply::Last => 1,
            Noreply::BehindKey => 2,
        };
        (least..WORDS_SPLIT_MAX).contains(&self.count) && self.last == b"noreply"
    }
}
