// SPDX-License-Identifier: Apache-2.0
//! A type's name has one meaning: it is defined in two crates at most.
//!
//! The check counts structs, enums, unions, traits and type aliases that are visible in their whole crate,
//! without tests. Programs that measure and check (`benches`, `xtask`) and `test-support` do not count, because
//! they are not read together with the rest.
//! Names that more crates define are listed in [`REVIEWED`], each with the reason.

use std::collections::{BTreeMap, BTreeSet};

use crate::finding::Finding;
use crate::scan::in_word;
use crate::workspace::{Source, Workspace};

const RULE: &str = "type-names";
const CRATES_MAX: usize = 2;
const KEYWORDS: [&str; 5] = ["struct", "enum", "union", "trait", "type"];

/// Names that more crates may define, and why.
const REVIEWED: [(&str, &str); 18] = [
    ("Builder", "as in the standard library: each crate has one, of the thing that it makes"),
    ("Config", "the file of each server; and in `protocol-resp` what CONFIG SET has changed"),
    ("Counts", "numbers read together: each crate has those of its own subject, inside"),
    (
        "Cursor",
        "where a walk goes on: of a scan in `storage`, of a parser in both codecs (`Protocol::Cursor`)",
    ),
    (
        "Digits",
        "a number as text on the stack: integers in `values`, doubles in `protocol-resp`, short values in `storage`",
    ),
    (
        "Engine",
        "the event engine of `reactor`, also as a setting; in `protocol-resp` what runs commands",
    ),
    ("Entry", "what an index leads to, in each engine"),
    ("Error", "as in the standard library: one enum per crate"),
    ("Expiry", "when an item expires in `storage`; elsewhere how a write treats that, inside"),
    (
        "Keys",
        "the keys of a command in `protocol-resp`; in the engines, inside, what growth asks about keys and a walk over them",
    ),
    ("Kind", "which variant of its module's subject, always with the module's name: `table::Kind`"),
    ("Limits", "bounds of what its crate is about: a connection, a store, a packed collection"),
    (
        "Output",
        "`protocol-resp`'s is what replies are appended to; `reactor`'s bounds it, `ringlog`'s takes lines",
    ),
    ("Pool", "what is lent and comes back: blocks of buffers, segments, bytes of the limit"),
    ("Reply", "what a client reads, in each protocol"),
    ("Shared", "what all handles of an engine have in common, inside each engine"),
    (
        "Slot",
        "a numbered place, inside its crate: of a metric, a buffer of the log, a packed field",
    ),
    (
        "Tally",
        "numbers being counted, inside its crate; `storage`'s is what a keyspace has yet to settle",
    ),
];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    findings(workspace, &REVIEWED)
}

fn findings(workspace: &Workspace, reviewed: &[(&str, &str)]) -> Vec<Finding> {
    let mut crates: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut places: BTreeMap<&str, Vec<(&str, usize)>> = BTreeMap::new();
    for source in workspace.sources.iter().filter(|source| !source.is_test()) {
        let Some(folder) = crate_folder(&source.path) else { continue };
        for (name, line) in types(source) {
            crates.entry(name).or_default().insert(folder);
            places.entry(name).or_default().push((&source.path, line));
        }
    }
    let many = |name: &&str| crates.get(*name).is_some_and(|all| all.len() > CRATES_MAX);
    let mut findings = Vec::new();
    for name in crates.keys().filter(|name| many(name)) {
        if reviewed.iter().any(|(other, _)| other == name) {
            continue;
        }
        let all = crates[name].iter().copied().collect::<Vec<_>>().join(", ");
        let (path, line) = places[name][places[name].len() - 1];
        let message = format!("`{name}` is a type of {all}: one name, one meaning; rename one");
        findings.push(Finding::error(path, line, RULE, message));
    }
    for (name, _) in reviewed.iter().filter(|(name, _)| !many(name)) {
        let message =
            format!("`{name}` is a type of {CRATES_MAX} crates at most; strike it off the list");
        findings.push(Finding::warning("xtask/src/checks/type_names.rs", 1, RULE, message));
    }
    findings
}

/// `crates/a` for `crates/a/src/lib.rs`; none for programs that only measure and check.
fn crate_folder(path: &str) -> Option<&str> {
    let (kind, rest) = path.split_once('/')?;
    let name = rest.split('/').next()?;
    (["crates", "servers"].contains(&kind) && name != "test-support")
        .then(|| &path[..kind.len() + 1 + name.len()])
}

/// The types that a file defines for its whole crate or wider, each with its line.
fn types(source: &Source) -> Vec<(&str, usize)> {
    let scan = &source.scan;
    let tests = scan.test_code();
    let mut types = Vec::new();
    for (keyword, at) in KEYWORDS.iter().flat_map(|word| scan.words(word).map(move |at| (word, at)))
    {
        let before = scan.code[..at].rsplit('\n').next().unwrap_or_default();
        let before = before.trim().trim_end_matches("unsafe").trim_end();
        let is_visible = before == "pub" || before == "pub(crate)" || before.starts_with("pub(in ");
        if !is_visible || tests.iter().any(|test| test.contains(&at)) {
            continue;
        }
        let behind = at + keyword.len();
        let start =
            behind + scan.code[behind..].bytes().take_while(u8::is_ascii_whitespace).count();
        let len = scan.code[start..].bytes().take_while(|byte| in_word(*byte)).count();
        types.push((&source.text[start..start + len], scan.line(at)));
    }
    types
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::example::{shown, sources};

    const DESK: &str = "pub(crate) struct Desk;\n";

    #[test]
    fn two_crates_may_define_a_name_and_reviewed_ones_more() {
        let two =
            [("crates/a/src/x.rs", DESK), ("crates/b/src/x.rs", "\npub unsafe trait Desk {}")];
        assert_eq!(shown(&findings(&sources(&two), &[])), [""; 0]);
        let three = [two[0], two[1], ("servers/c/src/x.rs", "pub type Desk = u8;")];
        assert_eq!(shown(&findings(&sources(&three), &[("Desk", "a reason")])), [""; 0]);
    }

    #[test]
    fn three_may_not() {
        let three = [
            ("crates/a/src/x.rs", DESK),
            ("crates/b/src/x.rs", DESK),
            ("servers/c/src/x.rs", "\npub enum Desk {}"),
        ];
        assert_eq!(
            shown(&findings(&sources(&three), &[])),
            [
                "servers/c/src/x.rs:2: type-names: `Desk` is a type of crates/a, crates/b, servers/c: \
              one name, one meaning; rename one"
            ]
        );
    }

    #[test]
    fn what_is_private_measured_or_for_tests_does_not_count() {
        let private =
            "struct Desk; pub(super) struct Desk;\n#[cfg(test)]\nmod tests {\npub struct Desk;\n}";
        let files = [
            ("crates/a/src/x.rs", DESK),
            ("crates/b/src/x.rs", DESK),
            ("crates/c/src/x.rs", private),
            ("crates/d/tests/x.rs", DESK),
            ("benches/src/x.rs", DESK),
        ];
        assert_eq!(shown(&findings(&sources(&files), &[])), [""; 0]);
    }

    #[test]
    fn a_name_that_need_not_be_reviewed_is_shown() {
        let found = findings(&sources(&[("crates/a/src/x.rs", DESK)]), &[("Desk", "a reason")]);
        assert!(shown(&found)[0].contains("warning: type-names: `Desk`"), "{found:?}");
    }
}
