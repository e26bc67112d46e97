// SPDX-License-Identifier: Apache-2.0
//! What the tests share: values that describe themselves, and a generator of test data.

// Each test file is a crate of its own and uses a part of this.
#![allow(dead_code, unreachable_pub)]

use std::sync::LazyLock;
use storage::Item;
use storage_seg::Eviction;

/// A small generator of test data: xorshift.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % end
    }
}

/// Every policy.
pub fn policies() -> impl Iterator<Item = Eviction> {
    let names =
        ["none", "random", "random-fifo", "fifo", "cte", "util", "merge", "s3fifo", "scored"];
    names.into_iter().map(|name| name.parse().expect("it is a policy"))
}

/// The name of a key.
pub fn name(key: u64) -> [u8; 8] {
    key.to_le_bytes()
}

/// The flags of all items of a key; none for every third.
pub fn flags(key: u64) -> u32 {
    if key.is_multiple_of(3) { 0 } else { key as u32 | 1 << 31 }
}

/// Bytes of a record before its content: key, stamp, length.
pub const HEADER: usize = 20;

/// The longest content of a record.
pub const CONTENT_MAX: usize = 2 << 20;

/// Where content may begin in the noise.
const STARTS: u64 = 4093;

/// Noise: the content of a record is a piece of it, so that it is made and compared at the speed of
/// memory also without optimisation.
static NOISE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut random = Random::new(17);
    (0..CONTENT_MAX + STARTS as usize).map(|_| random.below(256) as u8).collect()
});

fn content(key: u64, stamp: u64, length: usize) -> &'static [u8] {
    let start = (key.wrapping_mul(31).wrapping_add(stamp) % STARTS) as usize;
    &NOISE[start..start + length]
}

/// A record that names its key, its writer's stamp and its length, and whose every byte follows from
/// them. A value is one or several of them.
pub fn describe(key: u64, stamp: u64, length: usize) -> Vec<u8> {
    let mut value = Vec::with_capacity(HEADER + length);
    value.extend_from_slice(&key.to_le_bytes());
    value.extend_from_slice(&stamp.to_le_bytes());
    value.extend_from_slice(&(length as u32).to_le_bytes());
    value.extend_from_slice(content(key, stamp, length));
    value
}

/// The stamps of all records of a value of this key.
///
/// # Panics
///
/// When a byte of it is not what was written under the key.
#[track_caller]
pub fn stamps(key: u64, value: &[u8]) -> Vec<u64> {
    let mut stamps = Vec::new();
    let mut rest = value;
    while !rest.is_empty() {
        assert!(rest.len() >= HEADER, "a value of key {key} ends in the middle of a record");
        let (header, after) = rest.split_at(HEADER);
        let number = |at: usize| u64::from_le_bytes(header[at..at + 8].try_into().expect("eight"));
        let length = u32::from_le_bytes(header[16..].try_into().expect("four")) as usize;
        assert_eq!(number(0), key, "a value of another key");
        assert!(length <= after.len(), "a value of key {key} was cut off");
        assert!(after[..length] == *content(key, number(8), length), "a torn value of key {key}");
        stamps.push(number(8));
        rest = &after[length..];
    }
    stamps
}

/// Checks all that an item says. Returns the stamps of its records.
#[track_caller]
pub fn check(item: &impl Item, key: u64) -> Vec<u64> {
    assert_eq!(item.key(), name(key), "an item of another key");
    assert_eq!(item.flags(), flags(key), "flags of another item");
    stamps(key, item.value())
}
