// SPDX-License-Identifier: Apache-2.0
//! [`HashFill`]: a hash that is made of many fields, such as those of a payload.
//!
//! A field goes behind the others without a search for its name, unless that may be there already: a
//! packed hash is searched by walking, so its time would be the square of the number of its fields.
//! Small hashes need a [filter](Seen::bits) of names only. Where the limits let a packed hash have many
//! fields, the filter would be full, and the hashes of all names are kept while it is filled.

use super::packed::{self, NEVER, Packed};
use crate::{Entry, Limits, NewHash, hash_of};
use std::collections::HashSet;

/// Words of the filter, which has 4,096 bits.
const WORDS: usize = 64;
/// Up to so many fields the filter is enough: at most one bit in eight is set.
const FILTERED_MAX: usize = 512;

/// The names of the fields of a packed hash.
#[derive(Debug)]
struct Seen {
    /// The bit of the hash of each name is set.
    bits: [u64; WORDS],
    /// The hashes of all names, if there are more than [`FILTERED_MAX`].
    hashes: HashSet<u64>,
    count: usize,
}

impl Seen {
    /// Notes one more name. Returns whether it may have been noted before.
    fn note(&mut self, hash: u64, others: Packed<'_>) -> bool {
        let (word, bit) = (hash as usize % WORDS, 1 << (hash / WORDS as u64 % 64));
        let is_set = self.bits[word] & bit != 0;
        self.bits[word] |= bit;
        if self.count == FILTERED_MAX {
            self.hashes.extend(others.slots().map(|slot| hash_of(slot.name())));
        }
        let may_be_there = is_set && self.count < FILTERED_MAX
            || self.count >= FILTERED_MAX && !self.hashes.insert(hash);
        self.count += 1;
        may_be_there
    }
}

/// A hash that is being filled.
#[derive(Debug)]
pub(crate) struct HashFill<'a> {
    hash: NewHash,
    limits: &'a Limits,
    /// Of a hash that is packed: all of its fields.
    seen: Seen,
}

impl<'a> HashFill<'a> {
    /// A hash without fields.
    pub(crate) fn new(key: &[u8], limits: &'a Limits) -> Self {
        let seen = Seen { bits: [0; WORDS], hashes: HashSet::new(), count: 0 };
        HashFill { hash: NewHash::new(key), limits, seen }
    }

    /// Makes the hash a large one at once if so many fields are to come, of which there is none yet.
    /// Allocates nothing for them: their number may be a wrong claim.
    pub(crate) fn expect(&mut self, fields: u64) {
        let is_few = usize::try_from(fields).is_ok_and(|fields| fields <= self.limits.hash_entries);
        if !is_few && self.hash.read().len() == 0 {
            self.hash.edit(self.limits).make_large();
        }
    }

    /// Adds a field with the time at which it expires, if it does. Returns false, and changes nothing,
    /// if it is there.
    pub(crate) fn add(&mut self, name: &[u8], value: &[u8], due: Option<u64>) -> bool {
        let due = due.unwrap_or(NEVER);
        let mut edit = self.hash.edit(self.limits);
        let Some(packed) = Packed::of(edit.entry) else {
            return edit.large().add(name, value, due);
        };
        let others = self.seen.count;
        if self.seen.note(hash_of(name), packed) && packed.find(name).is_ok() {
            self.seen.count = others;
            return false;
        }
        let expires = due != NEVER;
        let taken = if expires { packed.expiring_len() } else { packed.bytes_len() };
        let fits = others < self.limits.hash_entries
            && name.len().max(value.len()) <= self.limits.hash_value
            && taken + packed::field_len(name, value) <= Limits::PACKED_MAX;
        if fits {
            packed::append(edit.entry, name, value, due, others);
        } else {
            edit.make_large().insert(name, value, due);
        }
        true
    }

    /// The entry, which is to be put under its key unless it is empty.
    pub(crate) fn into_entry(self) -> Entry {
        self.hash.into_entry()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Encoding;

    fn name(number: usize) -> String {
        format!("name{number}")
    }

    /// A hash of `count` fields, every third of which expires.
    fn filled(count: usize, limits: &Limits) -> HashFill<'_> {
        let mut fill = HashFill::new(b"key", limits);
        for number in 0..count {
            let due = (number % 3 == 2).then_some(1_000 + number as u64);
            assert!(fill.add(name(number).as_bytes(), b"value", due));
        }
        fill
    }

    #[test]
    fn what_is_filled_is_what_one_field_after_the_other_makes() {
        for limits in [Limits::default(), Limits { hash_entries: 2_000, ..Limits::default() }] {
            for count in [1, 2, 3, 128, 512, 513, 600, 1_500] {
                let entry = filled(count, &limits).into_entry();
                let mut other = Entry::new_hash(b"key");
                let mut edit = other.hash_mut(&limits).expect("it is a hash");
                for number in 0..count {
                    let (name, due) = (name(number), 1_000 + number as u64);
                    edit.set(name.as_bytes(), b"value", 0);
                    if number % 3 == 2 {
                        edit.set_expiry(name.as_bytes(), Some(due), 0);
                    }
                }
                let (hash, other_hash) = (entry.hash().unwrap(), other.hash().unwrap());
                hash.check_integrity();
                assert_eq!((entry.encoding(), entry.len()), (other.encoding(), count));
                assert_eq!(hash.next_expiry(), other_hash.next_expiry());
                for (name, value, due) in other_hash.iter_expiring(0) {
                    assert_eq!(hash.get(name, 0), Some(value));
                    assert_eq!(hash.expiry_of(name, 0), Some(due));
                }
            }
        }
    }

    #[test]
    fn a_packed_hash_is_hardly_ever_searched_while_it_is_filled() {
        let limits = Limits { hash_entries: 5_000, ..Limits::default() };
        let mut fill = filled(0, &limits);
        let mut searched = 0;
        for number in 0..5_000 {
            let name = name(number);
            let edit = fill.hash.edit(&limits);
            let packed = Packed::of(edit.entry).expect("it is packed");
            searched += usize::from(fill.seen.note(hash_of(name.as_bytes()), packed));
            packed::append(edit.entry, name.as_bytes(), b"value", NEVER, number);
        }
        assert!(searched < FILTERED_MAX / 8, "{searched} of 5,000");
    }

    #[test]
    fn a_field_that_is_there_changes_nothing() {
        for limits in [Limits::default(), Limits { hash_entries: 2_000, ..Limits::default() }] {
            for count in [1, 100, 600] {
                let mut fill = filled(count, &limits);
                for number in 0..count {
                    assert!(!fill.add(name(number).as_bytes(), b"other", Some(7)));
                }
                assert!(fill.add(b"another", b"value", None));
                let entry = fill.into_entry();
                entry.hash().expect("it is a hash").check_integrity();
                assert_eq!(entry.len(), count + 1);
                assert!(entry.hash().unwrap().iter(0).all(|(_, value)| value == b"value"));
            }
        }
    }

    #[test]
    fn many_fields_to_come_make_it_large_at_once() {
        let limits = Limits::default();
        let mut fill = HashFill::new(b"key", &limits);
        fill.expect(limits.hash_entries as u64);
        assert!(fill.add(b"a", b"1", None));
        fill.expect(u64::MAX);
        assert_eq!(fill.into_entry().encoding(), Encoding::Listpack, "it had a field already");
        let mut fill = HashFill::new(b"key", &limits);
        fill.expect(u64::MAX);
        assert!(fill.add(b"a", b"1", Some(5)) && !fill.add(b"a", b"2", None));
        let entry = fill.into_entry();
        assert_eq!((entry.encoding(), entry.len()), (Encoding::Hashtable, 1));
    }
}
