// SPDX-License-Identifier: Apache-2.0
//! Keys, requests and filled stores.

use clock::Ticks;
use protocol_memcache::{MemcacheService, ServiceOptions};
use storage::{Put, Receive, Store};
use storage_hashmap::HashMapStore;
use storage_seg::SegStore;

/// Bytes of a key.
pub const KEY_BYTES: usize = 20;

/// Bytes of a small value.
pub const VALUE_BYTES: usize = 64;

/// Keys of a large store: with their values far more than any CPU caches.
pub const KEYS: u64 = 1_000_000;

/// Requests of a pipeline.
pub const DEPTH: usize = 32;

/// A key of [`KEY_BYTES`] bytes.
pub fn key(number: u64) -> [u8; KEY_BYTES] {
    let mut key = *b"key:0000000000000000";
    let mut rest = number;
    for place in key[4..].iter_mut().rev() {
        *place = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    key
}

/// Numbers below `end` in an order that no prefetcher of a CPU guesses (xorshift64).
pub fn shuffled(end: u64) -> impl Iterator<Item = u64> {
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    std::iter::repeat_with(move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) % end
    })
}

/// A store of `memory` bytes with keys `0..keys`, each with a value of [`VALUE_BYTES`].
///
/// # Panics
///
/// When the memory is too small for that.
pub fn store(memory: u64, keys: u64) -> HashMapStore {
    filled(HashMapStore::builder().memory(memory).shards(16).seed(1).build(), keys)
}

/// As [`store`], in segments, for one worker.
///
/// # Panics
///
/// When the memory is too small for that.
pub fn segments(memory: u64, keys: u64) -> SegStore {
    let store = SegStore::builder().memory(memory).seed(1).build();
    filled(store.expect("the memory can be had"), keys)
}

fn filled<S: Store>(mut store: S, keys: u64) -> S {
    for number in 0..keys {
        let key = key(number);
        let put = Put::new(&key, &[b'v'; VALUE_BYTES]);
        store.put(put, Ticks::ZERO).expect("it fits");
    }
    store
}

/// A store of [`KEYS`] keys with memory to spare.
pub fn large_store() -> HashMapStore {
    let store = store(512 << 20, KEYS);
    assert_eq!((store.stats().items, store.stats().evicted), (KEYS, 0));
    store
}

/// A memcache service over `store`.
pub fn service<S: Receive>(store: S) -> MemcacheService<S> {
    MemcacheService::new(store, ServiceOptions::new())
}

/// `get <key>`
pub fn get(number: u64) -> Vec<u8> {
    [b"get ", &key(number)[..], b"\r\n"].concat()
}

/// `set <key>` with a value of [`VALUE_BYTES`].
pub fn set(number: u64) -> Vec<u8> {
    let line = format!(" 0 0 {VALUE_BYTES}\r\n");
    [b"set ", &key(number)[..], line.as_bytes(), &[b'w'; VALUE_BYTES], b"\r\n"].concat()
}

/// Pipelines of [`DEPTH`] requests each, for random keys below `keys`: as many as reach most of a
/// large store before they repeat.
pub fn pipelines(keys: u64, request: impl Fn(u64) -> Vec<u8>) -> Vec<Vec<u8>> {
    let mut numbers = shuffled(keys);
    let mut pipeline = || numbers.by_ref().take(DEPTH).flat_map(&request).collect();
    (0..8192).map(|_| pipeline()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_differ_and_have_their_length() {
        assert_eq!(&key(0), b"key:0000000000000000");
        assert_eq!(&key(1_234_567), b"key:0000000001234567");
    }

    #[test]
    fn shuffled_numbers_reach_everything() {
        let seen: std::collections::BTreeSet<u64> = shuffled(100).take(2000).collect();
        assert_eq!(seen.len(), 100);
    }
}
