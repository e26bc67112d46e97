// SPDX-License-Identifier: Apache-2.0
//! [`Named`]: collections whose elements are found by name.

use crate::{HashMut, HashRef, SetMut, SetRef, ZsetMut, ZsetRef};

/// A collection whose elements are found by name: the fields of a hash, the members of a set or sorted set.
///
/// ```
/// use values::{Entry, Limits, Named, TOGETHER};
///
/// let (mut entry, limits) = (Entry::new_set(b"seen"), Limits::default());
/// let mut seen = entry.set_mut(&limits).expect("it is a set");
/// let names: Vec<String> = (0..1000).map(|number| format!("name{number}")).collect();
/// for group in names.chunks(TOGETHER) {
///     seen.prefetch(group.iter().map(|name| name.as_bytes()));
///     group.iter().for_each(|name| assert!(seen.add(name.as_bytes())));
/// }
/// ```
pub trait Named {
    /// Prefetches the elements of these names, up to [`TOGETHER`](crate::TOGETHER) of them, which are looked up next.
    /// Their cache misses overlap with each other. Does nothing for a small collection, which is in one piece.
    fn prefetch<'n>(&self, names: impl Iterator<Item = &'n [u8]>);
}

macro_rules! named {
    ($($collection:ident)*) => {$(
        impl Named for $collection<'_> {
            #[inline]
            fn prefetch<'n>(&self, names: impl Iterator<Item = &'n [u8]>) {
                self.prefetch_elements(names);
            }
        }
    )*};
}

named! { HashRef HashMut SetRef SetMut ZsetRef ZsetMut }

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Entry, Limits, TOGETHER};

    /// Names of elements, of which every second is in the collections.
    fn names(count: usize) -> Vec<Vec<u8>> {
        (0..count).map(|number| format!("name:{number}").into_bytes()).collect()
    }

    /// Prefetches more than fit a group, and less, and nothing.
    fn prefetch(collection: &impl Named, names: &[Vec<u8>]) {
        for count in [0, 1, TOGETHER, TOGETHER + 1, names.len()] {
            for start in 0..names.len() - count {
                collection.prefetch(names[start..start + count].iter().map(Vec::as_slice));
            }
        }
    }

    #[test]
    fn prefetches_change_nothing_in_any_form() {
        let (limits, names) = (Limits::default(), names(2000));
        for count in [0, 1, 20, 700] {
            let (mut hash, mut set) = (Entry::new_hash(b"hash"), Entry::new_set(b"set"));
            let mut zset = Entry::new_zset(b"zset");
            for name in names.iter().step_by(2).take(count) {
                hash.hash_mut(&limits).unwrap().set(name, b"value", 0);
                set.set_mut(&limits).unwrap().add(name);
                zset.zset_mut(&limits).unwrap().insert(name, 1.0);
            }
            let some = &names[..(4 * count).clamp(TOGETHER + 2, 100)];
            prefetch(&hash.hash().unwrap(), some);
            prefetch(&hash.hash_mut(&limits).unwrap(), some);
            prefetch(&set.set().unwrap(), some);
            prefetch(&set.set_mut(&limits).unwrap(), some);
            prefetch(&zset.zset().unwrap(), some);
            prefetch(&zset.zset_mut(&limits).unwrap(), some);

            let (hash, set, zset) =
                (hash.hash().unwrap(), set.set().unwrap(), zset.zset().unwrap());
            assert_eq!([hash.len(), set.len(), zset.len()], [count; 3]);
            hash.check_integrity();
            set.check_integrity();
            zset.check_integrity();
        }
    }
}
