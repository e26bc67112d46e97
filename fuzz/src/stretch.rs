// SPDX-License-Identifier: Apache-2.0
//! [`stretch`]: long inputs from short ones.
//!
//! The protocols have limits of 2 KiB and 64 KiB, which a fuzzer that mutates a few kilobytes does
//! not reach. So a byte that no text contains stands for a repetition.

/// `REPEAT width count`: the `width % 16 + 1` bytes before it follow `count * count` more times.
pub(crate) const REPEAT: u8 = 0xff;

/// No input is stretched further than this.
const STRETCHED_MAX: usize = 72 * 1024;

/// `input` with its repetitions written out. One that finds no bytes before it, or lacks its
/// numbers at the end, stands for itself.
pub(crate) fn stretch(input: &[u8]) -> Vec<u8> {
    let mut out: Vec<u8> = Vec::with_capacity(input.len());
    let mut rest = input;
    while let [byte, tail @ ..] = rest {
        match (byte, tail) {
            (&REPEAT, [width, count, after @ ..]) if !out.is_empty() => {
                let start = out.len().saturating_sub(usize::from(*width) % 16 + 1);
                let unit = out[start..].to_vec();
                let room = STRETCHED_MAX.saturating_sub(out.len()) / unit.len();
                out.extend(unit.repeat(room.min(usize::from(*count).pow(2))));
                rest = after;
            }
            _ => {
                out.push(*byte);
                rest = tail;
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repetition_writes_out_what_is_before_it() {
        assert_eq!(stretch(b"get k1 \xff\x02\x03\r\n"), b"get k1 k1 k1 k1 k1 k1 k1 k1 k1 k1 \r\n");
        assert_eq!(stretch(b"ab\xff\x0f\x01"), b"abab", "no more than there is");
        assert_eq!(stretch(b"\xff\x00\x01x\xff\x01"), b"\xff\x00\x01x\xff\x01");
        assert!(stretch(&b"x\xff\x0f\xff".repeat(1000)).len() <= STRETCHED_MAX + 1000);
    }
}
