// SPDX-License-Identifier: Apache-2.0
//! [`Args`]: the arguments of a request, with access to each in constant time.

use crate::wire::fault::Fault;
use std::fmt;
use std::ops::Index;

/// Where an argument starts and ends in its request.
pub type Span = (u32, u32);

/// The bytes at `span`.
#[inline]
pub(super) fn slice(body: &[u8], (start, end): Span) -> &[u8] {
    &body[start as usize..end as usize]
}

/// The arguments of a request, or the last of them: see [`Request::args`].
///
/// Cheap to copy; its slices live as long as the request it was made from.
///
/// [`Request::args`]: super::Request::args
#[derive(Clone, Copy)]
pub struct Args<'a> {
    body: &'a [u8],
    spans: &'a [Span],
}

impl<'a> Args<'a> {
    /// The arguments at these places.
    #[inline]
    pub(crate) fn new(body: &'a [u8], spans: &'a [Span]) -> Self {
        Args { body, spans }
    }

    /// The bytes of the request, and the place of each argument among them.
    #[cfg(feature = "scripts")]
    #[inline]
    pub(crate) fn parts(self) -> (&'a [u8], &'a [Span]) {
        (self.body, self.spans)
    }

    /// How many there are.
    #[inline]
    pub fn len(self) -> usize {
        self.spans.len()
    }

    /// How many bytes the whole request was sent in.
    #[inline]
    pub(crate) fn request_bytes(self) -> usize {
        self.body.len()
    }

    /// Whether there is none.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.spans.is_empty()
    }

    /// The argument at `index`.
    #[inline]
    pub fn get(self, index: usize) -> Option<&'a [u8]> {
        self.spans.get(index).map(|&span| slice(self.body, span))
    }

    /// The argument at `index`. Unlike `args[index]` it may outlive this value.
    ///
    /// # Panics
    ///
    /// When there is no argument at `index`.
    #[inline]
    pub fn arg(self, index: usize) -> &'a [u8] {
        slice(self.body, self.spans[index])
    }

    /// The argument at `index` as an integer, in the canonical form, the only one that Redis accepts.
    ///
    /// # Errors
    ///
    /// [`Fault::NOT_INTEGER`].
    ///
    /// # Panics
    ///
    /// When there is no argument at `index`.
    #[inline]
    pub fn integer(self, index: usize) -> Result<i64, Fault> {
        values::parse_i64(self.arg(index)).ok_or(Fault::NOT_INTEGER)
    }

    /// The arguments from `index` on; none if there are fewer.
    #[inline]
    #[must_use]
    pub fn tail(self, index: usize) -> Args<'a> {
        Args { body: self.body, spans: self.spans.get(index..).unwrap_or_default() }
    }

    /// The first `count` arguments; all if there are fewer.
    #[inline]
    #[must_use]
    pub fn head(self, count: usize) -> Args<'a> {
        Args { body: self.body, spans: &self.spans[..count.min(self.spans.len())] }
    }

    /// Two at a time; an odd one at the end is left out.
    #[inline]
    pub fn pairs(self) -> impl ExactSizeIterator<Item = [&'a [u8]; 2]> + Clone {
        self.chunks()
    }

    /// `N` at a time; what is less at the end is left out.
    #[inline]
    pub fn chunks<const N: usize>(self) -> impl ExactSizeIterator<Item = [&'a [u8]; N]> + Clone {
        let (chunks, _) = self.spans.as_chunks::<N>();
        chunks.iter().map(move |chunk| chunk.map(|span| slice(self.body, span)))
    }

    /// All of them in order.
    #[inline]
    pub fn iter(self) -> impl ExactSizeIterator<Item = &'a [u8]> + DoubleEndedIterator + Clone {
        self.spans.iter().map(move |&span| slice(self.body, span))
    }
}

impl Index<usize> for Args<'_> {
    type Output = [u8];

    #[inline]
    fn index(&self, index: usize) -> &[u8] {
        self.arg(index)
    }
}

impl fmt::Debug for Args<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|arg| arg.escape_ascii().to_string())).finish()
    }
}
