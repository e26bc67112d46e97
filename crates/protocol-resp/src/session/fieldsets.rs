// SPDX-License-Identifier: Apache-2.0
//! [`Fieldsets`]: the lists of field names that a connection has prepared (HIMPORT).

use crate::session::memory::text_bytes;
use std::collections::BTreeMap;

/// Lists of field names, each under the name that the client has given it.
///
/// Most connections have none, so that is a null pointer.
#[derive(Debug, Default)]
pub(crate) struct Fieldsets(Option<Box<Prepared>>);

#[derive(Debug, Default)]
struct Prepared {
    sets: BTreeMap<Box<[u8]>, Fieldset>,
    /// Bytes of all names and lists.
    bytes: u64,
}

/// Names of fields, in the order in which their values are given.
type Fieldset = Box<[Box<[u8]>]>;

/// Bytes of an entry of the map; its nodes are at least half full.
const ENTRY_BYTES: u64 = 2 * size_of::<(Box<[u8]>, Fieldset)>() as u64;

fn bytes(name: &[u8], fields: &Fieldset) -> u64 {
    let texts: u64 = fields.iter().map(|field| text_bytes(field.len())).sum();
    ENTRY_BYTES + text_bytes(name.len()) + text_bytes(size_of_val::<[_]>(fields)) + texts
}

impl Fieldsets {
    /// The list with this name.
    pub(crate) fn find(&self, name: &[u8]) -> Option<&[Box<[u8]>]> {
        self.0.as_ref()?.sets.get(name).map(|fields| &**fields)
    }

    /// Prepares a list, in place of another one with the same name.
    pub(crate) fn prepare<'f>(&mut self, name: &[u8], fields: impl Iterator<Item = &'f [u8]>) {
        let fields: Fieldset = fields.map(Box::from).collect();
        self.discard(name);
        let prepared = self.0.get_or_insert_default();
        prepared.bytes += bytes(name, &fields);
        prepared.sets.insert(name.into(), fields);
    }

    /// Drops a list; whether it was there.
    pub(crate) fn discard(&mut self, name: &[u8]) -> bool {
        let Some(prepared) = &mut self.0 else { return false };
        let Some(fields) = prepared.sets.remove(name) else { return false };
        prepared.bytes -= bytes(name, &fields);
        if prepared.sets.is_empty() {
            self.0 = None;
        }
        true
    }

    /// Drops all lists; how many there were.
    pub(crate) fn discard_all(&mut self) -> usize {
        self.0.take().map_or(0, |prepared| prepared.sets.len())
    }

    /// The memory they take.
    pub(crate) fn bytes(&self) -> u64 {
        self.0.as_ref().map_or(0, |prepared| prepared.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_prepared_counts_until_it_is_discarded() {
        let mut sets = Fieldsets::default();
        assert_eq!((sets.bytes(), sets.discard(b"a"), sets.discard_all()), (0, false, 0));
        sets.prepare(b"a", [&b"name"[..], b"age"].into_iter());
        let one = sets.bytes();
        sets.prepare(b"b", [&b"name"[..], b"age"].into_iter());
        assert_eq!(sets.bytes(), 2 * one);
        sets.prepare(b"b", [&b"name"[..]].into_iter());
        assert!(sets.bytes() < 2 * one, "a list takes the place of the other");
        assert_eq!(sets.find(b"b").map(<[_]>::len), Some(1));
        assert!(sets.discard(b"b") && sets.find(b"b").is_none());
        assert_eq!(sets.bytes(), one);
        assert_eq!((sets.discard_all(), sets.bytes()), (1, 0));
    }
}
