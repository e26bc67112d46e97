// SPDX-License-Identifier: Apache-2.0
//! [`Packed`]: a small hash in the bytes of its entry.
//!
//! ```text
//!  HashPack     | name | value | name | value | …
//!  HashPackEx   | next u64 | name | value | due u64 | name | value | due u64 | …
//! ```
//!
//! Values are elements of a [pack](crate::pack). A name is a [code](name_code) and, unless that is the
//! number of an interned name ([`NAMES`]), its text. `due` is when the field expires, in unix
//! milliseconds, or [`NEVER`]. `next` is a lower bound of all due times: it saves walks that would find
//! nothing expired. A hash changes to the second layout when one of its fields first gets an expiry, and
//! keeps it.
//!
//! INV-FIELDS: the names differ, and each has a value. INV-NEXT: no field is due before `next`.

use super::names::NAMES;
use crate::Entry;
use crate::kind::Kind;
use crate::pack::{Element, Pack, element_len, is_same};
use crate::scratch::Scratch;
use crate::varint::{self, Varint};
use std::collections::HashSet;
use std::ops::Range;

/// The due time of a field that does not expire.
pub(crate) const NEVER: u64 = u64::MAX;

/// The bytes of a time.
const TIME: usize = size_of::<u64>();

/// The most fields of a hash whose names are interned: a hash with more is a map rather than an
/// object.
const SHARING_MAX: usize = 32;

/// The bit of a name's code that tells a number from a length.
const SHARED: usize = 1;

/// The varint in front of a name: twice its length, or twice its number plus [`SHARED`].
fn name_code(name: &[u8], shared: Option<u16>) -> usize {
    shared.map_or(name.len() << 1, |id| usize::from(id) << 1 | SHARED)
}

/// The fields of a packed hash.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packed<'a> {
    bytes: &'a [u8],
    /// Whether the layout is the one with times.
    expiring: bool,
}

/// A field and where it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot<'a> {
    name: &'a [u8],
    /// Where the field begins.
    start: usize,
    value: Element<'a>,
    pub(crate) due: u64,
}

/// Where a field stands, so that it can be edited.
#[derive(Clone, Debug)]
pub(crate) struct Place {
    name_start: usize,
    /// The value with its length.
    value: Range<usize>,
    value_text: Range<usize>,
}

impl<'a> Slot<'a> {
    #[inline]
    pub(crate) fn name(&self) -> &'a [u8] {
        self.name
    }

    #[inline]
    pub(crate) fn value(&self) -> &'a [u8] {
        self.value.text
    }

    pub(crate) fn place(&self) -> Place {
        Place {
            name_start: self.start,
            value: self.value.range(),
            value_text: self.value.text_range(),
        }
    }
}

impl<'a> Packed<'a> {
    /// The fields of an entry that is a packed hash.
    #[inline]
    pub(crate) fn of(entry: &'a Entry) -> Option<Self> {
        let expiring = match entry.kind() {
            Kind::HashPack => false,
            Kind::HashPackEx => true,
            Kind::Int
            | Kind::Embstr
            | Kind::Raw
            | Kind::ListPack
            | Kind::SetInts
            | Kind::SetPack
            | Kind::ZsetPack
            | Kind::Apart
            | Kind::LargeString
            | Kind::LargeHash
            | Kind::LargeList
            | Kind::LargeSet
            | Kind::LargeZset
            | Kind::LargeStream => return None,
        };
        Some(Packed { bytes: entry.bytes(), expiring })
    }

    #[inline]
    pub(crate) fn slots(self) -> Slots<'a> {
        Slots { hash: self, next: if self.expiring { TIME } else { 0 } }
    }

    /// The field of this name, or how many other fields there are.
    #[inline]
    pub(crate) fn find(self, name: &[u8]) -> Result<Slot<'a>, usize> {
        let mut others = 0;
        for slot in self.slots() {
            if is_same(slot.name, name) {
                return Ok(slot);
            }
            others += 1;
        }
        Err(others)
    }

    /// How many fields there are, by walking over all.
    pub(crate) fn len(self) -> usize {
        self.slots().count()
    }

    /// The bytes it takes.
    pub(crate) fn bytes_len(self) -> usize {
        self.bytes.len()
    }

    /// The bytes it takes in the layout with times.
    pub(crate) fn expiring_len(self) -> usize {
        let times = if self.expiring { 0 } else { TIME * (1 + self.len()) };
        self.bytes.len() + times
    }

    /// A time before which no field expires.
    #[inline]
    pub(crate) fn next_due(self) -> u64 {
        if self.expiring { read_time(self.bytes, 0) } else { NEVER }
    }

    /// Whether some field may have expired.
    #[inline]
    pub(crate) fn may_have_expired(self, now_ms: u64) -> bool {
        self.next_due() <= now_ms
    }

    /// # Panics
    ///
    /// When INV-FIELDS or INV-NEXT does not hold.
    pub(crate) fn check(self) {
        let mut names = HashSet::new();
        for slot in self.slots() {
            assert!(names.insert(slot.name()), "INV-FIELDS: a name is there twice");
            assert!(self.next_due() <= slot.due, "INV-NEXT: a field expires earlier");
        }
    }
}

/// Walks over the fields of a packed hash.
#[derive(Clone, Debug)]
pub(crate) struct Slots<'a> {
    hash: Packed<'a>,
    next: usize,
}

impl<'a> Iterator for Slots<'a> {
    type Item = Slot<'a>;

    #[inline]
    fn next(&mut self) -> Option<Slot<'a>> {
        let (bytes, start) = (self.hash.bytes, self.next);
        if start >= bytes.len() {
            return None;
        }
        let (code, width) = varint::read(&bytes[start..]);
        let text = start + width;
        let (name, end) = if code & SHARED == 0 {
            let end = text + (code >> 1);
            (&bytes[text..end], end)
        } else {
            (NAMES.name(code >> 1), text)
        };
        let value = Pack::new(bytes).at(end).expect("INV-FIELDS: a name has a value");
        if !self.hash.expiring {
            self.next = value.end;
            return Some(Slot { name, start, value, due: NEVER });
        }
        self.next = value.end + TIME;
        Some(Slot { name, start, value, due: read_time(bytes, value.end) })
    }
}

#[inline]
fn read_time(bytes: &[u8], at: usize) -> u64 {
    let mut time = [0; TIME];
    time.copy_from_slice(&bytes[at..at + TIME]);
    u64::from_le_bytes(time)
}

/// The most bytes that one more field takes.
pub(crate) fn field_len(name: &[u8], value: &[u8]) -> usize {
    let name_len = varint::width(name_code(name, None)) + name.len();
    name_len + element_len(value.len()) + TIME
}

/// Adds a field whose name is none of the `others` there are, and which expires at `due`, which may be
/// [`NEVER`].
pub(crate) fn append(entry: &mut Entry, name: &[u8], value: &[u8], due: u64, others: usize) {
    if due != NEVER {
        make_expiring(entry);
    }
    let expiring = entry.kind() == Kind::HashPackEx;
    let mut scratch = Scratch::new();
    let shared = if others < SHARING_MAX { NAMES.note(name) } else { None };
    scratch.bytes(Varint::new(name_code(name, shared)).as_bytes());
    if shared.is_none() {
        scratch.bytes(name);
    }
    scratch.element(value);
    if expiring {
        scratch.bytes(&due.to_le_bytes());
    }
    let end = entry.bytes().len();
    entry.splice(end..end, scratch.as_slice());
    if expiring {
        bring_next_forward(entry.bytes_mut(), due);
    }
}

/// Replaces the value at `place`; where it is, if it is as long as the former one.
pub(crate) fn overwrite(entry: &mut Entry, place: &Place, value: &[u8]) {
    if value.len() == place.value_text.len() {
        entry.bytes_mut()[place.value_text.clone()].copy_from_slice(value);
        return;
    }
    let mut scratch = Scratch::new();
    scratch.element(value);
    entry.splice(place.value.clone(), scratch.as_slice());
}

/// Removes the field at `place`.
pub(crate) fn remove(entry: &mut Entry, place: &Place) {
    let expiring = entry.kind() == Kind::HashPackEx;
    let end = if expiring { place.value.end + TIME } else { place.value.end };
    entry.splice(place.name_start..end, &[]);
}

/// Changes the due time of the field at `place`, in a hash with the layout for it.
pub(crate) fn set_due(entry: &mut Entry, place: &Place, due: u64) {
    debug_assert_eq!(entry.kind(), Kind::HashPackEx, "the layout has room for times");
    let bytes = entry.bytes_mut();
    bring_next_forward(bytes, due);
    bytes[place.value.end..place.value.end + TIME].copy_from_slice(&due.to_le_bytes());
}

/// Lowers `next` of a hash with the layout for times to `due`.
fn bring_next_forward(bytes: &mut [u8], due: u64) {
    let next = read_time(bytes, 0).min(due);
    bytes[..TIME].copy_from_slice(&next.to_le_bytes());
}

/// Changes a packed hash to the layout with times, if it has the other.
pub(crate) fn make_expiring(entry: &mut Entry) {
    if entry.kind() == Kind::HashPackEx {
        return;
    }
    let hash = Packed { bytes: entry.bytes(), expiring: false };
    let mut bytes = Vec::with_capacity(hash.expiring_len());
    bytes.extend_from_slice(&NEVER.to_le_bytes());
    for slot in hash.slots() {
        bytes.extend_from_slice(&entry.bytes()[slot.start..slot.value.end]);
        bytes.extend_from_slice(&NEVER.to_le_bytes());
    }
    entry.set_bytes(Kind::HashPackEx, &bytes);
}

/// Removes up to `budget` expired fields, in one pass, and makes `next` exact. Returns how many.
pub(crate) fn remove_expired(
    entry: &mut Entry,
    now_ms: u64,
    budget: usize,
    mut gone: impl FnMut(&[u8]),
) -> usize {
    let Some(hash) = Packed::of(entry).filter(|hash| hash.may_have_expired(now_ms)) else {
        return 0;
    };
    let (mut removed, mut next) = (0, NEVER);
    let mut kept = Vec::with_capacity(hash.bytes.len());
    kept.extend_from_slice(&NEVER.to_le_bytes());
    for slot in hash.slots() {
        if slot.due <= now_ms && removed < budget {
            gone(slot.name());
            removed += 1;
        } else {
            kept.extend_from_slice(&hash.bytes[slot.start..slot.value.end + TIME]);
            next = next.min(slot.due);
        }
    }
    kept[..TIME].copy_from_slice(&next.to_le_bytes());
    if removed == 0 {
        entry.bytes_mut()[..TIME].copy_from_slice(&next.to_le_bytes());
    } else {
        entry.set_bytes(Kind::HashPackEx, &kept);
    }
    removed
}
