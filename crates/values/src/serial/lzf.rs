// SPDX-License-Identifier: Apache-2.0
//! LZF, by which long strings are compressed.
//!
//! ```text
//!  000LLLLL                    the next L + 1 bytes, as they are
//!  LLLOOOOO OOOOOOOO           L + 2 bytes again, from O + 1 bytes before
//!  111OOOOO LLLLLLLL OOOOOOOO  L + 9 bytes again, from O + 1 bytes before
//! ```

use super::Malformed;

/// The longest run of bytes as they are.
const LITERAL_MAX: usize = 32;

/// The shortest and the longest run of bytes that come again.
const AGAIN: std::ops::RangeInclusive<usize> = 3..=264;

/// From how many bytes before they may come.
const BACK_MAX: usize = 1 << 13;

/// Places of three bytes by their hash.
const TABLE: usize = 1 << 13;

/// What compression saves at least, or the bytes stay as they are.
const SAVED_MIN: usize = 4;

/// Compresses strings, one after the other.
#[derive(Debug)]
pub(super) struct Compressor {
    /// Where three bytes were last, counted over all strings, so that it need not be cleared between them.
    places: Vec<u32>,
    /// What the places of the present string begin with; 0 is no place.
    base: u32,
}

impl Default for Compressor {
    fn default() -> Self {
        Compressor { places: Vec::new(), base: 1 }
    }
}

impl Compressor {
    /// A text in fewer bytes; `None` if that saves too little.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "positions in the text, which all fit 32 bits"
    )]
    pub(super) fn compress(&mut self, text: &[u8]) -> Option<Vec<u8>> {
        let most = text.len().checked_sub(SAVED_MIN)?;
        let len = u32::try_from(text.len()).ok()?;
        if self.places.is_empty() || self.base.checked_add(len).is_none() {
            self.places = vec![0; TABLE];
            self.base = 1;
        }
        let (mut out, mut at, mut literals) = (Vec::new(), 0, 0);
        while at + AGAIN.start() <= text.len() {
            let before = self.note(text, at);
            let run = before.map_or(0, |before| common(&text[before..], &text[at..]));
            let Some(before) = before.filter(|_| AGAIN.contains(&run)) else {
                at += 1;
                continue;
            };
            push_literals(&mut out, &text[literals..at]);
            push_again(&mut out, at - before, run);
            at += run;
            literals = at;
            if out.len() >= most {
                break;
            }
        }
        self.base += len;
        push_literals(&mut out, &text[literals..]);
        (out.len() <= most).then_some(out)
    }

    /// Notes the place of three bytes, and returns where they were before, if that is near enough.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "positions in the text, which all fit 32 bits"
    )]
    fn note(&mut self, text: &[u8], at: usize) -> Option<usize> {
        let three = u32::from_le_bytes([text[at], text[at + 1], text[at + 2], 0]);
        let slot = (three.wrapping_mul(0x9e37_79b1) >> 19) as usize;
        let place = std::mem::replace(&mut self.places[slot], self.base + at as u32);
        let before = place.checked_sub(self.base)? as usize;
        (at - before <= BACK_MAX).then_some(before)
    }
}

/// How many bytes both begin with, as far as a run can say.
fn common(a: &[u8], b: &[u8]) -> usize {
    a.iter().zip(b).take(*AGAIN.end()).take_while(|(a, b)| a == b).count()
}

#[expect(clippy::arithmetic_side_effects, reason = "chunks are not empty")]
fn push_literals(out: &mut Vec<u8>, bytes: &[u8]) {
    for run in bytes.chunks(LITERAL_MAX) {
        out.push((run.len() - 1) as u8);
        out.extend_from_slice(run);
    }
}

#[expect(clippy::arithmetic_side_effects, reason = "one byte before at least, and a run of three")]
fn push_again(out: &mut Vec<u8>, back: usize, run: usize) {
    let (offset, len) = (back - 1, run - 2);
    let high = (offset >> 8) as u8;
    match u8::try_from(len) {
        Ok(len @ 0..7) => out.push(len << 5 | high),
        _ => out.extend([7 << 5 | high, (len - 7) as u8]),
    }
    out.push(offset as u8);
}

/// The text of `len` bytes that was compressed. Memory is taken as it gets longer, not for the length it claims.
#[expect(
    clippy::arithmetic_side_effects,
    reason = "a run has 264 bytes at most, and begins in the text"
)]
pub(super) fn decompress(mut bytes: &[u8], len: usize) -> Result<Vec<u8>, Malformed> {
    let mut text: Vec<u8> = Vec::new();
    let next = |bytes: &mut &[u8]| bytes.split_off_first().copied().ok_or(Malformed);
    while !bytes.is_empty() {
        let control = usize::from(next(&mut bytes)?);
        if control < LITERAL_MAX {
            let run = bytes.split_off(..=control).ok_or(Malformed)?;
            text.extend_from_slice(run);
        } else {
            let mut run = control >> 5;
            if run == 7 {
                run += usize::from(next(&mut bytes)?);
            }
            let offset = (control & 0x1f) << 8 | usize::from(next(&mut bytes)?);
            let from = text.len().checked_sub(offset + 1).ok_or(Malformed)?;
            let run = run + 2;
            // What is repeated may reach into itself.
            for at in from..from + run {
                text.push(text[at]);
            }
        }
        if text.len() > len {
            return Err(Malformed);
        }
    }
    if text.len() == len { Ok(text) } else { Err(Malformed) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_comes_again_is_short() {
        let mut compressor = Compressor::default();
        let text = vec![b'x'; 100_000];
        let short = compressor.compress(&text).unwrap();
        assert!(short.len() < 1_200, "{}", short.len());
        assert_eq!(decompress(&short, text.len()), Ok(text));
        assert_eq!(compressor.compress(b"no byte again"), None);
        assert_eq!(compressor.compress(b""), None);
    }

    #[test]
    fn wrong_bytes_are_refused() {
        for (bytes, len) in [
            (&b"\x05ab"[..], 6),
            (b"\x00a\x20\x01", 4),
            (b"\x00a\x20\x00", 3),
            (b"\x00a\x20", 4),
            (b"\x00a\xe0\x00", 10),
            (b"\x00a", 2),
            (b"\x01ab", 1),
        ] {
            assert_eq!(decompress(bytes, len), Err(Malformed), "{bytes:?}");
        }
        assert_eq!(decompress(b"\x00a\x20\x00", 4), Ok(b"aaaa".to_vec()));
    }

    proptest! {
        #[test]
        fn what_is_compressed_comes_back(
            texts in proptest::collection::vec(proptest::collection::vec(0..3_u8, 0..600), 1..4),
        ) {
            let mut compressor = Compressor::default();
            for text in texts {
                if let Some(short) = compressor.compress(&text) {
                    prop_assert!(short.len() + SAVED_MIN <= text.len());
                    prop_assert_eq!(decompress(&short, text.len()), Ok(text));
                }
            }
        }

        #[test]
        fn nothing_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200), len in 0..1000_usize) {
            let _ = decompress(&bytes, len);
        }
    }
}
