// SPDX-License-Identifier: Apache-2.0
//! The README of a published package is the documentation of its crate.

use crate::finding::Finding;
use crate::readme::readmes;
use crate::workspace::Workspace;

const RULE: &str = "readmes";

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let text_of = |path: &str| {
        let document = workspace.documents.iter().find(|document| document.path == path);
        document.map(|document| document.text.as_str())
    };
    let stale =
        readmes(workspace).into_iter().filter(|(path, text)| text_of(path) != Some(text.as_str()));
    let message = "is not the documentation of its crate; `cargo xtask readmes` writes it";
    stale.map(|(path, _)| Finding::error(&path, 1, RULE, message.to_owned())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::example::{package, shown};
    use crate::workspace::{Document, Package, Source};

    #[test]
    fn a_readme_that_is_missing_or_stale_is_found() {
        let root = "crates/buffer/src/lib.rs";
        let buffer = Package {
            published: true,
            roots: vec![root.to_owned()],
            ..package("crates/buffer", 0, &[])
        };
        let mut workspace = Workspace { packages: vec![buffer], ..Workspace::default() };
        workspace.sources.push(Source::new(root, "//! Buffers.\n"));
        let finding = "crates/buffer/README.md:1: readmes: is not the documentation of its crate; \
                       `cargo xtask readmes` writes it";
        assert_eq!(shown(&check(&workspace)), [finding]);
        let (path, text) = readmes(&workspace).remove(0);
        workspace.documents.push(Document { path, text });
        assert_eq!(shown(&check(&workspace)), [""; 0]);
        workspace.sources[0] = Source::new(root, "//! Buffers and their pool.\n");
        assert_eq!(shown(&check(&workspace)), [finding]);
    }
}
