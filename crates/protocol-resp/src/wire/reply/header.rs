// SPDX-License-Identifier: Apache-2.0
//! [`Header`]: a type byte, a number and a line end.

/// Bytes of the longest header: type, sign, 19 digits, line end.
const MOST: usize = 1 + 20 + 2;

/// A line such as `$12\r\n`, made on the stack, so that it is appended in one piece.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Header {
    bytes: [u8; MOST],
    len: usize,
}

impl Header {
    /// The header of `number` elements or bytes, or the number itself.
    #[inline]
    pub(crate) fn new(kind: u8, number: i64) -> Self {
        let mut bytes = [0; MOST];
        bytes[0] = kind;
        let len = match number {
            0..=9 => {
                bytes[1] = b'0' + number as u8;
                2
            }
            10..=99 => {
                bytes[1] = b'0' + (number / 10) as u8;
                bytes[2] = b'0' + (number % 10) as u8;
                3
            }
            _ => {
                let mut digits = itoa::Buffer::new();
                let digits = digits.format(number).as_bytes();
                bytes[1..=digits.len()].copy_from_slice(digits);
                1 + digits.len()
            }
        };
        bytes[len] = b'\r';
        bytes[len + 1] = b'\n';
        Header { bytes, len: len + 2 }
    }

    /// The header of `count` elements or bytes.
    #[inline]
    pub(crate) fn of(kind: u8, count: usize) -> Self {
        // Nothing in memory has more.
        Header::new(kind, count as i64)
    }

    #[inline]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.len]
    }
}

/// The header of fewer than ten thousand elements or bytes in one word, the lowest byte first, and its length.
#[inline]
pub(crate) fn short(kind: u8, count: usize) -> Option<(u64, usize)> {
    let count = count as u64;
    let digit = |unit: u64| u64::from(b'0') + count / unit % 10;
    let (digits, len) = match count {
        0..=9 => (digit(1), 1),
        10..=99 => (digit(10) | digit(1) << 8, 2),
        100..=999 => (digit(100) | digit(10) << 8 | digit(1) << 16, 3),
        1000..=9999 => (digit(1000) | digit(100) << 8 | digit(10) << 16 | digit(1) << 24, 4),
        _ => return None,
    };
    let line_end = u64::from(u16::from_le_bytes(*b"\r\n"));
    Some((u64::from(kind) | digits << 8 | line_end << (8 + 8 * len), len + 3))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_header_is_the_same() {
        for count in (0..10_100).step_by(7).chain([9, 10, 99, 100, 999, 1000, 9999, 10_000]) {
            let (word, len) = match short(b'$', count) {
                Some(short) => short,
                None => {
                    assert!(count >= 10_000);
                    continue;
                }
            };
            assert_eq!(&word.to_le_bytes()[..len], Header::of(b'$', count).as_bytes());
        }
    }

    #[test]
    fn a_header_is_what_formatting_would_make() {
        let numbers = [0, 9, 10, 99, 100, 12_345, i64::MAX, -1, -10, i64::MIN];
        for number in numbers {
            let header = Header::new(b':', number);
            assert_eq!(header.as_bytes(), format!(":{number}\r\n").as_bytes());
        }
    }
}
