// SPDX-License-Identifier: Apache-2.0
//! Zipmaps, in which Redis packed small hashes before 2.6.
//!
//! ```text
//!  fields u8 │ length │ field │ length │ unused u8 │ value │ unused bytes │ … │ 0xff
//! ```

use super::Malformed;
use crate::Text;

/// The first byte of a length that has four more.
const LONG: u8 = 254;

const END: u8 = 0xff;

/// Fields and values of a zipmap, one after the other.
#[derive(Debug)]
pub(super) struct Zipmap<'a> {
    rest: &'a [u8],
    /// The next is the value of a field.
    is_value: bool,
}

impl<'a> Zipmap<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Result<Self, Malformed> {
        // How many fields there are is not always said.
        let (_, rest) = bytes.split_first().ok_or(Malformed)?;
        Ok(Zipmap { rest, is_value: false })
    }

    pub(super) fn next(&mut self) -> Result<Option<Text<'a>>, Malformed> {
        if self.rest == [END] && !self.is_value {
            return Ok(None);
        }
        let len = match *self.bytes(1)? {
            [LONG] => {
                let bytes = self.bytes(4)?.try_into().map_err(|_| Malformed)?;
                usize::try_from(u32::from_le_bytes(bytes)).map_err(|_| Malformed)?
            }
            [len @ 0..LONG] => len.into(),
            _ => return Err(Malformed),
        };
        let unused = if self.is_value { usize::from(self.bytes(1)?[0]) } else { 0 };
        let text = self.bytes(len)?;
        self.bytes(unused)?;
        self.is_value = !self.is_value;
        Ok(Some(Text::from(text)))
    }

    fn bytes(&mut self, len: usize) -> Result<&'a [u8], Malformed> {
        self.rest.split_off(..len).ok_or(Malformed)
    }
}
