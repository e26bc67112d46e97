// SPDX-License-Identifier: Apache-2.0
//! Values that identify themselves: one or several records, each with its key, the number of the write
//! that made it, its length, a checksum, and a filling computed from these. No two writes make the same
//! value.

use super::super::subject::Noise;
use std::sync::LazyLock;

/// The identity of a value in a history: the numbers of the writes that made its records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Content(pub(super) u64);

impl Content {
    /// A value that no write has made.
    pub(super) const TORN: Content = Content(0);

    /// A value of one record.
    pub(super) const fn of(serial: u64) -> Self {
        Content(serial)
    }

    /// This value with one more record behind it.
    pub(super) const fn and(self, other: Content) -> Self {
        // Odd, so never that of a torn value, and with the upper half in use as no serial has it.
        Content(mix(self.0.rotate_left(17) ^ mix(other.0)) | 1 << 63 | 1)
    }
}

/// Bytes of a record before its filling: serial, key, length, checksum. As many as a number may have.
pub(super) const HEADER: usize = 24;

/// The longest filling of a record.
pub(super) const FILLING_MAX: usize = 128 << 10;

/// Where a filling may begin in the noise.
const STARTS: u64 = 1_021;

/// A filling is a piece of this, so that it is made and compared at the speed of memory, also without
/// optimisation.
static NOISE: LazyLock<Vec<u8>> =
    LazyLock::new(|| Noise::new(29).bytes(FILLING_MAX + STARTS as usize));

fn filling(serial: u64, len: usize) -> &'static [u8] {
    &NOISE[(serial % STARTS) as usize..][..len]
}

/// Spreads the bits of a number (the end of splitmix64).
const fn mix(number: u64) -> u64 {
    let number = (number ^ number >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ number >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ number >> 31
}

fn checksum(serial: u64, key: u32, len: u32) -> u64 {
    mix(serial ^ mix(u64::from(key) << 32 | u64::from(len)))
}

/// The header of a record, which is a whole record if `len` is 0.
pub(super) fn header(key: u32, serial: u64, len: usize) -> [u8; HEADER] {
    let mut header = [0; HEADER];
    header[..8].copy_from_slice(&serial.to_le_bytes());
    header[8..12].copy_from_slice(&key.to_le_bytes());
    header[12..16].copy_from_slice(&(len as u32).to_le_bytes());
    header[16..].copy_from_slice(&checksum(serial, key, len as u32).to_le_bytes());
    header
}

/// A record with a filling of `len` bytes.
pub(super) fn record(key: u32, serial: u64, len: usize) -> Vec<u8> {
    [&header(key, serial, len), filling(serial, len)].concat()
}

/// The identity of a value under `key`; [`Content::TORN`] if any byte is not what was written under
/// the key.
pub(super) fn decode(key: u32, value: &[u8]) -> Content {
    let mut content = None;
    let mut rest = value;
    while let Some((header_bytes, behind)) = rest.split_first_chunk::<HEADER>() {
        let mut serial = [0; 8];
        serial.copy_from_slice(&header_bytes[..8]);
        let serial = u64::from_le_bytes(serial);
        let mut len = [0; 4];
        len.copy_from_slice(&header_bytes[12..16]);
        let len = u32::from_le_bytes(len) as usize;
        let is_whole = len <= behind.len().min(FILLING_MAX)
            && *header_bytes == header(key, serial, len)
            && behind[..len] == *filling(serial, len);
        if !is_whole {
            return Content::TORN;
        }
        let one = Content::of(serial);
        content = Some(content.map_or(one, |content: Content| content.and(one)));
        rest = &behind[len..];
    }
    if rest.is_empty() { content.unwrap_or(Content::TORN) } else { Content::TORN }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_says_what_it_is() {
        let (one, two) = (record(7, 1, 100), record(7, 2, 0));
        assert_eq!(decode(7, &one), Content::of(1));
        let both = [&one[..], &two].concat();
        assert_eq!(decode(7, &both), Content::of(1).and(Content::of(2)));
        assert_ne!(Content::of(1).and(Content::of(2)), Content::of(2).and(Content::of(1)));
    }

    #[test]
    fn whatever_is_not_as_it_was_written_is_torn() {
        let value = record(7, 1, 100);
        assert_eq!(decode(8, &value), Content::TORN, "it is another key's");
        assert_eq!(decode(7, &[]), Content::TORN);
        for end in 1..value.len() {
            assert_eq!(decode(7, &value[..end]), Content::TORN, "cut off after {end} bytes");
        }
        for at in 0..value.len() {
            let mut damaged = value.clone();
            damaged[at] ^= 1;
            assert_eq!(decode(7, &damaged), Content::TORN, "damaged at {at}");
        }
    }
}
