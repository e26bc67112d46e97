// SPDX-License-Identifier: Apache-2.0
//! One line in a buffer of fixed size.
//!
//! Text goes in piece by piece. What does not fit is cut at a boundary between characters (or
//! escapes), and the line ends in [`TRUNCATED`] instead. The buffer never grows.

use bytes::BytesMut;
use std::fmt;

use crate::timestamp;

/// The end of a line that was too long.
pub(crate) const TRUNCATED: &str = "...[truncated]";

/// The shortest buffer accepted: a timestamp, a level, some text, and the mark.
pub(crate) const LEAST_BYTES: usize = 128;

/// A reusable buffer with one line in it.
#[derive(Debug, Default)]
pub(crate) struct Line {
    bytes: BytesMut,
    /// The bytes the line may have with its line break.
    limit: usize,
    /// How much stays if the line turns out too long: the last boundary that leaves room for the
    /// mark.
    cut: usize,
    truncated: bool,
    /// Which of the drain's outputs the line is for.
    pub(crate) output: usize,
}

impl Line {
    /// Makes a buffer for lines of at most as many bytes as `memory` has room for.
    pub(crate) fn new(mut memory: BytesMut) -> Self {
        memory.clear();
        let limit = memory.capacity();
        debug_assert!(limit >= LEAST_BYTES);
        Self { bytes: memory, limit, ..Self::default() }
    }

    /// Starts a line with its time and a space.
    pub(crate) fn start(&mut self, unix_ms: u64) {
        self.bytes.clear();
        self.cut = 0;
        self.truncated = false;
        self.put(&timestamp::format(unix_ms));
        self.put(b" ");
    }

    /// Appends text that must stay in one piece and holds no line break.
    pub(crate) fn put(&mut self, piece: &[u8]) {
        if self.truncated {
            return;
        }
        let text_limit = self.limit - 1;
        if self.bytes.len() + piece.len() > text_limit {
            self.bytes.truncate(self.cut);
            self.bytes.extend_from_slice(TRUNCATED.as_bytes());
            self.truncated = true;
            return;
        }
        self.bytes.extend_from_slice(piece);
        if self.bytes.len() + TRUNCATED.len() <= text_limit {
            self.cut = self.bytes.len();
        }
    }

    /// Ends the line.
    pub(crate) fn finish(&mut self) {
        self.bytes.extend_from_slice(b"\n");
        debug_assert!(self.bytes.len() <= self.limit);
    }

    /// The line with its line break.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    fn put_char(&mut self, c: char) {
        match c {
            '\n' => self.put(b"\\n"),
            '\r' => self.put(b"\\r"),
            '\t' => self.put(b"\t"),
            // U+2028 and U+2029 break lines for some readers; the rest can steer a terminal.
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                let code = u32::from(c);
                let digit = |shift: u32| b"0123456789abcdef"[(code >> shift) as usize & 15];
                if code < 0x100 {
                    self.put(&[b'\\', b'x', digit(4), digit(0)]);
                } else {
                    let [a, b, c, d] = [12, 8, 4, 0].map(digit);
                    self.put(&[b'\\', b'u', b'{', a, b, c, d, b'}']);
                }
            }
            c => self.put(c.encode_utf8(&mut [0; 4]).as_bytes()),
        }
    }
}

/// Writes text with control characters escaped. An error says that the line is full already, so
/// that a long value stops formatting itself.
impl fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = self.limit.saturating_sub(1 + TRUNCATED.len() + self.bytes.len());
        let plain = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        if plain && text.len() <= room {
            self.put(text.as_bytes());
        } else {
            for c in text.chars() {
                self.put_char(c);
                if self.truncated {
                    break;
                }
            }
        }
        if self.truncated { Err(fmt::Error) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    fn written(limit: usize, pieces: &[&str]) -> String {
        let mut line = Line::new(BytesMut::with_capacity(limit));
        line.start(0);
        for piece in pieces {
            // An error only says that the line is full.
            let _ = line.write_str(piece);
        }
        line.finish();
        assert!(line.bytes().len() <= limit);
        assert_eq!(line.bytes.capacity(), limit, "the buffer must not grow");
        let text = String::from_utf8(line.bytes().to_vec()).unwrap();
        text.strip_prefix("1970-01-01T00:00:00.000Z ").unwrap().to_owned()
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(written(128, &["a\nb\r\nc\td"]), "a\\nb\\r\\nc\td\n");
        assert_eq!(written(128, &["\0\u{1b}[31m\u{7f}\u{9b}"]), "\\x00\\x1b[31m\\x7f\\x9b\n");
        assert_eq!(written(128, &["x\u{2028}y\u{2029}"]), "x\\u{2028}y\\u{2029}\n");
        assert_eq!(written(128, &["déjà vu ✓"]), "déjà vu ✓\n");
    }

    #[test]
    fn a_line_that_just_fits_is_whole_and_one_byte_more_is_cut() {
        let room = 128 - timestamp::LEN - 2;
        let fits = "x".repeat(room);
        assert_eq!(written(128, &[&fits]), format!("{fits}\n"));
        let kept = "x".repeat(room - TRUNCATED.len());
        assert_eq!(written(128, &[&fits, "y"]), format!("{kept}{TRUNCATED}\n"));
    }

    #[test]
    fn a_cut_never_splits_a_character_or_an_escape() {
        for lead in 0..8 {
            let lead = "x".repeat(lead);
            let text = written(128, &[&lead, &"✓".repeat(100)]);
            let kept = text.strip_suffix("...[truncated]\n").unwrap();
            assert!(kept[lead.len()..].chars().all(|c| c == '✓'));

            let text = written(128, &[&lead, &"\u{1}".repeat(100)]);
            let kept = text.strip_suffix("...[truncated]\n").unwrap();
            assert_eq!(kept[lead.len()..].replace("\\x01", ""), "");
        }
    }

    #[test]
    fn a_full_line_says_so_and_a_started_one_is_empty_again() {
        let mut line = Line::new(BytesMut::with_capacity(128));
        line.start(0);
        assert!(line.write_str(&"x".repeat(200)).is_err());
        assert!(line.write_str("more").is_err());
        line.start(0);
        assert!(line.write_str("short").is_ok());
        line.finish();
        assert!(line.bytes().ends_with(b"Z short\n"));
    }
}
