// SPDX-License-Identifier: Apache-2.0
//! [`Record`]: one recorded request, 24 bytes, little-endian:
//!
//! ```text
//!  u32 time in ms │ u64 key │ u32 bytes of value │ u32 ms to live, 0 for ever │ u16 bytes of key │ u8 op │ u8 0
//! ```

use crate::workload::{Key, value};

/// Bytes of a record.
pub const RECORD_BYTES: usize = 24;

/// Digits in the text of every key, so bytes of the shortest one.
pub const KEY_DIGITS: usize = 16;

/// What a record asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Read; and write what is not found.
    Get,
    /// Write.
    Set,
    /// Remove.
    Delete,
}

/// One recorded request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// When it was recorded, in milliseconds.
    pub time_ms: u32,
    /// The number of its key.
    pub key: u64,
    /// Bytes of the value.
    pub value_len: u32,
    /// Milliseconds that it lives; 0 for ever.
    pub ttl_ms: u32,
    /// Bytes of the key; one of less than 16 is that long.
    pub key_len: u16,
    /// What is asked for.
    pub op: Op,
}

impl Record {
    /// `None` for bytes that are no record.
    pub fn decode(bytes: &[u8; RECORD_BYTES]) -> Option<Self> {
        let word = |at: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| bytes[at + byte]));
        let op = match (bytes[22], bytes[23]) {
            (0, 0) => Op::Get,
            (1, 0) => Op::Set,
            (2, 0) => Op::Delete,
            _ => return None,
        };
        Some(Record {
            time_ms: word(0),
            key: u64::from(word(8)) << 32 | u64::from(word(4)),
            value_len: word(12),
            ttl_ms: word(16),
            key_len: u16::from_le_bytes([bytes[20], bytes[21]]),
            op,
        })
    }

    /// The bytes of the record.
    pub fn encode(&self) -> [u8; RECORD_BYTES] {
        let mut bytes = [0; RECORD_BYTES];
        bytes[..4].copy_from_slice(&self.time_ms.to_le_bytes());
        bytes[4..12].copy_from_slice(&self.key.to_le_bytes());
        bytes[12..16].copy_from_slice(&self.value_len.to_le_bytes());
        bytes[16..20].copy_from_slice(&self.ttl_ms.to_le_bytes());
        bytes[20..22].copy_from_slice(&self.key_len.to_le_bytes());
        bytes[22] = self.op as u8;
        bytes
    }

    /// Bytes of key and value.
    pub fn bytes(&self) -> u64 {
        u64::from(self.key_len) + u64::from(self.value_len)
    }

    /// Appends the text of its key: the [`KEY_DIGITS`] hexadecimal digits of its number, with `k` in
    /// front up to its length.
    pub fn write_key(&self, text: &mut Vec<u8>) {
        self.key().write(KEY_DIGITS, text);
    }

    /// Appends its value, which follows from its key and its length.
    pub fn write_value(&self, out: &mut Vec<u8>) {
        value::write(self.key, self.value_len as usize, out);
    }

    /// Whether a value is one that was written under its key, with this or another length, all of it.
    pub fn is_right(&self, value: &[u8]) -> bool {
        value::is_right(self.key, value)
    }

    pub(super) fn key(&self) -> Key {
        Key { id: self.key, value_len: self.value_len, len: self.key_len.max(KEY_DIGITS as u16) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        for op in [Op::Get, Op::Set, Op::Delete] {
            let record = Record {
                time_ms: 1,
                key: 0x0123_4567_89ab_cdef,
                value_len: 3,
                ttl_ms: 4,
                key_len: 0x0506,
                op,
            };
            assert_eq!(Record::decode(&record.encode()), Some(record));
        }
        let bytes: [u8; RECORD_BYTES] = std::array::from_fn(|at| at as u8);
        assert_eq!(Record::decode(&bytes), None);
    }

    #[test]
    fn keys_have_their_digits_and_their_length() {
        let (key, op) = (0xfedc_ba98_7654_3210, Op::Get);
        let record = Record { time_ms: 0, key, value_len: 100, ttl_ms: 0, key_len: 20, op };
        let (mut long, mut short) = (Vec::new(), Vec::new());
        record.write_key(&mut long);
        Record { key_len: 3, ..record }.write_key(&mut short);
        assert_eq!(
            (&long[..], &short[..]),
            (&b"kkkkfedcba9876543210"[..], &b"fedcba9876543210"[..])
        );
        assert_eq!(record.bytes(), 120);
    }

    #[test]
    fn values_of_another_key_or_length_are_wrong() {
        let record =
            Record { time_ms: 0, key: 1, value_len: 100, ttl_ms: 0, key_len: 20, op: Op::Set };
        let mut value = Vec::new();
        record.write_value(&mut value);
        assert!(value.len() == 100 && record.is_right(&value));
        assert!(!Record { key: 2, ..record }.is_right(&value));
        assert!(!record.is_right(&value[..92]));
    }
}
