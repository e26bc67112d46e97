// SPDX-License-Identifier: Apache-2.0
//! [`Table`]: a hash table that grows and shrinks by one bucket at a time.
//!
//! ```text
//!  hash ──low bits──▶ bucket: one cache line of six elements and a tag for each
//!                        │ next
//!                        ▼
//!                     overflow bucket, shared by nobody, if there are more
//! ```
//!
//! This is linear hashing (Litwin, 1980). With *b* buckets, of which 2^n ≤ *b* < 2^(n+1), an element
//! lives in the bucket of its hash's low n+1 bits if there is such a bucket, else in the one of its
//! low n bits. An insert that fills the table beyond 4.8 elements per bucket adds bucket *b*, and
//! splits the elements of its twin, bucket *b* - 2^n, between the two. A removal that leaves less
//! than 3.2 merges the last bucket into its twin. So no operation does work in proportion to the
//! table, and each moves only a few elements.
//!
//! Each bucket stores the second at which its first element is due, so [`Table::sweep`] finds expired
//! elements without reading any others.
//!
//! # Invariants
//!
//! * INV-HOME: an element is in the chain of buckets that its hash selects.
//! * INV-TAG: the tag of a filled slot is that of the element's hash; of an empty one it is zero.
//! * INV-CHAIN: all buckets of a chain but the last are full, and an overflow bucket is not empty.
//! * INV-DUE: a volatile bit is set if and only if the element has a due time, and the due second of
//!   a chain is not after any of them; nor is the one of the table.
//! * INV-OVERFLOW: an overflow bucket is in one chain or in the list of free ones.
//! * INV-LEN: the length is the number of elements.
//!
//! [`Table::check_integrity`] checks them.
//!
//! # Files
//!
//! `bucket.rs`, `chunks.rs` and `overflow.rs` are the memory; `chain.rs` edits one chain, `resize.rs`
//! adds and takes away buckets; `scan.rs` (cursors, samples), `sweep.rs` (what is due) and `drain.rs`
//! (taking a table apart) are the walks; `layout.rs` finds buckets without their table; `together.rs` prefetches
//! elements in groups; `hash.rs` is the hash function.

mod bucket;
mod chain;
mod chunks;
mod drain;
mod hash;
mod integrity;
mod layout;
mod overflow;
mod resize;
mod scan;
mod sweep;
mod together;

use std::fmt;

pub use self::hash::{hash_of, seed_hashes};
pub use self::layout::Layout;
pub use self::sweep::{Swept, Verdict};
pub use self::together::TOGETHER;
pub(crate) use self::together::{Hashes, hashes_of};

use self::bucket::{Bucket, Item, tag_of};
use self::chain::Place;
use self::chunks::Chunks;
use self::overflow::Overflow;
use self::sweep::Sweep;
use prefetch::Hint;

/// An element that a table can find by its key.
pub trait Keyed {
    /// The key. It does not change while the element is in a table.
    fn key(&self) -> &[u8];

    /// When the element is due to be removed, in unix milliseconds. When that changes, tell the table:
    /// [`Table::refresh_due`].
    fn due(&self) -> Option<u64> {
        None
    }

    /// All memory that the element holds.
    fn heap_bytes(&self) -> usize {
        0
    }

    /// The memory in which the key is.
    fn hint(&self) -> Hint {
        Hint::NONE
    }

    /// The rest of the element, whose address is stored in the memory of [`Keyed::hint`].
    fn rest(&self) -> Hint {
        Hint::NONE
    }
}

/// Elements found by the hash of their key.
///
/// An element should be eight bytes with a niche, such as a pointer: then a bucket is one cache line.
/// For smaller elements, such as numbers, [`Compact`] in place of [`CacheLine`] makes smaller buckets. At
/// 4.8 elements per bucket a pointer costs about 17 bytes of index, the pointer included; in a table of
/// fewer than twenty thousand elements up to a quarter more, which is allocated ahead.
///
/// A table of [`Keyed`] elements takes a hash that is [`hash_of`] their key. The methods in `_by` take
/// closures, for elements that are only the number of something stored elsewhere.
///
/// ```
/// use values::{Entry, Table, hash_of};
///
/// let mut table: Table<Entry> = Table::new();
/// let hash = hash_of(b"key");
/// table.insert(hash, Entry::string(b"key", b"value"));
/// assert!(table.find(hash, b"key").is_some());
/// assert_eq!(table.remove(hash, b"key").map(|entry| entry.len()), Some(5));
/// ```
pub struct Table<T, A = CacheLine> {
    heads: Chunks<Bucket<T, A>>,
    overflow: Overflow<T, A>,
    len: usize,
    sweep: Sweep,
}

const _: () = assert!(size_of::<Table<Box<u8>>>() == 64, "a table of few elements is small, too");

/// Bytes of a cache line.
const LINE: usize = align_of::<CacheLine>();

/// Buckets begin where cache lines do.
#[derive(Debug)]
#[repr(align(64))]
pub struct CacheLine(());

/// Buckets lie side by side without padding, as small as their elements allow.
#[derive(Debug)]
pub struct Compact(());

/// The properties of an element that are read when its bucket is split.
#[derive(Clone, Copy, Debug)]
struct Look {
    hash: u64,
    due: Option<u64>,
}

/// Looks at an element that is found by its key.
fn look_at<T: Keyed>(element: &T) -> Look {
    Look { hash: hash_of(element.key()), due: element.due() }
}

/// Looks at an element that is found by a closure.
fn look_by<T>(rehash: impl Fn(&T) -> u64) -> impl Fn(&T) -> Look {
    move |element| Look { hash: rehash(element), due: None }
}

/// The bucket, of `buckets` buckets, that a hash selects; 0 if there is none yet.
#[inline]
fn home(hash: u64, buckets: usize) -> usize {
    let mask = buckets.next_power_of_two() - 1;
    let bucket = hash as usize & mask;
    if bucket < buckets { bucket } else { bucket & mask >> 1 }
}

impl<T, A> Table<T, A> {
    /// An empty table. Allocates nothing.
    pub const fn new() -> Self {
        Table { heads: Chunks::new(), overflow: Overflow::new(), len: 0, sweep: Sweep::NOTHING }
    }

    /// A table with copies of the elements, in the same places: nothing is hashed. `copy` keeps an element's key and
    /// when it is due.
    pub fn copy_with(&self, mut copy: impl FnMut(&T) -> T) -> Self {
        let heads = self.heads.copy_with(|bucket| bucket.copy_with(&mut copy));
        let overflow = self.overflow.copy_with(&mut copy);
        Table { heads, overflow, len: self.len, sweep: self.sweep.clone() }
    }

    /// Elements.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Memory of the index, without that of the elements. O(1).
    #[inline]
    pub fn heap_bytes(&self) -> usize {
        self.heads.heap_bytes() + self.overflow.heap_bytes() + self.sweep.heap_bytes()
    }

    /// The number of buckets, without overflow buckets.
    pub fn buckets(&self) -> usize {
        self.heads.len()
    }

    /// The element with this hash for which `eq` holds. Mostly reads one cache line of the index,
    /// and the elements that `eq` reads: one wrong element in forty searches.
    #[inline]
    pub fn find_by(&self, hash: u64, eq: impl Fn(&T) -> bool) -> Option<&T> {
        let mut bucket = self.heads.get(self.home(hash))?;
        loop {
            for slot in bucket.candidates(tag_of(hash)) {
                if let Some(element) = bucket.get(slot)
                    && eq(element)
                {
                    return Some(element);
                }
            }
            bucket = self.overflow.get(bucket.next()?);
        }
    }

    /// The element with this hash for which `eq` holds.
    #[inline]
    pub fn find_by_mut(&mut self, hash: u64, eq: impl Fn(&T) -> bool) -> Option<&mut T> {
        // As `locate`, but the bucket is looked up once.
        let home = self.home(hash);
        let bucket = self.heads.get_mut(home)?;
        if let Some(slot) = bucket.find(hash, &eq) {
            return bucket.get_mut(slot);
        }
        let mut next = bucket.next();
        while let Some(number) = next {
            let bucket = self.overflow.get(number);
            if let Some(slot) = bucket.find(hash, &eq) {
                return self.overflow.get_mut(number).get_mut(slot);
            }
            next = bucket.next();
        }
        None
    }

    /// Adds an element. The caller knows that it is not there yet. Returns whether a bucket was split, after which
    /// [`Table::prefetch_split`] is useful.
    pub fn insert_by(&mut self, hash: u64, element: T, rehash: impl Fn(&T) -> u64) -> bool {
        self.insert_with(hash, element, None, &look_by(rehash))
    }

    /// Removes and returns the element with this hash for which `eq` holds.
    pub fn remove_by(
        &mut self,
        hash: u64,
        eq: impl Fn(&T) -> bool,
        rehash: impl Fn(&T) -> u64,
    ) -> Option<T> {
        self.remove_with(hash, eq, &look_by(rehash))
    }

    /// All elements, in no order. [`Table::iter_ahead`] is for those that are to be read.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.heads.iter().chain(self.overflow.iter()).flat_map(Bucket::elements)
    }

    /// Prefetches the bucket of this hash.
    #[inline]
    pub fn prefetch(&self, hash: u64) {
        if let Some(bucket) = self.heads.get(self.home(hash)) {
            prefetch::read(bucket);
            if align_of::<Bucket<T, A>>() < LINE {
                let end = std::ptr::from_ref(bucket).wrapping_add(1).cast::<u8>();
                prefetch::address(end.wrapping_sub(1));
            }
        }
    }

    /// [`Table::hint`], where `hint` tells the memory in which the key of an element is.
    #[inline]
    pub fn hint_by(&self, hash: u64, hint: impl Fn(&T) -> Hint) -> Hint {
        let Some(bucket) = self.heads.get(self.home(hash)) else { return Hint::NONE };
        match (bucket.candidates(tag_of(hash)).next(), bucket.next()) {
            (Some(slot), _) => bucket.get(slot).map_or(Hint::NONE, hint),
            (None, Some(next)) => Hint::leading_on(self.overflow.get(next)),
            (None, None) => Hint::NONE,
        }
    }

    /// The bucket that a hash selects; 0 if there is none yet.
    #[inline]
    fn home(&self, hash: u64) -> usize {
        home(hash, self.heads.len())
    }

    /// Where the element with this hash is for which `eq` holds.
    #[inline]
    fn locate(&self, hash: u64, eq: impl Fn(&T) -> bool) -> Option<(Place, usize)> {
        let mut place = Place::Head(self.home(hash));
        let mut bucket = self.heads.get(self.home(hash))?;
        loop {
            if let Some(slot) = bucket.find(hash, &eq) {
                return Some((place, slot));
            }
            let next = bucket.next()?;
            (place, bucket) = (Place::Overflow(next), self.overflow.get(next));
        }
    }

    /// Returns whether a bucket was split.
    fn insert_with(
        &mut self,
        hash: u64,
        element: T,
        due: Option<u64>,
        look: &impl Fn(&T) -> Look,
    ) -> bool {
        if self.heads.len() == 0 {
            self.heads.push(Bucket::EMPTY);
        }
        let home = self.home(hash);
        self.append(home, Item { element, tag: tag_of(hash), volatile: due.is_some() });
        self.bring_due_forward(home, due);
        self.len += 1;
        self.grow(look)
    }

    fn remove_with(
        &mut self,
        hash: u64,
        eq: impl Fn(&T) -> bool,
        look: &impl Fn(&T) -> Look,
    ) -> Option<T> {
        let (place, slot) = self.locate(hash, eq)?;
        let home = self.home(hash);
        let taken = self.take(home, place, slot);
        self.forget_due(home);
        self.len -= 1;
        self.shrink(look);
        Some(taken.item.element)
    }
}

impl<T: Keyed, A> Table<T, A> {
    /// The element with this key.
    #[inline]
    pub fn find(&self, hash: u64, key: &[u8]) -> Option<&T> {
        self.find_by(hash, |element| element.key() == key)
    }

    /// The element with this key, which must not change. After a change of its
    /// [due time](Keyed::due) call [`Table::refresh_due`].
    #[inline]
    pub fn find_mut(&mut self, hash: u64, key: &[u8]) -> Option<&mut T> {
        self.find_by_mut(hash, |element| element.key() == key)
    }

    /// Adds an element. The caller knows that its key is not there yet.
    pub fn insert(&mut self, hash: u64, element: T) {
        debug_assert_eq!(hash, hash_of(element.key()));
        let due = element.due();
        if self.insert_with(hash, element, due, &look_at) {
            self.prefetch_split(0, Keyed::hint);
        }
    }

    /// Adds an element in place of the one with the same key, and returns that.
    pub fn replace(&mut self, hash: u64, element: T) -> Option<T> {
        let Some((place, slot)) = self.locate(hash, |old| old.key() == element.key()) else {
            self.insert(hash, element);
            return None;
        };
        let due = element.due();
        let item = Item { element, tag: tag_of(hash), volatile: due.is_some() };
        let old = self.bucket_mut(place).replace(slot, item)?;
        self.note_due(self.home(hash), due);
        Some(old.element)
    }

    /// Removes and returns the element with this key.
    pub fn remove(&mut self, hash: u64, key: &[u8]) -> Option<T> {
        self.remove_with(hash, |element| element.key() == key, &look_at)
    }

    /// Tells the table that the [due time](Keyed::due) of this key's element may have changed.
    pub fn refresh_due(&mut self, hash: u64, key: &[u8]) {
        if let Some((place, slot)) = self.locate(hash, |element| element.key() == key) {
            let bucket = self.bucket_mut(place);
            let due = bucket.get(slot).and_then(Keyed::due);
            bucket.set_volatile(slot, due.is_some());
            self.note_due(self.home(hash), due);
        }
    }

    /// Tells the table that the [due time](Keyed::due) of an element with this hash may have
    /// changed, for a caller that does not have the key at hand. Returns a time before which no
    /// element with this hash is due.
    pub fn refresh_dues(&mut self, hash: u64) -> Option<u64> {
        let home = self.home(hash);
        let mut earliest: Option<u64> = None;
        let mut next = (home < self.heads.len()).then_some(Place::Head(home));
        while let Some(place) = next {
            let bucket = self.bucket_mut(place);
            for slot in bucket.candidates(tag_of(hash)) {
                let due = bucket.get(slot).and_then(Keyed::due);
                bucket.set_volatile(slot, due.is_some());
                earliest = earliest.into_iter().chain(due).min();
            }
            next = bucket.next().map(Place::Overflow);
        }
        if home < self.heads.len() {
            self.note_due(home, earliest);
        }
        earliest
    }

    /// A time in unix milliseconds before which no element is [due](Keyed::due); `None` if none ever
    /// is. Exact to the second when a pass of [`Table::sweep`] has ended; later it may be too early
    /// but never too late.
    pub fn earliest_due(&self) -> Option<u64> {
        let seconds = self.sweep.earliest().filter(|_| self.len > 0);
        seconds.map(|seconds| u64::from(seconds) * 1000)
    }

    /// The element that this hash probably means, or the bucket behind the first that may have it. Reads
    /// the first, which [`Table::prefetch`] or [`Layout::prefetch`] has asked for.
    #[inline]
    pub fn hint(&self, hash: u64) -> Hint {
        self.hint_by(hash, Keyed::hint)
    }

    /// The memory to be read after that of [`Table::hint`], which this reads: the rest of an element, or
    /// an element that is not in the first bucket.
    #[inline]
    pub fn next_hint(&self, hash: u64) -> Hint {
        let Some(bucket) = self.heads.get(self.home(hash)) else { return Hint::NONE };
        match bucket.candidates(tag_of(hash)).next() {
            Some(slot) => bucket.get(slot).map_or(Hint::NONE, Keyed::rest),
            None => self.hint_behind(hash, Keyed::hint),
        }
    }
}

impl<T, A> Default for Table<T, A> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T, A> fmt::Debug for Table<T, A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Table")
            .field("len", &self.len)
            .field("buckets", &self.heads.len())
            .field("overflow", &(self.overflow.len() - self.overflow.free()))
            .finish()
    }
}

#[cfg(test)]
mod tests;
