// SPDX-License-Identifier: Apache-2.0
//! [`write`]: a value in the oldest form that holds it.

use super::lzf::Compressor;
use super::{FormVersion, types};
use crate::{Digits, Entry, HashRef, Type, parse_i64};
use std::cell::RefCell;

/// Strings of more bytes are compressed, if that saves any.
const COMPRESSED_MIN: usize = 20;

/// Writes the type and the value of an entry, and returns the version of the form. Fields of hashes that have expired
/// are left out; there must be others. Messages of producers to streams that may come again are not written.
pub fn write(entry: &Entry, now_ms: u64, out: &mut Vec<u8>) -> FormVersion {
    let mut writer = Writer::new(out);
    match entry.data_type() {
        Type::String => {
            writer.out.push(types::STRING);
            writer.string(entry.text(&mut Digits::new()));
        }
        Type::List => {
            writer.begin(types::LIST, entry.len());
            let elements = entry.list().into_iter().flat_map(|list| list.iter());
            elements.for_each(|element| writer.string(&element));
        }
        Type::Set => {
            writer.begin(types::SET, entry.len());
            let members = entry.set().into_iter().flat_map(|set| set.iter());
            members.for_each(|member| writer.string(&member));
        }
        Type::Zset => {
            writer.begin(types::ZSET, entry.len());
            let members = entry.zset().into_iter().flat_map(|set| set.iter());
            members.for_each(|(member, score)| {
                writer.string(member);
                writer.out.extend(score.to_le_bytes());
            });
        }
        Type::Hash => {
            if let Some(hash) = entry.hash() {
                return writer.hash(hash, now_ms);
            }
        }
        Type::Stream => {
            if let Some(stream) = entry.stream() {
                return writer.stream(stream);
            }
        }
    }
    FormVersion::REDIS_7_0
}

thread_local! {
    /// That of all values: its table is 32 KiB, which would have to be cleared for each value of its own.
    static COMPRESSOR: RefCell<Compressor> = RefCell::default();
}

/// The bytes of a length, and how many they are.
fn count_bytes(count: u64) -> ([u8; 9], usize) {
    let mut bytes = [0; 9];
    let len = match count {
        0..0x40 => {
            bytes[0] = count as u8;
            1
        }
        0x40..0x4000 => {
            bytes[..2].copy_from_slice(&[0x40 | (count >> 8) as u8, count as u8]);
            2
        }
        _ => match u32::try_from(count) {
            Ok(count) => {
                bytes[0] = 0x80;
                bytes[1..5].copy_from_slice(&count.to_be_bytes());
                5
            }
            Err(_) => {
                bytes[0] = 0x81;
                bytes[1..].copy_from_slice(&count.to_be_bytes());
                9
            }
        },
    };
    (bytes, len)
}

pub(super) struct Writer<'a> {
    pub(super) out: &'a mut Vec<u8>,
}

impl<'a> Writer<'a> {
    pub(super) fn new(out: &'a mut Vec<u8>) -> Self {
        Writer { out }
    }

    /// The type of a collection, and how many elements it has.
    pub(super) fn begin(&mut self, kind: u8, count: usize) {
        self.out.push(kind);
        self.count(count as u64);
    }

    pub(super) fn count(&mut self, count: u64) {
        let (bytes, len) = count_bytes(count);
        self.out.extend_from_slice(&bytes[..len]);
    }

    /// A string: an integer of up to 32 bits in binary, a long one compressed.
    pub(super) fn string(&mut self, text: &[u8]) {
        match parse_i64(text).and_then(|integer| i32::try_from(integer).ok()) {
            Some(integer) => self.integer(integer),
            None => self.long_string(text),
        }
    }

    /// A string that is no integer.
    pub(super) fn long_string(&mut self, text: &[u8]) {
        if text.len() > COMPRESSED_MIN && self.compressed(text) {
            return;
        }
        self.count(text.len() as u64);
        self.out.extend_from_slice(text);
    }

    /// A string compressed, if that saves anything; returns whether it has.
    fn compressed(&mut self, text: &[u8]) -> bool {
        let start = self.out.len();
        self.out.push(0xc3);
        // Room for both lengths, the first of which is not known yet and may take fewer bytes.
        let lengths = self.out.len();
        self.count(text.len() as u64);
        self.count(text.len() as u64);
        let body = self.out.len();
        if !COMPRESSOR.with_borrow_mut(|compressor| compressor.compress(text, self.out)) {
            self.out.truncate(start);
            return false;
        }
        let (short, short_len) = count_bytes(self.out.len().saturating_sub(body) as u64);
        let (long, long_len) = count_bytes(text.len() as u64);
        let both = short[..short_len].iter().chain(&long[..long_len]).copied();
        self.out.splice(lengths..body, both);
        true
    }

    fn integer(&mut self, integer: i32) {
        if let Ok(byte) = i8::try_from(integer) {
            self.out.push(0xc0);
            self.out.extend(byte.to_le_bytes());
        } else if let Ok(short) = i16::try_from(integer) {
            self.out.push(0xc1);
            self.out.extend(short.to_le_bytes());
        } else {
            self.out.push(0xc2);
            self.out.extend(integer.to_le_bytes());
        }
    }

    #[expect(
        clippy::arithmetic_side_effects,
        reason = "the first moment is not after the others, and 0 is none"
    )]
    fn hash(mut self, hash: HashRef<'_>, now_ms: u64) -> FormVersion {
        let first = hash.iter_expiring(now_ms).filter_map(|(.., due)| due).min();
        let Some(first) = first else {
            self.begin(types::HASH, hash.live(now_ms));
            for (field, value) in hash.iter(now_ms) {
                self.string(field);
                self.string(value);
            }
            return FormVersion::REDIS_7_0;
        };
        self.out.push(types::HASH_EXPIRING);
        self.out.extend(first.to_le_bytes());
        self.count(hash.live(now_ms) as u64);
        for (field, value, due) in hash.iter_expiring(now_ms) {
            self.count(due.map_or(0, |due| due - first + 1));
            self.string(field);
            self.string(value);
        }
        FormVersion::REDIS_7_4
    }
}
