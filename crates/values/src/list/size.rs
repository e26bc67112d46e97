// SPDX-License-Identifier: Apache-2.0
//! How large a list and its chunks may be: [`Caps`]; and how large an element is in a listpack of
//! Redis: [`listpack_len`].

use super::code::Code;
use crate::{Limits, listpack};

/// The most bytes when a number of elements is the limit.
const SAFE_BYTES: usize = 8 << 10;

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
    match code {
        Code::Integer(integer) => listpack::integer_len(integer),
        Code::Text(text) => listpack::string_len(text.len()),
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
}
