// SPDX-License-Identifier: Apache-2.0
//! SHA-1, by which Redis names scripts. It keeps no secret.

/// The digest in hexadecimal digits.
///
/// ```
/// assert_eq!(&script::sha1::hex(b"return 1"), b"e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
/// ```
#[must_use]
pub fn hex(text: &[u8]) -> [u8; 40] {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let mut state = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
    let (blocks, rest) = text.as_chunks::<64>();
    blocks.iter().for_each(|block| absorb(&mut state, block));
    let mut last = [0; 128];
    last[..rest.len()].copy_from_slice(rest);
    last[rest.len()] = 0x80;
    let end = if rest.len() < 56 { 64 } else { 128 };
    last[end - 8..end].copy_from_slice(&(text.len() as u64 * 8).to_be_bytes());
    last[..end].as_chunks::<64>().0.iter().for_each(|block| absorb(&mut state, block));
    let mut digest = [0; 40];
    let bytes = state.iter().flat_map(|word: &u32| word.to_be_bytes());
    for (pair, byte) in digest.as_chunks_mut::<2>().0.iter_mut().zip(bytes) {
        *pair = [DIGITS[usize::from(byte >> 4)], DIGITS[usize::from(byte & 15)]];
    }
    digest
}

fn absorb(state: &mut [u32; 5], block: &[u8; 64]) {
    let mut words = [0_u32; 80];
    for (word, bytes) in words.iter_mut().zip(block.as_chunks::<4>().0) {
        *word = u32::from_be_bytes(*bytes);
    }
    for i in 16..80 {
        words[i] = (words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16]).rotate_left(1);
    }
    let [mut a, mut b, mut c, mut d, mut e] = *state;
    for (i, word) in words.iter().enumerate() {
        let (mix, key) = match i / 20 {
            0 => ((b & c) | (!b & d), 0x5a82_7999),
            1 => (b ^ c ^ d, 0x6ed9_eba1),
            2 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
            _ => (b ^ c ^ d, 0xca62_c1d6_u32),
        };
        let sum = a.rotate_left(5).wrapping_add(mix).wrapping_add(e);
        let next = sum.wrapping_add(key).wrapping_add(*word);
        (a, b, c, d, e) = (next, a, b.rotate_left(30), c, d);
    }
    for (sum, word) in state.iter_mut().zip([a, b, c, d, e]) {
        *sum = sum.wrapping_add(word);
    }
}

#[cfg(test)]
mod tests {
    use super::hex;

    #[test]
    fn digests_are_those_of_the_standard() {
        let cases: [(&[u8], &[u8; 40]); 3] = [
            (b"", b"da39a3ee5e6b4b0d3255bfef95601890afd80709"),
            (b"abc", b"a9993e364706816aba3e25717850c26c9cd0d89d"),
            (
                b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                b"84983e441c3bd26ebaae4aa1f95129e5e54670f1",
            ),
        ];
        for (text, digest) in cases {
            assert_eq!(&hex(text), digest);
        }
        assert_eq!(&hex(&[b'a'; 1_000_000]), b"34aa973cd4c4daa4f61eeb2bdbad27316534016f");
    }
}
