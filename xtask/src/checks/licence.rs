// SPDX-License-Identifier: Apache-2.0
//! A source file names its licence.

use crate::finding::Finding;
use crate::workspace::Workspace;

const RULE: &str = "licence";
const FIRST_LINE: &str = "// SPDX-License-Identifier: Apache-2.0";

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let without =
        workspace.sources.iter().filter(|source| source.text.lines().next() != Some(FIRST_LINE));
    without
        .map(|source| {
            Finding::error(&source.path, 1, RULE, format!("begin the file with `{FIRST_LINE}`"))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::example::{shown, sources};

    #[test]
    fn the_licence_is_the_first_line() {
        let workspace = sources(&[
            ("good.rs", "// SPDX-License-Identifier: Apache-2.0\nfn a() {}\n"),
            ("late.rs", "\n// SPDX-License-Identifier: Apache-2.0\n"),
            ("other.rs", "// SPDX-License-Identifier: MIT\n"),
            ("empty.rs", ""),
        ]);
        let message = "licence: begin the file with `// SPDX-License-Identifier: Apache-2.0`";
        assert_eq!(
            shown(&check(&workspace)),
            ["late.rs", "other.rs", "empty.rs"].map(|path| format!("{path}:1: {message}"))
        );
    }
}
