// SPDX-License-Identifier: Apache-2.0
//! The serial form of values: what DUMP shows, RESTORE takes, and RDB files consist of.
//!
//! ```text
//!  type u8 │ value │ version u16 │ checksum u64
//! ```
//!
//! A value is written in the oldest form that holds it, which all servers read ([`write()`]); it is read in all forms
//! that Redis since 2.6 and Valkey have ([`read`]). The [payload](seal) of DUMP adds the version of the form and a
//! checksum.
//!
//! * `write.rs`, `read.rs`: values of all types. A type that is added has its place in both. `stream.rs`: streams.
//! * `reader.rs`: lengths, numbers and strings. `lzf.rs`: how long strings are compressed.
//! * `listpack.rs`, `listpack_writer.rs`, `ziplist.rs`, `zipmap.rs`, `intset.rs`: what small collections are packed in, by Redis.
//! * `libraries.rs`: the texts of libraries of functions. `crc64.rs`: the checksum.
//!
//! What is read comes from clients. Whatever its bytes are, reading them does not panic, and takes no memory for what
//! they only claim.

// Clients send numbers, and arithmetic on them must not wrap. This lint covers all modules below this one: an
// operation that could overflow is allowed only with a reason why it cannot.
#![cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]

mod crc64;
mod intset;
mod libraries;
mod listpack;
mod listpack_writer;
mod lzf;
mod read;
mod reader;
mod stream;
mod write;
mod ziplist;
mod zipmap;

pub use libraries::{WrongLibrary, read_libraries, write_libraries};
pub use read::{Bounds, read};
pub use write::write;

use crc64::crc64;

/// The bytes are not those of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Malformed;

/// The version of the form that a value is written in, by the numbers of RDB files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FormVersion(pub u16);

impl FormVersion {
    /// Of Redis 7.0, which all newer servers read.
    pub const REDIS_7_0: FormVersion = FormVersion(10);
    /// Of Redis 7.2, with when consumers of streams last got something.
    pub const REDIS_7_2: FormVersion = FormVersion(11);
    /// Of Redis 7.4, with fields of hashes that expire.
    pub const REDIS_7_4: FormVersion = FormVersion(12);
    /// The newest of Redis whose forms are known.
    const REDIS_MAX: FormVersion = FormVersion(13);
    /// The first of Valkey that are not Redis's.
    const VALKEY_MIN: FormVersion = FormVersion(80);
    /// The newest of Valkey whose forms are known.
    const VALKEY_MAX: FormVersion = FormVersion(81);

    fn is_known(self) -> bool {
        self <= Self::REDIS_MAX || self.is_of_valkey() && self <= Self::VALKEY_MAX
    }

    /// Whether types from 22 on are Valkey's.
    fn is_of_valkey(self) -> bool {
        self >= Self::VALKEY_MIN
    }
}

/// The types of values in serial form.
mod types {
    pub(super) const STRING: u8 = 0;
    pub(super) const LIST: u8 = 1;
    pub(super) const SET: u8 = 2;
    /// Scores are text.
    pub(super) const ZSET_TEXT: u8 = 3;
    pub(super) const HASH: u8 = 4;
    pub(super) const ZSET: u8 = 5;
    pub(super) const HASH_ZIPMAP: u8 = 9;
    pub(super) const LIST_ZIPLIST: u8 = 10;
    pub(super) const SET_INTSET: u8 = 11;
    pub(super) const ZSET_ZIPLIST: u8 = 12;
    pub(super) const HASH_ZIPLIST: u8 = 13;
    pub(super) const LIST_ZIPLISTS: u8 = 14;
    pub(super) const STREAM: u8 = 15;
    pub(super) const HASH_LISTPACK: u8 = 16;
    pub(super) const ZSET_LISTPACK: u8 = 17;
    pub(super) const LIST_LISTPACKS: u8 = 18;
    /// A stream with counters of what was added and read.
    pub(super) const STREAM_COUNTERS: u8 = 19;
    pub(super) const SET_LISTPACK: u8 = 20;
    /// Also with when consumers last got something.
    pub(super) const STREAM_ACTIVE: u8 = 21;
    /// Of Valkey: fields that expire. Of Redis, the same number is that of a release candidate of 7.4.
    pub(super) const HASH_EXPIRING_OR_RC: u8 = 22;
    /// Of a release candidate of 7.4.
    pub(super) const HASH_LISTPACK_EXPIRING_RC: u8 = 23;
    pub(super) const HASH_EXPIRING: u8 = 24;
    pub(super) const HASH_LISTPACK_EXPIRING: u8 = 25;
}

/// Bytes of a payload behind the value.
const FOOTER: usize = 10;

/// Makes a payload of a type and a value.
///
/// ```
/// use values::serial::{self, Bounds, FormVersion};
/// use values::{Digits, Entry, Limits};
///
/// let mut payload = Vec::new();
/// let version = serial::write(&Entry::string(b"k", b"value"), 0, &mut payload);
/// serial::seal(&mut payload, version);
///
/// let (value, version) = serial::open(&payload).expect("the checksum is right");
/// let bounds = Bounds { limits: &Limits::default(), now_ms: 0, bytes_max: 1_000 };
/// let entry = serial::read(b"l", value, version, bounds).expect("a value").expect("not expired");
/// assert_eq!(entry.text(&mut Digits::new()), b"value");
/// ```
pub fn seal(payload: &mut Vec<u8>, version: FormVersion) {
    payload.extend(version.0.to_le_bytes());
    let checksum = crc64(0, payload);
    payload.extend(checksum.to_le_bytes());
}

/// The type and the value that a payload has, and the version of their form; `None` if the checksum is wrong, or the
/// version is unknown.
pub fn open(payload: &[u8]) -> Option<(&[u8], FormVersion)> {
    let (value, _) = payload.split_at_checked(payload.len().checked_sub(FOOTER)?)?;
    let (summed, checksum) = payload.split_last_chunk()?;
    let (_, version) = summed.split_last_chunk()?;
    let version = FormVersion(u16::from_le_bytes(*version));
    let is_right = crc64(0, summed) == u64::from_le_bytes(*checksum);
    (is_right && version.is_known()).then_some((value, version))
}

#[cfg(test)]
mod tests;
