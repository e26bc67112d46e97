// SPDX-License-Identifier: Apache-2.0
//! How large things are in a listpack of Redis, by whose size it decides how lists and streams are cut.
//!
//! Nothing is stored as a listpack here. What a client can see of those decisions is the same all the same,
//! because the sizes are counted as if it were.

use crate::parse_i64;

/// What a listpack has besides its elements.
pub(crate) const HEAD: usize = 7;

/// The bytes of a text, which is stored in binary if it spells an integer.
pub(crate) fn text_len(text: &[u8]) -> usize {
    parse_i64(text).map_or_else(|| string_len(text.len()), integer_len)
}

/// The bytes of an integer.
pub(crate) fn integer_len(integer: i64) -> usize {
    with_way_back(match integer {
        0..=127 => 1,
        -0x1000..=0xfff => 2,
        -0x8000..=0x7fff => 3,
        -0x80_0000..=0x7f_ffff => 4,
        -0x8000_0000..=0x7fff_ffff => 5,
        _ => 9,
    })
}

/// The bytes of a text of `len` bytes that spells no integer.
pub(crate) fn string_len(len: usize) -> usize {
    with_way_back(match len {
        0..64 => 1 + len,
        64..4096 => 2 + len,
        _ => 5 + len,
    })
}

/// The bytes of an element with its length once more behind it, seven bits to a byte, for the way back.
fn with_way_back(len: usize) -> usize {
    len + match len {
        0..128 => 1,
        128..16_383 => 2,
        16_383..2_097_151 => 3,
        2_097_151..268_435_455 => 4,
        _ => 5,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_are_short_and_what_only_looks_like_one_is_not() {
        let len = |text: &str| text_len(text.as_bytes());
        assert_eq!(["0", "127", "128", "-1", "4095", "-4096"].map(len), [2, 2, 3, 3, 3, 3]);
        assert_eq!(["4096", "32767", "-32768", "32768"].map(len), [4, 4, 4, 5]);
        assert_eq!(["8388608", "2147483648", "-9223372036854775808"].map(len), [6, 10, 10]);
        assert_eq!(["007", "-0", "9223372036854775808", ""].map(len), [5, 4, 21, 2]);
        let len = |len| text_len(&vec![b'x'; len]);
        assert_eq!([63, 64, 125, 126, 4095, 4096].map(len), [65, 67, 128, 130, 4099, 4103]);
    }
}
