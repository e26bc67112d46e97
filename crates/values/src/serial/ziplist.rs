// SPDX-License-Identifier: Apache-2.0
//! Ziplists, in which Redis packed small collections before 7.0.
//!
//! ```text
//!  bytes u32 │ the last entry u32 │ entries u16 │ entry … │ 0xff
//!  entry: length of the entry before │ how and how long │ data
//! ```

use super::Malformed;
use crate::Text;

/// Bytes before the entries.
const HEADER: usize = 10;

/// The number of entries that says that there are more than it can.
const UNCOUNTED: u16 = u16::MAX;

/// The first byte of a length that has four more.
const LONG: u8 = 254;

const END: u8 = 0xff;

/// The entries of a ziplist, all of whose bytes are checked on the way.
#[derive(Debug)]
pub(super) struct Ziplist<'a> {
    rest: &'a [u8],
    /// How many entries are left, if that is known.
    left: Option<u16>,
    /// Bytes of the entry before.
    before: usize,
    /// How far it is to the last entry from here.
    to_last: usize,
}

impl<'a> Ziplist<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let (header, rest) = bytes.split_at_checked(HEADER).ok_or(Malformed)?;
        let &[a, b, c, d, e, f, g, h, low, high] = header else { return Err(Malformed) };
        if usize::try_from(u32::from_le_bytes([a, b, c, d])) != Ok(bytes.len()) {
            return Err(Malformed);
        }
        let last = usize::try_from(u32::from_le_bytes([e, f, g, h])).map_err(|_| Malformed)?;
        let to_last = last.checked_sub(HEADER).ok_or(Malformed)?;
        let count = u16::from_le_bytes([low, high]);
        Ok(Ziplist { rest, left: (count != UNCOUNTED).then_some(count), before: 0, to_last })
    }

    #[expect(clippy::arithmetic_side_effects, reason = "what is left is a part of what was")]
    pub(super) fn next(&mut self) -> Result<Option<Text<'a>>, Malformed> {
        if self.rest == [END] {
            // Behind the last entry; or there is none, and the end is where it would be.
            let is_right = self.left.unwrap_or(0) == 0 && self.to_last == 0;
            return if is_right { Ok(None) } else { Err(Malformed) };
        }
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(1).ok_or(Malformed)?;
        }
        let before = self.rest;
        if self.length_before()? != self.before {
            return Err(Malformed);
        }
        let entry = self.entry()?;
        self.before = before.len() - self.rest.len();
        if self.rest != [END] {
            self.to_last = self.to_last.checked_sub(self.before).ok_or(Malformed)?;
        }
        Ok(Some(entry))
    }

    fn bytes(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        self.rest.split_off(..len).ok_or(Malformed)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.bytes(N)?.try_into().map_err(|_| Malformed)
    }

    fn length_before(&mut self) -> Result<usize, Malformed> {
        match self.array()? {
            [LONG] => {
                let len = u32::from_le_bytes(self.array()?);
                usize::try_from(len).map_err(|_| Malformed)
            }
            [END] => Err(Malformed),
            [len] => Ok(len.into()),
        }
    }

    #[expect(clippy::arithmetic_side_effects, reason = "four bits less one")]
    fn entry(&mut self) -> Result<Text<'a>, Malformed> {
        let [first] = self.array()?;
        let string = |list: &mut Self, len: usize| list.bytes(len).map(Text::from);
        match first {
            0..=0x3f => string(self, first.into()),
            0x40..=0x7f => {
                let [low] = self.array()?;
                string(self, usize::from(first & 0x3f) << 8 | usize::from(low))
            }
            0x80 => {
                let len = u32::from_be_bytes(self.array()?);
                string(self, usize::try_from(len).map_err(|_| Malformed)?)
            }
            0xc0 => Ok(Text::from(i64::from(i16::from_le_bytes(self.array()?)))),
            0xd0 => Ok(Text::from(i64::from(i32::from_le_bytes(self.array()?)))),
            0xe0 => Ok(Text::from(i64::from_le_bytes(self.array()?))),
            0xf0 => {
                let [a, b, c] = self.array()?;
                Ok(Text::from(i64::from(i32::from_le_bytes([0, a, b, c]) >> 8)))
            }
            0xfe => Ok(Text::from(i64::from(i8::from_le_bytes(self.array()?)))),
            0xf1..=0xfd => Ok(Text::from(i64::from(first & 0x0f) - 1)),
            0x81..=0xbf | 0xc1..=0xcf | 0xd1..=0xdf | 0xe1..=0xef | END => Err(Malformed),
        }
    }
}
