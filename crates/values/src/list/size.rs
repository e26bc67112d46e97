// SPDX-License-Identifier: Apache-2.0
//! How large a list and its chunks may be: [`Caps`]; and how large an element is in a listpack of
//! Redis: [`listpack_len`].

use super::code::Code;
use crate::Limits;

/// The most bytes when a number of elements is the limit.
const SAFE_BYTES: usize = 8 << 10;

/// What a listpack of Redis has besides its elements.
pub(super) const LISTPACK_HEAD: usize = 7;

/// What the limit of lists allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Caps {
    pub(super) bytes: usize,
    pub(super) elements: usize,
}

impl Caps {
    /// The meaning of `list-max-listpack-size`.
    pub(super) fn of(limits: &Limits) -> Self {
        match limits.list_bytes {
            limit @ ..0 => {
                let doublings = limit.max(-5).unsigned_abs() - 1;
                Caps { bytes: 4096 << doublings, elements: usize::MAX }
            }
            limit => Caps { bytes: SAFE_BYTES, elements: (limit as usize).max(1) },
        }
    }

    /// Whether a list is too large to be called a listpack.
    pub(super) fn are_exceeded_by(self, bytes: usize, elements: usize) -> bool {
        bytes > self.bytes || elements > self.elements
    }

    /// The size up to which a list that was larger is called a listpack again.
    pub(super) fn half(self) -> Self {
        if self.elements == usize::MAX {
            Caps { bytes: self.bytes / 2, ..self }
        } else {
            Caps { elements: self.elements / 2, ..self }
        }
    }
}

/// The bytes of an element in a listpack of Redis, which stores integers in binary.
pub(super) fn listpack_len(code: Code<'_>) -> usize {
    let len = match code {
        Code::Integer(0..=127) => 1,
        Code::Integer(-0x1000..=0xfff) => 2,
        Code::Integer(-0x8000..=0x7fff) => 3,
        Code::Integer(-0x80_0000..=0x7f_ffff) => 4,
        Code::Integer(-0x8000_0000..=0x7fff_ffff) => 5,
        Code::Integer(_) => 9,
        Code::Text(text) => match text.len() {
            len @ ..64 => 1 + len,
            len @ ..4096 => 2 + len,
            len => 5 + len,
        },
    };
    // The length again, seven bits to a byte, for the way back.
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

    fn caps(list_bytes: i64) -> Caps {
        Caps::of(&Limits { list_bytes, ..Limits::default() })
    }

    #[test]
    fn a_limit_below_zero_is_a_size() {
        let sizes = [-1, -2, -3, -4, -5, -6, i64::MIN].map(|limit| caps(limit).bytes >> 10);
        assert_eq!(sizes, [4, 8, 16, 32, 64, 64, 64]);
        assert!(!caps(-2).are_exceeded_by(8192, 1_000_000));
        assert!(caps(-2).are_exceeded_by(8193, 1));
        assert_eq!(caps(-2).half(), Caps { bytes: 4096, elements: usize::MAX });
    }

    #[test]
    fn a_limit_above_zero_is_a_number_of_elements() {
        assert!(!caps(5).are_exceeded_by(8192, 5));
        assert!(caps(5).are_exceeded_by(8193, 5));
        assert!(caps(5).are_exceeded_by(0, 6));
        assert_eq!(caps(5).half(), Caps { bytes: 8192, elements: 2 });
        assert_eq!(caps(0).elements, 1);
    }

    #[test]
    fn integers_are_short_and_what_only_looks_like_one_is_not() {
        let len = |text: &str| listpack_len(Code::of(text.as_bytes()));
        assert_eq!(["0", "127", "128", "-1", "4095", "-4096"].map(len), [2, 2, 3, 3, 3, 3]);
        assert_eq!(["4096", "32767", "-32768", "32768"].map(len), [4, 4, 4, 5]);
        assert_eq!(["8388608", "2147483648", "-9223372036854775808"].map(len), [6, 10, 10]);
        assert_eq!(["007", "-0", "9223372036854775808", ""].map(len), [5, 4, 21, 2]);
        let len = |len| listpack_len(Code::of(&vec![b'x'; len]));
        assert_eq!([63, 64, 125, 126, 4095, 4096].map(len), [65, 67, 128, 130, 4099, 4103]);
    }
}
