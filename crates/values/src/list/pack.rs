// SPDX-License-Identifier: Apache-2.0
//! [`ListPack`]: elements of a list in one slice, one [`Code`] behind the other, read from both ends.
//!
//! It is read in place and allocates nothing; the owner of the bytes edits it. Offsets are those of
//! elements' starts, or the slice's end. INV-PACK: it is made of whole elements, each in the form
//! that its text has. Only this process writes the bytes, so a violation is a bug; it leads to a
//! panic, never to a read out of bounds.

use std::iter::FusedIterator;
use std::ops::Range;

use super::code::{Code, first_len, last_len};
use crate::Text;
use crate::pack::make_gap;

/// Elements in one slice.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListPack<'a> {
    bytes: &'a [u8],
}

/// One element: its bytes and where it stands in the pack.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Element<'a> {
    bytes: &'a [u8],
    /// Where the element begins.
    pub(super) start: usize,
}

impl<'a> Element<'a> {
    /// Where the next element begins.
    #[inline]
    pub(super) fn end(self) -> usize {
        self.start + self.bytes.len()
    }

    /// The whole element: what is cut out to remove it.
    #[inline]
    pub(super) fn range(self) -> Range<usize> {
        self.start..self.end()
    }

    /// What it is.
    #[inline]
    pub(super) fn code(self) -> Code<'a> {
        Code::read(self.bytes)
    }

    /// What a client sees.
    #[inline]
    pub(super) fn text(self) -> Text<'a> {
        self.code().text()
    }
}

impl<'a> ListPack<'a> {
    /// Reads `bytes`, which are whole elements, as a pack.
    #[inline]
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        ListPack { bytes }
    }

    /// The element that begins at `offset`; nothing at the end.
    #[inline]
    pub(super) fn at(self, offset: usize) -> Option<Element<'a>> {
        let rest = &self.bytes[offset..];
        if rest.is_empty() {
            return None;
        }
        Some(Element { bytes: &rest[..first_len(rest)], start: offset })
    }

    /// The element that ends at `offset`; nothing at the start.
    #[inline]
    pub(super) fn before(self, offset: usize) -> Option<Element<'a>> {
        if offset == 0 {
            return None;
        }
        let start = offset - last_len(&self.bytes[..offset]);
        Some(Element { bytes: &self.bytes[start..offset], start })
    }

    /// The elements, each with its place.
    #[inline]
    pub(super) fn elements(self) -> Elements<'a> {
        Elements { pack: self, front: 0, back: self.bytes.len() }
    }

    /// What the elements are.
    #[inline]
    pub(super) fn codes(self) -> impl Iterator<Item = Code<'a>> + Clone {
        self.elements().map(Element::code)
    }

    /// The first element that is `code`.
    #[inline]
    pub(super) fn find(self, code: Code<'_>) -> Option<Element<'a>> {
        self.elements().find(|element| element.code() == code)
    }

    /// The element with `index` others in front of it.
    pub(super) fn nth(self, index: usize) -> Option<Element<'a>> {
        self.elements().nth(index)
    }

    /// How many elements there are, by walking over all.
    pub(super) fn count(self) -> usize {
        let (mut at, mut count) = (0, 0);
        while at < self.bytes.len() {
            at += first_len(&self.bytes[at..]);
            count += 1;
        }
        debug_assert_eq!(at, self.bytes.len(), "INV-PACK: an element goes over the end");
        count
    }

    /// Walks over all elements and counts them.
    ///
    /// # Panics
    ///
    /// When INV-PACK does not hold.
    pub(super) fn check(self) -> usize {
        let (mut rest, mut count) = (self.bytes, 0);
        while !rest.is_empty() {
            let len = first_len(rest);
            assert!(len <= rest.len(), "INV-PACK: an element goes over the end");
            let (element, behind) = rest.split_at(len);
            let text = Code::read(element).text();
            let code = Code::of(&text);
            let mut expected = vec![0; code.len()];
            code.write(&mut expected);
            assert_eq!(element, expected, "INV-PACK: an element in another form");
            (rest, count) = (behind, count + 1);
        }
        count
    }
}

/// Walks over a pack's elements from both ends.
#[derive(Clone, Debug)]
pub(super) struct Elements<'a> {
    pack: ListPack<'a>,
    front: usize,
    back: usize,
}

impl<'a> Iterator for Elements<'a> {
    type Item = Element<'a>;

    #[inline]
    fn next(&mut self) -> Option<Element<'a>> {
        if self.front >= self.back {
            return None;
        }
        let element = self.pack.at(self.front)?;
        self.front = element.end();
        Some(element)
    }
}

impl DoubleEndedIterator for Elements<'_> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.front >= self.back {
            return None;
        }
        let element = self.pack.before(self.back)?;
        self.back = element.start;
        Some(element)
    }
}

impl FusedIterator for Elements<'_> {}

/// Puts one element in the place of those in `range`, which may be none: an insertion.
pub(super) fn replace(pack: &mut Vec<u8>, range: Range<usize>, code: Code<'_>) {
    let start = range.start;
    make_gap(pack, range, code.len());
    code.write(&mut pack[start..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pack::edits;
    use proptest::prelude::*;

    fn packed<T: AsRef<[u8]>>(texts: &[T]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for text in texts {
            let end = bytes.len();
            replace(&mut bytes, end..end, Code::of(text.as_ref()));
        }
        bytes
    }

    fn texts<'a>(elements: impl Iterator<Item = Element<'a>>) -> Vec<Vec<u8>> {
        elements.map(|element| element.text().to_vec()).collect()
    }

    #[test]
    fn an_element_says_where_it_stands() {
        let bytes = packed(&[b"a".to_vec(), vec![b'x'; 200], b"1234".to_vec(), Vec::new()]);
        let pack = ListPack::new(&bytes);
        let long = pack.find(Code::Text(&[b'x'; 200])).expect("it is there");
        let number = pack.find(Code::Integer(1234)).expect("it is there");
        assert_eq!((long.range(), number.range()), (3..207, 207..210));
        assert_eq!(
            (pack.at(3), pack.before(207), pack.nth(1)),
            (Some(long), Some(long), Some(long))
        );
        assert_eq!((pack.at(207), pack.before(210)), (Some(number), Some(number)));
        assert_eq!((pack.at(bytes.len()), pack.before(0)), (None, None));
        assert_eq!((pack.nth(3).map(Element::range), pack.nth(4)), (Some(210..212), None));
        assert!(pack.find(Code::of(b"01234")).is_none());
    }

    #[test]
    fn both_ends_of_an_iterator_meet() {
        let bytes = packed(&["a", "-17", "c"]);
        let mut elements = ListPack::new(&bytes).elements();
        let text = |element: Option<Element<'_>>| element.map(|element| element.text().to_vec());
        assert_eq!(text(elements.next_back()), Some(b"c".to_vec()));
        assert_eq!(text(elements.next()), Some(b"a".to_vec()));
        assert_eq!(text(elements.next_back()), Some(b"-17".to_vec()));
        assert_eq!((elements.next(), elements.next_back()), (None, None));
    }

    #[test]
    #[should_panic(expected = "INV-PACK")]
    fn a_check_finds_an_element_cut_short() {
        let bytes = packed(&["abc"]);
        ListPack::new(&bytes[..2]).check();
    }

    #[test]
    #[should_panic(expected = "INV-PACK: an element in another form")]
    fn a_check_compares_the_lengths_of_both_sides() {
        ListPack::new(&[1, b'a', 2]).check();
    }

    #[test]
    #[should_panic(expected = "INV-PACK: an element in another form")]
    fn a_check_finds_an_integer_that_is_stored_as_text() {
        ListPack::new(&[1, b'7', 1]).check();
    }

    fn bytes_or_digits() -> impl Strategy<Value = Vec<u8>> {
        let integer = (any::<i64>(), 0..64_u32).prop_map(|(number, shift)| number >> shift);
        prop_oneof![edits::bytes(), integer.prop_map(|it| it.to_string().into_bytes())]
    }

    proptest! {
        #[test]
        fn an_edited_pack_is_an_edited_vec(edits in edits::edits(bytes_or_digits)) {
            let place = |bytes: &[u8], at| ListPack::new(bytes).nth(at).map(Element::range);
            let replace = |bytes: &mut Vec<u8>, range, text: &[u8]| replace(bytes, range, Code::of(text));
            let check = |bytes: &[u8]| {
                let pack = ListPack::new(bytes);
                assert_eq!(pack.count(), pack.check());
                pack.count()
            };
            let (bytes, mut model) = edits::edited_like_a_vec(edits, place, replace, check);
            let elements = ListPack::new(&bytes).elements();
            prop_assert_eq!(texts(elements.clone()), model.clone());
            model.reverse();
            prop_assert_eq!(texts(elements.rev()), model);
        }
    }
}
