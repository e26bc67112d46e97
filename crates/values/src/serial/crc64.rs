// SPDX-License-Identifier: Apache-2.0
//! The checksum of payloads: CRC-64 by the polynomial of Jones, from 0, bits reversed.

/// The polynomial, bits reversed.
const POLYNOMIAL: u64 = 0x95ac_9329_ac4b_c9b5;

/// Eight tables: a byte takes one look-up, and eight bytes take eight that do not wait for each other.
static TABLES: [[u64; 256]; 8] = tables();

#[expect(clippy::arithmetic_side_effects, reason = "counts to 256")]
const fn tables() -> [[u64; 256]; 8] {
    let mut tables = [[0; 256]; 8];
    let mut byte = 0;
    while byte < 256 {
        let (mut crc, mut bit) = (byte as u64, 0);
        while bit < 8 {
            crc = if crc & 1 == 1 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 };
            bit += 1;
        }
        tables[0][byte] = crc;
        byte += 1;
    }
    let mut table = 1;
    while table < 8 {
        let mut byte = 0;
        while byte < 256 {
            let before = tables[table - 1][byte];
            tables[table][byte] = before >> 8 ^ tables[0][(before & 0xff) as usize];
            byte += 1;
        }
        table += 1;
    }
    tables
}

/// The checksum of some bytes; `crc` is that of those before them, 0 of none.
pub(crate) fn crc64(crc: u64, bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let crc = words.iter().fold(crc, |crc, word| {
        let mixed = (crc ^ u64::from_le_bytes(*word)).to_le_bytes();
        mixed
            .iter()
            .zip(TABLES.iter().rev())
            .fold(0, |sum, (byte, table)| sum ^ table[usize::from(*byte)])
    });
    rest.iter().fold(crc, |crc, byte| crc >> 8 ^ TABLES[0][usize::from(crc as u8 ^ byte)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_those_of_redis() {
        assert_eq!(crc64(0, b"123456789"), 0xe9c6_d914_c4b8_d9ca);
        let text = b"The quick brown fox jumps over the lazy dog";
        for at in 0..text.len() {
            assert_eq!(crc64(crc64(0, &text[..at]), &text[at..]), crc64(0, text), "in two parts");
        }
    }
}
