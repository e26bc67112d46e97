// SPDX-License-Identifier: Apache-2.0
//! A file has one idea and so is short.

use crate::finding::Finding;
use crate::workspace::Workspace;

const RULE: &str = "file-size";
const MOST_LINES: usize = 800;
const MANY_LINES: usize = 400;

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let sources = workspace.sources.iter();
    sources.filter_map(|source| finding(&source.path, source.text.lines().count())).collect()
}

fn finding(path: &str, lines: usize) -> Option<Finding> {
    if lines > MOST_LINES {
        let message = format!("{lines} lines, at most {MOST_LINES}; split the file by ideas");
        Some(Finding::error(path, MOST_LINES + 1, RULE, message))
    } else if lines > MANY_LINES {
        let message = format!("{lines} lines, better {MANY_LINES}; is there a second idea?");
        Some(Finding::warning(path, MANY_LINES + 1, RULE, message))
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::example::{shown, sources};

    fn findings(lines: usize) -> Vec<String> {
        shown(&check(&sources(&[("a.rs", &"//\n".repeat(lines))])))
    }

    #[test]
    fn long_files_are_told_apart_from_very_long_ones() {
        assert_eq!(findings(400), [""; 0]);
        assert_eq!(
            findings(401),
            ["a.rs:401: warning: file-size: 401 lines, better 400; is there a second idea?"]
        );
        assert_eq!(
            findings(800),
            ["a.rs:401: warning: file-size: 800 lines, better 400; is there a second idea?"]
        );
        assert_eq!(
            findings(801),
            ["a.rs:801: file-size: 801 lines, at most 800; split the file by ideas"]
        );
    }
}
