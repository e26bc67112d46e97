// SPDX-License-Identifier: Apache-2.0
//! What memcached before 1.6.45 answers otherwise. 1.6.45 splits and reads lines by rules of their own; here are
//! those that differ, so that an older memcached can be compared in all others, and a sample of each with both
//! answers.

use std::ops::RangeInclusive;
use test_support::memcached::Version;

/// What stands before a sample.
pub(crate) const BEFORE: &[u8] = b"flush_all\r\nset k 0 0 1\r\n5\r\n";

/// What comes of [`BEFORE`].
pub(crate) const ANSWERED_BEFORE: &[u8] = b"OK\r\nSTORED\r\n";

/// Bytes sent, the answer of 1.6.38 and before, and that of 1.6.45. A body follows its line as a line of its own.
pub(crate) type Sample = (&'static [u8], &'static [u8], &'static [u8]);

const BAD_FORMAT: &[u8] = b"CLIENT_ERROR bad command line format\r\n";
const BAD_EXPTIME: &[u8] = b"CLIENT_ERROR invalid exptime argument\r\n";
const BAD_DELTA: &[u8] = b"CLIENT_ERROR invalid numeric delta argument\r\n";
const ERROR: &[u8] = b"ERROR\r\n";
const VALUE: &[u8] = b"VALUE k 0 1\r\n5\r\nEND\r\n";

/// A sample of each rule.
pub(crate) const SAMPLES: &[Sample] = &[
    // Lines that are too short.
    (b"\r\n", ERROR, BAD_FORMAT),
    (b"ab\n", ERROR, BAD_FORMAT),
    // A NUL is a byte like others.
    (b"get k\0x\r\n", VALUE, b"END\r\n"),
    // Only a few commands may be indented.
    (b" get k\r\n", VALUE, ERROR),
    (b" version x\r\n", b"VERSION ", ERROR),
    // Unknown commands: `noreply`, HTTP.
    (b"noreply\r\n", ERROR, b""),
    (b"foo bar noreply\r\n", ERROR, b""),
    (b"HTTP/1.1\r\n", b"closed", ERROR),
    (b"getx HTTP/1.1\r\n", ERROR, b"closed"),
    (b"bget k\r\n", VALUE, ERROR),
    // Too few words.
    (b"get\r\n", ERROR, BAD_FORMAT),
    (b"gat 0\r\n", b"END\r\n", BAD_FORMAT),
    (b"set k 0 0\r\n", ERROR, BAD_FORMAT),
    (b"cas k 0 0 1\r\nx\r\n", b"ERROR\r\nERROR\r\n", BAD_FORMAT),
    (b"incr k\r\n", ERROR, BAD_FORMAT),
    (b"touch k\r\n", ERROR, BAD_FORMAT),
    (b"delete\r\n", ERROR, BAD_FORMAT),
    (b"verbosity\r\n", ERROR, BAD_FORMAT),
    // Too many.
    (b"incr k 1 2 3\r\n", ERROR, b"6\r\n"),
    (b"touch k 0 2 3\r\n", ERROR, b"TOUCHED\r\n"),
    (
        b"delete k 1\r\n",
        b"CLIENT_ERROR bad command line format.  Usage: delete <key> [noreply]\r\n",
        b"DELETED\r\n",
    ),
    (b"verbosity 1 2 3\r\n", ERROR, b"OK\r\n"),
    (b"flush_all 0 2 3\r\n", ERROR, b"OK\r\n"),
    // `noreply` as the only word of delete, and of a line that has no length.
    (b"delete noreply\r\n", b"NOT_FOUND\r\n", b""),
    (b"set k 0 0 -1 noreply\r\n", b"", BAD_FORMAT),
    // Numbers.
    (b"incr k +1\r\n", b"6\r\n", BAD_DELTA),
    (b"incr k 1\t\r\n", b"6\r\n", BAD_DELTA),
    (b"incr k 00000000000000000000001\r\n", b"6\r\n", BAD_DELTA),
    (b"touch k -\r\n", BAD_EXPTIME, b"TOUCHED\r\n"),
    (b"touch k 4294967296\r\n", b"TOUCHED\r\n", BAD_EXPTIME),
    (b"gat +0 k\r\n", VALUE, BAD_EXPTIME),
    (b"flush_all +1000\r\n", b"OK\r\n", BAD_EXPTIME),
    (b"verbosity +1\r\n", b"OK\r\n", BAD_FORMAT),
    (
        b"set k 0 0 +1\r\n7\r\n",
        b"STORED\r\n",
        b"CLIENT_ERROR bad command line format\r\nCLIENT_ERROR bad command line format\r\n",
    ),
    // Flags of meta commands.
    (
        b"ms k 1 Mappend\r\n7\r\n",
        b"CLIENT_ERROR incorrect length for M token\r\n",
        b"CLIENT_ERROR invalid mode for ms M token\r\n",
    ),
    (
        b"md k I I\r\n",
        b"CLIENT_ERROR invalid or duplicate flag\r\n",
        b"CLIENT_ERROR duplicate flag\r\n",
    ),
    (b"ma n q N0\r\n", b"HD\r\n", b""),
    // A topic may be abbreviated.
    (b"stats re\r\n", ERROR, b"RESET\r\n"),
];

/// The topics that may be abbreviated.
const TOPICS: [&[u8]; 8] = [
    b"reset",
    b"detail",
    b"settings",
    b"cachedump",
    b"conns",
    b"extstore",
    b"proxyfuncs",
    b"proxybe",
];

/// Whether `line` is a meta command of a version whose meta commands are too different: 1.6.18 has fewer flags, and what
/// lies between was not looked at.
pub(crate) fn has_other_meta(version: Version, line: &[u8]) -> bool {
    version < Version(1, 6, 38)
        && matches!(line.first_chunk(), Some(b"mg " | b"ms " | b"md " | b"ma " | b"me "))
}

/// Whether memcached before 1.6.45 answers `line` otherwise, or might.
pub(crate) fn answers_otherwise(line: &[u8]) -> bool {
    let content = line.strip_suffix(b"\r").unwrap_or(line);
    let words: Vec<&[u8]> =
        content.split(|&byte| byte == b' ').filter(|word| !word.is_empty()).collect();
    let Some((&name, rest)) = words.split_first() else { return line.len() < 3 };
    let is_list = matches!(name, b"get" | b"gets" | b"gat" | b"gats");
    line.len() < 3
        || content.contains(&0)
        || (words.len() > 22 && !is_list)
        || (content[0] == b' ' && !matches!(name, b"verbosity" | b"flush_all"))
        || words_differ(name, rest)
}

/// Whether the words of a command that is not indented are taken otherwise.
fn words_differ(name: &[u8], words: &[&[u8]]) -> bool {
    let says_noreply = words.last() == Some(&&b"noreply"[..]);
    match name {
        b"get" | b"gets" => words.is_empty(),
        b"gat" | b"gats" => words.len() < 2 || differs(words[0], I32),
        b"set" | b"add" | b"replace" | b"append" | b"prepend" | b"cas" => {
            let most = if name == b"cas" { 6 } else { 5 };
            !(most - 1..=most).contains(&words.len())
                // White space alone is no number, or the start of the next one; what follows a number and white
                // space is ignored by some versions, and not by others.
                || words[1..3].iter().any(|word| word.iter().any(u8::is_ascii_whitespace))
                || differs(words[3], I32)
                || (says_noreply && new(words[3], LEN).is_none())
                || (name == b"cas" && differs(words[4], U64))
        }
        b"delete" => match words {
            [key] => *key == b"noreply",
            [_, b"0" | b"noreply"] | [_, b"0", b"noreply"] => false,
            _ => true,
        },
        b"incr" | b"decr" => !(2..=3).contains(&words.len()) || differs(words[1], U64),
        b"touch" => !(2..=3).contains(&words.len()) || differs(words[1], I32),
        b"flush_all" => {
            words.len() > 2
                || words.first().is_some_and(|&word| word != b"noreply" && differs(word, I32))
        }
        b"verbosity" => !(1..=2).contains(&words.len()) || differs(words[0], U32),
        b"stats" => words.first().is_some_and(|word| {
            *word == b"proxy" || TOPICS.iter().any(|topic| topic.starts_with(word) && topic != word)
        }),
        b"version" | b"quit" => false,
        b"mg" => flags_differ(words, 1, b"bcfhklqstvENORT", b""),
        b"ms" => {
            !words.get(1).is_some_and(|len| is_plain(len, LEN))
                || flags_differ(words, 2, b"bcksqCEFIMNOT", b"EAPRS")
        }
        b"md" => flags_differ(words, 1, b"bkqxCEIOT", b""),
        // A number that a quiet request makes was told.
        b"ma" => {
            words.contains(&&b"q"[..]) && words.iter().any(|word| word[0] == b'N')
                || flags_differ(words, 1, b"bcktqvCDEJMNOT", b"ID+-")
        }
        b"me" => flags_differ(words, 1, b"b", b""),
        b"bget" => true,
        _ => {
            let last = words.last().unwrap_or(&name);
            *last == b"noreply" || last.starts_with(b"HTTP/") && !is_request_line(name, words)
        }
    }
}

/// Whether the flags of a meta command are taken otherwise. Each version has errors of its own for flags that are not known,
/// not alone or not of their form, and what such a request gave may go to the next.
fn flags_differ(words: &[&[u8]], from: usize, known: &[u8], modes: &[u8]) -> bool {
    let flags = words.get(from..).unwrap_or_default();
    let letters: Vec<u8> = flags.iter().map(|flag| flag[0]).collect();
    let is_fine = |at: usize| {
        let (letter, token) = (letters[at], &flags[at][1..]);
        let has_form = match letter {
            b'M' => token.len() == 1 && modes.contains(&token[0]),
            b'T' | b'N' | b'R' => is_plain(token, I32),
            b'C' | b'E' | b'D' | b'J' => is_plain(token, U64),
            b'F' => is_plain(token, U32),
            b'b' => token.is_empty() && is_base64(words[0]),
            b'O' => (1..=32).contains(&token.len()),
            _ => token.is_empty(),
        };
        known.contains(&letter) && !letters[..at].contains(&letter) && has_form
    };
    !(0..flags.len()).all(is_fine)
}

fn is_base64(key: &[u8]) -> bool {
    let digits = key.strip_suffix(b"==").or(key.strip_suffix(b"=")).unwrap_or(key);
    let is_digit = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    key.len().is_multiple_of(4) && !digits.is_empty() && digits.iter().all(is_digit)
}

/// Whether a line with `HTTP/` at its end closes the connection for all versions.
fn is_request_line(name: &[u8], words: &[&[u8]]) -> bool {
    !words.is_empty() && name.iter().all(u8::is_ascii_uppercase)
}

/// A kind of number: the most characters that it may have, and its range.
type Kind = (usize, RangeInclusive<i128>);
const I32: Kind = (11, i32::MIN as i128..=i32::MAX as i128);
const U32: Kind = (11, 0..=u32::MAX as i128);
/// The length of a body.
const LEN: Kind = (11, 0..=i32::MAX as i128 - 2);
const U64: Kind = (22, 0..=u64::MAX as i128);

/// Whether a number is read otherwise.
fn differs(word: &[u8], kind: Kind) -> bool {
    old(word) != new(word, kind)
}

/// Whether it is a number, and read alike.
fn is_plain(word: &[u8], kind: Kind) -> bool {
    !word.is_empty() && old(word).is_some() && !differs(word, kind)
}

/// As C's `strtol` reads it.
fn old(word: &[u8]) -> Option<i128> {
    let text = std::str::from_utf8(word).ok()?.trim_start_matches(is_space);
    let end = text.find(is_space).unwrap_or(text.len());
    let digits = text[..end].strip_prefix('+').unwrap_or(&text[..end]);
    if digits.starts_with('+') { None } else { digits.parse().ok() }
}

/// As it is read since: digits, with a `-` before them where the number may be negative.
fn new(word: &[u8], (len_max, range): Kind) -> Option<i128> {
    let text = std::str::from_utf8(word).ok().filter(|text| text.len() <= len_max)?;
    let digits = if *range.start() < 0 { text.strip_prefix('-').unwrap_or(text) } else { text };
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let number = if text == "-" { 0 } else { text.parse().ok()? };
    range.contains(&number).then_some(number)
}

/// C's `isspace`.
fn is_space(character: char) -> bool {
    matches!(character, ' ' | '\t'..='\r')
}
