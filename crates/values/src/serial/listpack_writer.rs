// SPDX-License-Identifier: Apache-2.0
//! [`ListpackWriter`]: makes listpacks, which [`super::listpack`] describes.

use super::listpack::{END, HEADER, UNCOUNTED, length_width};
use crate::parse_i64;

/// A listpack that is being made.
#[derive(Debug)]
pub(super) struct ListpackWriter {
    bytes: Vec<u8>,
    count: usize,
}

impl ListpackWriter {
    pub(super) fn new() -> Self {
        ListpackWriter { bytes: vec![0; HEADER], count: 0 }
    }

    /// Adds an element: an integer in binary if that is what its text spells.
    pub(super) fn text(&mut self, text: &[u8]) {
        match parse_i64(text) {
            Some(integer) => self.integer(integer),
            None => self.string(text),
        }
    }

    fn string(&mut self, text: &[u8]) {
        let len = text.len();
        let start = self.bytes.len();
        match len {
            0..0x40 => self.bytes.push(0x80 | len as u8),
            0x40..0x1000 => self.bytes.extend([0xe0 | (len >> 8) as u8, len as u8]),
            _ => {
                self.bytes.push(0xf0);
                self.bytes.extend((len as u32).to_le_bytes());
            }
        }
        self.bytes.extend_from_slice(text);
        self.end(start);
    }

    /// Adds an integer.
    pub(super) fn integer(&mut self, integer: i64) {
        let start = self.bytes.len();
        let little = integer.to_le_bytes();
        match integer {
            0..=0x7f => self.bytes.push(integer as u8),
            -0x1000..=0xfff => {
                self.bytes.extend([0xc0 | (integer >> 8) as u8 & 0x1f, integer as u8]);
            }
            -0x8000..=0x7fff => self.wide(0xf1, &little[..2]),
            -0x80_0000..=0x7f_ffff => self.wide(0xf2, &little[..3]),
            -0x8000_0000..=0x7fff_ffff => self.wide(0xf3, &little[..4]),
            _ => self.wide(0xf4, &little),
        }
        self.end(start);
    }

    fn wide(&mut self, how: u8, bytes: &[u8]) {
        self.bytes.push(how);
        self.bytes.extend_from_slice(bytes);
    }

    /// Ends an element that began at `start` with its length, to be read from behind.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "it began before its end; a width of 1 to 5"
    )]
    fn end(&mut self, start: usize) {
        let len = self.bytes.len() - start;
        let width = length_width(len);
        for at in 0..width {
            let group = (len >> (7 * (width - 1 - at)) & 0x7f) as u8;
            self.bytes.push(if at == 0 { group } else { group | 0x80 });
        }
        self.count += 1;
    }

    /// The listpack.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.bytes.push(END);
        let len = (self.bytes.len() as u32).to_le_bytes();
        let count = u16::try_from(self.count).unwrap_or(UNCOUNTED).to_le_bytes();
        self.bytes[..4].copy_from_slice(&len);
        self.bytes[4..HEADER].copy_from_slice(&count);
        self.bytes
    }
}
