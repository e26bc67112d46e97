// SPDX-License-Identifier: Apache-2.0
//! Hashes: [`HashRef`] reads one and [`HashMut`] edits one.
//!
//! A small hash is [packed] in its entry; a [large] one has an index. A packed hash becomes large
//! when it has too many fields, or one that is too long; a large hash stays large.
//!
//! Fields may expire. Every call that reads fields takes the present time and does not show expired
//! fields. Such fields stay in the hash, and are counted by [`HashRef::len`], until
//! [`HashMut::remove_expired`] removes them. A hash without expiries pays nothing for this.

pub(crate) mod field;
pub(crate) mod fill;
pub(crate) mod large;
pub(crate) mod names;
pub(crate) mod packed;
#[cfg(test)]
mod tests;

use crate::either::Either;
use crate::kind::Kind;
use crate::large::{Large, LargeMut, LargeRef};
use crate::table::hashes_of;
use crate::{Entry, Limits, sample};
use field::Field;
use large::{Expiry, LargeHash};
use packed::{NEVER, Packed};

/// How many numbers [`HashRef::sample`] tries before it walks over all fields.
const TRIES: u64 = 32;
/// The distance of those numbers, which spreads them (the golden ratio of 2^64).
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl Entry {
    /// A hash without fields, whose first field is to be set next.
    pub fn new_hash(key: &[u8]) -> Entry {
        Entry::with_bytes(key, Kind::HashPack, &[])
    }

    /// The value, if it is a hash; `None` for another type.
    #[inline]
    pub fn hash(&self) -> Option<HashRef<'_>> {
        if let Some(packed) = Packed::of(self) {
            return Some(HashRef { form: Form::Packed(packed) });
        }
        match self.large() {
            Some(LargeRef::Hash(large)) => Some(HashRef { form: Form::Large(large) }),
            _ => None,
        }
    }

    /// The value, to be edited within limits, if it is a hash; `None` for another type.
    pub fn hash_mut<'a>(&'a mut self, limits: &'a Limits) -> Option<HashMut<'a>> {
        self.hash()?;
        Some(HashMut { entry: self, limits })
    }
}

/// A hash to read.
///
/// ```
/// use values::{Entry, Limits};
///
/// let (mut entry, limits, now_ms) = (Entry::new_hash(b"user:1"), Limits::default(), 1_000);
/// let mut edit = entry.hash_mut(&limits).expect("it is a hash");
/// edit.set(b"name", b"Ann", now_ms);
/// edit.set(b"token", b"secret", now_ms);
/// edit.set_expiry(b"token", Some(2_000), now_ms);
///
/// let hash = entry.hash().expect("it is a hash");
/// assert_eq!(hash.get(b"token", 1_999), Some(&b"secret"[..]));
/// assert_eq!(hash.get(b"token", 2_000), None);
/// assert_eq!(hash.get(b"name", 2_000), Some(&b"Ann"[..]));
/// ```
#[derive(Clone, Copy, Debug)]
pub struct HashRef<'a> {
    form: Form<'a>,
}

#[derive(Clone, Copy, Debug)]
enum Form<'a> {
    Packed(Packed<'a>),
    Large(&'a LargeHash),
}

impl<'a> HashRef<'a> {
    /// Fields, those that have expired but are still there included.
    #[expect(clippy::len_without_is_empty, reason = "an empty hash is removed")]
    pub fn len(self) -> usize {
        match self.form {
            Form::Packed(packed) => packed.len(),
            Form::Large(large) => large.len(),
        }
    }

    /// The number of fields that have not expired. Walks over all fields only if some may have
    /// expired.
    pub fn live(self, now_ms: u64) -> usize {
        if self.may_have_expired(now_ms) { self.iter(now_ms).count() } else { self.len() }
    }

    /// Whether an element is found by its number, or at random, without a walk over others.
    pub fn has_index(self) -> bool {
        matches!(self.form, Form::Large(_))
    }

    /// Whether the hash may have expired fields.
    #[inline]
    pub fn may_have_expired(self, now_ms: u64) -> bool {
        match self.form {
            Form::Packed(packed) => packed.may_have_expired(now_ms),
            Form::Large(large) => large.may_have_expired(now_ms),
        }
    }

    /// The value of a field. Allocates nothing.
    #[inline]
    pub fn get(self, field: &[u8], now_ms: u64) -> Option<&'a [u8]> {
        self.find(field, now_ms).map(|(value, _)| value)
    }

    /// Whether there is such a field.
    #[inline]
    pub fn contains(self, field: &[u8], now_ms: u64) -> bool {
        self.find(field, now_ms).is_some()
    }

    /// When a field expires, in unix milliseconds: `Some(None)` if it is there and does not expire.
    pub fn expiry_of(self, field: &[u8], now_ms: u64) -> Option<Option<u64>> {
        self.find(field, now_ms).map(|(_, due)| Some(due).filter(|due| *due != NEVER))
    }

    /// The value and the due time of a field that has not expired.
    #[inline]
    fn find(self, name: &[u8], now_ms: u64) -> Option<(&'a [u8], u64)> {
        let (value, due) = match self.form {
            Form::Packed(packed) => packed.find(name).ok().map(|slot| (slot.value(), slot.due))?,
            Form::Large(large) => large.find(name).map(|field| (field.value(), field.due_ms()))?,
        };
        (due > now_ms).then_some((value, due))
    }

    /// Fields and their values, in no order.
    pub fn iter(self, now_ms: u64) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + use<'a> {
        match self.form {
            Form::Packed(packed) => {
                let live = packed.slots().filter(move |slot| slot.due > now_ms);
                Either::Left(live.map(|slot| (slot.name(), slot.value())))
            }
            Form::Large(large) => {
                let live = large.iter().filter(move |field| is_live(field, now_ms));
                Either::Right(live.map(Field::pair))
            }
        }
    }

    /// Fields, their values, and when they expire, in no order.
    pub fn iter_expiring(
        self,
        now_ms: u64,
    ) -> impl Iterator<Item = (&'a [u8], &'a [u8], Option<u64>)> + use<'a> {
        let shown = |(name, value, due)| (name, value, Some(due).filter(|due| *due != NEVER));
        let all = match self.form {
            Form::Packed(packed) => {
                Either::Left(packed.slots().map(|slot| (slot.name(), slot.value(), slot.due)))
            }
            Form::Large(large) => Either::Right(large.iter().map(|field| {
                let (name, value) = field.pair();
                (name, value, field.due_ms())
            })),
        };
        all.filter(move |(.., due)| *due > now_ms).map(shown)
    }

    /// Visits about `count` fields and returns the cursor of the next call. Begins and ends with 0;
    /// a field that is there from the first call to the last is visited. A packed hash is visited
    /// in one call.
    pub fn scan(
        self,
        cursor: u64,
        count: usize,
        now_ms: u64,
        mut visit: impl FnMut(&'a [u8], &'a [u8]),
    ) -> u64 {
        let Form::Large(large) = self.form else {
            self.iter(now_ms).for_each(|(field, value)| visit(field, value));
            return 0;
        };
        sample::scan(cursor, count, |cursor, met| {
            large.scan(cursor, |field| {
                *met += 1;
                if is_live(field, now_ms) {
                    let (field, value) = field.pair();
                    visit(field, value);
                }
            })
        })
    }

    /// A field and its value by a random number, all about equally likely.
    pub fn sample(self, random: u64, now_ms: u64) -> Option<(&'a [u8], &'a [u8])> {
        self.draw(random, now_ms).or_else(|| self.nth_live(random, now_ms))
    }

    /// The same, but it may find none where most fields have expired.
    pub fn draw(self, random: u64, now_ms: u64) -> Option<(&'a [u8], &'a [u8])> {
        let Form::Large(large) = self.form else { return self.nth_live(random, now_ms) };
        let tries = (0..TRIES).map(|again| random.wrapping_add(again.wrapping_mul(STEP)));
        let mut drawn = tries.filter_map(|random| large.sample(random));
        drawn.find(|field| is_live(field, now_ms)).map(Field::pair)
    }

    /// The same by a walk over all.
    fn nth_live(self, random: u64, now_ms: u64) -> Option<(&'a [u8], &'a [u8])> {
        let live = self.live(now_ms) as u64;
        self.iter(now_ms).nth(random.checked_rem(live)? as usize)
    }

    /// Visits `count` different fields, or all if there are no more.
    pub fn sample_distinct(
        self,
        count: usize,
        now_ms: u64,
        mut random: impl FnMut() -> u64,
        mut visit: impl FnMut(&'a [u8], &'a [u8]),
    ) {
        if let Form::Large(large) = self.form {
            let draw = |random| large.sample(random).filter(|field| is_live(field, now_ms));
            if let Some(drawn) = sample::draw(large.len(), count, &mut random, draw) {
                for (field, value) in drawn.into_iter().map(Field::pair) {
                    visit(field, value);
                }
                return;
            }
        }
        let visit = |(field, value)| visit(field, value);
        sample::select(self.iter(now_ms), self.live(now_ms), count, random, visit);
    }

    /// When [`HashMut::remove_expired`] may find something, in unix milliseconds. `None` if no
    /// field expires.
    pub fn next_expiry(self) -> Option<u64> {
        let next = match self.form {
            Form::Packed(packed) => packed.next_due(),
            Form::Large(large) => large.next_pass(),
        };
        Some(next).filter(|next| *next != NEVER)
    }

    /// Prefetches the first [`TOGETHER`](crate::TOGETHER) of these fields.
    #[inline]
    pub(crate) fn prefetch_elements<'n>(self, names: impl Iterator<Item = &'n [u8]>) {
        if let Form::Large(large) = self.form {
            large.prefetch_group(&hashes_of(names));
        }
    }

    /// # Panics
    ///
    /// When an invariant does not hold, with its name.
    pub fn check_integrity(self) {
        match self.form {
            Form::Packed(packed) => packed.check(),
            Form::Large(large) => large.check(),
        }
    }
}

#[inline]
fn is_live(field: &Field, now_ms: u64) -> bool {
    field.due_ms() > now_ms
}

/// A hash to edit.
#[derive(Debug)]
pub struct HashMut<'a> {
    entry: &'a mut Entry,
    limits: &'a Limits,
}

impl<'a> HashMut<'a> {
    /// The hash that an entry is known to be.
    pub(crate) fn known(entry: &'a mut Entry, limits: &'a Limits) -> Self {
        HashMut { entry, limits }
    }

    /// The hash, to read.
    pub fn read(&self) -> HashRef<'_> {
        self.entry.hash().expect("an edit does not change the type")
    }

    /// Fields, those that have expired but are still there included.
    #[expect(clippy::len_without_is_empty, reason = "an empty hash is removed")]
    pub fn len(&self) -> usize {
        self.read().len()
    }

    /// Prefetches the first [`TOGETHER`](crate::TOGETHER) of these fields.
    #[inline]
    pub(crate) fn prefetch_elements<'n>(&self, names: impl Iterator<Item = &'n [u8]>) {
        self.entry.prefetch_elements(names);
    }

    /// Sets a field, without expiry. Returns true if it was not there. Allocates nothing if the
    /// value is as long as the former one.
    pub fn set(&mut self, field: &[u8], value: &[u8], now_ms: u64) -> bool {
        self.put(field, value, Expiry::Drop, now_ms)
    }

    /// Sets a field, which keeps its expiry. Returns true if it was not there.
    pub fn set_keeping_expiry(&mut self, field: &[u8], value: &[u8], now_ms: u64) -> bool {
        self.put(field, value, Expiry::Keep, now_ms)
    }

    fn put(&mut self, name: &[u8], value: &[u8], expiry: Expiry, now_ms: u64) -> bool {
        let Some(packed) = Packed::of(self.entry) else {
            return self.large().set(name, value, expiry, now_ms);
        };
        let short = name.len().max(value.len()) <= self.limits.hash_value
            && self.entry.bytes().len() + packed::field_len(name, value) <= Limits::PACKED_MAX;
        match packed.find(name) {
            Ok(slot) if short && self.is_few(packed) => {
                let (place, due) = (slot.place(), slot.due);
                let expired = due <= now_ms;
                if due != NEVER && (expired || expiry == Expiry::Drop) {
                    packed::set_due(self.entry, &place, NEVER);
                }
                packed::overwrite(self.entry, &place, value);
                expired
            }
            Err(others) if short && others < self.limits.hash_entries => {
                packed::append(self.entry, name, value, NEVER, others);
                true
            }
            _ => self.make_large().set(name, value, expiry, now_ms),
        }
    }

    /// Whether there are as many fields as a packed hash may have now: the limits can have changed since
    /// they were added.
    fn is_few(&self, packed: Packed<'_>) -> bool {
        // None takes less than two bytes.
        let fields_max = self.entry.bytes().len() / 2;
        fields_max <= self.limits.hash_entries || packed.len() <= self.limits.hash_entries
    }

    /// Removes a field. Returns true if it was there.
    pub fn remove(&mut self, field: &[u8], now_ms: u64) -> bool {
        let Some(packed) = Packed::of(self.entry) else {
            return self.large().remove(field, now_ms);
        };
        let Ok(slot) = packed.find(field) else { return false };
        let (place, live) = (slot.place(), slot.due > now_ms);
        packed::remove(self.entry, &place);
        live
    }

    /// Sets when a field expires, in unix milliseconds, or that it does not. Returns false if there
    /// is no such field. With a time in the past the field is not seen again.
    pub fn set_expiry(&mut self, field: &[u8], expiry: Option<u64>, now_ms: u64) -> bool {
        let due = expiry.unwrap_or(NEVER);
        let Some(packed) = Packed::of(self.entry) else {
            return self.large().set_due(field, due, now_ms);
        };
        let Ok(slot) = packed.find(field) else { return false };
        if slot.due <= now_ms {
            return false;
        }
        if slot.due == due {
            return true;
        }
        if packed.expiring_len() > Limits::PACKED_MAX {
            return self.make_large().set_due(field, due, now_ms);
        }
        packed::make_expiring(self.entry);
        let place =
            Packed::of(self.entry).and_then(|packed| Some(packed.find(field).ok()?.place()));
        packed::set_due(self.entry, &place.expect("the field is there"), due);
        true
    }

    /// Removes expired fields, in up to `budget` small steps, and calls `gone` with their names.
    /// Returns how many. Costs almost nothing before [`HashRef::next_expiry`].
    pub fn remove_expired(&mut self, now_ms: u64, budget: usize, gone: impl FnMut(&[u8])) -> usize {
        match self.entry.large_mut() {
            Some(LargeMut::Hash(large)) => large.remove_expired(now_ms, budget, gone),
            _ => packed::remove_expired(self.entry, now_ms, budget, gone),
        }
    }

    /// The index of a hash that is large.
    fn large(&mut self) -> &mut LargeHash {
        match self.entry.large_mut() {
            Some(LargeMut::Hash(large)) => large,
            _ => unreachable!("a hash is packed or large"),
        }
    }

    /// Turns a packed hash into a large one.
    fn make_large(&mut self) -> &mut LargeHash {
        let mut large = LargeHash::new();
        for slot in Packed::of(self.entry).into_iter().flat_map(Packed::slots) {
            large.insert(slot.name(), slot.value(), slot.due);
        }
        self.entry.set_large(Large::Hash(Box::new(large)));
        self.large()
    }
}
