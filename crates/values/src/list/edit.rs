// SPDX-License-Identifier: Apache-2.0
//! [`ListMut`]: edits of a list, and the conversion between its two forms.

use std::ops::Range;

use super::code::Code;
use super::large::{self, LargeList};
use super::measure::Measure;
use super::pack::ListPack;
use super::size::Caps;
use super::{End, ListRef, pack, resolve};
use crate::kind::Kind;
use crate::large::{Large, LargeMut};
use crate::scratch::Scratch;
use crate::{Encoding, Entry, Limits, listpack};

/// The most bytes of a list in its entry. Moving all of them costs much less than the rest of a push.
/// At half of it, a list goes back into its entry.
const PACKED_MAX: usize = 4096;

/// The most elements of a list in its entry, where they must be counted to tell how many there are:
/// that is what most of a push takes. At half of it, a list goes back into its entry.
const PACKED_LEN_MAX: usize = 512;

/// The fewest bytes of an element.
const ELEMENT_MIN: usize = 2;

/// A list to edit.
///
/// ```
/// use values::{Entry, Limits};
///
/// let mut entry = Entry::new_list(b"queue");
/// let limits = Limits::default();
/// let mut list = entry.list_mut(&limits).expect("it is a list");
/// list.push_back(b"first");
/// list.push_back(b"second");
/// assert_eq!(list.pop_front(<[u8]>::len), Some(5));
/// assert!(entry.list().expect("it is a list").iter().eq([b"second"]));
/// ```
#[derive(Debug)]
pub struct ListMut<'a> {
    entry: &'a mut Entry,
    caps: Caps,
    /// Announced elements that were not pushed yet.
    announced: usize,
    /// Elements of a packed list, if they have been counted.
    counted: Option<usize>,
}

impl<'a> ListMut<'a> {
    /// The list that an entry is, if it is one.
    pub(crate) fn of(entry: &'a mut Entry, limits: &Limits) -> Option<Self> {
        ListRef::of(entry)?;
        Some(ListMut::known(entry, limits))
    }

    /// The list that an entry is known to be.
    pub(crate) fn known(entry: &'a mut Entry, limits: &Limits) -> Self {
        ListMut { entry, caps: Caps::of(limits), announced: 0, counted: None }
    }

    /// The list, to read.
    pub fn read(&self) -> ListRef<'_> {
        ListRef::of(self.entry).expect("an edit does not change the type")
    }

    /// Elements.
    pub fn len(&self) -> usize {
        self.counted.unwrap_or_else(|| self.read().len())
    }

    /// Whether it has lost its last element, and is to be removed.
    pub fn is_empty(&self) -> bool {
        self.entry.is_empty()
    }

    /// Announces that this many elements are to be pushed, with this many bytes in all.
    ///
    /// The encoding that a client is told depends on all elements of a command together. Without
    /// this call, each element counts alone.
    pub fn announce(&mut self, elements: usize, bytes: usize) {
        self.announced = elements;
        self.grow(elements, bytes);
    }

    /// Pushed or announced elements may make the list a quicklist, which is never packed in the
    /// entry.
    fn grow(&mut self, elements: usize, bytes: usize) {
        let caps = self.caps;
        if let Some(large) = self.large() {
            return large.announce(elements, bytes, caps);
        }
        // A listpack is at most twice as large as this: mostly there is no need to measure it.
        let most = listpack::HEAD + 2 * self.entry.bytes().len();
        if caps.elements == usize::MAX && most + bytes <= caps.bytes {
            return;
        }
        let mut measure = Measure::new();
        pack(self.entry.bytes()).codes().for_each(|code| measure.count_in(code, caps));
        measure.announce(elements, bytes, caps);
        if measure.encoding() == Encoding::Quicklist {
            self.make_large().announce(elements, bytes, caps);
        }
    }

    /// Adds an element at the front.
    pub fn push_front(&mut self, text: &[u8]) {
        self.push(End::Front, text);
    }

    /// Adds an element at the back.
    pub fn push_back(&mut self, text: &[u8]) {
        self.push(End::Back, text);
    }

    /// Adds an element at an end.
    pub fn push(&mut self, end: End, text: &[u8]) {
        match self.announced.checked_sub(1) {
            Some(left) => self.announced = left,
            None => self.grow(1, text.len()),
        }
        let (code, caps) = (Code::of(text), self.caps);
        if let Some(large) = self.make_room(code, 1) {
            return large.push(end, code, caps);
        }
        let at = if end == End::Front { 0 } else { self.entry.bytes().len() };
        self.splice(at..at, code);
    }

    /// The chunks, if there are any or the entry has no room for the element, which comes in
    /// addition to the others or not.
    fn make_room(&mut self, code: Code<'_>, more: usize) -> Option<&mut LargeList> {
        if self.entry.kind() != Kind::ListPack {
            return self.large();
        }
        let size = self.entry.bytes().len() + code.len();
        if size > PACKED_MAX || self.count_if_over(size) + more > PACKED_LEN_MAX {
            return Some(self.make_large());
        }
        None
    }

    /// Elements of the packed list, if elements of `size` bytes may be too many for an entry.
    fn count_if_over(&mut self, size: usize) -> usize {
        if size <= PACKED_LEN_MAX * ELEMENT_MIN {
            return 0;
        }
        let count = self.len();
        self.counted = Some(count);
        count
    }

    /// Puts an element in the place of bytes of the packed list.
    fn splice(&mut self, range: Range<usize>, code: Code<'_>) {
        self.counted = self.counted.map(|count| count + usize::from(range.is_empty()));
        let mut element = Scratch::new();
        code.write(element.extend(code.len()));
        self.entry.splice(range, element.as_slice());
    }

    /// Removes the element at the front, and calls `gone` with it.
    pub fn pop_front<R>(&mut self, gone: impl FnOnce(&[u8]) -> R) -> Option<R> {
        self.pop(End::Front, gone)
    }

    /// Removes the element at the back, and calls `gone` with it.
    pub fn pop_back<R>(&mut self, gone: impl FnOnce(&[u8]) -> R) -> Option<R> {
        self.pop(End::Back, gone)
    }

    /// Removes the element at an end, and calls `gone` with it.
    pub fn pop<R>(&mut self, end: End, gone: impl FnOnce(&[u8]) -> R) -> Option<R> {
        if let Some(large) = self.large() {
            let result = large.pop(end, gone);
            self.settle();
            return result;
        }
        let bytes = self.entry.bytes();
        let element = match end {
            End::Front => pack(bytes).at(0),
            End::Back => pack(bytes).before(bytes.len()),
        }?;
        let (range, result) = (element.range(), gone(&element.text()));
        self.entry.splice(range, &[]);
        self.counted = self.counted.map(|count| count - 1);
        Some(result)
    }

    /// Replaces the element of this index. Returns false if there is none. -1 is the last one.
    pub fn set(&mut self, index: i64, text: &[u8]) -> bool {
        self.grow(1, text.len());
        let Some(index) = resolve(index, self.len()) else { return false };
        let (code, caps) = (Code::of(text), self.caps);
        if let Some(large) = self.make_room(code, 0) {
            large.replace(large.locate(index), code, caps);
            self.settle();
            return true;
        }
        let old = pack(self.entry.bytes()).nth(index);
        let range = old.expect("the index is that of an element").range();
        self.splice(range, code);
        true
    }

    /// Adds an element in front of the first one that is `pivot`. Returns false if there is none.
    pub fn insert_before(&mut self, pivot: &[u8], text: &[u8]) -> bool {
        self.insert(pivot, End::Front, text)
    }

    /// Adds an element behind the first one that is `pivot`. Returns false if there is none.
    pub fn insert_after(&mut self, pivot: &[u8], text: &[u8]) -> bool {
        self.insert(pivot, End::Back, text)
    }

    fn insert(&mut self, pivot: &[u8], side: End, text: &[u8]) -> bool {
        self.grow(1, text.len());
        let (pivot, code, caps) = (Code::of(pivot), Code::of(text), self.caps);
        if let Some(large) = self.make_room(code, 1) {
            let Some(place) = large.position(pivot) else { return false };
            let border = if side == End::Front { place.start } else { place.end };
            large.insert(place.chunk, border, code, caps);
            return true;
        }
        let Some(element) = pack(self.entry.bytes()).find(pivot) else {
            return false;
        };
        let at = if side == End::Front { element.start } else { element.end() };
        self.splice(at..at, code);
        true
    }

    /// Removes elements that are `text`, and returns how many: up to `count` from the front if it
    /// is positive, from the back if it is negative, all if it is 0.
    pub fn remove(&mut self, count: i64, text: &[u8]) -> usize {
        let from = if count < 0 { End::Back } else { End::Front };
        let count = match count {
            0 => usize::MAX,
            count => usize::try_from(count.unsigned_abs()).unwrap_or(usize::MAX),
        };
        let (code, caps) = (Code::of(text), self.caps);
        if let Some(large) = self.large() {
            let removed = large.remove(from, count, code, caps);
            if removed > 0 {
                self.settle();
            }
            return removed;
        }
        match large::without(self.entry.bytes(), from, count, code) {
            Some((kept, removed)) => {
                self.entry.set_bytes(Kind::ListPack, &kept);
                self.counted = None;
                removed
            }
            None => 0,
        }
    }

    /// Removes all elements except those with these indices.
    pub fn trim(&mut self, indices: Range<usize>) {
        let len = self.len();
        let end = indices.end.min(len);
        let start = indices.start.min(end);
        if let Some(large) = self.large() {
            // The whole list is removed from one end.
            large.drop_end(End::Back, len - end);
            large.drop_end(End::Front, start);
            return self.settle();
        }
        let bytes = self.entry.bytes();
        let border = |index| pack(bytes).nth(index).map_or(bytes.len(), |next| next.start);
        let (start, end, len) = (border(start), border(end), bytes.len());
        self.entry.splice(end..len, &[]);
        self.entry.splice(0..start, &[]);
        self.counted = None;
    }

    /// After removals, the list may be called a listpack again, and may fit in the entry.
    fn settle(&mut self) {
        let caps = self.caps;
        let Some(large) = self.large() else { return };
        large.shrunk(caps);
        let is_small = large.size() <= PACKED_MAX / 2 && large.len() <= PACKED_LEN_MAX / 2;
        if is_small && large.encoding() == Encoding::Listpack {
            let bytes: Vec<u8> =
                large.chunks().iter().flat_map(|chunk| chunk.as_bytes()).copied().collect();
            self.entry.set_bytes(Kind::ListPack, &bytes);
        }
    }

    /// The chunks, if the list is large.
    fn large(&mut self) -> Option<&mut LargeList> {
        match self.entry.large_mut() {
            Some(LargeMut::List(large)) => Some(large),
            _ => None,
        }
    }

    /// Turns a packed list into chunks.
    fn make_large(&mut self) -> &mut LargeList {
        let large = LargeList::new(ListPack::new(self.entry.bytes()), self.caps);
        self.entry.set_large(Large::List(Box::new(large)));
        self.counted = None;
        self.large().expect("it has just been made large")
    }
}
