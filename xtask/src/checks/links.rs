// SPDX-License-Identifier: Apache-2.0
//! A relative link in a document leads to a file of the workspace, and to a heading of it if it says which.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::anchors::anchors;
use crate::finding::Finding;
use crate::workspace::{Document, Workspace};

const RULE: &str = "links";

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let documents = workspace.documents.iter();
    let headings: Headings<'_> = documents.map(|it| (&*it.path, anchors(&it.text))).collect();
    let exists = |path: &str| workspace.root.join(path).exists();
    let documents = workspace.documents.iter();
    documents.flat_map(|document| broken(document, &headings, &exists)).collect()
}

/// The anchors of each document, by its path.
type Headings<'a> = BTreeMap<&'a str, BTreeSet<String>>;

fn broken(
    document: &Document,
    headings: &Headings<'_>,
    exists: &dyn Fn(&str) -> bool,
) -> Vec<Finding> {
    let folder = document.path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let mut findings = Vec::new();
    for Link { target, line } in links(&document.text) {
        if is_elsewhere(&target) {
            continue;
        }
        let (file, anchor) = target.split_once('#').unwrap_or((&target, ""));
        let file = file.split('?').next().unwrap_or_default();
        let path = match file {
            "" => Some(document.path.clone()),
            file => resolve(folder, &decode(file)),
        };
        let message = match path {
            None => format!("`{target}` leads out of the workspace"),
            Some(path) => {
                let lacks = |anchors: &BTreeSet<String>| !anchors.contains(&decode(anchor));
                if !file.is_empty() && !exists(&path) {
                    format!("`{target}` leads to `{path}`, which does not exist")
                } else if !anchor.is_empty() && headings.get(&*path).is_some_and(lacks) {
                    format!("`{target}`: `{path}` has no such heading")
                } else {
                    continue;
                }
            }
        };
        findings.push(Finding::error(&document.path, line, RULE, message));
    }
    findings
}

#[derive(Debug)]
struct Link {
    target: String,
    line: usize,
}

/// All targets of `[text](target)` and `[name]: target` outside of code.
fn links(text: &str) -> Vec<Link> {
    let mut links = Vec::new();
    for (index, line) in prose(text) {
        let targets = inline(line).into_iter().chain(definition(line.trim_start()));
        links.extend(targets.map(|target| Link { target, line: index + 1 }));
    }
    links
}

/// The lines outside of blocks of code, with their places among all lines.
pub(super) fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<&str> = None;
    text.lines().enumerate().filter(move |(_, line)| {
        let start = line.trim_start();
        if let Some(open) = fence {
            if start.starts_with(open) {
                fence = None;
            }
            return false;
        }
        fence = ["```", "~~~"].into_iter().find(|mark| start.starts_with(mark));
        fence.is_none()
    })
}

/// The targets of `](target)`, also in pictures.
fn inline(line: &str) -> Vec<String> {
    let line = without_code(line);
    line.match_indices("](").filter_map(|(at, mark)| target(&line[at + mark.len()..])).collect()
}

/// The target that the text begins with, up to its parenthesis or title.
pub(super) fn target(text: &str) -> Option<String> {
    if let Some(rest) = text.strip_prefix('<') {
        return rest.split_once('>').map(|(target, _)| target.to_owned());
    }
    let mut depth = 0_usize;
    for (at, c) in text.char_indices() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(text[..at].to_owned()),
            ')' => depth -= 1,
            ' ' | '\t' => return Some(text[..at].to_owned()),
            _ => {}
        }
    }
    None
}

/// The target of `[name]: target`.
fn definition(line: &str) -> Option<String> {
    let (name, rest) = line.strip_prefix('[')?.split_once("]:")?;
    let is_name = !name.is_empty() && !name.starts_with('^') && !name.contains(['[', ']']);
    let target = rest.split_whitespace().next()?.trim_matches(['<', '>']);
    is_name.then(|| target.to_owned())
}

/// The line with spaces instead of code between backticks.
fn without_code(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let after = &rest[start..];
        let ticks = after.len() - after.trim_start_matches('`').len();
        let mark = &after[..ticks];
        out.push_str(&rest[..start]);
        match after[ticks..].find(mark) {
            Some(len) => {
                let end = ticks + len + ticks;
                out.push_str(&" ".repeat(end));
                rest = &after[end..];
            }
            None => {
                out.push_str(mark);
                rest = &after[ticks..];
            }
        }
    }
    out + rest
}

/// True for addresses outside of this workspace.
fn is_elsewhere(target: &str) -> bool {
    let scheme = target.split_once(':').map_or("", |(scheme, _)| scheme);
    let is_scheme =
        scheme.len() > 1 && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'+');
    is_scheme || target.starts_with("//")
}

/// The path from the root of the workspace; `None` if it leads out of it.
pub(super) fn resolve(folder: &str, file: &str) -> Option<String> {
    if Path::new(file).is_absolute() {
        return None;
    }
    let mut parts: Vec<&str> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in file.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Resolves `%20` and the like.
fn decode(target: &str) -> String {
    let mut parts = target.split('%');
    let mut out = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let code = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code {
            Some(byte) => {
                out.push(byte);
                out.extend_from_slice(&part.as_bytes()[2..]);
            }
            None => {
                out.push(b'%');
                out.extend_from_slice(part.as_bytes());
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::example::shown;

    /// The findings for a document in `docs`, in a workspace of a few files.
    fn findings(text: &str) -> Vec<String> {
        let exists = |path: &str| {
            ["README.md", "docs/limits.md", "docs/a b.md", "docs/dev", "docs/x(1).md"]
                .contains(&path)
        };
        let headings = [("docs/a.md", anchors(text)), ("docs/limits.md", anchors("# Memory\n"))];
        let document = Document { path: "docs/a.md".into(), text: text.into() };
        shown(&broken(&document, &headings.into(), &exists))
    }

    #[test]
    fn links_to_files_and_elsewhere_are_fine() {
        for text in [
            "[a](limits.md) and [b](./limits.md#memory), ![c](../README.md)",
            "[a](<a b.md>) [b](a%20b.md) [c](dev/) [d](x(1).md) [e](limits.md \"title\")",
            "[a](#here) [b](../README.md#unknown) [c](a%20b.md#x)\n# Here",
            "[b](https://example.org/x.md) [c](mailto:a@b.c) [d](//host/x)",
            "[a]: limits.md\n[b]: <../README.md> 'title'\n[^1]: gone.md",
            "`[a](gone.md)` and ``[a](`gone.md)``",
            "```\n[a](gone.md)\n```\n~~~ text\n[a](gone.md)\n```\n~~~",
            "[1]() a[2](b",
        ] {
            assert_eq!(findings(text), [""; 0], "{text}");
        }
    }

    #[test]
    fn links_to_nothing_are_not() {
        assert_eq!(
            findings("\n[a](gone.md#x) [b](/etc/passwd)\n[c]: dev/gone.md\n[d](../../x.md)"),
            [
                "docs/a.md:2: links: `gone.md#x` leads to `docs/gone.md`, which does not exist",
                "docs/a.md:2: links: `/etc/passwd` leads out of the workspace",
                "docs/a.md:3: links: `dev/gone.md` leads to `docs/dev/gone.md`, \
                 which does not exist",
                "docs/a.md:4: links: `../../x.md` leads out of the workspace",
            ]
        );
    }

    #[test]
    fn links_to_headings_that_are_not_there_are_found() {
        assert_eq!(
            findings("[a](#gone)\n[b](limits.md#memory-1) [c](limits.md#memory)\n# Here"),
            [
                "docs/a.md:1: links: `#gone`: `docs/a.md` has no such heading",
                "docs/a.md:2: links: `limits.md#memory-1`: `docs/limits.md` has no such heading",
            ]
        );
    }

    #[test]
    fn links_after_code_are_found() {
        assert_eq!(findings("```\n```\n`a` [b](gone.md) ` [c](gone.md)").len(), 2);
    }

    #[test]
    fn odd_percent_signs_are_kept() {
        assert_eq!(decode("a%20b%zz%c3%a9%"), "a b%zzé%");
    }
}
