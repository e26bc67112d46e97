// SPDX-License-Identifier: Apache-2.0
//! A module with submodules is `foo.rs` beside `foo/`, never `foo/mod.rs`.

use crate::finding::Finding;
use crate::workspace::Workspace;

const RULE: &str = "module-style";

/// A module that two tests share by `#[path]`, which needs this form.
const EXCEPTIONS: [&str; 1] = ["crates/protocol-resp/tests/commands/support/mod.rs"];

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let paths = workspace.sources.iter().map(|source| source.path.as_str());
    paths.filter_map(breach).collect()
}

fn breach(path: &str) -> Option<Finding> {
    let folder = path.strip_suffix("/mod.rs")?;
    let is_shared_by_tests =
        folder.rsplit('/').nth(1) == Some("tests") && !folder.contains("/src/");
    if is_shared_by_tests || EXCEPTIONS.iter().any(|start| path.starts_with(start)) {
        return None;
    }
    Some(Finding::error(path, 1, RULE, format!("move it to `{folder}.rs`")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::example::{shown, sources};

    fn findings(paths: &[&str]) -> Vec<String> {
        let files: Vec<_> = paths.iter().map(|path| (*path, "")).collect();
        shown(&check(&sources(&files)))
    }

    #[test]
    fn a_file_beside_its_folder_is_fine() {
        assert_eq!(findings(&["crates/a/src/index.rs", "crates/a/src/index/slot.rs"]), [""; 0]);
    }

    #[test]
    fn a_file_in_its_folder_is_not() {
        assert_eq!(
            findings(&["crates/a/src/index/mod.rs", "crates/a/src/index/tests/mod.rs"]),
            [
                "crates/a/src/index/mod.rs:1: module-style: move it to `crates/a/src/index.rs`",
                "crates/a/src/index/tests/mod.rs:1: module-style: move it to \
                 `crates/a/src/index/tests.rs`",
            ]
        );
    }

    /// Cargo takes each file in `tests` for a test.
    #[test]
    fn what_several_tests_share_stays_in_its_folder() {
        assert_eq!(findings(&["crates/a/tests/support/mod.rs", "a/tests/support/mod.rs"]), [""; 0]);
        assert_eq!(findings(&["crates/a/tests/story/support/mod.rs"]).len(), 1);
    }
}
