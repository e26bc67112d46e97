// SPDX-License-Identifier: Apache-2.0
//! [`Writer`]: one method per type of reply.

use super::header::short;
use super::{Digits, Header, Output};
use buffer::SendBuf;
use bytes::Bytes;
use memchr::memchr2;

/// The most bytes around a bulk string: its header and its line end.
const AROUND_BULK: usize = 32;

/// The version of the protocol that a client has chosen with `HELLO`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// RESP2: strings, integers, errors and arrays.
    #[default]
    Resp2,
    /// RESP3: has more types, each with a substitute in RESP2.
    Resp3,
}

impl Version {
    /// The number a client knows it by.
    #[inline]
    pub fn number(self) -> u8 {
        match self {
            Version::Resp2 => 2,
            Version::Resp3 => 3,
        }
    }
}

/// Appends replies to an [`Output`], a connection's send buffer unless said otherwise.
///
/// For a type that RESP2 does not have, it writes the same substitute as Redis.
///
/// For an aggregate ([`Writer::array`], [`Writer::map`] ...) it writes only the header; the caller
/// writes the elements after it. If their number is not known in advance, [`Writer::begin_array`]
/// and [`Writer::end_array`] insert the header afterwards.
///
/// ```
/// use buffer::SendBuf;
/// use protocol_resp::reply::{Version, Writer};
///
/// let mut out = SendBuf::new();
/// let mut writer = Writer::new(&mut out, Version::Resp3);
/// writer.map(1);
/// writer.bulk(b"answer");
/// writer.integer(42);
/// assert_eq!(out.front(), b"%1\r\n$6\r\nanswer\r\n:42\r\n");
/// ```
#[derive(Debug)]
pub struct Writer<'a, O: Output = SendBuf> {
    out: &'a mut O,
    version: Version,
}

impl<'a, O: Output> Writer<'a, O> {
    /// A writer that appends to `out`.
    #[inline]
    pub fn new(out: &'a mut O, version: Version) -> Self {
        Writer { out, version }
    }

    /// The version it writes in.
    #[inline]
    pub fn version(&self) -> Version {
        self.version
    }

    /// Changes the version, as `HELLO` does before its reply.
    #[inline]
    pub fn set_version(&mut self, version: Version) {
        self.version = version;
    }

    /// The output that it writes to.
    #[inline]
    pub fn out(&mut self) -> &mut O {
        self.out
    }

    /// Appends bytes that are whole replies already.
    #[inline]
    pub fn raw(&mut self, replies: &[u8]) {
        self.out.put(replies);
    }

    /// `+OK`
    #[inline]
    pub fn ok(&mut self) {
        self.out.put(b"+OK\r\n");
    }

    /// A short text of the server's own, without a line end in it.
    #[inline]
    pub fn simple(&mut self, text: &str) {
        debug_assert!(memchr2(b'\r', b'\n', text.as_bytes()).is_none(), "not one line: {text:?}");
        self.line(b'+', text.as_bytes());
    }

    /// An error: a code in capitals, a space, and the message. Line ends in it become spaces, those
    /// around it are dropped.
    pub fn error(&mut self, message: impl AsRef<[u8]>) {
        let message = message.as_ref();
        if memchr2(b'\r', b'\n', message).is_none() {
            return self.line(b'-', message);
        }
        let is_end = |byte: &u8| matches!(byte, b'\r' | b'\n');
        let start = message.iter().position(|byte| !is_end(byte)).unwrap_or(message.len());
        let end = message.iter().rposition(|byte| !is_end(byte)).map_or(start, |last| last + 1);
        self.out.put(b"-");
        for piece in message[start..end].split_inclusive(is_end) {
            match piece.split_last() {
                Some((last, before)) if is_end(last) => {
                    self.out.put(before);
                    self.out.put(b" ");
                }
                _ => self.out.put(piece),
            }
        }
        self.out.put(b"\r\n");
    }

    /// An integer.
    #[inline]
    pub fn integer(&mut self, number: i64) {
        match usize::try_from(number) {
            Ok(count) => self.count(count),
            Err(_) => self.out.put(Header::new(b':', number).as_bytes()),
        }
    }

    /// An integer: how many there are of something.
    #[inline]
    pub fn count(&mut self, count: usize) {
        self.header(b':', count);
    }

    /// A string of any bytes.
    #[inline]
    pub fn bulk(&mut self, text: &[u8]) {
        self.out.reserve(text.len() + AROUND_BULK);
        self.header(b'$', text.len());
        self.out.put(text);
        self.out.put(b"\r\n");
    }

    /// A string of any bytes by reference; worth it from some kilobytes on.
    pub fn bulk_pinned(&mut self, text: Bytes) {
        self.header(b'$', text.len());
        self.out.put_pinned(text);
        self.out.put(b"\r\n");
    }

    /// A string of any bytes by reference, however much waits already: for one that the reply has many times.
    pub fn bulk_shared(&mut self, text: Bytes) {
        self.header(b'$', text.len());
        self.out.put_shared(text);
        self.out.put(b"\r\n");
    }

    /// A string, or null if there is none.
    #[inline]
    pub fn bulk_or_null(&mut self, text: Option<&[u8]>) {
        match text {
            Some(text) => self.bulk(text),
            None => self.null(),
        }
    }

    /// Null in place of a string.
    #[inline]
    pub fn null(&mut self) {
        self.out.put(self.either(b"$-1\r\n", b"_\r\n"));
    }

    /// Null in place of an array.
    #[inline]
    pub fn null_array(&mut self) {
        self.out.put(self.either(b"*-1\r\n", b"_\r\n"));
    }

    /// An array; `len` elements follow.
    #[inline]
    pub fn array(&mut self, len: usize) {
        self.header(b'*', len);
    }

    /// A map; `len` keys follow, each with its value. In RESP2 an array of twice the length.
    #[inline]
    pub fn map(&mut self, len: usize) {
        let (kind, len) = self.map_header(len);
        self.header(kind, len);
    }

    /// A set; `len` elements follow. In RESP2 an array.
    #[inline]
    pub fn set(&mut self, len: usize) {
        let kind = self.either(b'*', b'~');
        self.header(kind, len);
    }

    /// A push message, which is not the reply to a request; `len` elements follow. In RESP2 an
    /// array.
    #[inline]
    pub fn push(&mut self, len: usize) {
        let kind = self.either(b'*', b'>');
        self.header(kind, len);
    }

    /// An attribute of the reply after it; `len` keys follow, each with its value. RESP2 has no
    /// attributes: then nothing is written, false is returned, and the caller must leave the keys
    /// and values out.
    #[must_use = "in RESP2 the keys and values must be left out"]
    pub fn attribute(&mut self, len: usize) -> bool {
        let is_known = self.version == Version::Resp3;
        if is_known {
            self.header(b'|', len);
        }
        is_known
    }

    /// A floating-point number; see [`Digits`]. In RESP2 a string.
    #[inline]
    pub fn double(&mut self, number: f64) {
        self.double_digits(Digits::new(number).as_str());
    }

    /// A floating-point number by its digits, for one with more of them than [`Writer::double`] shows. In RESP2 a
    /// string.
    #[inline]
    pub fn double_digits(&mut self, digits: &str) {
        match self.version {
            Version::Resp2 => self.bulk(digits.as_bytes()),
            Version::Resp3 => self.line(b',', digits.as_bytes()),
        }
    }

    /// Yes or no. In RESP2 1 or 0.
    #[inline]
    pub fn boolean(&mut self, value: bool) {
        let reply: &[u8] = match (self.version, value) {
            (Version::Resp2, false) => b":0\r\n",
            (Version::Resp2, true) => b":1\r\n",
            (Version::Resp3, false) => b"#f\r\n",
            (Version::Resp3, true) => b"#t\r\n",
        };
        self.out.put(reply);
    }

    /// A text for people to read, in a format such as `txt` or `mkd`. In RESP2 a string.
    pub fn verbatim(&mut self, format: &[u8; 3], text: &[u8]) {
        match self.version {
            Version::Resp2 => self.bulk(text),
            Version::Resp3 => {
                self.out.reserve(text.len() + AROUND_BULK);
                self.header(b'=', text.len() + 4);
                self.out.put(format);
                self.out.put(b":");
                self.out.put(text);
                self.out.put(b"\r\n");
            }
        }
    }

    /// An integer of any size as its digits. In RESP2 a string.
    pub fn big_number(&mut self, digits: &str) {
        match self.version {
            Version::Resp2 => self.bulk(digits.as_bytes()),
            Version::Resp3 => self.line(b'(', digits.as_bytes()),
        }
    }

    /// A line of `kind`.
    #[inline]
    fn line(&mut self, kind: u8, text: &[u8]) {
        self.out.reserve(text.len() + 3);
        self.out.put(&[kind]);
        self.out.put(text);
        self.out.put(b"\r\n");
    }

    #[inline]
    fn header(&mut self, kind: u8, len: usize) {
        if let Some((word, bytes)) = short(kind, len) {
            return self.out.put_word(word, bytes);
        }
        self.out.put(Header::of(kind, len).as_bytes());
    }
}

/// Aggregates whose length is not known in advance.
impl<O: Output> Writer<'_, O> {
    /// Marks the begin of an array. Write its elements next, then call [`Writer::end_array`].
    ///
    /// ```
    /// # use protocol_resp::reply::{Version, Writer};
    /// let mut out = Vec::new();
    /// let mut writer = Writer::new(&mut out, Version::Resp2);
    /// let mark = writer.begin_array();
    /// let even = (1..8).filter(|number| number % 2 == 0);
    /// let count = even.inspect(|&number| writer.integer(number)).count();
    /// writer.end_array(mark, count);
    /// assert_eq!(out, b"*3\r\n:2\r\n:4\r\n:6\r\n");
    /// ```
    #[inline]
    pub fn begin_array(&mut self) -> O::Mark {
        self.out.mark()
    }

    /// Makes an array of the `len` elements that were written since `mark`. Moves their bytes once,
    /// so a long reply should use [`Writer::array`] if its length can be known in advance.
    #[inline]
    pub fn end_array(&mut self, mark: O::Mark, len: usize) {
        self.out.insert(mark, Header::of(b'*', len).as_bytes());
    }

    /// As [`Writer::begin_array`], for [`Writer::end_set`].
    #[inline]
    pub fn begin_set(&mut self) -> O::Mark {
        self.out.mark()
    }

    /// Makes a set of the `len` elements that were written since `mark`.
    #[inline]
    pub fn end_set(&mut self, mark: O::Mark, len: usize) {
        let kind = self.either(b'*', b'~');
        self.out.insert(mark, Header::of(kind, len).as_bytes());
    }

    /// As [`Writer::begin_array`], for [`Writer::end_map`].
    #[inline]
    pub fn begin_map(&mut self) -> O::Mark {
        self.out.mark()
    }

    /// Makes a map of the `len` keys and values that were written since `mark`.
    #[inline]
    pub fn end_map(&mut self, mark: O::Mark, len: usize) {
        let (kind, len) = self.map_header(len);
        self.out.insert(mark, Header::of(kind, len).as_bytes());
    }

    /// Removes the bytes written since `mark`.
    #[inline]
    pub fn undo(&mut self, mark: O::Mark) {
        self.out.truncate(mark);
    }

    #[inline]
    fn map_header(&self, len: usize) -> (u8, usize) {
        match self.version {
            Version::Resp2 => (b'*', 2 * len),
            Version::Resp3 => (b'%', len),
        }
    }

    #[inline]
    fn either<T>(&self, resp2: T, resp3: T) -> T {
        match self.version {
            Version::Resp2 => resp2,
            Version::Resp3 => resp3,
        }
    }
}

#[cfg(test)]
mod tests;
