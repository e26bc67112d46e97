// SPDX-License-Identifier: Apache-2.0
//! [`Memos`]: what one stage of a prefetch leaves for the next.

use std::cell::Cell;

/// The binary logarithm of the places for keys: ten times as many as are prefetched at the same time, so
/// that few keys share one.
const PLACE_BITS: u32 = 7;

/// What a stage of a prefetch has found out about keys, such as their hashes, for the stages after it.
///
/// A key is identified by its address. Another key may have had the address before, so a memo may be wrong: it is
/// good enough for a prefetch, and for nothing else.
///
/// ```
/// use prefetch::Memos;
///
/// let (memos, key) = (Memos::new(), b"key");
/// assert_eq!(memos.of(key), None);
/// memos.set(key, 0x5eed_u64);
/// assert_eq!(memos.of(key), Some(0x5eed));
/// ```
#[derive(Debug)]
pub struct Memos<T: Copy> {
    places: Box<[Cell<(usize, T)>; 1 << PLACE_BITS]>,
}

impl<T: Copy + Default> Memos<T> {
    /// No memos.
    #[must_use]
    pub fn new() -> Self {
        Memos { places: Box::new(std::array::from_fn(|_| Cell::default())) }
    }

    /// Sets the memo of a key.
    #[inline]
    pub fn set(&self, key: &[u8], memo: T) {
        let address = key.as_ptr().addr();
        self.places[place(address)].set((address, memo));
    }

    /// The memo of a key, unless another key has its place by now.
    #[inline]
    #[must_use]
    pub fn of(&self, key: &[u8]) -> Option<T> {
        let address = key.as_ptr().addr();
        let (noted, memo) = self.places[place(address)].get();
        (noted == address).then_some(memo)
    }
}

impl<T: Copy + Default> Default for Memos<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// The place of an address. Requests are often of the same length, so addresses are mixed, or those of
/// some lengths would all share a few places.
#[inline]
fn place(address: usize) -> usize {
    ((address as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> (u64::BITS - PLACE_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_key_of_a_pipeline_is_remembered_by_itself() {
        for length in [32, 40, 64, 115, 128, 512, 1024, 4096] {
            let memos = Memos::new();
            let pipeline = vec![7; 12 * length];
            let keys: Vec<&[u8]> = pipeline.chunks(length).collect();
            for (number, key) in keys.iter().enumerate() {
                memos.set(key, number);
            }
            let is_noted = |(number, key): &(usize, &&[u8])| memos.of(key) == Some(*number);
            let noted = keys.iter().enumerate().filter(is_noted).count();
            assert!(noted >= 8, "{noted} of 12, {length} bytes apart");
            memos.set(keys[0], 99);
            assert_eq!(memos.of(keys[0]), Some(99), "the last memo counts");
        }
    }

    #[test]
    fn a_key_without_a_memo_has_none() {
        let memos = Memos::<u64>::new();
        assert_eq!([&b"key"[..], b""].map(|key| memos.of(key)), [None; 2]);
    }
}
