// SPDX-License-Identifier: Apache-2.0
//! A function fits a screen.

use crate::finding::Finding;
use crate::scan::{Scan, in_word};
use crate::workspace::Workspace;

const RULE: &str = "function-size";
const MOST_LINES: usize = 100;

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in &workspace.sources {
        for Function { name, line, lines } in functions(&source.scan) {
            if lines > MOST_LINES {
                let message =
                    format!("`{name}` has {lines} lines, at most {MOST_LINES}; split it by steps");
                findings.push(Finding::error(&source.path, line, RULE, message));
            }
        }
    }
    findings
}

#[derive(Debug, PartialEq)]
struct Function<'a> {
    name: &'a str,
    line: usize,
    /// From the line of the word `fn` to that of the last brace.
    lines: usize,
}

/// All functions that have a body, also those inside others.
fn functions(scan: &Scan) -> Vec<Function<'_>> {
    scan.words("fn").filter_map(|at| function(scan, at)).collect()
}

/// `None` for types such as `fn(u8)`, and for declarations.
fn function(scan: &Scan, at: usize) -> Option<Function<'_>> {
    let after = scan.code[at + 2..].trim_start();
    // In a macro the name may be a variable.
    let len = after.bytes().position(|byte| byte != b'$' && byte != b'#' && !in_word(byte))?;
    let name = &after[..len];
    if name.is_empty() {
        return None;
    }
    let signature = scan.code.len() - after.len() + len;
    let body = signature + body(&scan.code[signature..])?;
    let end = scan.block_end(body);
    let line = scan.line(at);
    Some(Function { name, line, lines: scan.line(end) - line + 1 })
}

/// Where the body begins in the text after the name: the first brace that is not in brackets of any
/// kind.
fn body(signature: &str) -> Option<usize> {
    let mut depth = 0_usize;
    let mut before = b' ';
    for (at, byte) in signature.bytes().enumerate() {
        match byte {
            b'{' if depth == 0 => return Some(at),
            b';' if depth == 0 => return None,
            b'(' | b'[' | b'<' | b'{' => depth += 1,
            // An arrow closes nothing.
            b'>' if before == b'-' || before == b'=' => {}
            b')' | b']' | b'>' | b'}' => depth = depth.checked_sub(1)?,
            _ => {}
        }
        before = byte;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::example::{shown, sources};

    fn sizes(text: &str) -> Vec<(String, usize, usize)> {
        let scan = Scan::new(text);
        let owned = |f: Function<'_>| (f.name.to_owned(), f.line, f.lines);
        functions(&scan).into_iter().map(owned).collect()
    }

    #[test]
    fn a_function_of_a_screen_is_fine_and_a_longer_one_is_not() {
        let text = |lines: usize| format!("\n    fn a() {{\n{}}}\n", "b();\n".repeat(lines - 2));
        let findings = |lines| shown(&check(&sources(&[("a.rs", &text(lines))])));
        assert_eq!(findings(100), [""; 0]);
        assert_eq!(
            findings(101),
            ["a.rs:2: function-size: `a` has 101 lines, at most 100; split it by steps"]
        );
    }

    #[test]
    fn braces_that_are_not_code_are_ignored() {
        let text = "fn a<'a>() {\n  \"}\"; '}'; b'{'; r#\"}\"#; // }\n  /* } */ 'x: loop {}\n}\n";
        assert_eq!(sizes(text), [("a".to_owned(), 1, 4)]);
    }

    #[test]
    fn inner_functions_count_for_themselves_too() {
        assert_eq!(
            sizes("fn a() {\n  fn b() {\n  }\n}\nfn c() {}"),
            [("a".to_owned(), 1, 4), ("b".to_owned(), 2, 2), ("c".to_owned(), 5, 1)]
        );
    }

    #[test]
    fn braces_and_arrows_of_signatures_are_not_bodies() {
        let text = "fn a<F: Fn(u8) -> u8>(f: [u8; { 1 }]) -> B<{ 2 }>\nwhere F: Fn() -> C {\n}";
        assert_eq!(sizes(text), [("a".to_owned(), 1, 3)]);
    }

    #[test]
    fn declarations_and_types_have_no_size() {
        assert!(
            sizes("trait A { fn a(&self) -> [u8; 3]; } type B = fn(u8); struct C(fn());")
                .is_empty()
        );
    }

    #[test]
    fn odd_names_are_names() {
        assert_eq!(
            sizes("fn $name() {}\nfn r#type() {}"),
            [("$name".to_owned(), 1, 1), ("r#type".to_owned(), 2, 1)]
        );
    }

    #[test]
    fn broken_code_is_no_panic() {
        for text in ["fn", "fn ", "fn a", "fn a(", "fn a)", "fn a() {", "fn a<{", "fn é() {"] {
            assert!(sizes(text).len() <= 1, "{text}");
        }
    }
}
