// SPDX-License-Identifier: Apache-2.0
//! The text of a configuration: lines, columns, and excerpts that are safe to show.
//!
//! Everything shown is bounded and free of control characters: a hostile or binary file can neither
//! flood the log nor drive the terminal.

use std::ops::Range;

use crate::error::{Position, Problem, ProblemKind};

/// The longest part of a line that is shown, in characters.
const LINE_CHARS: usize = 96;
/// What of that comes before the caret when a long line is cut.
const LEAD_CHARS: usize = 48;
/// The longest message, in characters.
const MESSAGE_CHARS: usize = 400;

/// A text with the name its errors carry.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Source<'a> {
    name: &'a str,
    text: &'a str,
}

impl<'a> Source<'a> {
    pub(crate) fn new(name: &'a str, text: &'a str) -> Self {
        Source { name, text }
    }

    /// A problem at `span` (bytes of the text), or of the text as a whole.
    pub(crate) fn problem(
        &self,
        kind: ProblemKind,
        span: Option<Range<usize>>,
        message: &str,
    ) -> Problem {
        let place = span.map(|span| self.place(span));
        Problem {
            kind,
            name: self.name.to_owned(),
            position: place.as_ref().map(|place| place.position),
            message: shorten(message, MESSAGE_CHARS),
            excerpt: place.map(|place| place.excerpt()).unwrap_or_default(),
        }
    }

    /// The number, name or the like that byte `offset` is in or at the end of.
    pub(crate) fn word_at(&self, offset: usize) -> &'a str {
        let part = |c: char| c.is_alphanumeric() || c == '.';
        let (before, after) = self.text.split_at(self.floor(offset));
        let start = before.trim_end_matches(part).len();
        let end = self.text.len() - after.trim_start_matches(part).len();
        &self.text[start..end]
    }

    fn place(&self, span: Range<usize>) -> Place<'a> {
        let start = self.floor(span.start);
        let end = self.floor(span.end.max(start));
        let line_start = self.text[..start].rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.text[line_start..].lines().next().unwrap_or_default();
        let line_end = line_start + line.len();
        let column = self.text[line_start..start].chars().count();
        let marked = self.text[start..end.min(line_end).max(start)].chars().count();
        Place {
            line,
            position: Position {
                line: self.text[..line_start].matches('\n').count() + 1,
                column: column + 1,
            },
            marked: marked.max(1),
        }
    }

    /// The nearest character boundary at or before `offset`.
    fn floor(&self, offset: usize) -> usize {
        self.text.floor_char_boundary(offset)
    }
}

/// A marked part of one line.
struct Place<'a> {
    line: &'a str,
    position: Position,
    /// Marked characters.
    marked: usize,
}

impl Place<'_> {
    fn excerpt(&self) -> String {
        let column = self.position.column - 1;
        let skipped = if self.line.chars().nth(LINE_CHARS).is_some() {
            column.saturating_sub(LEAD_CHARS)
        } else {
            0
        };
        let mut rest = self.line.chars().skip(skipped);
        let mut shown: String = rest.by_ref().take(LINE_CHARS).map(printable).collect();
        if rest.next().is_some() {
            shown.push('…');
        }
        if skipped > 0 {
            shown.insert(0, '…');
        }
        let before = column - skipped + usize::from(skipped > 0);
        let carets = self.marked.min(LINE_CHARS - (column - skipped).min(LINE_CHARS - 1));
        let number = self.position.line.to_string();
        let margin = " ".repeat(number.len());
        format!(
            "{margin} |\n{number} | {shown}\n{margin} | {}{}",
            " ".repeat(before),
            "^".repeat(carets),
        )
    }
}

/// One printed column for each character, so that carets stay below what they mark.
fn printable(c: char) -> char {
    if c == '\t' {
        ' '
    } else if invisible(c) {
        char::REPLACEMENT_CHARACTER
    } else {
        c
    }
}

/// True for what could drive a terminal or turn the direction of the text.
fn invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        || c == '\u{feff}'
}

/// `text` in quotes, escaped, and cut after `most` characters.
pub(crate) fn quoted(text: &str, most: usize) -> String {
    let mut out = String::from("\"");
    let mut chars = text.chars();
    for c in chars.by_ref().take(most) {
        if invisible(c) {
            out.extend(c.escape_default());
        } else if c == '"' || c == '\\' {
            out.push('\\');
            out.push(c);
        } else {
            out.push(c);
        }
    }
    out.push_str(if chars.next().is_some() { "…\"" } else { "\"" });
    out
}

/// `text` without line breaks and other controls, cut after `most` characters.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    let mut chars = text.chars();
    let mut out: String =
        chars.by_ref().take(most).map(|c| if c == '\n' { ' ' } else { printable(c) }).collect();
    if chars.next().is_some() {
        out.push('…');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problem(text: &str, span: Range<usize>) -> Problem {
        Source::new("f", text).problem(ProblemKind::Value, Some(span), "m")
    }

    fn shown(text: &str, span: Range<usize>) -> String {
        problem(text, span).to_string()
    }

    #[test]
    fn marks_the_span_on_its_line() {
        assert_eq!(
            shown("a = 1\r\nbé = 22\r\n", 13..15),
            "f:2:6: m\n  |\n2 | bé = 22\n  |      ^^"
        );
    }

    #[test]
    fn marks_only_the_first_line_of_a_long_span() {
        assert_eq!(shown("a = [\n1,\n2]", 4..11), "f:1:5: m\n  |\n1 | a = [\n  |     ^");
    }

    #[test]
    fn the_end_of_the_text_is_a_place() {
        assert_eq!(shown("a =", 3..3), "f:1:4: m\n  |\n1 | a =\n  |    ^");
        assert_eq!(shown("a\n", 2..2), "f:2:1: m\n  |\n2 | \n  | ^");
        assert_eq!(shown("", 0..0), "f:1:1: m\n  |\n1 | \n  | ^");
    }

    #[test]
    fn spans_beyond_the_text_or_inside_a_character_are_clamped() {
        assert_eq!(problem("é", 1..900).position, Some(Position { line: 1, column: 1 }));
        assert_eq!(problem("ab", 700..900).position, Some(Position { line: 1, column: 3 }));
    }

    #[test]
    fn words_are_found_from_anywhere_in_them() {
        let source = Source::new("f", "é = 1.5s # x");
        for (offset, word) in
            [(0, "é"), (1, "é"), (2, "é"), (3, ""), (5, "1.5s"), (9, "1.5s"), (99, "x")]
        {
            assert_eq!(source.word_at(offset), word, "{offset}");
        }
    }

    #[test]
    fn long_lines_are_cut_around_the_caret() {
        let text = format!("{}HERE{}", "x".repeat(500), "y".repeat(500));
        let lines: Vec<String> = shown(&text, 500..504).lines().map(str::to_owned).collect();
        assert_eq!(lines[0], "f:1:501: m");
        let caret = lines[3].chars().position(|c| c == '^').unwrap();
        let marked: String = lines[2].chars().skip(caret).take(4).collect();
        assert_eq!(marked, "HERE");
        assert_eq!(lines[3].matches('^').count(), 4);
        assert!(lines[2].starts_with("1 | …xxx") && lines[2].ends_with("yyy…"));
        assert!(lines[2].chars().count() < 110);
    }

    #[test]
    fn carets_end_where_a_cut_line_ends() {
        let text = "x".repeat(5_000);
        let caret_line = shown(&text, 10..5_000).lines().last().unwrap().to_owned();
        assert_eq!(caret_line.matches('^').count(), LINE_CHARS - 10);
    }

    #[test]
    fn controls_and_direction_marks_are_not_shown() {
        let text = shown("a\u{1b}[2J\u{202e}\tb", 0..1);
        assert!(text.contains("1 | a\u{fffd}[2J\u{fffd} b"), "{text}");
        assert_eq!(quoted("a\"\\\n\u{1b}é", 9), r#""a\"\\\n\u{1b}é""#);
        assert_eq!(shorten("a\nb\u{7}", 9), "a b\u{fffd}");
    }

    #[test]
    fn quotes_and_messages_are_bounded() {
        assert_eq!(quoted("abcdef", 3), "\"abc…\"");
        assert_eq!(quoted("abc", 3), "\"abc\"");
        assert_eq!(shorten("abcdef", 3), "abc…");
    }
}
