// SPDX-License-Identifier: Apache-2.0
//! The bound on nesting.
//!
//! The parser bounds nested brackets and the parts of a dotted key separately. Together they can
//! reach thousands of levels, enough to overflow the stack when the tree is dropped. So the text is
//! checked before it is parsed. A table's header and its content are counted separately, so a tree has at
//! most twice [`MAX_DEPTH`] levels; [`crate::de`] accepts [`MAX_DEPTH`].

use std::ops::Range;

use toml_parser::Source;
use toml_parser::lexer::TokenKind;

/// The most levels of tables and arrays.
pub(crate) const MAX_DEPTH: usize = 32;

/// Where the text first goes deeper than [`MAX_DEPTH`], in bytes.
pub(crate) fn too_deep(text: &str) -> Option<Range<usize>> {
    // Levels added by the line, and then by each open bracket: itself and the dots of its current
    // key.
    let mut line = 0;
    let mut brackets: Vec<usize> = Vec::new();
    let mut depth = 0;
    for token in Source::new(text).lex() {
        let innermost = brackets.last_mut().unwrap_or(&mut line);
        match token.kind() {
            TokenKind::Dot => {
                *innermost += 1;
                depth += 1;
            }
            TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket => {
                brackets.push(1);
                depth += 1;
            }
            TokenKind::RightSquareBracket | TokenKind::RightCurlyBracket => {
                depth -= brackets.pop().unwrap_or(0);
            }
            TokenKind::Comma => {
                let key = innermost.saturating_sub(1);
                *innermost -= key;
                depth -= key;
            }
            TokenKind::Newline if brackets.is_empty() => {
                line = 0;
                depth = 0;
            }
            _ => {}
        }
        if depth > MAX_DEPTH {
            return Some(token.span().start()..token.span().end());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_brackets_and_dotted_keys_together() {
        let dotted = |levels: usize| vec!["a"; levels].join(".");
        let nested = format!("{} = {{ {} = 1 }}", dotted(16), dotted(17));
        assert_eq!(too_deep(&nested), None);
        let nested = format!("{} = {{ {} = 1 }}", dotted(17), dotted(17));
        assert_eq!(too_deep(&nested), Some(69..70));
        assert_eq!(too_deep(&format!("a = {}", "[".repeat(32))), None);
        assert_eq!(too_deep(&format!("a = {}", "[".repeat(33))), Some(36..37));
    }

    #[test]
    fn long_texts_are_not_deep() {
        for line in
            ["a.b.c = 1.5\n", "[a.b.c]\n", "[[a]]\nb = [1.5, 2.5]\n", "# . [ {\n", "a = ']'\n"]
        {
            assert_eq!(too_deep(&line.repeat(1000)), None, "{line}");
        }
        assert_eq!(
            too_deep(&format!("a = [{}]", "1.5,\n{ a.b = 1, c.d = [] },\n".repeat(1000))),
            None
        );
        assert_eq!(too_deep(&format!("a = '{}'", ".[{".repeat(1000))), None);
        assert_eq!(too_deep(&"]".repeat(1000)), None);
    }
}
