// SPDX-License-Identifier: Apache-2.0
//! [`Request`]: a command as its arguments.

use super::args::{Args, Span, slice};
use super::{Framing, bulk};
use std::borrow::Cow;
use std::fmt;

/// Number of arguments whose spans a request stores.
pub(super) const FIRST: usize = 4;

/// A command: one argument or more, the first of them its name.
///
/// Borrows the input. It stores the spans of the first four arguments. Further ones are found by walking over
/// those before them, so code that reads many arguments calls [`Request::args`] first. Only an inline request
/// with quotes or more than four words owns its bytes.
///
/// 64 bytes. Two requests are equal if their arguments are, however they were sent.
#[derive(Clone)]
pub struct Request<'a> {
    /// The whole request as it was sent; with more than [`FIRST`] arguments always an array.
    body: Cow<'a, [u8]>,
    count: u32,
    first: [Span; FIRST],
}

const _: () = assert!(size_of::<Request<'_>>() == 64, "a cache line");

#[expect(clippy::len_without_is_empty, reason = "a request has a name at least")]
impl<'a> Request<'a> {
    /// A request of `count` arguments, the first of which are at `first` in `body`.
    #[inline]
    pub(super) fn borrowed(body: &'a [u8], count: u32, first: [Span; FIRST]) -> Self {
        Request { body: Cow::Borrowed(body), count, first }
    }

    /// A request of `count` arguments whose `body` is a whole array.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "positions in the input: at most its length, and a few bytes"
    )]
    pub(super) fn owned(body: Vec<u8>, count: u32) -> Self {
        let mut first = [(0, 0); FIRST];
        let start = body.iter().position(|&byte| byte == b'\n').map_or(body.len(), |end| end + 1);
        for (span, place) in Walk::new(&body, start, count).zip(&mut first) {
            *place = span;
        }
        Request { body: Cow::Owned(body), count, first }
    }

    /// The first argument.
    #[inline]
    pub fn name(&self) -> &[u8] {
        slice(&self.body, self.first[0])
    }

    /// How many arguments there are, the name among them; at least 1.
    #[inline]
    pub fn len(&self) -> usize {
        self.count as usize
    }

    /// How many bytes it was sent in.
    pub(crate) fn body_len(&self) -> usize {
        self.body.len()
    }

    /// The argument at `index`, of which 0 is the name.
    ///
    /// From the fifth on this walks over those before it.
    #[inline]
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "positions in the input: at most its length, and a few bytes"
    )]
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        if index >= self.len() {
            return None;
        }
        match self.first.get(index) {
            Some(&span) => Some(slice(&self.body, span)),
            None => self.beyond().nth(index - FIRST).map(|span| slice(&self.body, span)),
        }
    }

    /// The argument at `index`, as [`Request::get`].
    ///
    /// # Panics
    ///
    /// When there are not so many.
    #[inline]
    pub fn arg(&self, index: usize) -> &[u8] {
        self.get(index).expect("an argument that the request has")
    }

    /// All arguments in order, the name first.
    #[inline]
    pub fn iter(&self) -> Iter<'_> {
        Iter { body: &self.body, spans: self.spans() }
    }

    /// All arguments, with access in constant time. Arguments beyond the fourth are walked over
    /// once, and their spans kept in `scratch`, which is cleared.
    ///
    /// ```
    /// # use protocol::Parsed;
    /// # use protocol_resp::parse::{self, Cursor, Framing};
    /// # let step = parse::parse(&Framing::default(), &mut Cursor::default(), b"DEL a b c d e\n");
    /// # let Ok(Parsed::Request { request, .. }) = step else { panic!() };
    /// let mut scratch = Vec::new();
    /// let args = request.args(&mut scratch);
    /// assert_eq!((args.len(), &args[5]), (6, &b"e"[..]));
    /// ```
    #[inline]
    pub fn args<'s>(&'s self, scratch: &'s mut Vec<Span>) -> Args<'s> {
        let spans = match self.first.get(..self.len()) {
            Some(spans) => spans,
            None => {
                self.collect(scratch);
                scratch
            }
        };
        Args::new(&self.body, spans)
    }

    /// Puts the spans of all arguments into `spans`, which is cleared.
    #[inline(never)]
    fn collect(&self, spans: &mut Vec<Span>) {
        spans.clear();
        spans.reserve(self.len());
        spans.extend(self.spans());
    }

    /// The same request with bytes of its own: for a queue of commands.
    #[must_use]
    pub fn into_owned(self) -> Request<'static> {
        Request { body: Cow::Owned(self.body.into_owned()), count: self.count, first: self.first }
    }

    /// The spans of all arguments.
    #[inline]
    fn spans(&self) -> Spans<'_> {
        let first = self.first.get(..self.len()).unwrap_or(&self.first);
        first.iter().copied().chain(self.beyond())
    }

    /// The spans of the arguments after the first four.
    #[inline]
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "positions in the input: at most its length, and a few bytes"
    )]
    fn beyond(&self) -> Walk<'_> {
        let start = self.first[FIRST - 1].1 as usize + 2;
        Walk::new(&self.body, start, self.count.saturating_sub(FIRST as u32))
    }
}

type Spans<'a> = std::iter::Chain<std::iter::Copied<std::slice::Iter<'a, Span>>, Walk<'a>>;

/// Iterates over arguments that are known to be whole.
#[derive(Clone, Debug)]
struct Walk<'a> {
    body: &'a [u8],
    at: usize,
    left: u32,
}

impl<'a> Walk<'a> {
    #[inline]
    fn new(body: &'a [u8], at: usize, left: u32) -> Self {
        Walk { body, at, left }
    }
}

impl Iterator for Walk<'_> {
    type Item = Span;

    #[inline]
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "positions in the input: at most its length, and a few bytes"
    )]
    fn next(&mut self) -> Option<Span> {
        const ANY: Framing = Framing { restricted: false, bulk_max: usize::MAX };
        self.left = self.left.checked_sub(1)?;
        // The argument has been parsed there before, so this cannot fail.
        let span = bulk::next(&ANY, self.body, self.at).ok()?;
        self.at = span.1 as usize + 2;
        Some(span)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left as usize, Some(self.left as usize))
    }
}

/// The arguments of a [`Request`] in order.
#[derive(Clone, Debug)]
pub struct Iter<'a> {
    body: &'a [u8],
    spans: Spans<'a>,
}

impl<'a> Iterator for Iter<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        self.spans.next().map(|span| slice(self.body, span))
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.spans.size_hint()
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl<'s> IntoIterator for &'s Request<'_> {
    type Item = &'s [u8];
    type IntoIter = Iter<'s>;

    fn into_iter(self) -> Iter<'s> {
        self.iter()
    }
}

impl PartialEq for Request<'_> {
    fn eq(&self, other: &Request<'_>) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Request<'_> {}

impl fmt::Debug for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let args = self.iter().map(|arg| arg.escape_ascii().to_string());
        f.write_str("Request")?;
        f.debug_list().entries(args).finish()
    }
}
