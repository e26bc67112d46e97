// SPDX-License-Identifier: Apache-2.0
//! How numbers and texts are written in a node.
//!
//! ```text
//!  number   seven bits to a byte, the low ones first; all bytes but the last have their high bit set
//!  text     │ 2 · length      │ bytes        │
//!  integer  │ 2 · length + 1  │ little-endian│  a text that is the digits of an integer
//! ```

use crate::listpack::{integer_len, string_len};
use crate::{Text, parse_i64};

/// Appends a number.
pub(crate) fn put_number(to: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        to.push(number as u8 | 0x80);
        number >>= 7;
    }
    to.push(number as u8);
}

/// Appends a text. What it would take in a listpack of Redis.
pub(crate) fn put_text(to: &mut Vec<u8>, text: &[u8]) -> usize {
    if let Some(integer) = parse_i64(text) {
        let bytes = integer.to_le_bytes();
        // As many bytes as its sign and magnitude need.
        let bits = 65 - (integer ^ (integer >> 63)).leading_zeros() as usize;
        let width = bits.div_ceil(8);
        to.push(2 * width as u8 + 1);
        to.extend_from_slice(&bytes[..width]);
        integer_len(integer)
    } else {
        put_number(to, 2 * text.len() as u64);
        to.extend_from_slice(text);
        string_len(text.len())
    }
}

/// Reads what was written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reader<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) at: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn is_over(self) -> bool {
        self.at >= self.bytes.len()
    }

    /// A number.
    #[inline]
    pub(crate) fn number(&mut self) -> u64 {
        let mut number = 0;
        let mut shift = 0;
        loop {
            let byte = self.bytes[self.at];
            self.at += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return number;
            }
            shift += 7;
        }
    }

    /// A text.
    #[inline]
    pub(crate) fn text(&mut self) -> Text<'a> {
        let head = self.number();
        let start = self.at;
        self.at += (head / 2) as usize;
        let bytes = &self.bytes[start..self.at];
        if head & 1 == 0 {
            return Text::from(bytes);
        }
        let mut padded = [if bytes[bytes.len() - 1] & 0x80 == 0 { 0 } else { 0xff }; 8];
        padded[..bytes.len()].copy_from_slice(bytes);
        Text::from(i64::from_le_bytes(padded))
    }

    /// Passes over texts.
    #[inline]
    pub(crate) fn skip_texts(&mut self, count: u64) {
        for _ in 0..count {
            let head = self.number();
            self.at += (head / 2) as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn integers_take_as_few_bytes_as_they_need() {
        for (text, width) in [
            ("0", 1),
            ("-1", 1),
            ("127", 1),
            ("128", 2),
            ("-128", 1),
            ("-129", 2),
            ("32767", 2),
            ("32768", 3),
            ("9223372036854775807", 8),
            ("-9223372036854775808", 8),
        ] {
            let mut bytes = Vec::new();
            put_text(&mut bytes, text.as_bytes());
            assert_eq!(bytes.len(), 1 + width, "{text}");
            assert_eq!(*Reader { bytes: &bytes, at: 0 }.text(), *text.as_bytes());
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(
            numbers: Vec<u64>,
            integers: Vec<i64>,
            texts in proptest::collection::vec("[0-9a-]{0,80}", 0..9),
        ) {
            let texts = texts.into_iter().chain(integers.iter().map(i64::to_string));
            let texts: Vec<String> = texts.collect();
            let mut bytes = Vec::new();
            numbers.iter().for_each(|number| put_number(&mut bytes, *number));
            for text in &texts {
                let len = put_text(&mut bytes, text.as_bytes());
                prop_assert_eq!(len, crate::listpack::text_len(text.as_bytes()));
            }
            let mut reader = Reader { bytes: &bytes, at: 0 };
            for number in numbers {
                prop_assert_eq!(reader.number(), number);
            }
            let mut skipped = reader;
            for text in &texts {
                prop_assert_eq!(&*reader.text(), text.as_bytes());
            }
            prop_assert!(reader.is_over());
            skipped.skip_texts(texts.len() as u64);
            prop_assert!(skipped.is_over());
        }
    }
}
