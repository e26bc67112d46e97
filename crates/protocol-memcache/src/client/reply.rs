// SPDX-License-Identifier: Apache-2.0
//! [`parse`]: bytes to replies.

use crate::op::KEY_MAX;
use memchr::memchr;

/// The longest accepted reply line; a longer one is not memcache.
pub(super) const LINE_MAX: usize = KEY_MAX + 4096;

/// One reply. A `get` or a `stats` is answered by several, the last of them [`Reply::End`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reply<'a> {
    /// A value.
    Value {
        /// Its key.
        key: &'a [u8],
        /// Its flags.
        flags: u32,
        /// Its bytes.
        value: &'a [u8],
        /// Its CAS number, if it was asked for.
        cas: Option<u64>,
    },
    /// No more values or statistics.
    End,
    /// Stored.
    Stored,
    /// The condition did not hold.
    NotStored,
    /// Another client has changed the item.
    Exists,
    /// There is no such item.
    NotFound,
    /// Removed.
    Deleted,
    /// The expiry was changed.
    Touched,
    /// Done.
    Ok,
    /// The statistics were reset.
    Reset,
    /// The number that `incr` or `decr` made.
    Number(u64),
    /// The server's version.
    Version(&'a [u8]),
    /// One of the server's statistics.
    Stat {
        /// Its name.
        name: &'a [u8],
        /// Its value.
        value: &'a [u8],
    },
    /// The request was refused: a line that starts with `ERROR`, `CLIENT_ERROR` or `SERVER_ERROR`.
    Error(&'a [u8]),
}

/// The server sent something that is not a reply. The connection cannot be used any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a memcache reply")]
pub struct Unreadable;

/// Finds the first reply in `input` and its length in bytes. `None` while it is incomplete.
///
/// # Errors
///
/// [`Unreadable`], when `input` does not start with a reply.
pub fn parse(input: &[u8]) -> Result<Option<(Reply<'_>, usize)>, Unreadable> {
    let Some(end) = memchr(b'\n', &input[..input.len().min(LINE_MAX)]) else {
        return if input.len() < LINE_MAX { Ok(None) } else { Err(Unreadable) };
    };
    let line = input[..end].strip_suffix(b"\r").ok_or(Unreadable)?;
    let consumed = end + 1;
    let reply = match line {
        b"END" => Reply::End,
        b"STORED" => Reply::Stored,
        b"NOT_STORED" => Reply::NotStored,
        b"EXISTS" => Reply::Exists,
        b"NOT_FOUND" => Reply::NotFound,
        b"DELETED" => Reply::Deleted,
        b"TOUCHED" => Reply::Touched,
        b"OK" => Reply::Ok,
        b"RESET" => Reply::Reset,
        b"ERROR" => Reply::Error(line),
        _ => return parse_words(line, input, consumed),
    };
    Ok(Some((reply, consumed)))
}

fn parse_words<'a>(
    line: &'a [u8],
    input: &'a [u8],
    consumed: usize,
) -> Result<Option<(Reply<'a>, usize)>, Unreadable> {
    let reply = if let Some(words) = line.strip_prefix(b"VALUE ") {
        return parse_value(words, &input[consumed..], consumed);
    } else if let Some(words) = line.strip_prefix(b"STAT ") {
        let at = memchr(b' ', words).ok_or(Unreadable)?;
        let (name, value) = (&words[..at], &words[at + 1..]);
        Reply::Stat { name, value }
    } else if let Some(version) = line.strip_prefix(b"VERSION ") {
        Reply::Version(version)
    } else if is_error(line) {
        Reply::Error(line)
    } else {
        Reply::Number(number(line)?)
    };
    Ok(Some((reply, consumed)))
}

pub(super) fn is_error(line: &[u8]) -> bool {
    let starts: [&[u8]; 3] = [b"CLIENT_ERROR ", b"SERVER_ERROR ", b"ERROR "];
    starts.iter().any(|start| line.starts_with(start))
}

fn parse_value<'a>(
    words: &'a [u8],
    body: &'a [u8],
    consumed: usize,
) -> Result<Option<(Reply<'a>, usize)>, Unreadable> {
    let mut words = words.split(|&byte| byte == b' ');
    let key = words.next().ok_or(Unreadable)?;
    let flags = number(words.next().ok_or(Unreadable)?)?;
    let flags = u32::try_from(flags).map_err(|_| Unreadable)?;
    let len = number(words.next().ok_or(Unreadable)?)?;
    let len = usize::try_from(len).map_err(|_| Unreadable)?;
    let cas = words.next().map(number).transpose()?;
    let total = len.checked_add(2).ok_or(Unreadable)?;
    if words.next().is_some() {
        return Err(Unreadable);
    }
    if body.len() < total {
        return Ok(None);
    }
    if &body[len..total] != b"\r\n" {
        return Err(Unreadable);
    }
    let value = &body[..len];
    let reply = Reply::Value { key, flags, value, cas };
    Ok(Some((reply, consumed + total)))
}

pub(super) fn number(word: &[u8]) -> Result<u64, Unreadable> {
    if !word.iter().all(u8::is_ascii_digit) {
        return Err(Unreadable);
    }
    let text = std::str::from_utf8(word).map_err(|_| Unreadable)?;
    text.parse().map_err(|_| Unreadable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reply_is_read_only_when_it_is_whole() {
        let replies: [(&[u8], Reply<'_>); 12] = [
            (b"END\r\n", Reply::End),
            (b"STORED\r\n", Reply::Stored),
            (b"NOT_STORED\r\n", Reply::NotStored),
            (b"EXISTS\r\n", Reply::Exists),
            (b"NOT_FOUND\r\n", Reply::NotFound),
            (b"18446744073709551615\r\n", Reply::Number(u64::MAX)),
            (b"VERSION 1.6.45\r\n", Reply::Version(b"1.6.45")),
            (b"STAT version a b\r\n", Reply::Stat { name: b"version", value: b"a b" }),
            (b"ERROR\r\n", Reply::Error(b"ERROR")),
            (b"CLIENT_ERROR bad data chunk\r\n", Reply::Error(b"CLIENT_ERROR bad data chunk")),
            (
                b"VALUE k 4294967295 4 77\r\n\r\n\r\n\r\n",
                Reply::Value { key: b"k", flags: u32::MAX, value: b"\r\n\r\n", cas: Some(77) },
            ),
            (b"VALUE k 0 0\r\n\r\n", Reply::Value { key: b"k", flags: 0, value: b"", cas: None }),
        ];
        for (wire, reply) in replies {
            for end in 0..wire.len() {
                assert_eq!(parse(&wire[..end]), Ok(None), "{reply:?}");
            }
            assert_eq!(parse(wire), Ok(Some((reply, wire.len()))));
        }
    }

    #[test]
    fn what_is_no_reply_is_an_error() {
        let lines: [&[u8]; 9] = [
            b"\r\n",
            b"END\n",
            b"STOREDx\r\n",
            b"VALUE k 0\r\n",
            b"VALUE k 0 a\r\n",
            b"VALUE k 0 1 2 3\r\n",
            b"VALUE k 0 1\r\nxyz",
            b"18446744073709551616\r\n",
            &[b'x'; LINE_MAX],
        ];
        for line in lines {
            assert_eq!(parse(line), Err(Unreadable), "{}", line.escape_ascii());
        }
    }
}
