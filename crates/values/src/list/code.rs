// SPDX-License-Identifier: Apache-2.0
//! [`Code`]: what an element of a list is stored as.
//!
//! ```text
//!  text up to 127 bytes     │ length        │ text │ length        │   00 to 7f
//!  text up to 16,383 bytes  │ 80+h, l       │ text │ l, 80+h       │   80 to bf: high and low part of its length
//!  longer text              │ c0, u32       │ text │ u32, c0       │   c0
//!  integer of 32 bits       │ c1            │ i32  │ c1            │   c1
//!  integer of 48, 64 bits   │ c2, c3        │ …    │ c2, c3        │   c2, c3
//!  integer of 8 bits        │ d0 + 4 bits   │      │ d0 + 4 bits   │   d0 to df: 0 to 255
//!  integer of 16, 24 bits   │ e0, f0 + 4 b. │ …    │ e0, f0 + 4 b. │   e0 to ff
//! ```
//!
//! The first byte tells the form, and so does the last one: what is in front of the content is behind
//! it too, mirrored, so that elements are read from either end. The two outer bytes of a short
//! integer have its lowest and its highest four bits. Numbers are little-endian and signed, but for
//! those of 8 bits.
//!
//! A text that [is an integer](parse_i64) is stored as one, in the shortest form that it fits in. So
//! each text has one form, which takes no more bytes than in a listpack of Redis, but for two of a
//! text of 16 KiB or more.

use crate::pack::is_same;
use crate::{Text, parse_i64};

/// The lowest first byte of a text whose length takes 14 bits.
const MIDDLE: u8 = 0x80;
/// The first byte of a text whose length takes 32 bits.
const LONG: u8 = 0xc0;
/// The first byte of an integer of 32 bits.
const INT_32: u8 = 0xc1;
/// The first byte of an integer of 48 bits.
const INT_48: u8 = 0xc2;
/// The first byte of an integer of 64 bits.
const INT_64: u8 = 0xc3;
/// The lowest first byte of integers that have four bits in it: 16 values for each number of bytes from two on.
const SHORT_INT: u8 = 0xd0;

/// Bytes of the longest head of a text.
const HEAD_MAX: usize = 5;

/// A text as it is stored: parsed once, then measured, written and compared.
#[derive(Clone, Copy, Debug)]
pub(super) enum Code<'a> {
    /// Bytes that are no integer.
    Text(&'a [u8]),
    /// An integer, whose digits are the text.
    Integer(i64),
}

impl PartialEq for Code<'_> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Code::Text(one), Code::Text(other)) => is_same(one, other),
            (Code::Integer(one), Code::Integer(other)) => one == other,
            (Code::Text(_), Code::Integer(_)) | (Code::Integer(_), Code::Text(_)) => false,
        }
    }
}

impl<'a> Code<'a> {
    /// How a text is stored.
    #[inline]
    pub(super) fn of(text: &'a [u8]) -> Self {
        parse_i64(text).map_or(Code::Text(text), Code::Integer)
    }

    /// What an element is, given exactly its bytes.
    #[inline]
    pub(super) fn read(element: &'a [u8]) -> Self {
        match element[0] {
            ..MIDDLE => Code::Text(&element[1..element.len() - 1]),
            MIDDLE.. => Self::read_longer(element),
        }
    }

    /// The same of one that is no short text.
    #[inline(never)]
    fn read_longer(element: &'a [u8]) -> Self {
        let head = match element[0] {
            ..LONG => 2,
            LONG => HEAD_MAX,
            INT_32..=u8::MAX => return Code::Integer(read_integer(element)),
        };
        Code::Text(&element[head..element.len() - head])
    }

    /// What the first element of `bytes` is, and the bytes behind it.
    #[inline(always)]
    pub(super) fn split(bytes: &'a [u8]) -> (Self, &'a [u8]) {
        let (element, behind) = bytes.split_at(first_len(bytes));
        (Self::read(element), behind)
    }

    /// What a client sees.
    #[inline]
    pub(super) fn text(self) -> Text<'a> {
        match self {
            Code::Text(text) => Text::from(text),
            Code::Integer(integer) => Text::from(integer),
        }
    }

    /// Bytes of the element.
    #[inline]
    pub(super) fn len(self) -> usize {
        match self {
            Code::Text(text) => text.len() + 2 * Head::of(text.len()).width,
            Code::Integer(0..=0xff) => 2,
            Code::Integer(-0x8000..=0x7fff) => 3,
            Code::Integer(-0x80_0000..=0x7f_ffff) => 4,
            Code::Integer(-0x8000_0000..=0x7fff_ffff) => 6,
            Code::Integer(-0x8000_0000_0000..=0x7fff_ffff_ffff) => 8,
            Code::Integer(_) => 10,
        }
    }

    /// Writes the element at the start of `to`, which has room for it.
    #[inline]
    pub(super) fn write(self, to: &mut [u8]) {
        let to = &mut to[..self.len()];
        match self {
            Code::Text(text) => {
                let head = Head::of(text.len());
                let text_end = head.width + text.len();
                to[..head.width].copy_from_slice(&head.bytes[..head.width]);
                to[head.width..text_end].copy_from_slice(text);
                to[text_end..].copy_from_slice(&head.bytes[..head.width]);
                to[text_end..].reverse();
            }
            Code::Integer(integer) => write_integer(integer, to),
        }
    }
}

/// What is in front of a text.
struct Head {
    bytes: [u8; HEAD_MAX],
    width: usize,
}

impl Head {
    /// # Panics
    ///
    /// If the length does not fit in 32 bits.
    #[inline]
    fn of(length: usize) -> Self {
        let len = u32::try_from(length).expect("the parser bounds the length of an argument");
        let [low, second, third, fourth] = len.to_le_bytes();
        match len {
            0..0x80 => Head { bytes: [low, 0, 0, 0, 0], width: 1 },
            0x80..0x4000 => Head { bytes: [MIDDLE + second, low, 0, 0, 0], width: 2 },
            0x4000.. => Head { bytes: [LONG, low, second, third, fourth], width: HEAD_MAX },
        }
    }
}

/// Bytes of the first element of `bytes`.
#[inline(always)]
pub(super) fn first_len(bytes: &[u8]) -> usize {
    match bytes[0] {
        outer @ ..MIDDLE => 2 + usize::from(outer),
        MIDDLE.. => longer_len(|at| bytes[at]),
    }
}

/// Bytes of the last element of `bytes`.
#[inline(always)]
pub(super) fn last_len(bytes: &[u8]) -> usize {
    match bytes[bytes.len() - 1] {
        outer @ ..MIDDLE => 2 + usize::from(outer),
        MIDDLE.. => longer_len(|at| bytes[bytes.len() - 1 - at]),
    }
}

/// Bytes of an element that is no short text, whose bytes from one of its ends on `byte` returns.
#[inline(never)]
fn longer_len(byte: impl Fn(usize) -> u8) -> usize {
    let outer = byte(0);
    match outer {
        ..LONG => 4 + (usize::from(outer - MIDDLE) << 8 | usize::from(byte(1))),
        LONG => 2 * HEAD_MAX + u32::from_le_bytes([1, 2, 3, 4].map(byte)) as usize,
        INT_32 => 6,
        INT_48 => 8,
        INT_64 => 10,
        0xc4..SHORT_INT => panic!("INV-PACK: an element of no form"),
        SHORT_INT.. => 2 + usize::from((outer - SHORT_INT) >> 4),
    }
}

/// Writes an integer, which takes exactly the bytes of `to`.
#[inline]
fn write_integer(integer: i64, to: &mut [u8]) {
    let last = to.len() - 1;
    let outer = match to.len() {
        6 => INT_32,
        8 => INT_48,
        10 => INT_64,
        len => {
            let (form, bytes) = (SHORT_INT + 16 * (len as u8 - 2), (integer >> 4).to_le_bytes());
            to[0] = form + (integer as u8 & 0xf);
            to[1..last].copy_from_slice(&bytes[..last - 1]);
            to[last] = form + (bytes[last - 1] & 0xf);
            return;
        }
    };
    (to[0], to[last]) = (outer, outer);
    to[1..last].copy_from_slice(&integer.to_le_bytes()[..last - 1]);
}

/// Reads an integer from exactly its bytes. Each length has loads of its own: a copy of as many bytes would be a call.
#[inline]
fn read_integer(element: &[u8]) -> i64 {
    let nibble = |byte: u8| i64::from(byte & 0xf);
    match *element {
        [low, high] => nibble(high) << 4 | nibble(low),
        [low, a, high] => sign_extended(nibble(high) << 12 | i64::from(a) << 4 | nibble(low), 16),
        [low, a, b, high] => {
            let inner = i64::from(u16::from_le_bytes([a, b]));
            sign_extended(nibble(high) << 20 | inner << 4 | nibble(low), 24)
        }
        [_, a, b, c, d, _] => i64::from(i32::from_le_bytes([a, b, c, d])),
        [_, a, b, c, d, e, f, _] => {
            let low = i64::from(u32::from_le_bytes([a, b, c, d]));
            sign_extended(i64::from(u16::from_le_bytes([e, f])) << 32 | low, 48)
        }
        [_, a, b, c, d, e, f, g, h, _] => i64::from_le_bytes([a, b, c, d, e, f, g, h]),
        _ => panic!("INV-PACK: an integer of no length"),
    }
}

/// The signed integer of so many low bits.
#[inline]
fn sign_extended(integer: i64, bits: usize) -> i64 {
    let above = i64::BITS - bits as u32;
    integer << above >> above
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::list::size::listpack_len;
    use proptest::prelude::*;

    fn written(text: &[u8]) -> Vec<u8> {
        let code = Code::of(text);
        let mut bytes = vec![0xaa; code.len() + 3];
        code.write(&mut bytes);
        assert_eq!(bytes.split_off(code.len()), [0xaa; 3], "nothing behind the element");
        bytes
    }

    /// Whether a text comes back from between others, whichever way they are read.
    fn comes_back(text: &[u8]) {
        let element = written(text);
        assert_eq!(Code::read(&element).text(), *text);
        assert!(Code::read(&element) == Code::of(text));
        for around in [&[0x00, 0x00][..], &[0xff; 4], &[0xc3, 0, 0, 0, 0, 0, 0, 0, 0xc3]] {
            assert_eq!(first_len(&[&element, around].concat()), element.len());
            assert_eq!(last_len(&[around, &element].concat()), element.len());
        }
        let spare = if text.len() < 16_384 { 0 } else { 2 };
        assert!(element.len() <= listpack_len(Code::of(text)) + spare, "{}", text.len());
    }

    #[test]
    fn integers_at_the_borders_of_all_widths_come_back() {
        let powers = (0..63).map(|bit| 1_i64 << bit);
        let near = powers.flat_map(|power| [power - 1, power, power + 1]);
        let both = near.flat_map(|integer| [integer, -integer]);
        for integer in both.chain([0, i64::MAX, i64::MIN, i64::MIN + 1]) {
            comes_back(integer.to_string().as_bytes());
        }
    }

    #[test]
    fn integers_take_the_fewest_bytes() {
        let len = |integer: i64| written(integer.to_string().as_bytes()).len();
        assert_eq!([0, 9, 100, 255].map(len), [2; 4]);
        assert_eq!([-1, 256, 1234, 32_767, -32_768].map(len), [3; 5]);
        assert_eq!([32_768, 8_388_607, -32_769, -8_388_608].map(len), [4; 4]);
        assert_eq!([8_388_608, i64::from(i32::MAX), i64::from(i32::MIN)].map(len), [6; 3]);
        assert_eq!([1 << 31, 1_790_000_000_000, -(1 << 47)].map(len), [8; 3]);
        assert_eq!([1 << 47, i64::MAX, i64::MIN].map(len), [10; 3]);
    }

    #[test]
    fn texts_at_the_borders_of_all_lengths_come_back() {
        for (len, more) in [(0, 2), (1, 2), (127, 2), (128, 4), (16_383, 4), (16_384, 10)] {
            comes_back(&vec![b'x'; len]);
            assert_eq!(written(&vec![b'x'; len]).len(), len + more);
        }
        comes_back(&vec![0xff; 70_000]);
    }

    #[test]
    fn what_only_looks_like_an_integer_is_a_text() {
        for text in ["01", "-0", "+1", " 1", "1 ", "", "-", "9223372036854775808", "1.0", "0x1"] {
            assert!(matches!(Code::of(text.as_bytes()), Code::Text(_)), "{text}");
            comes_back(text.as_bytes());
        }
        assert!(Code::of(b"1") != Code::of(b"01"));
    }

    #[test]
    #[should_panic(expected = "INV-PACK")]
    fn a_byte_of_no_form_begins_no_element() {
        first_len(&[0xc4, 0, 0, 0, 0, 0, 0]);
    }

    proptest! {
        #[test]
        fn any_integer_comes_back(integer: i64, shift in 0..64_u32) {
            comes_back((integer >> shift).to_string().as_bytes());
        }

        #[test]
        fn any_text_comes_back(text in prop_oneof![".{0,200}", "[-+ ]?[0-9]{0,21}"]) {
            comes_back(text.as_bytes());
        }
    }
}
