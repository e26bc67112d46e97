// SPDX-License-Identifier: Apache-2.0
//! A metric's name is as Prometheus wants it, and is declared once. Only metrics that labels tell apart may share a name across
//! declarations: `metrics::duplicates` finds those with the same labels or with different help.
//!
//! Metrics are declared by the macros of the crate `metrics`, `counters! { static GET: "shoebill_gets_total"; }` and
//! `counters! { "shoebill_commands_total" { static GET: command = "get"; } }` and the like. Tests are separate
//! processes and may declare any name.

use std::collections::BTreeMap;

use crate::finding::Finding;
use crate::workspace::{Source, Workspace};

const RULE: &str = "metric-names";
/// The macros, and whether what they declare only grows.
const MACROS: [(&str, bool); 8] = [
    ("counters", true),
    ("totals", true),
    ("total_families", true),
    ("gauges", false),
    ("levels", false),
    ("families", false),
    ("histograms", false),
    ("histogram_families", false),
];

/// What names begin with: ours, and those that the client libraries of Prometheus have for every process.
const PREFIXES: [&str; 2] = ["shoebill_", "process_"];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut first: BTreeMap<&str, (&str, usize, bool)> = BTreeMap::new();
    for source in workspace.sources.iter().filter(|source| !source.is_test()) {
        for Name { name, line, is_counter, has_labels } in names(source) {
            if !PREFIXES.iter().any(|prefix| name.starts_with(prefix)) {
                let message = format!("begin the metric name \"{name}\" with shoebill_");
                findings.push(Finding::error(&source.path, line, RULE, message));
            }
            if name.ends_with("_total") != is_counter {
                let message = format!("\"{name}\": _total is the end of counters' names alone");
                findings.push(Finding::error(&source.path, line, RULE, message));
            }
            if !is_snake_case(name) {
                let message = format!("write the metric name \"{name}\" in snake_case");
                findings.push(Finding::error(&source.path, line, RULE, message));
            }
            match first.get(name) {
                None => _ = first.insert(name, (&source.path, line, has_labels)),
                Some((_, _, true)) if has_labels => {}
                Some((path, other, _)) => {
                    let message =
                        format!("\"{name}\" is declared at {path}:{other} too; rename one");
                    findings.push(Finding::error(&source.path, line, RULE, message));
                }
            }
        }
    }
    findings
}

struct Name<'a> {
    name: &'a str,
    line: usize,
    is_counter: bool,
    has_labels: bool,
}

/// The names declared outside of test code: in a macro's braces the strings that follow a colon, and those that
/// stand before the braces of metrics that labels tell apart.
fn names(source: &Source) -> Vec<Name<'_>> {
    let scan = &source.scan;
    let tests = scan.test_code();
    let mut names = Vec::new();
    let uses = MACROS.iter().flat_map(|(name, is_counter)| {
        scan.words(name).map(move |at| (at + name.len(), *is_counter))
    });
    for (at, is_counter) in uses {
        let Some(rest) = scan.code[at..].trim_start().strip_prefix('!') else { continue };
        let rest = rest.trim_start();
        if !rest.starts_with('{') || tests.iter().any(|test| test.contains(&at)) {
            continue;
        }
        let open = scan.code.len() - rest.len();
        let block = open..scan.block_end(open);
        for string in scan.strings.iter().filter(|string| block.contains(&string.start)) {
            let rest = scan.code[string.end..].trim_start();
            let unit = rest.strip_prefix("in ").map(|rest| rest.trim_start_matches(is_of_word));
            let begins_block = unit.unwrap_or(rest).trim_start().starts_with('{');
            if begins_block || scan.code[..string.start].trim_end().ends_with(':') {
                let name = source.text[string.clone()].trim_matches('"');
                let (line, has_labels) = (scan.line(string.start), begins_block);
                names.push(Name { name, line, is_counter, has_labels });
            }
        }
    }
    names.sort_by_key(|name| name.line);
    names
}

fn is_of_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
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
                    pub static GET: \"shoebill_get_total\";\n\
                    #[doc = \"x\"]\n    static SET: \"shoebill_9_seconds_total\" in nanoseconds;\n\
                    /// Y.\n \"shoebill_y_total\" in milliseconds {\n static A: kind = \"a\";\n }\n\
                    }\ngauges! { static A: \"process_a\"; }\n\
                    families! { static B: \"shoebill_b\" by \"ttl\"; }\n\
                    total_families! {\n \"shoebill_c_total\" { static C: by \"x\", kind = \"c\"; } }\n";
        let workspace = sources(&[("a.rs", text)]);
        let found: Vec<&str> = names(&workspace.sources[0]).iter().map(|name| name.name).collect();
        assert_eq!(
            found,
            [
                "shoebill_get_total",
                "shoebill_9_seconds_total",
                "shoebill_y_total",
                "process_a",
                "shoebill_b",
                "shoebill_c_total"
            ]
        );
        assert_eq!(shown(&check(&workspace)), [""; 0]);
    }

    #[test]
    fn a_name_belongs_to_one_metric() {
        let workspace = sources(&[
            ("crates/a/src/lib.rs", "metrics::gauges! {\n    static GET: \"process_get\";\n}\n"),
            ("crates/b/src/lib.rs", "metrics::histograms! { static GET: \"process_get\"; }\n"),
        ]);
        assert_eq!(
            shown(&check(&workspace)),
            ["crates/b/src/lib.rs:1: metric-names: \"process_get\" is declared at \
              crates/a/src/lib.rs:2 too; rename one"]
        );
    }

    #[test]
    fn metrics_that_labels_tell_apart_may_share_a_name() {
        let labelled = "gauges! { \"process_get\" { static GET: kind = \"a\"; } }\n";
        let plain = "gauges! { static GET: \"process_get\"; }\n";
        assert_eq!(shown(&check(&sources(&[("a.rs", labelled), ("b.rs", labelled)]))), [""; 0]);
        assert_eq!(check(&sources(&[("a.rs", labelled), ("b.rs", plain)])).len(), 1);
        assert_eq!(check(&sources(&[("a.rs", plain), ("b.rs", labelled)])).len(), 1);
    }

    #[test]
    fn names_are_in_snake_case() {
        for name in ["shoebill_Get", "shoebill_getKey", "shoebill_get:key", "process_-"] {
            let text = format!("levels! {{ static A: \"{name}\"; }}");
            assert_eq!(
                shown(&check(&sources(&[("a.rs", &text)]))),
                [format!("a.rs:1: metric-names: write the metric name \"{name}\" in snake_case")]
            );
        }
    }

    #[test]
    fn names_begin_and_end_as_prometheus_wants_it() {
        for (text, problem) in [
            ("levels! { static A: \"a\"; }", "begin the metric name \"a\" with shoebill_"),
            (
                "levels! { static A: \"shoebill_a_total\"; }",
                "\"shoebill_a_total\": _total is the end of counters' names alone",
            ),
            (
                "totals! { \"shoebill_a\" { static A: kind = \"a\"; } }",
                "\"shoebill_a\": _total is the end of counters' names alone",
            ),
        ] {
            let expected = format!("a.rs:1: metric-names: {problem}");
            assert_eq!(shown(&check(&sources(&[("a.rs", text)]))), [expected]);
        }
    }

    #[test]
    fn tests_and_examples_in_comments_do_not_count() {
        let declared = "totals! { static A: \"shoebill_a_total\"; }\n";
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
