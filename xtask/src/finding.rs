// SPDX-License-Identifier: Apache-2.0
//! What a check found.

use std::fmt;

/// Whether a finding fails the build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// It fails the build.
    Error,
    /// It is only shown.
    Warning,
}

/// One breach of a house rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Whether it fails the build.
    pub severity: Severity,
    /// The file, relative to the workspace.
    pub path: String,
    /// The line, counted from 1.
    pub line: usize,
    /// The name of the rule.
    pub rule: &'static str,
    /// The problem, or what to do about it.
    pub message: String,
}

impl Finding {
    /// A finding that fails the build.
    pub fn error(path: &str, line: usize, rule: &'static str, message: impl Into<String>) -> Self {
        let severity = Severity::Error;
        Finding { severity, path: path.to_owned(), line, rule, message: message.into() }
    }

    /// A finding that is only shown.
    pub fn warning(
        path: &str,
        line: usize,
        rule: &'static str,
        message: impl Into<String>,
    ) -> Self {
        Finding { severity: Severity::Warning, ..Finding::error(path, line, rule, message) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Finding { path, line, rule, message, .. } = self;
        let mark = if self.severity == Severity::Warning { "warning: " } else { "" };
        write!(f, "{path}:{line}: {mark}{rule}: {message}")
    }
}
