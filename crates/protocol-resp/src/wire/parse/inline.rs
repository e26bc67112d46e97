// SPDX-License-Identifier: Apache-2.0
//! A request as a line: words with white space between them, as a person types it.
//!
//! The line ends with `\n`, before which one `\r` is dropped. Words end at a space, a tab, `\r` or
//! `\n`; what C calls white space besides those (`\v`, `\f`) is only skipped where a word could
//! start.

use super::args::Span;
use super::fault::Fault;
use super::request::{FIRST, Request};
use super::{LINE_MAX, Step, found, need, quoted};
use memchr::{memchr, memchr2};
use protocol::{ErrorReply, Malformed};

/// Parses `input`, which is not empty.
#[inline(never)]
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
pub(super) fn parse(input: &[u8]) -> Step<'_> {
    let Some(end) = memchr(b'\n', &input[..input.len().min(LINE_MAX + 1)]) else {
        if input.len() > LINE_MAX {
            return Err(Fault::InlineTooLong.into());
        }
        return need(1);
    };
    let line = input[..end].strip_suffix(b"\r").unwrap_or(&input[..end]);
    let consumed = end + 1;
    match words(line) {
        Some((0, _)) => Err(Malformed::skip(ErrorReply::NONE, consumed)),
        Some((count, first)) => {
            found(Request::borrowed(&input[..consumed], count, first), consumed)
        }
        None => match quoted::request(line) {
            Some(request) => found(request, consumed),
            None => Err(Fault::UnbalancedQuotes.into()),
        },
    }
}

/// How many words `line` has and where they are. `None` if there are quotes, or more words than a
/// request has places for.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
fn words(line: &[u8]) -> Option<(u32, [Span; FIRST])> {
    if memchr2(b'"', b'\'', line).is_some() {
        return None;
    }
    let mut first = [(0, 0); FIRST];
    let mut count = 0;
    let mut at = skip_space(line, 0);
    while at < line.len() {
        let end = at + word_len(&line[at..]);
        // A line is far shorter than 4 GiB.
        *first.get_mut(count)? = (at as u32, end as u32);
        count += 1;
        at = skip_space(line, end);
    }
    Some((count as u32, first))
}

/// Where the next word starts at `at` or behind; the end of the line if there is none.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "positions in the input: at most its length, and a few bytes"
)]
pub(super) fn skip_space(line: &[u8], at: usize) -> usize {
    line[at..].iter().position(|&byte| !is_space(byte)).map_or(line.len(), |len| at + len)
}

/// The length of the word at the start of `rest`.
fn word_len(rest: &[u8]) -> usize {
    rest.iter().position(|&byte| ends_word(byte)).unwrap_or(rest.len())
}

/// Whether a byte ends a word that is not in quotes.
pub(super) fn ends_word(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\r' | b'\n')
}

/// C's `isspace`.
pub(super) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t'..=b'\r')
}
