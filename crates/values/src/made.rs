// SPDX-License-Identifier: Apache-2.0
//! [`NewHash`], [`NewList`], [`NewSet`], [`NewStream`], [`NewZset`]: collections that are being made.
//!
//! The type of an [`Entry`]'s value is known only at run time. These types fix it at compile time,
//! so that code that makes a collection need not check what it has made.
//!
//! INV-MADE: the entry is of the type it was made as. An edit does not change the type.

use crate::{
    Entry, HashMut, HashRef, Limits, ListMut, ListRef, SetMut, SetRef, StreamMut, StreamRef,
    ZsetMut, ZsetRef,
};

/// Declares a collection that is being made.
macro_rules! made {
    (
        $(#[$about:meta])*
        $made:ident: $new:ident, $read:ident -> $reference:ident, $edit:ident
    ) => {
        $(#[$about])*
        #[derive(Debug)]
        pub struct $made(Entry);

        impl $made {
            /// An empty one, to be put under `key`.
            #[must_use]
            pub fn new(key: &[u8]) -> Self {
                $made(Entry::$new(key))
            }

            /// What it is so far, to be edited within limits.
            #[inline]
            pub fn edit<'a>(&'a mut self, limits: &'a Limits) -> $edit<'a> {
                $edit::known(&mut self.0, limits)
            }

            /// What it is so far, to read.
            #[must_use]
            pub fn read(&self) -> $reference<'_> {
                self.0.$read().expect("INV-MADE")
            }

            /// The entry, which is to be put under its key unless it is empty.
            #[must_use]
            pub fn into_entry(self) -> Entry {
                self.0
            }
        }
    };
}

made! {
    /// A hash that is being made.
    NewHash: new_hash, hash -> HashRef, HashMut
}

made! {
    /// A list that is being made.
    NewList: new_list, list -> ListRef, ListMut
}

made! {
    /// A set that is being made.
    ///
    /// ```
    /// use values::{Limits, NewSet};
    ///
    /// let mut made = NewSet::new(b"seen");
    /// made.edit(&Limits::default()).add(b"10");
    /// assert!(made.read().contains(b"10"));
    /// assert_eq!(made.into_entry().len(), 1);
    /// ```
    NewSet: new_set, set -> SetRef, SetMut
}

made! {
    /// A sorted set that is being made.
    NewZset: new_zset, zset -> ZsetRef, ZsetMut
}

made! {
    /// A stream that is being made.
    NewStream: new_stream, stream -> StreamRef, StreamMut
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{End, Type};

    #[test]
    fn each_is_what_it_was_made_as_however_large_it_gets() {
        let limits = Limits::default();
        let (mut hash, mut list) = (NewHash::new(b"h"), NewList::new(b"l"));
        let (mut set, mut zset) = (NewSet::new(b"s"), NewZset::new(b"z"));
        for number in 0..1000_u32 {
            let element = [&number.to_le_bytes()[..], &[7; 60]].concat();
            hash.edit(&limits).set(&element, b"value", 0);
            list.edit(&limits).push(End::Back, &element);
            set.edit(&limits).add(&element);
            zset.edit(&limits).insert(&element, number.into());
        }
        assert_eq!([hash.read().len(), list.read().len()], [1000; 2]);
        assert_eq!([set.read().len(), zset.read().len()], [1000; 2]);
        let made = [hash.into_entry(), list.into_entry(), set.into_entry(), zset.into_entry()];
        let types = made.each_ref().map(Entry::data_type);
        assert_eq!(types, [Type::Hash, Type::List, Type::Set, Type::Zset]);
        assert_eq!(made.each_ref().map(Entry::key), [&b"h"[..], b"l", b"s", b"z"]);
    }
}
