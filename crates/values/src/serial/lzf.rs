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

/// Room that is taken at once for a compressed text, in bytes; what is longer takes more as it grows.
const ROOM: usize = 64 << 10;

/// Compresses strings, one after the other.
#[derive(Debug)]
pub(super) struct Compressor {
    /// Where three bytes were last, counted over all strings, so that it need not be cleared between them.
    places: Box<[u32; TABLE]>,
    /// What the places of the present string begin with; 0 is no place.
    base: u32,
}

impl Default for Compressor {
    fn default() -> Self {
        Compressor { places: Box::new([0; TABLE]), base: 1 }
    }
}

impl Compressor {
    /// Appends a text in fewer bytes, and returns whether it has: what saves too little may leave any bytes there.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "positions in the text, which all fit 32 bits"
    )]
    pub(super) fn compress(&mut self, text: &[u8], out: &mut Vec<u8>) -> bool {
        let Some(most) = text.len().checked_sub(SAVED_MIN) else { return false };
        let Ok(len) = u32::try_from(text.len()) else { return false };
        if self.base.checked_add(len).is_none() {
            self.places.fill(0);
            self.base = 1;
        }
        out.reserve(text.len().min(ROOM));
        let (start, mut at, mut literals) = (out.len(), 0, 0);
        // Three bytes, and one more that is loaded with them.
        while let Some(four) = text.get(at..).and_then(<[u8]>::first_chunk) {
            let before = self.note(*four, at);
            let run = before.map_or(0, |before| common(text, before, at));
            let Some(before) = before.filter(|_| AGAIN.contains(&run)) else {
                at += 1;
                continue;
            };
            push_literals(out, &text[literals..at]);
            push_again(out, at - before, run);
            at += run;
            literals = at;
            if out.len() - start >= most {
                break;
            }
        }
        self.base += len;
        let rest = &text[literals..];
        let is_short = out.len() - start + rest.len() + rest.len().div_ceil(LITERAL_MAX) <= most;
        if is_short {
            push_literals(out, rest);
        }
        is_short
    }

    /// Notes the place of three bytes, and returns where they were before, if that is near enough.
    #[expect(
        clippy::arithmetic_side_effects,
        reason = "positions in the text, which all fit 32 bits"
    )]
    #[inline]
    fn note(&mut self, four: [u8; 4], at: usize) -> Option<usize> {
        let three = u32::from_le_bytes(four) & 0xff_ffff;
        let slot = (three.wrapping_mul(0x9e37_79b1) >> 19) as usize;
        let place = std::mem::replace(&mut self.places[slot], self.base + at as u32);
        let before = place.checked_sub(self.base)? as usize;
        (at - before <= BACK_MAX).then_some(before)
    }
}

/// How many bytes the text from `at` on has in common with itself from `before` on, as far as a run can say.
#[inline]
#[expect(clippy::arithmetic_side_effects, reason = "positions in the text")]
fn common(text: &[u8], before: usize, at: usize) -> usize {
    let most = (text.len() - at).min(*AGAIN.end());
    let (a, b) = (&text[before..before + most], &text[at..at + most]);
    let ((eights, rest), (others, other_rest)) = (a.as_chunks(), b.as_chunks());
    for (nth, (eight, other)) in eights.iter().zip(others).enumerate() {
        let differing = u64::from_le_bytes(*eight) ^ u64::from_le_bytes(*other);
        if differing != 0 {
            return nth * 8 + (differing.trailing_zeros() / 8) as usize;
        }
    }
    let same = rest.iter().zip(other_rest).take_while(|(a, b)| a == b);
    eights.len() * 8 + same.count()
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

    fn compressed(compressor: &mut Compressor, text: &[u8]) -> Option<Vec<u8>> {
        let mut out = b"before".to_vec();
        let is_short = compressor.compress(text, &mut out);
        let short = out.strip_prefix(b"before").expect("what was there stays");
        is_short.then(|| short.to_vec())
    }

    #[test]
    fn what_comes_again_is_short() {
        let mut compressor = Compressor::default();
        let text = vec![b'x'; 100_000];
        let short = compressed(&mut compressor, &text).unwrap();
        assert!(short.len() < 1_200, "{}", short.len());
        assert_eq!(decompress(&short, text.len()), Ok(text));
        assert_eq!(compressed(&mut compressor, b"no byte again"), None);
        assert_eq!(compressed(&mut compressor, b""), None);
    }

    #[test]
    fn runs_of_each_length_come_again() {
        let mut compressor = Compressor::default();
        for len in 3..300 {
            let run: Vec<u8> = (0..len).map(|at| (at * 7 % 251) as u8).collect();
            for end in [&b""[..], b"!", b"some more behind it"] {
                let text = [b"aaaaaaaaaaaaaaaaaaaaaaaa", &run[..], b"|", &run, end].concat();
                let short = compressed(&mut compressor, &text).expect("it begins with a run");
                assert_eq!(decompress(&short, text.len()), Ok(text), "{len}");
            }
        }
    }

    #[test]
    fn places_of_one_string_are_none_of_another() {
        let mut compressor = Compressor { base: u32::MAX - 100, ..Compressor::default() };
        for text in [[b'a'; 60], [b'b'; 60], [b'a'; 60]] {
            let short = compressed(&mut compressor, &text).expect("it is a run");
            assert_eq!(decompress(&short, 60), Ok(text.to_vec()));
        }
        assert!(compressor.base < 1000, "it has begun again");
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
                if let Some(short) = compressed(&mut compressor, &text) {
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
