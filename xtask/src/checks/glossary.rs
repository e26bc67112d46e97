// SPDX-License-Identifier: Apache-2.0
//! The glossary says each word once, with one meaning.

use std::collections::BTreeMap;

use crate::finding::Finding;
use crate::workspace::{Document, Workspace};

const RULE: &str = "glossary";
const PATH: &str = "docs/glossary.md";
/// How a second meaning begins.
const SECOND: [&str; 3] = ["; of ", "; in ", "; also "];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    workspace.documents.iter().filter(|document| document.path == PATH).flat_map(breaches).collect()
}

fn breaches(document: &Document) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    for (index, row) in document.text.lines().enumerate() {
        let line = index + 1;
        let cells: Vec<&str> = row.split(" | ").map(|cell| cell.trim_matches(['|', ' '])).collect();
        let &[words, meaning, _] = &cells[..] else { continue };
        if !row.starts_with("| ") || words == "word" {
            continue;
        }
        for word in words.split(", ").map(str::to_lowercase) {
            if let Some(other) = first.insert(word.clone(), line) {
                let message = format!("\"{word}\" stands at line {other} too");
                findings.push(Finding::error(&document.path, line, RULE, message));
            }
        }
        if SECOND.iter().any(|begin| meaning.contains(begin)) {
            let message = format!("\"{words}\" has two meanings: find another word for one");
            findings.push(Finding::error(&document.path, line, RULE, message));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::example::shown;

    fn findings(rows: &str) -> Vec<String> {
        let text = format!("# Glossary\n\n| word | meaning | where |\n|---|---|---|\n{rows}");
        shown(&breaches(&Document { path: PATH.into(), text }))
    }

    #[test]
    fn one_word_one_meaning() {
        assert_eq!(
            findings("| fill, flush | to read; to write | [a](a.rs) |\n| pool | a stock | |\n"),
            [""; 0]
        );
        assert_eq!(findings("| pool | a | x |\n| Pool | b | x |\n").len(), 1);
        assert_eq!(findings("| fill, pool | a | x |\n| pool, flush | b | x |\n").len(), 1);
        for second in ["of metrics: b", "in `storage-seg` b", "also b"] {
            assert_eq!(findings(&format!("| block | of memory: a; {second} | x |\n")).len(), 1);
        }
    }
}
