// SPDX-License-Identifier: Apache-2.0
//! Nothing unfinished is left behind: no marker without a reason in parentheses, no debug print.

use crate::finding::Finding;
use crate::scan::in_word;
use crate::workspace::{Source, Workspace};

const RULE: &str = "leftovers";
const MARKERS: [&str; 3] = ["TODO", "FIXME", "XXX"];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in &workspace.sources {
        findings.extend(markers(source));
        let debug =
            source.scan.words("dbg").filter(|at| source.scan.code[at + 3..].starts_with('!'));
        findings.extend(debug.map(|at| {
            Finding::error(&source.path, source.scan.line(at), RULE, "remove the `dbg!`")
        }));
    }
    findings
}

fn markers(source: &Source) -> Vec<Finding> {
    let mut findings = Vec::new();
    for comment in &source.scan.comments {
        let text = &source.text[comment.clone()];
        for marker in MARKERS {
            for (at, _) in text.match_indices(marker) {
                if is_word(text, at, marker.len()) && !has_reason(&text[at + marker.len()..]) {
                    let message = format!("do it, or say why not: `{marker}(reason)`");
                    let line = source.scan.line(comment.start + at);
                    findings.push(Finding::error(&source.path, line, RULE, message));
                }
            }
        }
    }
    findings
}

fn is_word(text: &str, at: usize, len: usize) -> bool {
    let bytes = text.as_bytes();
    !in_word(bytes[at - 1]) && bytes.get(at + len).is_none_or(|next| !in_word(*next))
}

/// Whether the text begins with something in parentheses.
fn has_reason(text: &str) -> bool {
    let inside = text.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    inside.is_some_and(|(reason, _)| !reason.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::example::{shown, sources};

    fn findings(text: &str) -> Vec<String> {
        shown(&check(&sources(&[("a.rs", text)])))
    }

    #[test]
    fn markers_need_a_reason() {
        assert_eq!(
            findings("// TODO: later\nfn a() {} /* FIXME() */\n/// a XXX b\n"),
            [
                "a.rs:1: leftovers: do it, or say why not: `TODO(reason)`",
                "a.rs:2: leftovers: do it, or say why not: `FIXME(reason)`",
                "a.rs:3: leftovers: do it, or say why not: `XXX(reason)`",
            ]
        );
        assert_eq!(
            findings("// TODO(needs mio 2): use it\n// XXXL TODOS xTODO\n\"TODO\"\n"),
            [""; 0]
        );
    }

    #[test]
    fn debug_prints_are_removed() {
        assert_eq!(findings("\nlet a = dbg!(b);\n"), ["a.rs:2: leftovers: remove the `dbg!`"]);
        assert_eq!(findings("// dbg!(b)\nmy_dbg!(c); dbg(d);\n"), [""; 0]);
    }
}
