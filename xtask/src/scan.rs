// SPDX-License-Identifier: Apache-2.0
//! Telling Rust code from comments and literals.
//!
//! The scan is not a parser: it finds where comments, strings and characters begin and end, and
//! blanks them out. What is left has the same length and the same lines as the text, so an offset
//! into one is an offset into the other, and every brace in it is a real one.

use std::ops::Range;

/// A source text, taken apart.
#[derive(Debug, Clone, Default)]
pub struct Scan {
    /// The text with comments and literals replaced by spaces.
    pub code: String,
    /// Where the comments are, with their `//` or `/*`. Doc comments are comments too.
    pub comments: Vec<Range<usize>>,
    /// Where the string literals are, with their quotes.
    pub strings: Vec<Range<usize>>,
}

impl Scan {
    /// Takes `text` apart.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let bytes = text.as_bytes();
        let mut scan = Scan::default();
        let mut code = bytes.to_vec();
        let mut at = 0;
        while at < bytes.len() {
            let Some((kind, end)) = literal(bytes, at) else {
                at += 1;
                continue;
            };
            let end = end.min(bytes.len());
            for byte in &mut code[at..end] {
                if *byte != b'\n' {
                    *byte = b' ';
                }
            }
            match kind {
                Kind::Comment => scan.comments.push(at..end),
                Kind::String => scan.strings.push(at..end),
                Kind::Character => {}
            }
            at = end;
        }
        // Only whole characters are replaced, by ASCII.
        scan.code = String::from_utf8_lossy(&code).into_owned();
        scan
    }

    /// The offsets at which `word` is a whole word of the code.
    pub fn words<'a>(&'a self, word: &'a str) -> impl Iterator<Item = usize> + 'a {
        self.code.match_indices(word).map(|(at, _)| at).filter(move |at| {
            let bytes = self.code.as_bytes();
            let starts = *at == 0 || !in_word(bytes[at - 1]);
            let ends = bytes.get(at + word.len()).is_none_or(|next| !in_word(*next));
            starts && ends
        })
    }

    /// The end of the block whose `{` is at `open`: the offset behind its `}`, or of the end of the
    /// text.
    #[must_use]
    pub fn block_end(&self, open: usize) -> usize {
        let mut depth = 0_usize;
        for (at, byte) in self.code.bytes().enumerate().skip(open) {
            match byte {
                b'{' => depth += 1,
                b'}' => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return at + 1;
                    }
                }
                _ => {}
            }
        }
        self.code.len()
    }

    /// Where the modules and items under `#[cfg(test)]` are.
    #[must_use]
    pub fn test_code(&self) -> Vec<Range<usize>> {
        let attributes = self.code.match_indices("#[cfg(test)]");
        let end = |start: usize| match self.code[start..].find(['{', ';']) {
            Some(found) if self.code.as_bytes()[start + found] == b'{' => {
                self.block_end(start + found)
            }
            Some(found) => start + found,
            None => self.code.len(),
        };
        attributes.map(|(start, _)| start..end(start)).collect()
    }

    /// The line of `offset`, counted from 1.
    #[must_use]
    pub fn line(&self, offset: usize) -> usize {
        self.code.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
    }
}

/// True for bytes of identifiers.
pub(crate) fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

enum Kind {
    Comment,
    String,
    Character,
}

/// The comment or literal that begins at `at`, and its end.
fn literal(bytes: &[u8], at: usize) -> Option<(Kind, usize)> {
    let rest = &bytes[at..];
    match rest[0] {
        b'/' if rest.starts_with(b"//") => {
            let len = rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
            Some((Kind::Comment, at + len))
        }
        b'/' if rest.starts_with(b"/*") => Some((Kind::Comment, at + block_comment(rest))),
        b'"' => Some((Kind::String, at + quoted(rest, b'"'))),
        b'\'' if is_character(rest) => Some((Kind::Character, at + quoted(rest, b'\''))),
        b'r' | b'b' | b'c' if at == 0 || !in_word(bytes[at - 1]) => {
            prefixed(rest).map(|(kind, len)| (kind, at + len))
        }
        _ => None,
    }
}

/// A literal that begins with `r`, `b`, `c`, `br` or `cr`.
fn prefixed(rest: &[u8]) -> Option<(Kind, usize)> {
    let letters = if rest[0] != b'r' && rest.get(1) == Some(&b'r') { 2 } else { 1 };
    let after = &rest[letters..];
    if rest[letters - 1] == b'r' {
        let hashes = after.iter().take_while(|byte| **byte == b'#').count();
        // Without a quote it is a word, such as `r#type`.
        (after.get(hashes) == Some(&b'"')).then_some(())?;
        let mut end = vec![b'"'];
        end.resize(1 + hashes, b'#');
        let body = &after[hashes + 1..];
        let len = body.windows(end.len()).position(|window| window == end);
        return Some((
            Kind::String,
            len.map_or(rest.len(), |len| letters + hashes + 1 + len + end.len()),
        ));
    }
    match after.first() {
        Some(b'"') => Some((Kind::String, letters + quoted(after, b'"'))),
        Some(b'\'') if rest[0] == b'b' => Some((Kind::Character, letters + quoted(after, b'\''))),
        _ => None,
    }
}

/// True if the quote begins a character, false if it begins a lifetime or label.
fn is_character(rest: &[u8]) -> bool {
    match rest.get(1) {
        None => false,
        Some(b'\\') => true,
        Some(byte) => {
            let width = match byte {
                0xf0.. => 4,
                0xe0.. => 3,
                0xc0.. => 2,
                _ => 1,
            };
            rest.get(1 + width) == Some(&b'\'')
        }
    }
}

/// The length of a literal between two `quote`s, where a backslash hides the next byte.
fn quoted(rest: &[u8], quote: u8) -> usize {
    let mut at = 1;
    while at < rest.len() && rest[at] != quote {
        at += if rest[at] == b'\\' { 2 } else { 1 };
    }
    (at + 1).min(rest.len())
}

/// The length of a block comment; these nest.
fn block_comment(rest: &[u8]) -> usize {
    let mut depth = 0_usize;
    let mut at = 0;
    while at < rest.len() {
        if rest[at..].starts_with(b"/*") {
            depth += 1;
            at += 2;
        } else if rest[at..].starts_with(b"*/") {
            depth -= 1;
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The text with spaces where the scan sees no code.
    fn code(text: &str) -> String {
        let scan = Scan::new(text);
        assert_eq!(scan.code.len(), text.len(), "offsets must stay the same");
        scan.code
    }

    fn strings(text: &str) -> Vec<&str> {
        Scan::new(text).strings.into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn comments_are_blanked() {
        assert_eq!(code("a // { \"\nb"), "a       \nb");
        assert_eq!(code("a /* { /* } */ { */ b"), "a                   b");
        assert_eq!(code("a /* { \n } */ b"), "a      \n      b");
        assert_eq!(code("a /* never closed {"), "a                  ");
        assert_eq!(code("/// don't {\nfn a() {}"), "           \nfn a() {}");
    }

    #[test]
    fn strings_are_blanked() {
        assert_eq!(strings(r#"a("{ \" }", "\\", "")"#), [r#""{ \" }""#, r#""\\""#, "\"\""]);
        assert_eq!(
            strings(r###"r"\" r#"a"b"# br##"x"#y"## b"z" c"w" cr"v""###),
            [r#"r"\""#, r##"r#"a"b"#"##, r###"br##"x"#y"##"###, "b\"z\"", "c\"w\"", "cr\"v\"",]
        );
        assert_eq!(strings("\"// not a comment\" x"), ["\"// not a comment\""]);
        assert_eq!(strings("\"never closed \\"), ["\"never closed \\"]);
        assert_eq!(strings("r#\"never closed\""), ["r#\"never closed\""]);
        assert!(strings("r#type bar b c r").is_empty());
    }

    #[test]
    fn characters_are_blanked_and_lifetimes_are_not() {
        assert_eq!(
            code(r"a('{', '\'', '\\', b'}', b'\'', '\u{7b}')"),
            "a(   ,     ,     ,     ,      ,         )"
        );
        assert_eq!(code("'é' '∞' '🦀'"), " ".repeat("'é' '∞' '🦀'".len()));
        for lifetimes in
            ["fn a<'a>(b: &'a str) -> &'a str {}", "'outer: loop { break 'outer; }", "&'_ x"]
        {
            assert_eq!(code(lifetimes), lifetimes);
        }
        assert_eq!(code("'a' 'b: {"), "    'b: {");
    }

    #[test]
    fn words_are_whole_words_of_the_code() {
        let scan = Scan::new("unsafe unsafe_code // unsafe\n\"unsafe\" (unsafe)");
        assert_eq!(scan.words("unsafe").collect::<Vec<_>>(), [0, 39]);
        assert_eq!(scan.line(39), 2);
    }

    #[test]
    fn blocks_end_at_their_own_brace() {
        let text = "fn a() { if b { '}' } else { \"}\" } } fn c() {";
        let scan = Scan::new(text);
        assert_eq!(scan.block_end(7), 36);
        assert_eq!(scan.block_end(text.len() - 1), text.len());
    }

    #[test]
    fn test_code_is_found() {
        let text = "a; #[cfg(test)]\nmod tests { fn b() {} } c; #[cfg(test)] mod tests; d";
        let scan = Scan::new(text);
        let found: Vec<&str> = scan.test_code().into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["#[cfg(test)]\nmod tests { fn b() {} }", "#[cfg(test)] mod tests"]);
    }
}
