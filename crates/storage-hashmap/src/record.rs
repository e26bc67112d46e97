// SPDX-License-Identifier: Apache-2.0
//! [`Record`]: an item's key, value, flags, version and state, in memory of its own.
//!
//! A small item is one allocation: a header of 18 bytes, the key, the value, and spare bytes up to
//! the next size that `malloc` hands out anyway. A value of [`PIN_MIN`] bytes or more is kept as
//! [`Bytes`], so that a reply can hold it by reference count.
//!
//! ```text
//!  Packed   | version 8 | flags 4 | state 18 bits, value length 14 bits | key length 2 | key | value | spare |
//!  Large    | version, flags, state | key ──▶ bytes | value ──▶ Bytes (reference counted)
//! ```

use crate::item_state::{ItemState, STATE_BITS};
use bytes::Bytes;
use clock::Ticks;
use prefetch::Hint;

/// Values of at least this many bytes can be pinned instead of copied.
pub const PIN_MIN: usize = 16 * 1024;

/// The longest key in bytes: its length is stored in two bytes.
pub const KEY_MAX: usize = u16::MAX as usize;

/// Bits of a packed value's length.
const LEN_BITS: u32 = 32 - STATE_BITS;
const LEN_MASK: u32 = (1 << LEN_BITS) - 1;
const _: () = assert!(PIN_MIN - 1 <= LEN_MASK as usize, "the length of a packed value fits");

/// Bytes before the key of a packed record.
const HEADER: usize = 18;

/// Where the fields begin behind the version.
const FLAGS_AT: usize = 8;
const LEN_AT: usize = 12;
const KEY_LEN_AT: usize = 16;

/// Bytes of `malloc`'s header in front of an allocation.
const MALLOC_HEADER: usize = 8;

/// Bytes of the reference count of a pinned value, allocation included.
const PIN_COUNT: usize = 32;

/// One item's bytes. The record of a free slot is [`Record::vacant`].
#[derive(Debug)]
pub(crate) enum Record {
    /// Header, key and value in one piece.
    Packed(Box<[u8]>),
    /// An item whose value can be pinned.
    Large(Box<Large>),
}

const _: () = assert!(size_of::<Record>() == 16, "an entry is half a cache line");

/// An item whose value can be pinned.
#[derive(Debug)]
pub(crate) struct Large {
    version: u64,
    flags: u32,
    state: ItemState,
    key: Box<[u8]>,
    value: Bytes,
}

/// What a record holds besides key and value.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Facts {
    pub(crate) flags: u32,
    pub(crate) version: u64,
    pub(crate) state: ItemState,
}

/// A value to write, as up to three pieces that follow each other.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pieces<'a> {
    pieces: [&'a [u8]; 3],
    /// The whole value once more, if it need not be copied.
    owned: Option<&'a Bytes>,
}

impl<'a> Pieces<'a> {
    /// A value that is in one piece already. If it is of [`PIN_MIN`] bytes or more, the record shares what is `owned`.
    pub(crate) fn one(value: &'a [u8], owned: Option<&'a Bytes>) -> Self {
        debug_assert!(owned.is_none_or(|owned| *owned == value), "INV-SIZE: it is the value");
        Pieces { pieces: [value, &[], &[]], owned }
    }

    /// Three pieces.
    pub(crate) fn three(pieces: [&'a [u8]; 3]) -> Self {
        Pieces { pieces, owned: None }
    }

    /// Bytes of the whole value.
    pub(crate) fn len(&self) -> usize {
        self.pieces.iter().map(|piece| piece.len()).sum()
    }

    fn append_to(&self, bytes: &mut Vec<u8>) {
        for piece in self.pieces {
            bytes.extend_from_slice(piece);
        }
    }

    /// The value by reference count, copied unless it is owned.
    fn to_bytes(self) -> Bytes {
        self.owned.cloned().unwrap_or_else(|| {
            let mut bytes = Vec::with_capacity(self.len());
            self.append_to(&mut bytes);
            Bytes::from(bytes)
        })
    }
}

/// The memory that `malloc` uses for a request of `bytes`: size classes of 16 bytes, at least 32.
const fn malloc_cost(bytes: usize) -> usize {
    let chunk = (bytes + MALLOC_HEADER).next_multiple_of(16);
    if chunk < 32 { 32 } else { chunk }
}

/// The bytes that a packed record of this content requests: all that `malloc` would use for it
/// anyway.
const fn packed_capacity(key_len: usize, value_len: usize) -> usize {
    malloc_cost(HEADER + key_len + value_len) - MALLOC_HEADER
}

impl Record {
    /// The record of a slot that holds no item. Allocates nothing.
    pub(crate) fn vacant() -> Self {
        Record::Packed(Box::default())
    }

    /// Whether this is no item.
    pub(crate) fn is_vacant(&self) -> bool {
        matches!(self, Record::Packed(bytes) if bytes.is_empty())
    }

    /// The memory in bytes of an item with these lengths. Equals [`Record::cost`] of the record
    /// that [`Record::build`] makes.
    pub(crate) fn cost_of(key_len: usize, value_len: usize) -> u64 {
        let bytes = if value_len >= PIN_MIN {
            malloc_cost(size_of::<Large>())
                + malloc_cost(key_len)
                + malloc_cost(value_len)
                + PIN_COUNT
        } else {
            malloc_cost(HEADER + key_len + value_len)
        };
        bytes as u64
    }

    /// The memory that this record takes, in bytes.
    pub(crate) fn cost(&self) -> u64 {
        match self {
            Record::Packed(bytes) => malloc_cost(bytes.len()) as u64,
            Record::Large(large) => Self::cost_of(large.key.len(), large.value.len()),
        }
    }

    /// Allocates a record. The key is at most [`KEY_MAX`] and the value at most `u32::MAX` long.
    pub(crate) fn build(key: &[u8], value: Pieces<'_>, facts: Facts) -> Self {
        debug_assert!(key.len() <= KEY_MAX, "INV-SIZE");
        let value_len = value.len();
        if value_len >= PIN_MIN {
            let value = value.to_bytes();
            let Facts { flags, version, state } = facts;
            return Record::Large(Box::new(Large {
                version,
                flags,
                state,
                key: key.into(),
                value,
            }));
        }
        let capacity = packed_capacity(key.len(), value_len);
        let mut bytes = Vec::with_capacity(capacity);
        bytes.resize(KEY_LEN_AT, 0);
        set_header(&mut bytes, facts, value_len);
        bytes.extend_from_slice(&(key.len() as u16).to_ne_bytes());
        bytes.extend_from_slice(key);
        value.append_to(&mut bytes);
        bytes.resize(capacity, 0);
        Record::Packed(bytes.into_boxed_slice())
    }

    /// Whether a value of this length can overwrite the present one in place: it fits, and a new
    /// allocation would not save more than half.
    pub(crate) fn has_room_for(&self, value_len: usize) -> bool {
        match self {
            Record::Packed(bytes) if value_len < PIN_MIN => {
                let needed = packed_capacity(key_len(bytes), value_len);
                needed <= bytes.len() && bytes.len() <= 2 * needed
            }
            _ => false,
        }
    }

    /// Writes a value over the present one, for which there is room.
    pub(crate) fn overwrite(&mut self, value: &[u8], facts: Facts) {
        debug_assert!(self.has_room_for(value.len()), "INV-ROOM");
        let Record::Packed(bytes) = self else { return };
        let start = HEADER + key_len(bytes);
        bytes[start..start + value.len()].copy_from_slice(value);
        set_header(bytes, facts, value.len());
    }

    /// Puts bytes before and after the present value, for which there is room.
    pub(crate) fn extend(&mut self, before: &[u8], after: &[u8], facts: Facts) {
        let Record::Packed(bytes) = self else { return };
        let old_len = value_len(bytes);
        let start = HEADER + key_len(bytes);
        let middle = start + before.len();
        let end = middle + old_len;
        bytes.copy_within(start..start + old_len, middle);
        bytes[start..middle].copy_from_slice(before);
        bytes[end..end + after.len()].copy_from_slice(after);
        set_header(bytes, facts, before.len() + old_len + after.len());
    }

    /// Changes everything but key and value.
    pub(crate) fn set_facts(&mut self, facts: Facts) {
        match self {
            Record::Packed(bytes) => {
                let value_len = value_len(bytes);
                set_header(bytes, facts, value_len);
            }
            Record::Large(large) => {
                let Facts { flags, version, state } = facts;
                (large.flags, large.version, large.state) = (flags, version, state);
            }
        }
    }

    #[inline]
    pub(crate) fn state(&self) -> ItemState {
        match self {
            Record::Packed(bytes) => {
                ItemState::from_bits(u32::from_ne_bytes(field(bytes, LEN_AT)) >> LEN_BITS)
            }
            Record::Large(large) => large.state,
        }
    }

    /// Notes a read of the item. Returns its state of before.
    #[inline]
    pub(crate) fn note_read(&mut self, now: Ticks) -> ItemState {
        let state = self.state();
        let read = state.read(now);
        if read != state {
            self.set_state(read);
        }
        state
    }

    #[inline]
    pub(crate) fn set_state(&mut self, state: ItemState) {
        match self {
            Record::Packed(bytes) => {
                let len = u32::from_ne_bytes(field(bytes, LEN_AT)) & LEN_MASK;
                let word = state.bits() << LEN_BITS | len;
                bytes[LEN_AT..KEY_LEN_AT].copy_from_slice(&word.to_ne_bytes());
            }
            Record::Large(large) => large.state = state,
        }
    }

    #[inline]
    pub(crate) fn key(&self) -> &[u8] {
        match self {
            Record::Packed(bytes) => &bytes[HEADER..HEADER + key_len(bytes)],
            Record::Large(large) => &large.key,
        }
    }

    #[inline]
    pub(crate) fn value(&self) -> &[u8] {
        match self {
            Record::Packed(bytes) => {
                let start = HEADER + key_len(bytes);
                &bytes[start..start + value_len(bytes)]
            }
            Record::Large(large) => &large.value,
        }
    }

    #[inline]
    pub(crate) fn flags(&self) -> u32 {
        match self {
            Record::Packed(bytes) => u32::from_ne_bytes(field(bytes, FLAGS_AT)),
            Record::Large(large) => large.flags,
        }
    }

    #[inline]
    pub(crate) fn version(&self) -> u64 {
        match self {
            Record::Packed(bytes) => u64::from_ne_bytes(field(bytes, 0)),
            Record::Large(large) => large.version,
        }
    }

    /// The value by reference count, if it is a large one.
    pub(crate) fn pin(&self) -> Option<Bytes> {
        match self {
            Record::Packed(_) => None,
            Record::Large(large) => Some(large.value.clone()),
        }
    }

    /// Prefetches the record, as far as it pays; of one whose value can be pinned, what leads to key and value.
    #[inline]
    pub(crate) fn prefetch(&self) {
        match self {
            Record::Packed(bytes) => {
                prefetch::read::<[u8]>(bytes);
                if let Some(second_line) = bytes.get(64) {
                    prefetch::read(second_line);
                }
                if bytes.len() > Hint::FIRST_BYTES {
                    Hint::behind(bytes.as_ptr(), bytes.len()).fetch();
                }
            }
            Record::Large(large) => prefetch::read::<Large>(large),
        }
    }
}

#[inline]
fn field<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut field = [0; N];
    field.copy_from_slice(&bytes[at..at + N]);
    field
}

#[inline]
fn key_len(bytes: &[u8]) -> usize {
    usize::from(u16::from_ne_bytes(field(bytes, KEY_LEN_AT)))
}

#[inline]
fn value_len(bytes: &[u8]) -> usize {
    (u32::from_ne_bytes(field(bytes, LEN_AT)) & LEN_MASK) as usize
}

/// Writes everything before the length of the key.
fn set_header(bytes: &mut [u8], facts: Facts, value_len: usize) {
    let state_and_len = facts.state.bits() << LEN_BITS | value_len as u32;
    bytes[..FLAGS_AT].copy_from_slice(&facts.version.to_ne_bytes());
    bytes[FLAGS_AT..LEN_AT].copy_from_slice(&facts.flags.to_ne_bytes());
    bytes[LEN_AT..KEY_LEN_AT].copy_from_slice(&state_and_len.to_ne_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;
    use storage::Marks;

    fn facts(flags: u32, version: u64) -> Facts {
        Facts { flags, version, ..Facts::default() }
    }

    #[test]
    fn the_state_changes_nothing_else() {
        let state = ItemState::new(Marks { stale: true, claimed: true }, true, Ticks::MAX);
        for len in [0, 1, PIN_MIN - 1, PIN_MIN] {
            let value = vec![0xff; len];
            let mut record = Record::build(b"key", Pieces::one(&value, None), facts(7, 8));
            record.set_state(state);
            assert_eq!(
                (record.state(), record.value(), record.key()),
                (state, &value[..], &b"key"[..])
            );
            assert_eq!((record.flags(), record.version()), (7, 8));
            record.set_facts(facts(7, 8));
            assert_eq!((record.state(), record.value()), (ItemState::default(), &value[..]));
        }
    }

    #[test]
    fn a_record_costs_what_was_asked_for_and_reads_back() {
        for key_len in [0, 1, 20, 250, KEY_MAX] {
            for value_len in [0, 1, 5, 6, 7, 64, 1000, PIN_MIN - 1, PIN_MIN, 100_000] {
                let (key, value) = (vec![b'k'; key_len], vec![b'v'; value_len]);
                let record = Record::build(&key, Pieces::one(&value, None), facts(7, u64::MAX));
                assert_eq!((record.key(), record.value()), (&key[..], &value[..]));
                assert_eq!((record.flags(), record.version()), (7, u64::MAX));
                assert_eq!(record.cost(), Record::cost_of(key_len, value_len));
                assert_eq!(record.pin().is_some(), value_len >= PIN_MIN);
                assert!(!record.is_vacant());
            }
        }
    }

    #[test]
    fn an_owned_value_is_shared_if_it_is_large() {
        for len in [0, 1, PIN_MIN - 1, PIN_MIN, 100_000] {
            let owned = Bytes::from(vec![b'v'; len]);
            let record = Record::build(b"key", Pieces::one(&owned, Some(&owned)), facts(7, 8));
            assert_eq!(
                (record.value(), record.key(), record.flags()),
                (&owned[..], &b"key"[..], 7)
            );
            assert_eq!(record.cost(), Record::cost_of(3, len));
            assert_eq!(record.value().as_ptr() == owned.as_ptr(), len >= PIN_MIN);
        }
    }

    #[test]
    fn small_changes_of_length_stay_in_place() {
        let mut record = Record::build(b"key", Pieces::one(&[1; 100], None), facts(0, 1));
        let cost = record.cost();
        assert!(record.has_room_for(90) && record.has_room_for(103));
        assert!(!record.has_room_for(200), "it does not fit");
        assert!(!record.has_room_for(10), "it would waste more than half");
        record.overwrite(&[2; 103], facts(9, 2));
        assert_eq!((record.value(), record.flags(), record.version()), (&[2; 103][..], 9, 2));
        assert_eq!((record.cost(), record.key()), (cost, &b"key"[..]));
    }

    #[test]
    fn extending_in_place_keeps_the_middle() {
        let mut record =
            Record::build(b"key", Pieces::one(b"middle, of some length", None), facts(3, 1));
        assert!(record.has_room_for(b"<middle, of some length>".len()));
        record.extend(b"<", b">", facts(3, 2));
        assert_eq!(record.value(), b"<middle, of some length>");
        assert_eq!((record.flags(), record.version()), (3, 2));
    }
}
