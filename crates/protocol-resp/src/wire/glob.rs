// SPDX-License-Identifier: Apache-2.0
//! Redis's patterns: `*`, `?`, `[a-z]`, `[^a]`, `\x`.

/// Whether `text` matches `pattern`, as in KEYS, SCAN, PSUBSCRIBE.
///
/// An unterminated pattern is still valid: `[a` matches `a`, a final `\` matches itself. The time is at most
/// proportional to the product of both lengths.
///
/// ```
/// use protocol_resp::glob::matches;
///
/// assert!(matches(b"user:*:name", b"user:17:name"));
/// assert!(matches(b"h[^e]llo", b"hallo") && !matches(b"h[^e]llo", b"hello"));
/// assert!(matches(br"\*", b"*") && !matches(br"\*", b"x"));
/// ```
#[must_use]
pub fn matches(pattern: &[u8], text: &[u8]) -> bool {
    matches_with(pattern, text, false)
}

/// As [`matches()`], but with `ignore_case` upper and lower case letters are the same.
#[must_use]
pub fn matches_with(pattern: &[u8], text: &[u8], ignore_case: bool) -> bool {
    let (mut p, mut t) = (0, 0);
    // Where to continue after letting the last `*` match one more byte. Going back to earlier ones is
    // useless, because the last one can match whatever they could have.
    let mut retry: Option<(usize, usize)> = None;
    while t < text.len() {
        if pattern.get(p) == Some(&b'*') {
            p += 1;
            retry = Some((p, t));
            continue;
        }
        if let Some(next) = step(pattern, p, text[t], ignore_case) {
            p = next;
            t += 1;
            continue;
        }
        let Some((after, from)) = retry else { return false };
        (p, t) = (after, from + 1);
        retry = Some((after, from + 1));
    }
    pattern[p..].iter().all(|&byte| byte == b'*')
}

/// Where the pattern goes on if its element at `p` matches `byte`.
fn step(pattern: &[u8], p: usize, byte: u8, ignore_case: bool) -> Option<usize> {
    let same = |a: u8, b: u8| a == b || ignore_case && a.eq_ignore_ascii_case(&b);
    match *pattern.get(p)? {
        b'?' => Some(p + 1),
        b'[' => class(pattern, p + 1, byte, ignore_case),
        b'\\' if p + 1 < pattern.len() => same(pattern[p + 1], byte).then_some(p + 2),
        literal => same(literal, byte).then_some(p + 1),
    }
}

/// Matches a class, of which `p` is the first byte behind the bracket.
fn class(pattern: &[u8], mut p: usize, byte: u8, ignore_case: bool) -> Option<usize> {
    let fold = |byte: u8| if ignore_case { byte.to_ascii_lowercase() } else { byte };
    let byte = fold(byte);
    let negated = pattern.get(p) == Some(&b'^');
    p += usize::from(negated);
    let mut found = false;
    loop {
        match pattern.get(p..) {
            None | Some([]) => break,
            Some([b'\\', escaped, ..]) => {
                found |= fold(*escaped) == byte;
                p += 2;
            }
            Some([b']', ..]) => {
                p += 1;
                break;
            }
            Some([from, b'-', to, ..]) => {
                let (from, to) = (fold(*from.min(to)), fold(*from.max(to)));
                found |= (from..=to).contains(&byte);
                p += 3;
            }
            Some([one, ..]) => {
                found |= fold(*one) == byte;
                p += 1;
            }
        }
    }
    (found != negated).then_some(p)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_as_in_redis() {
        let cases: &[(&str, &str, bool)] = &[
            ("", "", true),
            ("", "a", false),
            ("*", "", true),
            ("**", "abc", true),
            ("a*c", "abbbc", true),
            ("a*c", "abbbd", false),
            ("*a*b*c", "xxaxxbxxc", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("[abc]", "b", true),
            ("[^abc]", "b", false),
            ("[a-c]x", "bx", true),
            ("[c-a]x", "bx", true),
            ("[a", "a", true),
            ("[]", "a", false),
            ("[^]", "a", true),
            (r"[\]]", "]", true),
            (r"\a", "a", true),
            (r"a\", r"a\", true),
            ("[a-", "-", true),
            ("foo*bar*", "foobazbar", true),
        ];
        for &(pattern, text, expected) in cases {
            assert_eq!(matches(pattern.as_bytes(), text.as_bytes()), expected, "{pattern} {text}");
        }
        assert!(matches_with(b"H[A-F]*", b"heLLO", true));
    }

    #[test]
    fn many_stars_take_no_exponential_time() {
        let pattern = "a*".repeat(50) + "b";
        assert!(!matches(pattern.as_bytes(), "a".repeat(500).as_bytes()));
    }
}
