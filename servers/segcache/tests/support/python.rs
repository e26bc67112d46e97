// SPDX-License-Identifier: Apache-2.0
//! Clients in Python: `SHOEBILL_PYTHON` names one that has the modules of
//! `clients/requirements.txt`.

use std::path::Path;
use std::process::Command;

/// A Python that has these modules, which are also told as what to install.
pub(crate) fn python(modules: &str, told: &str) -> Option<String> {
    let python = std::env::var("SHOEBILL_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let found = Command::new(&python).args(["-c", &format!("import {modules}")]).output();
    if found.is_ok_and(|output| output.status.success()) {
        return Some(python);
    }
    test_support::child::missing(&format!("a Python with {told} (SHOEBILL_PYTHON)"));
    None
}

/// What a script writes down.
pub(crate) fn transcript(python: &str, script: &str, arguments: &[&str]) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/clients").join(script);
    // -B: leaves no compiled files in the source tree.
    let output = Command::new(python).arg("-B").arg(path).args(arguments).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{script} {arguments:?} failed after\n{text}\n{errors}");
    text
}

/// Compares two transcripts line by line.
pub(crate) fn same(name: &str, ours: &str, expected: &str) {
    for (number, (ours, theirs)) in ours.lines().zip(expected.lines()).enumerate() {
        assert_eq!(ours, theirs, "{name}, line {} of what it was told", number + 1);
    }
    assert_eq!(ours.lines().count(), expected.lines().count(), "{name}");
}
