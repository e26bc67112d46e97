// SPDX-License-Identifier: Apache-2.0
//! The packed form of a sorted set: its members in their order, in the bytes of the entry.
//!
//! ```text
//!  | score, 8 bytes | length varint | member | … next member
//! ```
//!
//! Everything is found by walking from the start. An edit moves the bytes behind it.

use std::iter::FusedIterator;
use std::ops::Range;

use arrayvec::ArrayVec;

use super::is_before;
use crate::Entry;
use crate::pack::{self, Pack};
use crate::scratch::Scratch;

/// Bytes of a score.
const SCORE: usize = size_of::<f64>();
/// How many places a walk to the end remembers for the way back.
const WINDOW: usize = 32;

/// A member and where it stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Item<'a> {
    pub(super) member: &'a [u8],
    pub(super) score: f64,
    /// Where it begins, score included.
    start: usize,
    /// Where the next one begins.
    end: usize,
}

impl Item<'_> {
    /// The whole item: what is cut out to remove it.
    pub(super) fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

/// The item that begins at `offset`; nothing at the end.
#[inline]
fn at(bytes: &[u8], offset: usize) -> Option<Item<'_>> {
    let score = bytes[offset..].first_chunk::<SCORE>()?;
    let element = Pack::new(bytes).at(offset + SCORE)?;
    Some(Item {
        member: element.text,
        score: f64::from_le_bytes(*score),
        start: offset,
        end: element.end,
    })
}

/// The items, forwards.
#[inline]
pub(super) fn items(bytes: &[u8]) -> impl Iterator<Item = Item<'_>> {
    let mut offset = 0;
    std::iter::from_fn(move || {
        let item = at(bytes, offset)?;
        offset = item.end;
        Some(item)
    })
}

/// Members, by walking over all.
pub(super) fn len(bytes: &[u8]) -> usize {
    items(bytes).count()
}

/// A member with the number of those before it.
pub(super) fn find<'a>(bytes: &'a [u8], member: &[u8]) -> Option<(usize, Item<'a>)> {
    items(bytes).enumerate().find(|(_, item)| pack::is_same(item.member, member))
}

/// The rank of the first member for which `is_before` does not hold.
pub(super) fn partition_point(bytes: &[u8], is_before: impl Fn(&[u8], f64) -> bool) -> usize {
    items(bytes).take_while(|item| is_before(item.member, item.score)).count()
}

/// Where a member is and where it belongs, found on one walk.
#[derive(Clone, Debug)]
pub(super) struct Place {
    /// The score and the bytes of the member, if it is there.
    pub(super) found: Option<(f64, Range<usize>)>,
    /// Where the first item begins that comes after the member with the score asked for.
    target: usize,
    /// Members.
    pub(super) len: usize,
}

/// Looks for a member, and for where it belongs with this score.
pub(super) fn place(bytes: &[u8], member: &[u8], score: f64) -> Place {
    let mut place = Place { found: None, target: 0, len: 0 };
    for item in items(bytes) {
        if pack::is_same(item.member, member) {
            place.found = Some((item.score, item.range()));
        } else if is_before((item.score, item.member), (score, member)) {
            place.target = item.end;
        }
        place.len += 1;
    }
    place
}

/// Bytes that a member of `len` bytes takes with its score.
pub(super) fn item_len(len: usize) -> usize {
    SCORE + pack::element_len(len)
}

/// The bytes of these members, which are in their order.
pub(super) fn all<'a>(members: impl Iterator<Item = (&'a [u8], f64)>) -> Scratch {
    let mut bytes = Scratch::new();
    for (member, score) in members {
        bytes.bytes(&score.to_le_bytes()).element(member);
    }
    bytes
}

/// Adds a member that is not there, at the place found for it.
pub(super) fn insert(entry: &mut Entry, place: &Place, member: &[u8], score: f64) {
    let mut item = Scratch::new();
    item.bytes(&score.to_le_bytes()).element(member);
    entry.splice(place.target..place.target, item.as_slice());
}

/// Gives the item in `range` another score, and the place that was found for it.
pub(super) fn set_score(bytes: &mut [u8], range: &Range<usize>, place: &Place, score: f64) {
    let Range { start, end } = *range;
    let len = end - start;
    // A target at the end of the item itself or of the one before it is the place where it is.
    let start = if place.target < start {
        bytes[place.target..end].rotate_right(len);
        place.target
    } else if place.target > end {
        bytes[start..place.target].rotate_left(len);
        place.target - len
    } else {
        start
    };
    bytes[start..start + SCORE].copy_from_slice(&score.to_le_bytes());
}

/// Shows the items of these ranks, all of which exist. Returns the range of their bytes; `None`
/// when there are none.
pub(super) fn cut(
    bytes: &[u8],
    ranks: &Range<usize>,
    mut gone: impl FnMut(&[u8], f64),
) -> Option<Range<usize>> {
    let mut cut: Option<Range<usize>> = None;
    for item in items(bytes).skip(ranks.start).take(ranks.len()) {
        gone(item.member, item.score);
        cut = Some(cut.map_or(item.start, |cut| cut.start)..item.end);
    }
    cut
}

/// A range of items, from both ends.
///
/// Items cannot be walked backwards, so the way back begins with a walk to the end that remembers
/// the last few places.
#[derive(Clone, Debug)]
pub(super) struct Iter<'a> {
    bytes: &'a [u8],
    /// Where the next item begins.
    front: usize,
    /// How many there are between the two ends.
    left: usize,
    /// Where the last of them begin.
    window: ArrayVec<u32, WINDOW>,
}

impl<'a> Iter<'a> {
    /// The items of these ranks, all of which are there.
    pub(super) fn new(bytes: &'a [u8], ranks: &Range<usize>) -> Self {
        let left = ranks.len();
        let mut iter = Iter { bytes, front: 0, left: ranks.end, window: ArrayVec::new() };
        if left == 0 {
            iter.left = 0;
        } else {
            iter.skip_front(ranks.start);
        }
        iter
    }

    fn skip_front(&mut self, count: usize) {
        for _ in 0..count {
            self.next();
        }
    }

    fn fill_window(&mut self) {
        let skip = self.left.saturating_sub(WINDOW);
        let mut ahead = self.clone();
        ahead.skip_front(skip);
        while ahead.left > 0 {
            self.window.push(ahead.front as u32);
            ahead.next();
        }
    }
}

impl<'a> Iterator for Iter<'a> {
    type Item = (&'a [u8], f64);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        let item = at(self.bytes, self.front)?;
        self.left -= 1;
        self.front = item.end;
        Some((item.member, item.score))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl DoubleEndedIterator for Iter<'_> {
    fn next_back(&mut self) -> Option<Self::Item> {
        if self.left == 0 {
            return None;
        }
        if self.window.is_empty() {
            self.fill_window();
        }
        let start = self.window.pop()?;
        let item = at(self.bytes, start as usize)?;
        self.left -= 1;
        Some((item.member, item.score))
    }

    fn nth_back(&mut self, skip: usize) -> Option<Self::Item> {
        let skip = skip.min(self.left);
        self.left -= skip;
        self.window.truncate(self.window.len().saturating_sub(skip));
        self.next_back()
    }
}

impl ExactSizeIterator for Iter<'_> {}

impl FusedIterator for Iter<'_> {}

/// Checks that the bytes are items in order.
///
/// # Panics
///
/// When they are not.
pub(super) fn check(bytes: &[u8]) {
    let mut offset = 0;
    let mut last: Option<Item<'_>> = None;
    while offset < bytes.len() {
        let item = at(bytes, offset).expect("INV-PACK: a score without a member");
        assert!(item.end <= bytes.len(), "INV-PACK: an item goes over the end");
        assert!(!item.score.is_nan(), "INV-ORDER: a score that is no number");
        if let Some(last) = last {
            let both = ((last.score, last.member), (item.score, item.member));
            assert!(is_before(both.0, both.1), "INV-ORDER: {both:?}");
        }
        offset = item.end;
        last = Some(item);
    }
}
