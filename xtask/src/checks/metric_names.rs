// SPDX-License-Identifier: Apache-2.0
//! A metric's name is in snake_case and belongs to one metric.
//!
//! Metrics are declared by the macros of the crate `metrics`: `counters! { static GET: "get"; }`
//! and the like. Tests are separate processes and may declare any name.

use std::collections::BTreeMap;

use crate::finding::Finding;
use crate::workspace::{Source, Workspace};

const RULE: &str = "metric-names";
const MACROS: [&str; 6] = ["counters", "gauges", "levels", "totals", "families", "histograms"];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut first: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
    for source in workspace.sources.iter().filter(|source| !source.is_test()) {
        for Name { name, line } in names(source) {
            if !is_snake_case(name) {
                let message = format!("write the metric name \"{name}\" in snake_case");
                findings.push(Finding::error(&source.path, line, RULE, message));
            }
            if let Some((path, other)) = first.get(name) {
                let message = format!("\"{name}\" is declared at {path}:{other} too; rename one");
                findings.push(Finding::error(&source.path, line, RULE, message));
            } else {
                first.insert(name, (&source.path, line));
            }
        }
    }
    findings
}

struct Name<'a> {
    name: &'a str,
    line: usize,
}

/// The names declared outside of test code: the strings that follow a colon in a macro's braces.
fn names(source: &Source) -> Vec<Name<'_>> {
    let scan = &source.scan;
    let tests = scan.test_code();
    let mut names = Vec::new();
    for at in MACROS.iter().flat_map(|name| scan.words(name).map(|at| at + name.len())) {
        let Some(rest) = scan.code[at..].trim_start().strip_prefix('!') else { continue };
        let rest = rest.trim_start();
        if !rest.starts_with('{') || tests.iter().any(|test| test.contains(&at)) {
            continue;
        }
        let open = scan.code.len() - rest.len();
        let block = open..scan.block_end(open);
        for string in scan.strings.iter().filter(|string| block.contains(&string.start)) {
            if scan.code[..string.start].trim_end().ends_with(':') {
                let name = source.text[string.clone()].trim_matches('"');
                names.push(Name { name, line: scan.line(string.start) });
            }
        }
    }
    names.sort_by_key(|name| name.line);
    names
}

fn is_snake_case(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::example::{shown, sources};

    #[test]
    fn unique_names_in_snake_case_are_fine() {
        let text = "metrics::counters! {\n    /// Requests: \"get\".\n\
                    pub static GET: \"get\";\n\
                    #[doc = \"x\"]\n    static SET: \"set_99\";\n}\ngauges! { static A: \"a\"; }\n\
                    families! { static B: \"b\" by \"ttl\"; }\n";
        let workspace = sources(&[("a.rs", text)]);
        let found: Vec<&str> = names(&workspace.sources[0]).iter().map(|name| name.name).collect();
        assert_eq!(found, ["get", "set_99", "a", "b"]);
        assert_eq!(shown(&check(&workspace)), [""; 0]);
    }

    #[test]
    fn a_name_belongs_to_one_metric() {
        let workspace = sources(&[
            ("crates/a/src/lib.rs", "metrics::counters! {\n    static GET: \"get\";\n}\n"),
            ("crates/b/src/lib.rs", "metrics::histograms! { static GET: \"get\"; }\n"),
        ]);
        assert_eq!(
            shown(&check(&workspace)),
            ["crates/b/src/lib.rs:1: metric-names: \"get\" is declared at \
              crates/a/src/lib.rs:2 too; rename one"]
        );
    }

    #[test]
    fn names_are_in_snake_case() {
        for name in ["Get", "getKey", "get:key", "9p", "_x", ""] {
            let text = format!("levels! {{ static A: \"{name}\"; }}");
            assert_eq!(
                shown(&check(&sources(&[("a.rs", &text)]))),
                [format!("a.rs:1: metric-names: write the metric name \"{name}\" in snake_case")]
            );
        }
    }

    #[test]
    fn tests_and_examples_in_comments_do_not_count() {
        let declared = "totals! { static A: \"a\"; }\n";
        let workspace = sources(&[
            ("crates/a/src/lib.rs", declared),
            ("crates/a/tests/a.rs", declared),
            ("crates/a/src/b/tests.rs", declared),
            (
                "crates/a/src/c.rs",
                &format!("#[cfg(test)]\nmod tests {{ {declared} }}\n/// {declared}"),
            ),
            ("crates/a/src/d.rs", "macro_rules! totals { ($a:tt) => {}; }"),
        ]);
        assert_eq!(shown(&check(&workspace)), [""; 0]);
    }
}
