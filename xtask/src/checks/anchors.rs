// SPDX-License-Identifier: Apache-2.0
//! The anchors of a document: code hosts and mdBook make one of each heading, in the same way.

use super::links::prose;
use std::collections::{BTreeMap, BTreeSet};

/// What may stand behind the `#` of a link to a document.
pub(super) fn anchors(text: &str) -> BTreeSet<String> {
    let mut times = BTreeMap::new();
    let mut anchors = BTreeSet::new();
    for (_, line) in prose(text) {
        let marks = line.bytes().take_while(|&byte| byte == b'#').count();
        let Some(heading) = line[marks..].strip_prefix(' ').filter(|_| (1..=6).contains(&marks))
        else {
            continue;
        };
        let anchor = anchor(heading);
        let before: &mut usize = times.entry(anchor.clone()).or_default();
        anchors.insert(match *before {
            0 => anchor,
            n => format!("{anchor}-{n}"),
        });
        *before += 1;
    }
    anchors
}

/// The anchor of a heading: letters and digits in lower case, and hyphens for spaces.
fn anchor(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    let shown = without_targets(heading.trim());
    shown.chars().filter(kept).flat_map(char::to_lowercase).map(hyphen).collect()
}

fn hyphen(c: char) -> char {
    if c == ' ' { '-' } else { c }
}

/// The text without what its links lead to.
fn without_targets(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("](") {
        out.push_str(before);
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_become_anchors() {
        let text = "# One, `two` & [three](x.md)\n\n## `[seg]`: a_b (c)\n### Again\n#### Again\n#no\n\
                    ```\n# code\n```\n####### seven\n";
        let expected = ["again", "again-1", "one-two--three", "seg-a_b-c"];
        assert_eq!(anchors(text), expected.map(str::to_owned).into());
    }
}
