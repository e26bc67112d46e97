// SPDX-License-Identifier: Apache-2.0
//! [`Pack`]: a sequence of byte strings in one slice, the form of small collections and of chunks
//! of lists.
//!
//! ```text
//!  Pack<ONE_WAY>    | length varint | text |                            … next element
//!  Pack<BOTH_WAYS>  | length varint | text | length varint, mirrored |  … next element
//! ```
//!
//! A mirrored [varint] has its bytes in the opposite order, so that it is read from
//! its end and a pack can be walked backwards.
//!
//! A pack is read in place and allocates nothing. The owner of the bytes edits it: an [`Element`]
//! has its offsets, [`write()`] fills the gap made for a new one, and [`replace`] edits a [`Vec`].
//! Elements are found by walking: a pack is for few elements or few bytes.
//!
//! Offsets are those of elements' starts, or the slice's end. INV-PACK: a pack is made of whole
//! elements. Only this process writes the bytes, so a violation is a bug; it leads to a panic,
//! never to a read out of bounds.

use crate::varint::{self, Varint};
use std::iter::FusedIterator;
use std::ops::Range;

/// The layout that is read forwards only.
pub(crate) const ONE_WAY: bool = false;
/// The layout that has each length behind the element too.
pub(crate) const BOTH_WAYS: bool = true;

/// A sequence of byte strings in one slice.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pack<'a, const BACK: bool> {
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

impl<'a, const BACK: bool> Pack<'a, BACK> {
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
        let end = if BACK { text_end + header } else { text_end };
        debug_assert!(end <= self.bytes.len(), "INV-PACK: an element goes over the end");
        Some(Element { text: &self.bytes[text_start..text_end], start: offset, text_start, end })
    }

    /// The elements, each with its place.
    #[inline]
    pub(crate) fn elements(self) -> Elements<'a, BACK> {
        Elements { pack: self, front: 0, back: self.bytes.len() }
    }

    /// The byte strings.
    #[inline]
    pub(crate) fn iter(self) -> Texts<'a, BACK> {
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
            offset += len + if BACK { 2 * header } else { header };
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
            if BACK {
                let mirrored = self.bytes.get(offset..offset + header);
                let mirrored = mirrored.map(|_| read_mirrored(&self.bytes[..offset + header]));
                assert_eq!(mirrored, Some((len, header)), "INV-PACK: the lengths differ");
                offset += header;
            }
            assert!(offset <= self.bytes.len(), "INV-PACK: an element goes over the end");
            count += 1;
        }
        count
    }
}

impl<'a> Pack<'a, BOTH_WAYS> {
    /// The element that ends at `offset`; nothing at the start.
    #[inline]
    pub(crate) fn before(self, offset: usize) -> Option<Element<'a>> {
        if offset == 0 {
            return None;
        }
        let (len, header) = read_mirrored(&self.bytes[..offset]);
        let text_end = offset - header;
        let text_start = text_end - len;
        let text = &self.bytes[text_start..text_end];
        Some(Element { text, start: text_start - header, text_start, end: offset })
    }
}

/// Walks over a pack's elements; over those of the layout for both ways from both ends.
#[derive(Clone, Debug)]
pub(crate) struct Elements<'a, const BACK: bool> {
    pack: Pack<'a, BACK>,
    front: usize,
    back: usize,
}

impl<'a, const BACK: bool> Iterator for Elements<'a, BACK> {
    type Item = Element<'a>;

    #[inline]
    fn next(&mut self) -> Option<Element<'a>> {
        if self.front >= self.back {
            return None;
        }
        let element = self.pack.at(self.front)?;
        self.front = element.end;
        Some(element)
    }
}

impl DoubleEndedIterator for Elements<'_, BOTH_WAYS> {
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

impl<const BACK: bool> FusedIterator for Elements<'_, BACK> {}

/// The byte strings of [`Elements`].
#[derive(Clone, Debug)]
pub(crate) struct Texts<'a, const BACK: bool>(Elements<'a, BACK>);

impl<'a, const BACK: bool> Iterator for Texts<'a, BACK> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        self.0.next().map(|element| element.text)
    }
}

impl DoubleEndedIterator for Texts<'_, BOTH_WAYS> {
    #[inline]
    fn next_back(&mut self) -> Option<Self::Item> {
        self.0.next_back().map(|element| element.text)
    }
}

impl<const BACK: bool> FusedIterator for Texts<'_, BACK> {}

/// The bytes that an element with a text of `len` bytes takes.
#[inline]
pub(crate) const fn element_len<const BACK: bool>(len: usize) -> usize {
    if BACK { len + 2 * varint::width(len) } else { len + varint::width(len) }
}

/// Whether two texts are the same. For a walk over a collection: names in it often are as long as each other and begin
/// alike, and their last bytes tell most of them apart without a call.
#[inline]
pub(crate) fn is_same(one: &[u8], other: &[u8]) -> bool {
    one.len() == other.len() && one.last() == other.last() && one == other
}

/// Writes an element at the start of `to`, which has room for it. Returns its length in bytes.
#[inline]
pub(crate) fn write<const BACK: bool>(to: &mut [u8], text: &[u8]) -> usize {
    let len = Varint::new(text.len());
    let header = len.as_bytes().len();
    let text_end = header + text.len();
    to[..header].copy_from_slice(len.as_bytes());
    to[header..text_end].copy_from_slice(text);
    if !BACK {
        return text_end;
    }
    let end = text_end + header;
    to[text_end..end].copy_from_slice(len.as_bytes());
    to[text_end..end].reverse();
    end
}

/// Appends an element.
pub(crate) fn push<const BACK: bool>(pack: &mut Vec<u8>, text: &[u8]) {
    let end = pack.len();
    replace::<BACK>(pack, end..end, text);
}

/// Puts one element in the place of those in `range`, which may be none: an insertion.
pub(crate) fn replace<const BACK: bool>(pack: &mut Vec<u8>, range: Range<usize>, text: &[u8]) {
    let start = range.start;
    make_gap(pack, range, element_len::<BACK>(text.len()));
    write::<BACK>(&mut pack[start..], text);
}

/// Makes `range` exactly `len` bytes long by moving the bytes behind it. Its content is then
/// meaningless and must be written.
fn make_gap(pack: &mut Vec<u8>, range: Range<usize>, len: usize) {
    let old_len = pack.len();
    let end = range.start + len;
    if end > range.end {
        pack.resize(old_len + (end - range.end), 0);
        pack.copy_within(range.end..old_len, end);
    } else {
        pack.drain(end..range.end);
    }
}

/// Reads a mirrored varint at the end of `bytes`; its value and the bytes it took.
#[inline]
fn read_mirrored(bytes: &[u8]) -> (usize, usize) {
    let (mut value, mut width) = (0, 0);
    for byte in bytes.iter().rev().take(varint::WIDTH_MAX) {
        value |= usize::from(byte & 0x7f) << (7 * width);
        width += 1;
        if *byte < 0x80 {
            return (value, width);
        }
    }
    panic!("INV-PACK: a length without an end");
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::Index;

    fn packed<const BACK: bool>(texts: &[Vec<u8>]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for text in texts {
            push::<BACK>(&mut bytes, text);
        }
        bytes
    }

    fn texts<const BACK: bool>(bytes: &[u8]) -> Vec<Vec<u8>> {
        Pack::<BACK>::new(bytes).iter().map(<[u8]>::to_vec).collect()
    }

    #[test]
    fn lengths_of_all_sizes_read_back_from_behind() {
        let powers = (0..u32::BITS).flat_map(|bit| [(1_usize << bit) - 1, 1 << bit]);
        for value in powers.chain([u32::MAX as usize]) {
            let mut bytes = Varint::new(value).as_bytes().to_vec();
            bytes.push(0xff);
            bytes.reverse();
            assert_eq!(read_mirrored(&bytes), (value, varint::width(value)));
        }
    }

    #[test]
    fn an_element_says_where_it_stands() {
        let bytes = packed::<BOTH_WAYS>(&[b"a".to_vec(), vec![b'x'; 200], Vec::new()]);
        let pack = Pack::<BOTH_WAYS>::new(&bytes);
        let long = pack.find(&[b'x'; 200]).expect("it is there");
        assert_eq!((long.range(), long.text_range()), (3..207, 5..205));
        assert_eq!(pack.at(3), Some(long));
        assert_eq!(pack.before(207), Some(long));
        assert_eq!(pack.nth(1), Some(long));
        assert_eq!((pack.at(bytes.len()), pack.before(0)), (None, None));
        assert_eq!((pack.nth(2).map(|last| last.text), pack.nth(3)), (Some(&b""[..]), None));
    }

    #[test]
    fn both_ends_of_an_iterator_meet() {
        let bytes = packed::<BOTH_WAYS>(&[b"a".to_vec(), b"b".to_vec(), b"c".to_vec()]);
        let mut iter = Pack::<BOTH_WAYS>::new(&bytes).iter();
        assert_eq!(iter.next_back(), Some(&b"c"[..]));
        assert_eq!(iter.next(), Some(&b"a"[..]));
        assert_eq!(iter.next_back(), Some(&b"b"[..]));
        assert_eq!((iter.next(), iter.next_back()), (None, None));
    }

    #[test]
    #[should_panic(expected = "INV-PACK")]
    fn a_check_finds_an_element_cut_short() {
        let bytes = packed::<ONE_WAY>(&[b"abc".to_vec()]);
        Pack::<ONE_WAY>::new(&bytes[..2]).check();
    }

    #[test]
    #[should_panic(expected = "INV-PACK: the lengths differ")]
    fn a_check_compares_the_lengths_of_both_sides() {
        Pack::<BOTH_WAYS>::new(&[1, b'a', 2]).check();
    }

    /// An edit of a pack and of its model.
    #[derive(Clone, Debug)]
    enum Edit {
        Insert(Index, Vec<u8>),
        Replace(Index, Vec<u8>),
        Remove(Index),
    }

    fn edits() -> impl Strategy<Value = Vec<Edit>> {
        let lens = || prop_oneof![0..8_usize, 120..140_usize];
        let text = || (lens(), any::<u8>()).prop_map(|(len, byte)| vec![byte; len]);
        let edit = prop_oneof![
            3 => (any::<Index>(), text()).prop_map(|(at, text)| Edit::Insert(at, text)),
            1 => (any::<Index>(), text()).prop_map(|(at, text)| Edit::Replace(at, text)),
            1 => any::<Index>().prop_map(Edit::Remove),
        ];
        prop::collection::vec(edit, 0..40)
    }

    fn edited_like_a_vec<const BACK: bool>(edits: &[Edit]) -> (Vec<u8>, Vec<Vec<u8>>) {
        let (mut bytes, mut model) = (Vec::new(), Vec::<Vec<u8>>::new());
        for edit in edits {
            let place = |index| Pack::<BACK>::new(&bytes).nth(index).map(|element| element.range());
            match edit {
                Edit::Insert(at, text) => {
                    let at = at.index(model.len() + 1);
                    let start = place(at).map_or(bytes.len(), |range| range.start);
                    replace::<BACK>(&mut bytes, start..start, text);
                    model.insert(at, text.clone());
                }
                Edit::Replace(at, text) if !model.is_empty() => {
                    let at = at.index(model.len());
                    let range = place(at).expect("it is there");
                    replace::<BACK>(&mut bytes, range, text);
                    model[at].clone_from(text);
                }
                Edit::Remove(at) if !model.is_empty() => {
                    let at = at.index(model.len());
                    let range = place(at).expect("it is there");
                    bytes.drain(range);
                    model.remove(at);
                }
                Edit::Replace(..) | Edit::Remove(_) => {}
            }
            assert_eq!(Pack::<BACK>::new(&bytes).check(), model.len());
        }
        (bytes, model)
    }

    proptest! {
        #[test]
        fn an_edited_pack_is_an_edited_vec(edits in edits()) {
            let (bytes, model) = edited_like_a_vec::<ONE_WAY>(&edits);
            prop_assert_eq!(texts::<ONE_WAY>(&bytes), model);
            let (bytes, mut model) = edited_like_a_vec::<BOTH_WAYS>(&edits);
            prop_assert_eq!(texts::<BOTH_WAYS>(&bytes), model.clone());
            let backwards = Pack::<BOTH_WAYS>::new(&bytes).iter().rev();
            model.reverse();
            prop_assert_eq!(backwards.map(<[u8]>::to_vec).collect::<Vec<_>>(), model);
        }
    }
}
