// SPDX-License-Identifier: Apache-2.0
//! What a value is: bytes that follow from its key and its length, so that each one that is read can
//! be checked wholly.
//!
//! The value is a sequence of 64-bit words: a first one that is mixed from key and length, and each
//! next one a constant further. So a byte that is wrong, missing or in another place shows, and so do
//! a value of another key and one that was cut.

use super::mix::scatter;

/// 2^64 divided by the golden ratio: words that lie far from each other in all their bytes.
const STEP: u64 = 0x9E37_79B9_7F4A_7C15;

#[inline]
fn first_word(id: u64, len: usize) -> u64 {
    scatter(id.wrapping_add((len as u64).wrapping_mul(STEP)))
}

/// Appends the value of `len` bytes of the key with the number `id`. Costs a few instructions for 8
/// bytes, and no allocation where `out` has room.
#[inline]
pub(crate) fn write(id: u64, len: usize, out: &mut Vec<u8>) {
    let start = out.len();
    out.resize(start + len, 0);
    let mut word = first_word(id, len);
    let mut parts = out[start..].chunks_exact_mut(8);
    for part in &mut parts {
        part.copy_from_slice(&word.to_le_bytes());
        word = word.wrapping_add(STEP);
    }
    let rest = parts.into_remainder();
    rest.iter_mut().zip(word.to_le_bytes()).for_each(|(byte, right)| *byte = right);
}

/// Whether `value` is what [`write`] makes for this key and this length, all of it.
#[inline]
pub(crate) fn is_right(id: u64, value: &[u8]) -> bool {
    let mut word = first_word(id, value.len());
    let mut wrong = 0;
    let mut parts = value.chunks_exact(8);
    for part in &mut parts {
        let part: [u8; 8] = part.try_into().unwrap_or_default();
        wrong |= u64::from_le_bytes(part) ^ word;
        word = word.wrapping_add(STEP);
    }
    let rest = parts.remainder();
    wrong == 0 && rest.iter().zip(word.to_le_bytes()).all(|(byte, right)| *byte == right)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_wrong_byte_is_found() {
        for len in [1, 7, 8, 9, 64, 1_000] {
            let mut value = Vec::new();
            write(7, len, &mut value);
            assert_eq!(value.len(), len);
            assert!(is_right(7, &value));
            for at in 0..len {
                value[at] ^= 1;
                assert!(!is_right(7, &value), "byte {at} of {len}");
                value[at] ^= 1;
            }
        }
    }

    #[test]
    fn other_keys_lengths_and_places_are_found() {
        let mut value = Vec::new();
        write(7, 64, &mut value);
        assert!(!is_right(8, &value), "of another key");
        assert!(!is_right(7, &value[..63]), "cut");
        assert!(!is_right(7, &value[..56]), "cut at a word");
        value.rotate_left(8);
        assert!(!is_right(7, &value), "moved by a word");
        assert!(is_right(7, b""));
    }
}
