// SPDX-License-Identifier: Apache-2.0
//! Unsafe code is justified in place, and is only in the files made for it.
//!
//! A crate lists these files as `unsafe-files` in `[package.metadata.shoebill]`; a crate without
//! the list forbids unsafe code altogether. Tests and benchmarks need no list, but they need the
//! `SAFETY:` comments.

use crate::finding::Finding;
use crate::scan::Scan;
use crate::workspace::{Package, Source, Workspace};

const RULE: &str = "safety";
const FORBID: &str = "#![forbid(unsafe_code)]";
/// The lines a statement may have before its `unsafe`.
const STATEMENT_LINES: usize = 12;

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for source in &workspace.sources {
        findings.extend(unjustified(source));
        findings.extend(unlisted(workspace, source));
    }
    for package in &workspace.packages {
        findings.extend(stale(workspace, package));
        findings.extend(not_forbidden(workspace, package));
    }
    findings
}

/// Blocks and impls without a `SAFETY:` comment directly above.
fn unjustified(source: &Source) -> Vec<Finding> {
    let lines = Lines::new(source);
    let mut findings = Vec::new();
    for at in source.scan.words("unsafe") {
        let what = match source.scan.code[at + "unsafe".len()..].trim_start() {
            next if next.starts_with('{') => "block",
            next if next.starts_with("impl") => "impl",
            next if next.starts_with("extern") && !declares_function(next) => "extern block",
            // Functions and traits state their terms under `# Safety`, which clippy checks.
            _ => continue,
        };
        let line = source.scan.line(at);
        if !lines.justified(line - 1) {
            let message = format!("write `// SAFETY: …` directly above this unsafe {what}");
            findings.push(Finding::error(&source.path, line, RULE, message));
        }
    }
    findings
}

/// True for `extern "C" fn` and `extern fn`; the scan has blanked the string.
fn declares_function(code: &str) -> bool {
    code["extern".len()..].trim_start().starts_with("fn")
}

/// The lines of a source: what is code and what is comment.
struct Lines<'a> {
    code: Vec<&'a str>,
    text: Vec<&'a str>,
}

impl<'a> Lines<'a> {
    fn new(source: &'a Source) -> Self {
        Lines { code: source.scan.code.lines().collect(), text: source.text.lines().collect() }
    }

    fn code(&self, index: usize) -> &'a str {
        self.code.get(index).copied().unwrap_or_default().trim()
    }

    fn is_comment(&self, index: usize) -> bool {
        self.code(index).is_empty()
            && self.text.get(index).is_some_and(|line| !line.trim().is_empty())
    }

    /// Whether a comment directly above the statement of line `index` says why it is sound.
    fn justified(&self, index: usize) -> bool {
        let mut first = index;
        for above in (0..index).rev().take(STATEMENT_LINES) {
            let code = self.code(above);
            let same_statement = code.starts_with("#[")
                || !(code.is_empty() || code.ends_with([';', '{', '}', ',']));
            if self.is_comment(above) || !same_statement {
                break;
            }
            first = above;
        }
        let comments = (0..first).rev().take_while(|above| self.is_comment(*above));
        comments.map(|above| self.text[above]).any(|line| line.contains("SAFETY:"))
    }
}

/// Unsafe code in a file that is not listed by its package.
fn unlisted(workspace: &Workspace, source: &Source) -> Option<Finding> {
    let at = first_unsafe(&source.scan)?;
    if source.is_test() {
        return None;
    }
    let package = owner(workspace, &source.path)?;
    let file = source.path.strip_prefix(&package.folder)?.trim_start_matches('/');
    if package.unsafe_files.iter().any(|listed| listed == file) {
        return None;
    }
    let message = format!(
        "move the unsafe code to a leaf module made for it, and list that in {}: \
         `[package.metadata.shoebill] unsafe-files = [\"{file}\"]`",
        package.manifest_path()
    );
    Some(Finding::error(&source.path, source.scan.line(at), RULE, message))
}

fn first_unsafe(scan: &Scan) -> Option<usize> {
    scan.words("unsafe").next()
}

fn owner<'w>(workspace: &'w Workspace, path: &str) -> Option<&'w Package> {
    let inside = |package: &&Package| {
        path.strip_prefix(package.folder.as_str()).is_some_and(|rest| rest.starts_with('/'))
    };
    workspace.packages.iter().find(inside)
}

/// Listed files that have no unsafe code.
fn stale(workspace: &Workspace, package: &Package) -> Vec<Finding> {
    let has_unsafe = |file: &str| {
        let path = format!("{}/{file}", package.folder);
        let source = workspace.sources.iter().find(|source| source.path == path);
        source.is_some_and(|source| first_unsafe(&source.scan).is_some())
    };
    let line = package.manifest_line("unsafe-files");
    let stale = package.unsafe_files.iter().filter(|file| !has_unsafe(file));
    stale
        .map(|file| {
            let message = format!("`{file}` has no unsafe code; take it from `unsafe-files`");
            Finding::error(&package.manifest_path(), line, RULE, message)
        })
        .collect()
}

/// Packages without a list whose roots do not forbid unsafe code.
fn not_forbidden(workspace: &Workspace, package: &Package) -> Vec<Finding> {
    if !package.unsafe_files.is_empty() {
        return Vec::new();
    }
    let roots = workspace.sources.iter().filter(|source| package.roots.contains(&source.path));
    roots
        .filter(|root| !root.is_test() && !root.scan.code.contains(FORBID))
        .map(|root| {
            let message = format!("the crate lists no `unsafe-files`, so write `{FORBID}` here");
            Finding::error(&root.path, 1, RULE, message)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::example::{package, shown, sources};

    fn unjustified_lines(text: &str) -> Vec<usize> {
        unjustified(&Source::new("a.rs", text)).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn blocks_impls_and_extern_blocks_need_a_reason() {
        let text =
            "fn a() {\n    unsafe { b() }\n}\nunsafe impl Send for A {}\nunsafe extern \"C\" {}\n";
        let findings = shown(&unjustified(&Source::new("a.rs", text)));
        assert_eq!(
            findings,
            [
                "a.rs:2: safety: write `// SAFETY: …` directly above this unsafe block",
                "a.rs:4: safety: write `// SAFETY: …` directly above this unsafe impl",
                "a.rs:5: safety: write `// SAFETY: …` directly above this unsafe extern block",
            ]
        );
    }

    #[test]
    fn a_reason_directly_above_is_accepted() {
        for text in [
            "// SAFETY: b is fine.\nunsafe { b() }",
            "// SAFETY: b is fine,\n// for two reasons.\nunsafe { b() }",
            "// SAFETY: b is fine.\nlet c =\n    unsafe { b() };",
            "// SAFETY: b is fine.\nlet c = d\n    .map(|e| unsafe { b(e) });",
            "// SAFETY: A is a number.\n#[cfg(unix)]\nunsafe impl Send for A {}",
            "match a {\n    B => 1,\n    // SAFETY: fine.\n    C => unsafe { d() },\n}",
            "/* SAFETY: fine. */\nunsafe { b() }",
        ] {
            assert!(unjustified_lines(text).is_empty(), "{text}");
        }
    }

    #[test]
    fn a_reason_elsewhere_is_not() {
        for text in [
            "// SAFETY: b is fine.\n\nunsafe { b() }",
            "// SAFETY: a is fine.\na();\nunsafe { b() }",
            "unsafe { b() } // SAFETY: too late.",
            "// It is safe.\nunsafe { b() }",
            "\"// SAFETY: a string\";\nunsafe { b() }",
            "// SAFETY: for A.\nunsafe impl Send for A {}\nunsafe impl Sync for A {}",
        ] {
            assert_eq!(unjustified_lines(text).len(), 1, "{text}");
        }
    }

    #[test]
    fn functions_traits_attributes_and_mentions_need_none() {
        let text = "unsafe fn a() {}\nunsafe trait B {}\nunsafe extern \"C\" fn c() {}\n\
                    #[unsafe(no_mangle)]\nfn d(e: unsafe fn()) {}\n// unsafe { f() }\n";
        assert!(unjustified_lines(text).is_empty());
    }

    fn with_package(unsafe_files: &[&str], files: &[(&str, &str)]) -> Vec<String> {
        let mut package = package("crates/a", 0, &[]);
        package.unsafe_files = unsafe_files.iter().map(|file| (*file).to_owned()).collect();
        package.roots = vec!["crates/a/src/lib.rs".to_owned()];
        let workspace = Workspace { packages: vec![package], ..sources(files) };
        shown(&check(&workspace))
    }

    #[test]
    fn unsafe_code_is_in_listed_files_only() {
        let justified = "// SAFETY: fine.\nunsafe { a() }";
        assert_eq!(with_package(&["src/raw.rs"], &[("crates/a/src/raw.rs", justified)]), [""; 0]);
        assert_eq!(with_package(&[], &[("crates/a/tests/b.rs", justified)]), [""; 0]);
        assert_eq!(
            with_package(
                &["src/raw.rs"],
                &[("crates/a/src/raw.rs", justified), ("crates/a/src/map.rs", justified),]
            ),
            ["crates/a/src/map.rs:2: safety: move the unsafe code to a leaf module made for it, \
              and list that in crates/a/Cargo.toml: \
              `[package.metadata.shoebill] unsafe-files = [\"src/map.rs\"]`"]
        );
    }

    #[test]
    fn a_list_names_no_file_without_unsafe_code() {
        assert_eq!(
            with_package(&["src/raw.rs"], &[("crates/a/src/raw.rs", "// unsafe\n")]),
            ["crates/a/Cargo.toml:1: safety: `src/raw.rs` has no unsafe code; \
              take it from `unsafe-files`"]
        );
    }

    #[test]
    fn a_crate_without_a_list_forbids_unsafe_code() {
        assert_eq!(
            with_package(&[], &[("crates/a/src/lib.rs", "#![forbid(unsafe_code)]\n")]),
            [""; 0]
        );
        assert_eq!(
            with_package(&[], &[("crates/a/src/lib.rs", "// #![forbid(unsafe_code)]\n")]),
            ["crates/a/src/lib.rs:1: safety: the crate lists no `unsafe-files`, \
              so write `#![forbid(unsafe_code)]` here"]
        );
    }
}
