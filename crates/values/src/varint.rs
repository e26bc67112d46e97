// SPDX-License-Identifier: Apache-2.0
//! Lengths in as few bytes as they need: seven bits to a byte, the low ones first, and the high bit
//! of each byte but the last is set.

/// Bytes of the longest length.
pub(crate) const WIDTH_MAX: usize = 5;

/// A length as it is stored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Varint {
    bytes: [u8; WIDTH_MAX],
    width: u8,
}

impl Varint {
    /// # Panics
    ///
    /// If `length` does not fit in 32 bits.
    #[inline]
    pub(crate) fn new(length: usize) -> Self {
        let mut rest = u32::try_from(length).expect("the parser bounds the length of an argument");
        let mut bytes = [0; WIDTH_MAX];
        let mut width = 0;
        loop {
            bytes[width] = rest as u8 & 0x7f;
            rest >>= 7;
            if rest == 0 {
                return Varint { bytes, width: width as u8 + 1 };
            }
            bytes[width] |= 0x80;
            width += 1;
        }
    }

    #[inline]
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.width)]
    }
}

/// The length at the start of `bytes`, and how many bytes it takes there.
///
/// # Panics
///
/// If there is none: lengths are read only where they have been written.
#[inline]
pub(crate) fn read(bytes: &[u8]) -> (usize, usize) {
    if bytes[0] < 0x80 {
        return (usize::from(bytes[0]), 1);
    }
    read_long(bytes)
}

/// A function by itself, so that what reads lengths, most of which are short, needs no room for what this does.
#[cold]
#[inline(never)]
fn read_long(bytes: &[u8]) -> (usize, usize) {
    let mut length = 0;
    for (index, &byte) in bytes[..bytes.len().min(WIDTH_MAX)].iter().enumerate() {
        length |= usize::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            return (length, index + 1);
        }
    }
    panic!("a length ends within {WIDTH_MAX} bytes");
}

/// Bytes that `length` takes.
#[inline]
pub(crate) const fn width(length: usize) -> usize {
    match length {
        0..0x80 => 1,
        0x80..0x4000 => 2,
        0x4000..0x20_0000 => 3,
        0x20_0000..0x1000_0000 => 4,
        _ => WIDTH_MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_come_back_with_their_width() {
        let powers = (0..32).map(|bit| 1_usize << bit);
        let lengths = powers.flat_map(|power| [power - 1, power, power + 1]);
        for length in lengths.chain([u32::MAX as usize]) {
            let varint = Varint::new(length);
            let mut bytes = varint.as_bytes().to_vec();
            assert_eq!(bytes.len(), width(length));
            bytes.extend([0xff; 8]);
            assert_eq!(read(&bytes), (length, width(length)));
        }
    }
}
