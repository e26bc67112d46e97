// SPDX-License-Identifier: Apache-2.0
//! Texts that identify their writer: a single value shows whether a server has mixed it up, torn or invented it.
//!
//! A text is a row of pieces. A number is its decimal digits. A token is `<`, its 16 hexadecimal digits
//! and `>`, with bytes between that follow from the token: any bytes, line ends among them. How many
//! there are is in its low bits, so that a token is checked wherever it stands, byte by byte.

/// The low bits of a token that say how many bytes follow its digits.
const LENGTH_BITS: u32 = 20;
/// Bytes of a token beside those that follow from it.
const FRAME: usize = 18;

/// A part of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Piece {
    /// Bytes that were written once and by one operation.
    Token(u64),
    /// A number in decimal digits.
    Number(u64),
}

impl Piece {
    /// Bytes of its text.
    #[must_use]
    pub fn len(self) -> usize {
        match self {
            Piece::Token(token) => FRAME + filler_len(token),
            Piece::Number(number) => number.checked_ilog10().map_or(1, |log| log as usize + 1),
        }
    }

    /// Never: each has a text.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        false
    }
}

/// The token with a number of its own and `len` bytes, `FRAME` of them at least.
///
/// # Panics
///
/// When it is longer than a megabyte, or the number is too large.
#[must_use]
pub fn token(number: u64, len: usize) -> u64 {
    let filler = len.saturating_sub(FRAME) as u64;
    assert!(filler < 1 << LENGTH_BITS && number < 1 << (64 - LENGTH_BITS), "it fits the token");
    number << LENGTH_BITS | filler
}

fn filler_len(token: u64) -> usize {
    (token & ((1 << LENGTH_BITS) - 1)) as usize
}

/// Appends the text of some pieces.
pub fn write(pieces: &[Piece], out: &mut Vec<u8>) {
    for piece in pieces {
        match *piece {
            Piece::Number(number) => out.extend_from_slice(number.to_string().as_bytes()),
            Piece::Token(token) => {
                out.extend_from_slice(format!("<{token:016x}").as_bytes());
                let mut left = filler_len(token);
                let mut state = token;
                while left > 0 {
                    // SplitMix64: every bit of the token is in every word.
                    state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                    let mut word = state;
                    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
                    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
                    let bytes = (word ^ (word >> 31)).to_le_bytes();
                    let take = left.min(bytes.len());
                    out.extend_from_slice(&bytes[..take]);
                    left -= take;
                }
                out.push(b'>');
            }
        }
    }
}

/// The pieces of a text.
///
/// # Errors
///
/// Why it is none that was ever written: where it is torn, and what stands there.
pub fn read(text: &[u8]) -> Result<Vec<Piece>, String> {
    let mut pieces = Vec::new();
    let (mut at, mut expected) = (0, Vec::new());
    while let Some(&first) = text.get(at) {
        let rest = &text[at..];
        let piece = if first == b'<' {
            let digits = rest.get(1..17).and_then(|digits| std::str::from_utf8(digits).ok());
            digits.and_then(|digits| u64::from_str_radix(digits, 16).ok()).map(Piece::Token)
        } else {
            let end = rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len());
            let digits = std::str::from_utf8(&rest[..end]).ok();
            digits.and_then(|digits| digits.parse().ok()).map(Piece::Number)
        };
        let torn = |at: usize| {
            let near = &text[at.min(text.len() - 1)..text.len().min(at + 24)];
            format!("torn at byte {at} of {}: \"{}\"", text.len(), near.escape_ascii())
        };
        let piece = piece.ok_or_else(|| torn(at))?;
        expected.clear();
        write(&[piece], &mut expected);
        if !rest.starts_with(&expected) {
            let same = rest.iter().zip(&expected).take_while(|(a, b)| a == b).count();
            return Err(torn(at + same));
        }
        at += expected.len();
        pieces.push(piece);
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_back_and_have_the_length_that_was_said() {
        let pieces = [
            Piece::Number(907),
            Piece::Token(token(7, 0)),
            Piece::Token(token(1 << 40, 40_000)),
            Piece::Number(0),
        ];
        let mut text = Vec::new();
        write(&pieces, &mut text);
        assert_eq!(text.len(), pieces.iter().map(|piece| piece.len()).sum::<usize>());
        assert_eq!(pieces[2].len(), 40_000);
        assert_eq!(read(&text), Ok(pieces.to_vec()));
        assert_eq!(read(b""), Ok(vec![]));
    }

    #[test]
    fn one_wrong_byte_is_found_where_it_stands() {
        let mut text = Vec::new();
        write(&[Piece::Token(token(5, 30)), Piece::Token(token(6, 3000))], &mut text);
        for at in 0..text.len() {
            let mut torn = text.clone();
            torn[at] ^= 0x80;
            assert!(read(&torn).is_err(), "byte {at}");
        }
        torn_in_halves(&text);
    }

    fn torn_in_halves(text: &[u8]) {
        let mut other = Vec::new();
        write(&[Piece::Token(token(5, 30)), Piece::Token(token(7, 3000))], &mut other);
        other[2000..].copy_from_slice(&text[2000..]);
        let error = read(&other).unwrap_err();
        assert!(error.starts_with("torn at byte 2000 of 3030"), "{error}");
        assert!(read(&text[..text.len() - 1]).is_err(), "the end is missing");
    }
}
