// SPDX-License-Identifier: Apache-2.0
//! [`Record`]: one request of a trace, and what its key and value are.

/// Bytes of a record.
pub(super) const RECORD_BYTES: usize = 24;

/// The shortest key: the digits of its number.
const KEY_MIN: usize = 16;

/// What a record asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Op {
    Get,
    Set,
    Delete,
}

/// One request of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Record {
    pub(super) time_ms: u32,
    pub(super) key: u64,
    pub(super) value_len: u32,
    pub(super) ttl_ms: u32,
    pub(super) key_len: u16,
    pub(super) op: Op,
}

impl Record {
    /// `None` for bytes that are no record.
    pub(super) fn decode(bytes: &[u8; RECORD_BYTES]) -> Option<Self> {
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

    /// Bytes of key and value.
    pub(super) fn bytes(&self) -> u64 {
        u64::from(self.key_len) + u64::from(self.value_len)
    }

    pub(super) fn write_key(&self, key: &mut Vec<u8>) {
        key.clear();
        key.resize(usize::from(self.key_len).max(KEY_MIN), b'k');
        let digits = key.len() - KEY_MIN;
        for (digit, place) in key[digits..].iter_mut().rev().zip(0..) {
            *digit = b"0123456789abcdef"[(self.key >> (4 * place)) as usize & 15];
        }
    }

    pub(super) fn write_value(&self, value: &mut Vec<u8>) {
        value.resize(self.value_len as usize, 0);
        let pattern = pattern(self.key, value.len());
        value.chunks_mut(8).for_each(|part| part.copy_from_slice(&pattern[..part.len()]));
    }
}

/// What the value of a key with this length repeats (the last steps of splitmix64).
fn pattern(key: u64, len: usize) -> [u8; 8] {
    let mut z = key.wrapping_add((len as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (z ^ (z >> 31)).to_le_bytes().map(|byte| b'a' + (byte & 15))
}

/// Whether a value is one that was written under the key, all of it.
pub(super) fn is_right(value: &[u8], key: u64) -> bool {
    let pattern = pattern(key, value.len());
    value.chunks(8).all(|part| *part == pattern[..part.len()])
}
