// SPDX-License-Identifier: Apache-2.0
//! The meta commands: [`MetaEncoder`] writes requests, [`parse_meta`] reads replies.
//!
//! ```
//! use protocol_memcache::client::{MetaEncoder, MetaReply, parse_meta};
//!
//! let mut wire = Vec::new();
//! MetaEncoder::new(&mut wire).get(b"one", "k v");
//! assert_eq!(wire, b"mg one k v\r\n");
//!
//! let (reply, consumed) = parse_meta(b"VA 5 kone\r\nfirst\r\n").unwrap().unwrap();
//! assert_eq!(consumed, 18);
//! let MetaReply::Value { flags, value } = reply else { panic!() };
//! assert_eq!((flags.get(b'k'), value), (Some(&b"one"[..]), &b"first"[..]));
//! ```

use super::reply::{LINE_MAX, Unreadable, is_error, number};
use memchr::memchr;

/// Appends meta requests to a vector.
///
/// Keys are written unchecked: the caller must pass valid keys, of 1 to 250 bytes without spaces or
/// control characters. Flags are written unchecked too: letters with their arguments, separated by
/// spaces.
#[derive(Debug)]
pub struct MetaEncoder<'a> {
    out: &'a mut Vec<u8>,
}

impl<'a> MetaEncoder<'a> {
    /// An encoder that appends to `out`.
    pub fn new(out: &'a mut Vec<u8>) -> Self {
        MetaEncoder { out }
    }

    /// `mg <key> <flags>*`
    #[inline]
    pub fn get(&mut self, key: &[u8], flags: &str) {
        self.words(b"mg ", key, flags);
        self.out.extend_from_slice(b"\r\n");
    }

    /// `md <key> <flags>*`
    #[inline]
    pub fn delete(&mut self, key: &[u8], flags: &str) {
        self.words(b"md ", key, flags);
        self.out.extend_from_slice(b"\r\n");
    }

    /// `ms <key> <bytes> [T<seconds>]` and the body of `len` bytes, which `write` appends. The item
    /// lives for `ttl_s` seconds, or for ever.
    ///
    /// # Panics
    ///
    /// In debug builds, when `write` appends another number of bytes.
    #[inline]
    pub fn set_with(
        &mut self,
        key: &[u8],
        ttl_s: Option<u32>,
        len: usize,
        write: impl FnOnce(&mut Vec<u8>),
    ) {
        self.words(b"ms ", key, "");
        let mut digits = itoa::Buffer::new();
        self.out.push(b' ');
        self.out.extend_from_slice(digits.format(len).as_bytes());
        if let Some(ttl_s) = ttl_s {
            self.out.extend_from_slice(b" T");
            self.out.extend_from_slice(digits.format(ttl_s).as_bytes());
        }
        self.out.extend_from_slice(b"\r\n");
        let start = self.out.len();
        write(self.out);
        debug_assert_eq!(self.out.len() - start, len, "the body has the length that was announced");
        self.out.extend_from_slice(b"\r\n");
    }

    /// `mn`: its reply comes after those of all quiet requests before it.
    pub fn noop(&mut self) {
        self.out.extend_from_slice(b"mn\r\n");
    }

    #[inline]
    fn words(&mut self, name: &[u8], key: &[u8], flags: &str) {
        self.out.extend_from_slice(name);
        self.out.extend_from_slice(key);
        if !flags.is_empty() {
            self.out.push(b' ');
            self.out.extend_from_slice(flags.as_bytes());
        }
    }
}

/// The flags that a reply carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MetaFlags<'a>(&'a [u8]);

impl<'a> MetaFlags<'a> {
    /// The argument of the flag `letter`, empty for a flag without one; `None` if the flag is absent.
    pub fn get(&self, letter: u8) -> Option<&'a [u8]> {
        let mut flags = self.0.split(|&byte| byte == b' ');
        flags.find_map(|flag| flag.strip_prefix(&[letter]))
    }
}

/// One reply to a meta command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MetaReply<'a> {
    /// `VA`: a value.
    Value {
        /// The flags behind its length.
        flags: MetaFlags<'a>,
        /// Its bytes.
        value: &'a [u8],
    },
    /// `HD`: done, or found without its value.
    Done(MetaFlags<'a>),
    /// `EN`: `mg` has found nothing.
    Miss,
    /// `NS`: not stored, the condition did not hold.
    NotStored(MetaFlags<'a>),
    /// `EX`: another client has changed the item.
    Exists(MetaFlags<'a>),
    /// `NF`: there is no such item.
    NotFound(MetaFlags<'a>),
    /// `MN`: the reply to `mn`.
    Noop,
    /// The request was refused: a line that starts with `ERROR`, `CLIENT_ERROR` or `SERVER_ERROR`.
    Error(&'a [u8]),
}

/// Finds the first reply in `input` and its length in bytes. `None` while it is incomplete.
///
/// # Errors
///
/// [`Unreadable`], when `input` does not start with a reply to a meta command.
#[inline]
pub fn parse_meta(input: &[u8]) -> Result<Option<(MetaReply<'_>, usize)>, Unreadable> {
    let Some(end) = memchr(b'\n', &input[..input.len().min(LINE_MAX)]) else {
        return if input.len() < LINE_MAX { Ok(None) } else { Err(Unreadable) };
    };
    let line = input[..end].strip_suffix(b"\r").ok_or(Unreadable)?;
    let consumed = end + 1;
    if line == b"ERROR" || is_error(line) {
        return Ok(Some((MetaReply::Error(line), consumed)));
    }
    let (name, rest) = line.split_at_checked(2).ok_or(Unreadable)?;
    let rest = match rest.split_first() {
        None => rest,
        Some((b' ', rest)) => rest,
        Some(_) => return Err(Unreadable),
    };
    let reply = match name {
        b"VA" => return value(rest, &input[consumed..], consumed),
        b"HD" => MetaReply::Done(MetaFlags(rest)),
        b"EN" => MetaReply::Miss,
        b"NS" => MetaReply::NotStored(MetaFlags(rest)),
        b"EX" => MetaReply::Exists(MetaFlags(rest)),
        b"NF" => MetaReply::NotFound(MetaFlags(rest)),
        b"MN" => MetaReply::Noop,
        _ => return Err(Unreadable),
    };
    Ok(Some((reply, consumed)))
}

fn value<'a>(
    words: &'a [u8],
    body: &'a [u8],
    consumed: usize,
) -> Result<Option<(MetaReply<'a>, usize)>, Unreadable> {
    let (len, flags) = match memchr(b' ', words) {
        Some(at) => (&words[..at], &words[at + 1..]),
        None => (words, &b""[..]),
    };
    let len = usize::try_from(number(len)?).map_err(|_| Unreadable)?;
    let total = len.checked_add(2).ok_or(Unreadable)?;
    if body.len() < total {
        return Ok(None);
    }
    if &body[len..total] != b"\r\n" {
        return Err(Unreadable);
    }
    let reply = MetaReply::Value { flags: MetaFlags(flags), value: &body[..len] };
    Ok(Some((reply, consumed + total)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_look_as_in_the_book() {
        let mut wire = Vec::new();
        let mut encoder = MetaEncoder::new(&mut wire);
        encoder.get(b"a", "");
        encoder.get(b"b", "k v q");
        encoder.noop();
        encoder.set_with(b"c", None, 2, |out| out.extend_from_slice(b"hi"));
        encoder.set_with(b"d", Some(60), 0, |_| {});
        encoder.delete(b"e", "");
        let expected = "mg a\r\nmg b k v q\r\nmn\r\nms c 2\r\nhi\r\nms d 0 T60\r\n\r\nmd e\r\n";
        assert_eq!(String::from_utf8_lossy(&wire), expected);
    }

    #[test]
    fn every_reply_is_read_only_when_it_is_whole() {
        let none = MetaFlags(b"");
        let replies: [(&[u8], MetaReply<'_>); 10] = [
            (b"VA 0\r\n\r\n", MetaReply::Value { flags: none, value: b"" }),
            (
                b"VA 2 kkey s2\r\n\r\n\r\n",
                MetaReply::Value { flags: MetaFlags(b"kkey s2"), value: b"\r\n" },
            ),
            (b"HD\r\n", MetaReply::Done(none)),
            (b"HD O7\r\n", MetaReply::Done(MetaFlags(b"O7"))),
            (b"EN\r\n", MetaReply::Miss),
            (b"NS\r\n", MetaReply::NotStored(none)),
            (b"EX\r\n", MetaReply::Exists(none)),
            (b"NF\r\n", MetaReply::NotFound(none)),
            (b"MN\r\n", MetaReply::Noop),
            (b"SERVER_ERROR no memory\r\n", MetaReply::Error(b"SERVER_ERROR no memory")),
        ];
        for (wire, reply) in replies {
            for end in 0..wire.len() {
                assert_eq!(parse_meta(&wire[..end]), Ok(None), "{reply:?}");
            }
            assert_eq!(parse_meta(wire), Ok(Some((reply, wire.len()))));
        }
    }

    #[test]
    fn what_is_no_reply_is_an_error() {
        let lines: [&[u8]; 8] = [
            b"\r\n",
            b"H\r\n",
            b"HD\n",
            b"HDx\r\n",
            b"XX\r\n",
            b"VA\r\n",
            b"VA 1\r\nxyz",
            b"VA 18446744073709551615\r\n",
        ];
        for line in lines {
            assert_eq!(parse_meta(line), Err(Unreadable), "{}", line.escape_ascii());
        }
    }

    #[test]
    fn a_flag_is_found_by_its_letter() {
        let flags = MetaFlags(b"kfoo W s10");
        assert_eq!(flags.get(b'k'), Some(&b"foo"[..]));
        assert_eq!(flags.get(b'W'), Some(&b""[..]));
        assert_eq!(flags.get(b's'), Some(&b"10"[..]));
        assert_eq!(flags.get(b'f'), None);
    }
}
