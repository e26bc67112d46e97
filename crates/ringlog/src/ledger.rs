// SPDX-License-Identifier: Apache-2.0
//! The drain's counts of written and failed lines, and the reports of failures.

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::Arc;

use crate::ring::Ring;

/// The least time between two reports on stderr.
const REPORT_EVERY_MS: u64 = 60_000;

/// Counts the lines of one drain and reports failures.
#[derive(Debug)]
pub(crate) struct Ledger {
    pub(crate) ring: Arc<Ring>,
    /// The time of the current run, in milliseconds since 1970.
    pub(crate) now_ms: u64,
    reporter: Reporter,
}

impl Ledger {
    pub(crate) fn new(ring: Arc<Ring>) -> Self {
        Self { ring, now_ms: 0, reporter: Reporter::default() }
    }

    /// Counts lines that reached their output.
    pub(crate) fn written(&self, lines: u64) {
        self.ring.tally.written(lines);
    }

    /// Counts lines that did not reach it, and reports why.
    pub(crate) fn failed(&mut self, lines: u64, output: impl Display, error: &io::Error) {
        self.ring.tally.failed(lines);
        self.trouble(format_args!("cannot write to {output}: {error}"));
    }

    /// Reports a failure by which no line is lost.
    pub(crate) fn trouble(&mut self, what: impl Display) {
        let failed = self.ring.tally.snapshot().failed;
        let text = format!("{what} (lines lost so far: {failed})");
        tell(self.reporter.admit(self.now_ms, text));
    }

    /// Reports what was held back, once its time has come.
    pub(crate) fn tell_if_due(&mut self) {
        tell(self.reporter.due(self.now_ms));
    }

    /// Reports what was held back, at the end.
    pub(crate) fn tell_rest(&mut self) {
        tell(self.reporter.take_held());
    }
}

/// Writes to stderr. If that fails too, only the counts remain.
fn tell(text: Option<String>) {
    if let Some(text) = text {
        let _ = writeln!(io::stderr(), "ringlog: {text}");
    }
}

/// Lets one report a minute through and remembers the last one it held back.
#[derive(Debug, Default)]
struct Reporter {
    last_ms: Option<u64>,
    held: Option<String>,
    held_count: u64,
}

impl Reporter {
    /// Takes a report; returns the text to print now, if any.
    fn admit(&mut self, now_ms: u64, text: String) -> Option<String> {
        self.held = Some(text);
        self.held_count += 1;
        self.due(now_ms)
    }

    fn due(&mut self, now_ms: u64) -> Option<String> {
        // A clock that was set back must not silence reports for long, hence the difference
        // either way.
        if self.last_ms.is_some_and(|last_ms| now_ms.abs_diff(last_ms) < REPORT_EVERY_MS) {
            return None;
        }
        let text = self.take_held()?;
        self.last_ms = Some(now_ms);
        Some(text)
    }

    fn take_held(&mut self) -> Option<String> {
        let count = std::mem::take(&mut self.held_count);
        let text = self.held.take()?;
        Some(if count > 1 { format!("{text}; last of {count} reports") } else { text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_report_a_minute_and_none_lost() {
        let mut reporter = Reporter::default();
        let mut admit = |now_ms, text: &str| reporter.admit(now_ms, text.to_owned());
        assert_eq!(admit(1000, "first").as_deref(), Some("first"));
        assert_eq!(admit(1001, "second"), None);
        assert_eq!(admit(60_999, "third"), None);
        assert_eq!(admit(61_000, "fourth").as_deref(), Some("fourth; last of 3 reports"));
        assert_eq!(admit(61_001, "fifth"), None);
        assert_eq!(reporter.due(120_999), None);
        assert_eq!(reporter.due(121_000).as_deref(), Some("fifth"));
        assert_eq!(reporter.due(500_000), None, "nothing is left to tell");
    }

    #[test]
    fn a_clock_set_back_does_not_silence_reports() {
        let mut reporter = Reporter::default();
        assert!(reporter.admit(10_000_000, "before".to_owned()).is_some());
        assert!(reporter.admit(5, "after".to_owned()).is_some());
    }

    #[test]
    fn what_is_held_back_is_told_at_the_end() {
        let mut reporter = Reporter::default();
        assert!(reporter.admit(0, "first".to_owned()).is_some());
        assert!(reporter.admit(1, "second".to_owned()).is_none());
        assert_eq!(reporter.take_held().as_deref(), Some("second"));
        assert_eq!(reporter.take_held(), None);
    }
}
