// SPDX-License-Identifier: Apache-2.0
//! A name that a document gives beside a link to a Rust file is defined in that file.
//!
//! The check knows three forms: the name is the text of the link, `` [`turn`](turn.rs) ``; names follow the
//! link, `` [turn.rs](turn.rs), `turn` and `fill` ``; the name comes before it, `` `turn` in [turn.rs](turn.rs) ``.
//! Code that is not a name, such as a command or a file, is ignored, and so is the name of the file's crate.

use std::ops::Range;

use super::links;
use crate::finding::Finding;
use crate::scan::in_word;
use crate::workspace::{Document, Source, Workspace};

const RULE: &str = "mentions";
/// The separators between a link and the names after it, and between these names.
const BEHIND: [&str; 3] = [", and ", ", ", " and "];
/// The separators between a name and the link to its file.
const BEFORE: [&str; 3] = [" in ", " of ", " ("];
/// Words that a definition begins with.
const DEFINES: [&str; 10] =
    ["fn", "struct", "enum", "union", "trait", "type", "const", "static", "mod", "macro_rules!"];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    workspace.documents.iter().flat_map(|document| missing(document, workspace)).collect()
}

fn missing(document: &Document, workspace: &Workspace) -> Vec<Finding> {
    let text = Text::new(&document.text);
    let folder = document.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut findings = Vec::new();
    for link in text.links() {
        let Some(path) = links::resolve(folder, &link.file) else { continue };
        let Some(source) = workspace.sources.iter().find(|source| source.path == path) else {
            continue;
        };
        for span in text.names_at(&link) {
            let name = text.inside(&span);
            if is_name(name) && !is_defined(source, name) {
                let line = document.text[..span.start].matches('\n').count() + 1;
                let message = format!("`{name}` is not defined in `{path}`");
                findings.push(Finding::error(&document.path, line, RULE, message));
            }
        }
    }
    findings
}

/// A document, with the places of its code.
struct Text {
    /// The text with blanks in place of fenced blocks and line ends.
    flat: String,
    /// Code between backticks, with these.
    spans: Vec<Range<usize>>,
}

/// A link to a Rust file.
struct Link {
    file: String,
    /// From `[` to `)`.
    whole: Range<usize>,
    /// What is between `[` and `]`.
    text: Range<usize>,
}

impl Text {
    fn new(text: &str) -> Self {
        let flat = flattened(text);
        let mut spans: Vec<Range<usize>> = Vec::new();
        let mut at = 0;
        while let Some(start) = flat[at..].find('`').map(|found| at + found) {
            let ticks = flat[start..].bytes().take_while(|byte| *byte == b'`').count();
            let inside = start + ticks;
            at = match flat[inside..].find(&flat[start..inside]) {
                Some(len) => {
                    spans.push(start..inside + len + ticks);
                    inside + len + ticks
                }
                None => inside,
            };
        }
        Text { flat, spans }
    }

    /// The text between the backticks of a span.
    fn inside(&self, span: &Range<usize>) -> &str {
        self.flat[span.clone()].trim_matches('`').trim()
    }

    fn is_code(&self, at: usize) -> bool {
        self.spans.iter().any(|span| span.contains(&at))
    }

    fn links(&self) -> Vec<Link> {
        let ends = self.flat.match_indices("](").map(|(at, _)| at).filter(|at| !self.is_code(*at));
        let link = |at: usize| {
            let target = links::target(&self.flat[at + 2..])?;
            let file = target.split('#').next().unwrap_or_default();
            let mut opens = self.flat[..at].rmatch_indices('[').map(|(open, _)| open);
            let open = opens.find(|open| !self.is_code(*open))?;
            let whole = open..at + 2 + target.len() + 1;
            file.ends_with(".rs").then(|| Link { file: file.into(), whole, text: open + 1..at })
        };
        ends.filter_map(link).collect()
    }

    /// The spans that name something in the file of a link.
    fn names_at(&self, link: &Link) -> Vec<Range<usize>> {
        let of_text = self.spans.iter().filter(|span| link.text.contains(&span.start));
        let mut names: Vec<Range<usize>> = of_text.cloned().collect();
        let before = |span: &&Range<usize>| {
            span.end < link.whole.start && BEFORE.contains(&&self.flat[span.end..link.whole.start])
        };
        names.extend(self.spans.iter().rev().find(before).cloned());
        let mut at = link.whole.end;
        // The first comes behind a comma: anything else begins another thought.
        while let Some(span) = self.behind(at, if at == link.whole.end { 2 } else { 3 }) {
            at = span.end;
            names.push(span);
        }
        names
    }

    /// The span that follows one of the first `ways` of going on with a list.
    fn behind(&self, at: usize, ways: usize) -> Option<Range<usize>> {
        let rest = &self.flat[at..];
        let comma = BEHIND[..ways].iter().find(|comma| rest.starts_with(**comma))?;
        self.spans.iter().find(|span| span.start == at + comma.len()).cloned()
    }
}

/// The text with blanks in place of fenced blocks and line ends; no offset changes.
fn flattened(text: &str) -> String {
    let mut flat = String::new();
    let mut fence: Option<&str> = None;
    for line in text.split_inclusive('\n') {
        let start = line.trim_start();
        let is_code = fence.is_some();
        match fence {
            Some(open) if start.starts_with(open) => fence = None,
            Some(_) => {}
            None => fence = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark)),
        }
        if is_code || fence.is_some() {
            flat.push_str(&" ".repeat(line.len()));
        } else {
            flat.push_str(&line.replace('\n', " "));
        }
    }
    flat
}

/// True for identifiers and paths of them, also with `()`, `!` or type parameters behind.
fn is_name(text: &str) -> bool {
    let bare = bare(text);
    !bare.is_empty()
        && bare.split("::").all(|word| {
            word.bytes().all(in_word) && word.starts_with(|c: char| c.is_alphabetic() || c == '_')
        })
}

fn bare(text: &str) -> &str {
    let end = text.find(['<', '(', '!']).unwrap_or(text.len());
    &text[..end]
}

/// Whether the last word of the path `name` is defined in the file, or is the name of its crate.
fn is_defined(source: &Source, name: &str) -> bool {
    let word = bare(name).rsplit("::").next().unwrap_or_default();
    let of_path = |part: &str| part.trim_end_matches(".rs").replace('-', "_") == word;
    source.path.split('/').any(of_path)
        || source.scan.words(word).any(|at| defines(&source.scan.code, at, word))
}

/// Whether the word of the code at `at` is being defined: by a keyword, or as a field, a variant or an entry of
/// a list, which begins its line.
fn defines(code: &str, at: usize, word: &str) -> bool {
    let before = code[..at].trim_end();
    if DEFINES.iter().any(|keyword| before.ends_with(keyword)) {
        return true;
    }
    let line = code[..at].rsplit('\n').next().unwrap_or_default().trim();
    let is_first = line.is_empty() || line == "pub" || line == "pub(crate)" || line == "pub(super)";
    let behind = code[at + word.len()..].trim_start();
    let is_variant = word.starts_with(char::is_uppercase) && behind.starts_with('(');
    let is_entry = behind.starts_with([',', '{', '}', '=']);
    let is_field = behind.starts_with(':') && !behind.starts_with("::");
    is_first && (is_variant || is_entry || is_field)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::example::{shown, sources};

    const CODE: &str = "//! gone\npub fn turn<P>() {\n    called(1);\n}\npub(crate) struct Limits {\n\
                        \x20   pub high_water: usize,\n}\nenum Turn {\n    Yield(u8),\n    Close,\n}\nconst BATCH: usize = 1;\n";

    /// The findings for a document in `docs`, beside a workspace of one file.
    fn findings(text: &str) -> Vec<String> {
        let mut workspace = sources(&[("crates/a-b/src/turn.rs", CODE)]);
        workspace.documents.push(Document { path: "docs/a.md".into(), text: text.into() });
        shown(&check(&workspace))
    }

    #[test]
    fn what_is_defined_may_be_named() {
        for text in [
            "[`turn`](../crates/a-b/src/turn.rs) and [`Turn::Yield`, `BATCH`](../crates/a-b/src/turn.rs#x)",
            "[turn.rs](../crates/a-b/src/turn.rs), `turn()`, `Limits` and\n`high_water`; `gone`",
            "`gone`, and `turn` in [turn.rs](../crates/a-b/src/turn.rs) has `gone`",
            "[`a_b`](../crates/a-b/src/turn.rs), `--flag` or `gone`",
            "```\n[`gone`](../crates/a-b/src/turn.rs)\n```\n`[x](../crates/a-b/src/turn.rs), gone`",
            "[`gone`](other.rs) [`gone`](https://example.org/x.rs)",
        ] {
            assert_eq!(findings(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn what_is_not_may_not() {
        let link = "(../crates/a-b/src/turn.rs)";
        for text in [
            format!("[`gone`]{link}"),
            format!("[x, `Turn::gone`]{link}"),
            format!("[turn.rs]{link}, `turn`, and\n`gone`"),
            format!("`gone` in [turn.rs]{link}"),
            format!("`gone` ([turn.rs]{link})"),
        ] {
            assert_eq!(findings(&text).len(), 1, "{text}");
        }
        assert_eq!(
            findings(&format!("\n[turn.rs]{link}, `called`")),
            ["docs/a.md:2: mentions: `called` is not defined in `crates/a-b/src/turn.rs`"]
        );
    }
}
