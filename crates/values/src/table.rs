// SPDX-License-Identifier: Apache-2.0
//! [`Table`]: a hash table that grows and shrinks by one bucket at a time.

use std::marker::PhantomData;

/// What a table needs to know of an element.
pub trait Keyed {
    /// What the element is found by. Never changes while the element is in a table.
    fn key(&self) -> &[u8];
    /// When the element expires, in unix milliseconds. After a change, [`Table::refresh_due`].
    fn due(&self) -> Option<u64> {
        None
    }
    /// All memory that the element holds.
    fn heap_bytes(&self) -> usize {
        0
    }
    /// Asks the CPU for the memory in which the key is.
    fn prefetch(&self) {}
}

/// The hash of a key. Seeded once per process.
///
/// The low 48 bits pick a bucket and the next eight are its tag; the top eight are left to the
/// caller, for shards.
pub fn hash_of(key: &[u8]) -> u64 {
    let _ = key;
    todo!()
}

/// Elements found by the hash of their key.
///
/// `T` should be 8 bytes with a niche (a thin pointer), so that a bucket is one cache line; for
/// smaller elements, such as ids, [`Compact`] makes smaller buckets.
#[derive(Debug)]
pub struct Table<T, A = Line>(Vec<T>, PhantomData<A>);

/// Buckets begin at a cache line.
#[derive(Debug)]
#[repr(align(64))]
pub struct Line;

/// Buckets are as small as their elements allow.
#[derive(Debug)]
pub struct Compact;

#[expect(unused_variables, reason = "bodies follow")]
impl<T, A> Table<T, A> {
    /// An empty table. Allocates nothing.
    pub const fn new() -> Self {
        Table(Vec::new(), PhantomData)
    }
    /// Elements.
    pub fn len(&self) -> usize {
        todo!()
    }
    /// Whether there is no element.
    pub fn is_empty(&self) -> bool {
        todo!()
    }
    /// Memory of the index, the elements' own not included. O(1).
    pub fn heap_bytes(&self) -> usize {
        todo!()
    }
    /// Buckets, overflow buckets not counted.
    pub fn buckets(&self) -> usize {
        todo!()
    }
    /// The element with this hash for which `eq` holds.
    pub fn find_by(&self, hash: u64, eq: impl Fn(&T) -> bool) -> Option<&T> {
        todo!()
    }
    /// The element with this hash for which `eq` holds.
    pub fn find_by_mut(&mut self, hash: u64, eq: impl Fn(&T) -> bool) -> Option<&mut T> {
        todo!()
    }
    /// Adds an element that is not there yet.
    pub fn insert_by(&mut self, hash: u64, element: T, rehash: impl Fn(&T) -> u64) {
        todo!()
    }
    /// Takes the element with this hash for which `eq` holds out of the table.
    pub fn remove_by(
        &mut self,
        hash: u64,
        eq: impl Fn(&T) -> bool,
        rehash: impl Fn(&T) -> u64,
    ) -> Option<T> {
        todo!()
    }
    /// All elements, in no order.
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.0.iter()
    }
    /// Visits a few elements and returns the cursor of the next call; begins and ends with 0.
    pub fn scan<'a>(&'a self, cursor: u64, visit: impl FnMut(&'a T)) -> u64 {
        todo!()
    }
    /// An element by a random number, all about equally likely.
    pub fn sample(&self, random: u64) -> Option<&T> {
        todo!()
    }
    /// Takes about `budget` elements out, to free a large table bit by bit. Returns how many.
    pub fn pop_some(&mut self, budget: usize, gone: impl FnMut(T)) -> usize {
        todo!()
    }
    /// Asks the CPU for the bucket of this hash.
    pub fn prefetch(&self, hash: u64) {
        todo!()
    }
}

#[expect(unused_variables, reason = "bodies follow")]
impl<T: Keyed, A> Table<T, A> {
    /// The element with this key.
    pub fn find(&self, hash: u64, key: &[u8]) -> Option<&T> {
        todo!()
    }
    /// The element with this key, whose key must not change. After a change of
    /// [`due`](Keyed::due), [`Table::refresh_due`].
    pub fn find_mut(&mut self, hash: u64, key: &[u8]) -> Option<&mut T> {
        todo!()
    }
    /// Adds an element whose key is not there yet.
    pub fn insert(&mut self, hash: u64, element: T) {
        todo!()
    }
    /// Adds an element, in place of the one with the same key.
    pub fn replace(&mut self, hash: u64, element: T) -> Option<T> {
        todo!()
    }
    /// Takes the element with this key out of the table.
    pub fn remove(&mut self, hash: u64, key: &[u8]) -> Option<T> {
        todo!()
    }
    /// Notes that the [`due`](Keyed::due) of this key's element has changed.
    pub fn refresh_due(&mut self, hash: u64, key: &[u8]) {
        todo!()
    }
    /// Looks on through `budget` buckets for what is due, and takes it out. The table remembers
    /// where to go on; true when a pass over all buckets has ended.
    pub fn sweep(&mut self, now_ms: u64, budget: usize, gone: impl FnMut(T)) -> bool {
        todo!()
    }
    /// A time in unix milliseconds before which no element is due; nothing if none ever is. Exact
    /// to the second after each pass of [`Table::sweep`].
    pub fn earliest_due(&self) -> Option<u64> {
        todo!()
    }
    /// Asks the CPU for the elements that this hash may mean; to be called once the bucket is here.
    pub fn prefetch_elements(&self, hash: u64) {
        todo!()
    }
}
