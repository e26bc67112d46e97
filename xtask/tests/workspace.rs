// SPDX-License-Identifier: Apache-2.0
//! The workspace keeps its own rules.

use std::path::Path;

use xtask::{Finding, Severity, Workspace};

#[test]
fn the_workspace_is_tidy() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let workspace = Workspace::read(&root).unwrap();
    assert!(workspace.packages.len() > 2 && workspace.sources.len() > 10, "nothing was read");
    let findings = xtask::check(&workspace);
    let errors: Vec<String> = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Error)
        .map(Finding::to_string)
        .collect();
    assert!(errors.is_empty(), "{} errors:\n{}", errors.len(), errors.join("\n"));
}
