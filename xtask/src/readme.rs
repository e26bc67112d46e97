// SPDX-License-Identifier: Apache-2.0
//! [`readme`]: the README of a package, made from the documentation of its crate, so that it is
//! written once.

use crate::workspace::{Package, Source, Workspace};

const DOC: &str = "//!";
const FOOT: &str = "Part of Shoebill: building blocks of cache servers, and servers made of them. Licence: Apache-2.0.";

/// The path and text of the README of each published package.
#[must_use]
pub fn readmes(workspace: &Workspace) -> Vec<(String, String)> {
    let published = workspace.packages.iter().filter(|package| package.published);
    let made = published.filter_map(|package| {
        let source = root(workspace, package)?;
        Some((format!("{}/README.md", package.folder), readme(package, &source.text)))
    });
    made.collect()
}

/// The root file of its library, or of its program if it has none.
fn root<'a>(workspace: &'a Workspace, package: &Package) -> Option<&'a Source> {
    let path = ["lib", "main"]
        .map(|name| format!("{}/src/{name}.rs", package.folder))
        .into_iter()
        .find(|path| package.roots.contains(path))?;
    workspace.sources.iter().find(|source| source.path == path)
}

/// The documentation at the head of a root file, as a page: no hidden lines of examples, and no
/// links to items, which lead nowhere outside of rustdoc.
fn readme(package: &Package, source: &str) -> String {
    let lines = source.lines().skip_while(|line| !line.starts_with(DOC));
    let docs = lines.map_while(|line| line.strip_prefix(DOC));
    let mut page = format!("# shoebill-{}\n\n", package.name);
    let mut in_code = false;
    for line in docs.map(|line| line.strip_prefix(' ').unwrap_or(line)) {
        if let Some(language) = line.strip_prefix("```") {
            in_code = !in_code;
            let rust = in_code && !["text", "console", "toml"].contains(&language);
            page.push_str(if rust { "```rust" } else { line });
        } else if in_code {
            if line == "#" || line.starts_with("# ") {
                continue;
            }
            page.push_str(line);
        } else if let Some(heading) = line.strip_prefix('#') {
            page.push_str("##");
            page.push_str(heading);
        } else {
            page.push_str(&without_item_links(line));
        }
        page.push('\n');
    }
    format!("{}\n\n{FOOT}\n", page.trim_end())
}

/// A line with the texts of its links to items in place of the links.
fn without_item_links(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, text, target, after)) = next_link(rest) {
        out.push_str(before);
        match target {
            Some(target) if target.contains('/') => {
                out.push_str(&format!("[{text}]({target})"));
            }
            _ => out.push_str(text),
        }
        rest = after;
    }
    out + rest
}

/// What is before the next link, its text, its target if it is written beside it, and the rest.
fn next_link(line: &str) -> Option<(&str, &str, Option<&str>, &str)> {
    let mut from = 0;
    loop {
        let start = from + line[from..].find('[')?;
        let end = start + line[start..].find(']')?;
        let (text, after) = (&line[start + 1..end], &line[end + 1..]);
        if let Some((target, after)) = after.strip_prefix('(').and_then(|rest| rest.split_once(')'))
        {
            return Some((&line[..start], text, Some(target), after));
        }
        let is_item = text.len() > 2 && text.starts_with('`') && text.ends_with('`');
        let is_quoted = line[..start].matches('`').count() % 2 == 1;
        if is_item && !is_quoted {
            return Some((&line[..start], text, None, after));
        }
        from = start + 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_readme_is_the_documentation_without_what_only_rustdoc_has() {
        let source = "// SPDX-License-Identifier: Apache-2.0\n\
                      //! A [`Pool`] that [lends](crate::Pool::lend) blocks, see [docs](../docs/a.md).\n\
                      //!\n\
                      //! # Use\n\
                      //!\n\
                      //! ```\n\
                      //! # use buffer::Pool;\n\
                      //! #\n\
                      //! #[derive(Debug)]\n\
                      //! struct S;\n\
                      //! ```\n\
                      //! ```text\n\
                      //! a `[`b`]` c\n\
                      //! ```\n\
                      #![forbid(unsafe_code)]\n\
                      //! not this\n";
        let package = Package { name: "buffer".into(), ..Package::default() };
        let page = "# shoebill-buffer\n\n\
                    A `Pool` that lends blocks, see [docs](../docs/a.md).\n\n\
                    ## Use\n\n\
                    ```rust\n\
                    #[derive(Debug)]\n\
                    struct S;\n\
                    ```\n\
                    ```text\n\
                    a `[`b`]` c\n\
                    ```\n\n";
        assert_eq!(readme(&package, source), format!("{page}{FOOT}\n"));
    }
}
