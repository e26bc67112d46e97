// SPDX-License-Identifier: Apache-2.0
//! Listpacks, in which Redis packs small collections since 7.0.
//!
//! ```text
//!  bytes u32 │ elements u16 │ element … │ 0xff         element: how and how long │ data │ length from behind
//! ```

use super::Malformed;
use crate::Text;

/// Bytes before the elements.
pub(super) const HEADER: usize = 6;

/// The number of elements that says that there are more than it can.
pub(super) const UNCOUNTED: u16 = u16::MAX;

pub(super) const END: u8 = 0xff;

/// How many bytes the length of an element takes behind it.
pub(super) fn length_width(len: usize) -> usize {
    match len {
        0..=127 => 1,
        128..=16_382 => 2,
        16_383..=2_097_150 => 3,
        2_097_151..=268_435_454 => 4,
        _ => 5,
    }
}

/// The elements of a listpack, all of whose bytes are checked on the way.
#[derive(Debug)]
pub(super) struct Listpack<'a> {
    rest: &'a [u8],
    /// How many elements are left, if that is known.
    left: Option<u16>,
}

impl<'a> Listpack<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let (header, rest) = bytes.split_at_checked(HEADER).ok_or(Malformed)?;
        let &[a, b, c, d, low, high] = header else { return Err(Malformed) };
        if usize::try_from(u32::from_le_bytes([a, b, c, d])) != Ok(bytes.len()) {
            return Err(Malformed);
        }
        let count = u16::from_le_bytes([low, high]);
        Ok(Listpack { rest, left: (count != UNCOUNTED).then_some(count) })
    }

    /// How many elements are left, as far as it is told; they may be fewer.
    pub(super) fn left(&self) -> Option<u16> {
        self.left
    }

    /// How many bytes are left, with the end.
    pub(super) fn bytes_left(&self) -> usize {
        self.rest.len()
    }

    #[expect(clippy::arithmetic_side_effects, reason = "what is left is a part of what was")]
    pub(super) fn next(&mut self) -> Result<Option<Text<'a>>, Malformed> {
        if self.rest == [END] {
            return if self.left.unwrap_or(0) == 0 { Ok(None) } else { Err(Malformed) };
        }
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1).ok_or(Malformed)?;
        }
        let before = self.rest;
        let element = self.element()?;
        self.check_length(before.len() - self.rest.len())?;
        Ok(Some(element))
    }

    fn bytes(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        self.rest.split_off(..len).ok_or(Malformed)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.bytes(N)?.try_into().map_err(|_| Malformed)
    }

    fn element(&mut self) -> Result<Text<'a>, Malformed> {
        let [first] = self.array()?;
        let string = |pack: &mut Self, len: usize| pack.bytes(len).map(Text::from);
        match first {
            0..=0x7f => Ok(Text::from(i64::from(first))),
            0x80..=0xbf => string(self, usize::from(first & 0x3f)),
            0xc0..=0xdf => {
                let [low] = self.array()?;
                let bits = i64::from(first & 0x1f) << 8 | i64::from(low);
                Ok(Text::from(bits << 51 >> 51))
            }
            0xe0..=0xef => {
                let [low] = self.array()?;
                string(self, usize::from(first & 0x0f) << 8 | usize::from(low))
            }
            0xf0 => {
                let len = u32::from_le_bytes(self.array()?);
                string(self, usize::try_from(len).map_err(|_| Malformed)?)
            }
            0xf1 => Ok(Text::from(i64::from(i16::from_le_bytes(self.array()?)))),
            0xf2 => {
                let [a, b, c] = self.array()?;
                Ok(Text::from(i64::from(i32::from_le_bytes([0, a, b, c]) >> 8)))
            }
            0xf3 => Ok(Text::from(i64::from(i32::from_le_bytes(self.array()?)))),
            0xf4 => Ok(Text::from(i64::from_le_bytes(self.array()?))),
            0xf5..=0xff => Err(Malformed),
        }
    }

    /// Checks the length of an element that stands behind it: seven bits to a byte, the high ones first, and the high
    /// bit of each byte but the first is set.
    #[expect(clippy::arithmetic_side_effects, reason = "a width of 1 to 5")]
    fn check_length(&mut self, len: usize) -> Result<(), Malformed> {
        let width = length_width(len);
        let bytes = self.bytes(width)?;
        let group = |at: usize| (len >> (7 * (width - 1 - at)) & 0x7f) as u8;
        let expected = |at: usize| if at == 0 { group(at) } else { group(at) | 0x80 };
        let is_right = bytes.iter().enumerate().all(|(at, byte)| *byte == expected(at));
        if is_right { Ok(()) } else { Err(Malformed) }
    }
}
