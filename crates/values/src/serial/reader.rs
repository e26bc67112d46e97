// SPDX-License-Identifier: Apache-2.0
//! [`Reader`]: the parts that values consist of.

use super::{Malformed, lzf};
use crate::Text;
use std::borrow::Cow;

/// A string, or the digits of an integer that is stored in binary.
#[derive(Clone, Debug)]
pub(super) enum Chunk<'a> {
    Text(Text<'a>),
    Decompressed(Vec<u8>),
}

impl Chunk<'_> {
    pub(super) fn bytes(&self) -> &[u8] {
        match self {
            Chunk::Text(text) => text,
            Chunk::Decompressed(bytes) => bytes,
        }
    }
}

/// Reads values from bytes.
#[derive(Debug)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
    /// How many bytes the value may take beyond its own.
    bytes_max: usize,
}

/// The front of a string: its length, or how else it is stored.
enum Front {
    Length(u64),
    Special(u8),
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8], bytes_max: usize) -> Self {
        Reader { rest: bytes, bytes_max }
    }

    pub(super) fn byte(&mut self) -> Result<u8, Malformed> {
        self.rest.split_off_first().copied().ok_or(Malformed)
    }

    pub(super) fn bytes(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        self.rest.split_off(..len).ok_or(Malformed)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.bytes(N)?.try_into().map_err(|_| Malformed)
    }

    /// How many elements follow, or a number that is stored like that.
    pub(super) fn count(&mut self) -> Result<u64, Malformed> {
        match self.front()? {
            Front::Length(count) => Ok(count),
            Front::Special(_) => Err(Malformed),
        }
    }

    fn front(&mut self) -> Result<Front, Malformed> {
        let first = self.byte()?;
        Ok(match (first >> 6, first & 0x3f) {
            (0, low) => Front::Length(low.into()),
            (1, low) => Front::Length(u64::from(low) << 8 | u64::from(self.byte()?)),
            (2, 0) => Front::Length(u32::from_be_bytes(self.array()?).into()),
            (2, 1) => Front::Length(u64::from_be_bytes(self.array()?)),
            (3, how) => Front::Special(how),
            _ => return Err(Malformed),
        })
    }

    pub(super) fn string(&mut self) -> Result<Chunk<'a>, Malformed> {
        let integer = |value: i64| Ok(Chunk::Text(Text::from(value)));
        match self.front()? {
            Front::Length(len) => {
                let len = usize::try_from(len).map_err(|_| Malformed)?;
                Ok(Chunk::Text(Text::from(self.bytes(len)?)))
            }
            Front::Special(0) => integer(i8::from_le_bytes(self.array()?).into()),
            Front::Special(1) => integer(i16::from_le_bytes(self.array()?).into()),
            Front::Special(2) => integer(i32::from_le_bytes(self.array()?).into()),
            Front::Special(3) => self.compressed().map(Chunk::Decompressed),
            Front::Special(_) => Err(Malformed),
        }
    }

    /// How many bytes more the value may take than it has here.
    pub(super) fn bytes_left(&self) -> usize {
        self.bytes_max
    }

    /// Notes that it takes so many more.
    pub(super) fn take(&mut self, bytes: usize) -> Result<(), Malformed> {
        self.bytes_max = self.bytes_max.checked_sub(bytes).ok_or(Malformed)?;
        Ok(())
    }

    fn compressed(&mut self) -> Result<Vec<u8>, Malformed> {
        let (short, len) = (self.count()?, self.count()?);
        let short = usize::try_from(short).map_err(|_| Malformed)?;
        let len = usize::try_from(len).map_err(|_| Malformed)?;
        self.take(len)?;
        lzf::decompress(self.bytes(short)?, len)
    }

    /// The bytes of a packed collection.
    pub(super) fn pack(&mut self) -> Result<Cow<'a, [u8]>, Malformed> {
        match self.front()? {
            Front::Length(len) => {
                let len = usize::try_from(len).map_err(|_| Malformed)?;
                self.bytes(len).map(Cow::Borrowed)
            }
            Front::Special(3) => self.compressed().map(Cow::Owned),
            Front::Special(_) => Err(Malformed),
        }
    }

    /// A score, which is a number.
    pub(super) fn score(&mut self) -> Result<f64, Malformed> {
        number(f64::from_le_bytes(self.array()?))
    }

    /// A score in the form of a length of text, and the text; three lengths mean what is no number and the
    /// infinities.
    pub(super) fn score_in_text(&mut self) -> Result<f64, Malformed> {
        match self.byte()? {
            253 => Err(Malformed),
            254 => Ok(f64::INFINITY),
            255 => Ok(f64::NEG_INFINITY),
            len => parse_score(self.bytes(len.into())?),
        }
    }

    /// A moment in unix milliseconds; `None` of a negative one, which stands for never.
    pub(super) fn moment(&mut self) -> Result<Option<u64>, Malformed> {
        Ok(u64::try_from(i64::from_le_bytes(self.array()?)).ok())
    }

    /// A moment in unix milliseconds; -1 stands for never.
    pub(super) fn moment_or_never(&mut self) -> Result<Option<u64>, Malformed> {
        match i64::from_le_bytes(self.array()?) {
            -1 => Ok(None),
            moment => moment.try_into().map(Some).map_err(|_| Malformed),
        }
    }
}

/// The number that a text spells, as a score.
pub(super) fn parse_score(text: &[u8]) -> Result<f64, Malformed> {
    let text = std::str::from_utf8(text).map_err(|_| Malformed)?;
    number(text.parse().map_err(|_| Malformed)?)
}

fn number(score: f64) -> Result<f64, Malformed> {
    if score.is_nan() { Err(Malformed) } else { Ok(score) }
}
