// SPDX-License-Identifier: Apache-2.0
//! Keys in base64, read as leniently as memcached reads them.

use crate::op::KEY_MAX;

/// What a byte of the alphabet is worth is below this; [`PAD`] and [`OTHER`] are not in it.
const PAD: u8 = 64;
const OTHER: u8 = 65;

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static SEXTETS: [u8; 256] = sextets();

#[expect(clippy::arithmetic_side_effects, reason = "counts to 64")]
const fn sextets() -> [u8; 256] {
    let mut sextets = [OTHER; 256];
    let mut at = 0;
    while at < ALPHABET.len() {
        sextets[ALPHABET[at] as usize] = at as u8;
        at += 1;
    }
    sextets[b'=' as usize] = PAD;
    sextets
}

/// A key decoded from base64, on the stack.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decoded {
    bytes: [u8; KEY_MAX],
    len: u8,
}

impl Decoded {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.bytes[..usize::from(self.len)]
    }
}

/// Decodes a key of at most [`KEY_MAX`] bytes; `None` if it is not base64, or of nothing.
///
/// As in memcached: bytes outside of the alphabet are passed over; what is left must be whole groups of four; a
/// group with one or two `=`, wherever in it, is the last, and stands for two bytes or for one.
#[expect(clippy::arithmetic_side_effects, reason = "positions within a key, and sums of sextets")]
pub(crate) fn decode(text: &[u8]) -> Option<Decoded> {
    let sextets = || text.iter().map(|&byte| SEXTETS[usize::from(byte)]).filter(|&it| it != OTHER);
    if text.len() > KEY_MAX || sextets().count() % 4 != 0 {
        return None;
    }
    let mut decoded = Decoded { bytes: [0; KEY_MAX], len: 0 };
    let (mut group, mut filled, mut pads) = (0_u32, 0, 0);
    for sextet in sextets() {
        pads += usize::from(sextet == PAD);
        group = group << 6 | u32::from(sextet % PAD);
        filled += 1;
        if filled == 4 {
            let kept = 3_usize.checked_sub(pads).filter(|&kept| kept > 0)?;
            let start = usize::from(decoded.len);
            decoded.bytes[start..start + kept].copy_from_slice(&group.to_be_bytes()[1..][..kept]);
            decoded.len += kept as u8;
            if pads > 0 {
                break;
            }
            (group, filled) = (0, 0);
        }
    }
    (decoded.len > 0).then_some(decoded)
}

/// Appends bytes in base64, with padding.
pub(crate) fn encode(bytes: &[u8], out: &mut Vec<u8>) {
    for group in bytes.chunks(3) {
        let mut word = [0; 4];
        word[1..][..group.len()].copy_from_slice(group);
        let word = u32::from_be_bytes(word);
        let mut text = [18, 12, 6, 0].map(|shift| ALPHABET[(word >> shift & 63) as usize]);
        if let Some(pads) = text.get_mut(group.len().saturating_add(1)..) {
            pads.fill(b'=');
        }
        out.extend_from_slice(&text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_decoded_as_memcached_does() {
        let cases: [(&[u8], Option<&[u8]>); 20] = [
            (b"Zm9v", Some(b"foo")),
            (b"Zm9vYg==", Some(b"foob")),
            (b"Zm9vYmE=", Some(b"fooba")),
            (b"Zm9vYh==", Some(b"foob")),
            (b"AA==", Some(b"\0")),
            (b"Zm9vYg==Zm9v", Some(b"foob")),
            (b"Zm9vYg=A", Some(b"foob\0")),
            (b"=Zm9vYg=", Some(b"\x01\x99")),
            (b"Z=9v", Some(b"d\x0f")),
            (b"Zm==Zm9v", Some(b"f")),
            (b"Zm9v!!!!", Some(b"foo")),
            (b"Zm9v!m9vA", Some(b"foo\x9b\xdb\xc0")),
            (b"Zm9", None),
            (b"Zm9v=", None),
            (b"Zm9v!m9v", None),
            (b"Zm==Zm9", None),
            (b"A===", None),
            (b"====", None),
            (b"!!!!", None),
            (b"Zm_v", None),
        ];
        for (text, expected) in cases {
            let decoded = decode(text);
            let decoded = decoded.as_ref().map(Decoded::as_bytes);
            assert_eq!(decoded, expected, "{}", text.escape_ascii());
        }
        assert!(decode(&[b'A'; KEY_MAX + 2]).is_none(), "it is too long for a key");
    }

    #[test]
    fn what_is_encoded_decodes_to_itself() {
        for len in 1..=180 {
            let key: Vec<u8> = (0..len).map(|at: u8| at.wrapping_mul(37)).collect();
            let mut text = Vec::new();
            encode(&key, &mut text);
            assert!(text.len().is_multiple_of(4));
            assert_eq!(decode(&text).expect("it is base64").as_bytes(), key);
        }
    }
}
