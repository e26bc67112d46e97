// SPDX-License-Identifier: Apache-2.0
//! A decision record has a number, a date and a status, and is in the list of records.

use crate::finding::Finding;
use crate::workspace::{Document, Workspace};

const RULE: &str = "decisions";
const FOLDER: &str = "docs/adr/";
const LIST: &str = "docs/adr/README.md";

pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let list = workspace.documents.iter().find(|document| document.path == LIST);
    let list = list.map_or("", |document| document.text.as_str());
    let records = workspace.documents.iter().filter(|document| document.path != LIST);
    records
        .filter_map(|document| Some((document, document.path.strip_prefix(FOLDER)?)))
        .flat_map(|(document, file)| breaches(document, file, list))
        .collect()
}

fn breaches(document: &Document, file: &str, list: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut breach = |line, message: String| {
        findings.push(Finding::error(&document.path, line, RULE, message));
    };
    let mut lines = document.text.lines();
    let number = file.get(..4).and_then(|digits| digits.parse::<u32>().ok());
    let title = lines.next().unwrap_or_default();
    match number {
        None => breach(1, "name the file by its number of four digits".to_owned()),
        Some(number) if !title.starts_with(&format!("# {number}. ")) => {
            breach(1, format!("begin with `# {number}. ` and the decision"));
        }
        Some(_) => {}
    }
    let note = lines.nth(1).unwrap_or_default();
    match note.strip_prefix("Date: ").and_then(|rest| rest.split_once(". Status: ")) {
        Some((date, status)) if is_date(date) && is_status(status) => {}
        _ => breach(
            3,
            "say `Date: YYYY-MM-DD. Status: ` and `accepted.`, `changed by ` or `superseded by ` \
             with a link to the record"
                .to_owned(),
        ),
    }
    if !list.contains(&format!("]({file})")) {
        breach(1, format!("add it to {LIST}"));
    }
    findings
}

fn is_date(text: &str) -> bool {
    let is_digit = |(at, byte): (usize, u8)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    };
    text.len() == 10 && text.bytes().enumerate().all(is_digit)
}

fn is_status(text: &str) -> bool {
    let by = ["changed by [", "superseded by ["];
    text == "accepted." || by.iter().any(|by| text.starts_with(by))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::example::shown;

    /// The findings for one record, which is in the list if `listed`.
    fn findings(file: &str, text: &str, listed: bool) -> Vec<String> {
        let mut workspace = Workspace::default();
        let document = |path: String, text: &str| Document { path, text: text.into() };
        workspace.documents.push(document(format!("{FOLDER}{file}"), text));
        let list = if listed { format!("[7]({file})") } else { String::new() };
        workspace.documents.push(document(LIST.into(), &list));
        shown(&check(&workspace))
    }

    #[test]
    fn records_with_number_date_and_status_are_fine() {
        for status in
            ["accepted.", "superseded by [17](0017-b.md).", "changed by [8](0008-c.md) in x"]
        {
            let text = format!("# 7. A\n\nDate: 2026-11-21. Status: {status}\n\n## Context\n");
            assert_eq!(findings("0007-a.md", &text, true), [""; 0], "{status}");
        }
    }

    #[test]
    fn others_are_not() {
        let text = "# 7. A\n\nDate: 2026-11-21. Status: accepted.\n";
        assert_eq!(findings("0007-a.md", text, false).len(), 1);
        assert_eq!(findings("0008-a.md", text, true).len(), 1);
        assert_eq!(findings("a.md", text, true).len(), 1);
        for note in ["", "Date: 2026-11. Status: accepted.", "Date: 2026-11-21. Status: good.", "x"]
        {
            assert_eq!(
                findings("0007-a.md", &format!("# 7. A\n\n{note}\n"), true).len(),
                1,
                "{note}"
            );
        }
    }
}
