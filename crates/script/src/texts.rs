// SPDX-License-Identifier: Apache-2.0
//! [`Texts`]: the words of a command, or keys and arguments of a script, without an allocation for each.

use std::fmt;

/// Where a text starts and ends among the bytes.
pub type TextSpan = (u32, u32);

/// Texts that are borrowed: bytes, and where in them each starts and ends. Cheap to copy.
///
/// ```
/// let texts = script::Texts::new(b"get,key", &[(0, 3), (4, 7)]);
/// assert_eq!(texts.iter().collect::<Vec<_>>(), [b"get", b"key"]);
/// ```
#[derive(Clone, Copy, Default)]
pub struct Texts<'a> {
    bytes: &'a [u8],
    spans: &'a [TextSpan],
}

impl<'a> Texts<'a> {
    /// The texts at these places. A place that is not among the bytes is that of an empty text.
    #[inline]
    #[must_use]
    pub fn new(bytes: &'a [u8], spans: &'a [TextSpan]) -> Self {
        Texts { bytes, spans }
    }

    /// How many there are.
    #[inline]
    #[must_use]
    pub fn len(self) -> usize {
        self.spans.len()
    }

    /// Whether there is none.
    #[inline]
    #[must_use]
    pub fn is_empty(self) -> bool {
        self.spans.is_empty()
    }

    /// The text at `index`.
    #[inline]
    #[must_use]
    pub fn get(self, index: usize) -> Option<&'a [u8]> {
        self.spans
            .get(index)
            .map(|&(start, end)| self.bytes.get(start as usize..end as usize).unwrap_or_default())
    }

    /// All of them in order.
    #[inline]
    pub fn iter(self) -> impl Iterator<Item = &'a [u8]> {
        (0..self.len()).filter_map(move |index| self.get(index))
    }

    /// The bytes, and the place of each text among them.
    #[inline]
    #[must_use]
    pub fn parts(self) -> (&'a [u8], &'a [TextSpan]) {
        (self.bytes, self.spans)
    }
}

impl fmt::Debug for Texts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter().map(|text| text.escape_ascii().to_string())).finish()
    }
}

/// Bytes that are kept from one use to the next.
const KEPT: usize = 64 << 10;

/// Texts of one's own, one behind the other.
#[derive(Debug, Default)]
pub(crate) struct TextList {
    bytes: Vec<u8>,
    spans: Vec<TextSpan>,
}

impl TextList {
    /// Adds a text. All together have less than 4 GiB.
    #[inline]
    pub(crate) fn push(&mut self, text: &[u8]) {
        let start = self.bytes.len() as u32;
        self.bytes.extend_from_slice(text);
        self.spans.push((start, self.bytes.len() as u32));
    }

    /// Bytes of all texts.
    #[inline]
    pub(crate) fn len_bytes(&self) -> usize {
        self.bytes.len()
    }

    /// The texts.
    #[inline]
    pub(crate) fn texts(&self) -> Texts<'_> {
        Texts::new(&self.bytes, &self.spans)
    }

    /// Drops all texts. Memory is kept unless it is much.
    #[inline]
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.spans.clear();
        if self.bytes.capacity() > KEPT {
            *self = TextList::default();
        }
    }
}

impl<A: AsRef<[u8]>> FromIterator<A> for TextList {
    fn from_iter<I: IntoIterator<Item = A>>(texts: I) -> Self {
        let mut words = TextList::default();
        texts.into_iter().for_each(|text| words.push(text.as_ref()));
        words
    }
}
