// SPDX-License-Identifier: Apache-2.0
//! The glossary says each word once, with one meaning, and has each word that the documentation of code introduces.
//!
//! A word is introduced in italics, `*so*`, in a doc comment. Other italics are [`EMPHASIS`].

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::Finding;
use crate::workspace::{Document, Source, Workspace};

const RULE: &str = "glossary";
const PATH: &str = "docs/glossary.md";
/// How a second meaning begins.
const SECOND: [&str; 3] = ["; of ", "; in ", "; also "];

/// Italics that stress a word which everybody knows.
const EMPHASIS: [&str; 2] = ["at a rank", "other"];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let Some(glossary) = workspace.documents.iter().find(|document| document.path == PATH) else {
        return Vec::new();
    };
    let known: BTreeSet<String> = rows(glossary).flat_map(|(_, words, _)| words).collect();
    let of_code = workspace.sources.iter().filter(|source| !source.is_test());
    breaches(glossary)
        .into_iter()
        .chain(of_code.flat_map(|source| unknown(source, &known)))
        .collect()
}

/// The rows: the line, the words in lower case, and the meaning.
fn rows(document: &Document) -> impl Iterator<Item = (usize, Vec<String>, &str)> {
    document.text.lines().enumerate().filter_map(|(index, row)| {
        let cells: Vec<&str> = row.split(" | ").map(|cell| cell.trim_matches(['|', ' '])).collect();
        let &[words, meaning, _] = &cells[..] else { return None };
        let is_word = row.starts_with("| ") && words != "word";
        is_word.then(|| (index + 1, words.split(", ").map(str::to_lowercase).collect(), meaning))
    })
}

/// The words that a file introduces and the glossary has not.
fn unknown(source: &Source, known: &BTreeSet<String>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for comment in &source.scan.comments {
        let text = &source.text[comment.clone()];
        if !text.starts_with("//!") && !text.starts_with("///") {
            continue;
        }
        for word in italics(text).filter(|word| !known.contains(*word) && !EMPHASIS.contains(word))
        {
            let message = format!(
                "\"{word}\" is introduced here and is not in {PATH}: add it, or use the field's word"
            );
            findings.push(Finding::error(
                &source.path,
                source.scan.line(comment.start),
                RULE,
                message,
            ));
        }
    }
    findings
}

/// What stands between single asterisks, outside of code: words of small letters.
fn italics(comment: &str) -> impl Iterator<Item = &str> {
    let prose = comment.split('`').step_by(2);
    let between = prose.flat_map(|prose| prose.split('*').skip(1).step_by(2));
    between.filter(|word| {
        let letters = |c: char| c.is_ascii_lowercase() || c == ' ' || c == '-';
        word.len() > 1 && word.chars().all(letters) && word.trim() == *word
    })
}

fn breaches(document: &Document) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut first: BTreeMap<String, usize> = BTreeMap::new();
    for (line, words, meaning) in rows(document) {
        for word in &words {
            if let Some(other) = first.insert(word.clone(), line) {
                let message = format!("\"{word}\" stands at line {other} too");
                findings.push(Finding::error(&document.path, line, RULE, message));
            }
        }
        if SECOND.iter().any(|begin| meaning.contains(begin)) {
            let words = words.join(", ");
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
    fn what_is_introduced_is_in_the_glossary() {
        let known = BTreeSet::from(["home bucket".to_owned()]);
        let found = |text: &str| unknown(&Source::new("crates/a/src/x.rs", text), &known);
        assert_eq!(
            shown(&found("/// Its *home bucket*, **not** `a * b * c`, *Shared*.\nfn f() {}\n")),
            [""; 0]
        );
        assert_eq!(
            shown(&found("// A *gadget*.\nlet x = a *b* c;\n")),
            [""; 0],
            "no documentation"
        );
        assert_eq!(
            shown(&found("\n//! * a list\n//! Each has a *gadget*.\n")),
            [
                "crates/a/src/x.rs:3: glossary: \"gadget\" is introduced here and is not in docs/glossary.md: \
              add it, or use the field's word"
            ]
        );
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
