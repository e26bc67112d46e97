// SPDX-License-Identifier: Apache-2.0
//! The checks, one module each.

mod anchors;
mod decisions;
mod file_size;
mod function_size;
mod glossary;
mod layering;
mod leftovers;
mod licence;
mod links;
mod mentions;
mod metric_names;
mod module_style;
mod naming;
mod readmes;
mod rooms;
mod safety;
mod type_names;

use crate::finding::Finding;
use crate::workspace::Workspace;

/// Everything that breaks a house rule: errors first, then in the order of paths and lines.
#[must_use]
pub fn check(workspace: &Workspace) -> Vec<Finding> {
    let checks = [
        layering::check,
        rooms::check,
        naming::check,
        file_size::check,
        function_size::check,
        licence::check,
        safety::check,
        metric_names::check,
        leftovers::check,
        links::check,
        module_style::check,
        mentions::check,
        decisions::check,
        type_names::check,
        glossary::check,
        readmes::check,
    ];
    let mut findings: Vec<Finding> = checks.iter().flat_map(|check| check(workspace)).collect();
    findings.sort_by(|a, b| (a.severity, &a.path, a.line).cmp(&(b.severity, &b.path, b.line)));
    findings
}

/// Helpers of the checks' tests.
#[cfg(test)]
mod example {
    use crate::finding::Finding;
    use crate::workspace::{Dependency, DependencyKind, Package, Source, Workspace};

    /// A workspace of source files, each a path and a text.
    pub(super) fn sources(files: &[(&str, &str)]) -> Workspace {
        let sources = files.iter().map(|(path, text)| Source::new(path, text)).collect();
        Workspace { sources, ..Workspace::default() }
    }

    /// A package with normal dependencies on members.
    pub(super) fn package(folder: &str, layer: u64, dependencies: &[&str]) -> Package {
        let name = folder.rsplit('/').next().unwrap().to_owned();
        let lines: String =
            dependencies.iter().map(|d| format!("{d}.workspace = true\n")).collect();
        Package {
            manifest: format!("[package]\nname = \"{name}\"\n[dependencies]\n{lines}"),
            name,
            folder: folder.to_owned(),
            layer: Some(layer),
            dependencies: dependencies.iter().map(|d| ours(d, DependencyKind::Normal)).collect(),
            ..Package::default()
        }
    }

    pub(super) fn ours(name: &str, kind: DependencyKind) -> Dependency {
        Dependency { name: name.to_owned(), kind, ours: true }
    }

    pub(super) fn shown(findings: &[Finding]) -> Vec<String> {
        findings.iter().map(Finding::to_string).collect()
    }
}
