// SPDX-License-Identifier: Apache-2.0
//! [`Pack`]: a sequence of byte strings in one slice, the form of small hashes, sets and sorted sets.
//! Lists have [one of their own](crate::list).
//!
//! ```text
//!  | length varint | text |  … next element
//! ```
//!
//! A pack is read in place and allocates nothing. The owner of the bytes edits it: an [`Element`]
//! has its offsets, [`write()`] fills the gap made for a new one, and [`push`] edits a [`Vec`].
//! Elements are found by walking: a pack is for few elements or few bytes.
//!
//! Offsets are those of elements' starts, or the slice's end. INV-PACK: a pack is made of whole
//! elements. Only this process writes the bytes, so a violation is a bug; it leads to a panic,
//! never to a read out of bounds.

#[cfg(test)]
pub(crate) mod edits;

use crate::varint::{self, Varint};
use std::iter::FusedIterator;
use std::ops::Range;

/// A sequence of byte strings in one slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pack<'a> {
    bytes: &'a [u8],
}

/// One element: its text and where it stands in the pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Element<'a> {
    /// The byte string.
    pub(crate) text: &'a [u8],
    /// Where the element begins, length included.
    pub(crate) start: usize,
    /// Where the text begins.
    pub(crate) text_start: usize,
    /// Where the next element begins.
    pub(crate) end: usize,
}

impl Element<'_> {
    /// The whole element: what is cut out to remove it.
    #[inline]
    pub(crate) fn range(&self) -> Range<usize> {
        self.start..self.end
    }

    /// The text alone: what is overwritten by another text of the same length.
    #[inline]
    pub(crate) fn text_range(&self) -> Range<usize> {
        self.text_start..self.text_start + self.text.len()
    }
}

impl<'a> Pack<'a> {
    /// Reads `bytes`, which are whole elements, as a pack.
    #[inline]
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Pack { bytes }
    }

    /// The element that begins at `offset`; nothing at the end.
    #[inline]
    pub(crate) fn at(self, offset: usize) -> Option<Element<'a>> {
        debug_assert!(offset <= self.bytes.len(), "INV-PACK: an offset behind the end");
        if offset >= self.bytes.len() {
            return None;
        }
        let (len, header) = varint::read(&self.bytes[offset..]);
        let text_start = offset + header;
        let text_end = text_start + len;
        debug_assert!(text_end <= self.bytes.len(), "INV-PACK: an element goes over the end");
        let text = &self.bytes[text_start..text_end];
        Some(Element { text, start: offset, text_start, end: text_end })
    }

    /// The elements, each with its place.
    #[inline]
    pub(crate) fn elements(self) -> Elements<'a> {
        Elements { pack: self, next: 0 }
    }

    /// The byte strings.
    #[inline]
    pub(crate) fn iter(self) -> Texts<'a> {
        Texts(self.elements())
    }

    /// The first element that is `text`.
    #[inline]
    pub(crate) fn find(self, text: &[u8]) -> Option<Element<'a>> {
        self.elements().find(|element| is_same(element.text, text))
    }

    /// The element with `index` others in front of it.
    pub(crate) fn nth(self, index: usize) -> Option<Element<'a>> {
        self.elements().nth(index)
    }

    /// How many elements there are, by walking over all.
    pub(crate) fn count(self) -> usize {
        let (mut offset, mut count) = (0, 0);
        while offset < self.bytes.len() {
            let (len, header) = varint::read(&self.bytes[offset..]);
            offset += len + header;
            count += 1;
        }
        debug_assert_eq!(offset, self.bytes.len(), "INV-PACK: an element goes over the end");
        count
    }

    /// Walks over all elements and counts them.
    ///
    /// # Panics
    ///
    /// When INV-PACK does not hold.
    pub(crate) fn check(self) -> usize {
        let (mut offset, mut count) = (0, 0);
        while offset < self.bytes.len() {
            let (len, header) = varint::read(&self.bytes[offset..]);
            assert_eq!(header, varint::width(len), "INV-PACK: a length in too many bytes");
            offset += header + len;
            assert!(offset <= self.bytes.len(), "INV-PACK: an element goes over the end");
            count += 1;
        }
        count
    }
}

/// Walks over a pack's elements.
#[derive(Clone, Debug)]
pub(crate) struct Elements<'a> {
    pack: Pack<'a>,
    next: usize,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Element<'a>;

    #[inline]
    fn next(&mut self) -> Option<Element<'a>> {
        let element = self.pack.at(self.next)?;
        self.next = element.end;
        Some(element)
    }
}

impl FusedIterator for Elements<'_> {}

/// The byte strings of [`Elements`].
#[derive(Clone, Debug)]
pub(crate) struct Texts<'a>(Elements<'a>);

impl<'a> Iterator for Texts<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        self.0.next().map(|element| element.text)
    }
}

impl FusedIterator for Texts<'_> {}

/// The bytes that an element with a text of `len` bytes takes.
#[inline]
pub(crate) const fn element_len(len: usize) -> usize {
    len + varint::width(len)
}

/// Whether two texts are the same. For a walk over a collection: names in it often are as long as each other and begin
/// alike, and their last bytes tell most of them apart without a call.
#[inline]
pub(crate) fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.last() == other.last() && one == other
}

/// Writes an element at the start of `to`, which has room for it. Returns its length in bytes.
#[inline]
pub(crate) fn write(to: &mut [u8], text: &[u8]) -> usize {
    let len = Varint::new(text.len());
    let header = len.as_bytes().len();
    let text_end = header + text.len();
    to[..header].copy_from_slice(len.as_bytes());
    to[header..text_end].copy_from_slice(text);
    text_end
}

/// Appends an element.
pub(crate) fn push(pack: &mut Vec<u8>, text: &[u8]) {
    let end = pack.len();
    replace(pack, end..end, text);
}

/// Puts one element in the place of those in `range`, which may be none: an insertion.
fn replace(pack: &mut Vec<u8>, range: Range<usize>, text: &[u8]) {
    let start = range.start;
    make_gap(pack, range, element_len(text.len()));
    write(&mut pack[start..], text);
}

/// Makes `range` exactly `len` bytes long by moving the bytes behind it. Its content is then
/// meaningless and must be written.
pub(crate) fn make_gap(pack: &mut Vec<u8>, range: Range<usize>, len: usize) {
    let old_len = pack.len();
    let end = range.start + len;
    if end > range.end {
        pack.resize(old_len + (end - range.end), 0);
        pack.copy_within(range.end..old_len, end);
    } else {
        pack.drain(end..range.end);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn packed(texts: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for text in texts {
            push(&mut bytes, text);
        }
        bytes
    }

    fn texts(bytes: &[u8]) -> Vec<Vec<u8>> {
        Pack::new(bytes).iter().map(<[u8]>::to_vec).collect()
    }

    #[test]
    fn an_element_says_where_it_stands() {
        let bytes = packed(&[b"a".to_vec(), vec![b'x'; 200], Vec::new()]);
        let pack = Pack::new(&bytes);
        let long = pack.find(&[b'x'; 200]).expect("it is there");
        assert_eq!((long.range(), long.text_range()), (2..204, 4..204));
        assert_eq!(pack.at(2), Some(long));
        assert_eq!(pack.nth(1), Some(long));
        assert_eq!(pack.at(bytes.len()), None);
        assert_eq!((pack.nth(2).map(|last| last.text), pack.nth(3)), (Some(&b""[..]), None));
    }

    #[test]
    #[should_panic(expected = "INV-PACK")]
    fn a_check_finds_an_element_cut_short() {
        let bytes = packed(&[b"abc".to_vec()]);
        Pack::new(&bytes[..2]).check();
    }

    proptest! {
        #[test]
        fn an_edited_pack_is_an_edited_vec(edits in edits::edits(edits::bytes)) {
            let place = |bytes: &[u8], at| Pack::new(bytes).nth(at).map(|element| element.range());
            let check = |bytes: &[u8]| Pack::new(bytes).check();
            let (bytes, model) = edits::edited_like_a_vec(edits, place, replace, check);
            prop_assert_eq!(texts(&bytes), model);
        }
    }
}
