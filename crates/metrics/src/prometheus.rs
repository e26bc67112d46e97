// SPDX-License-Identifier: Apache-2.0
//! The text forms for Prometheus: 0.0.4, and OpenMetrics 1.0.0.

use std::fmt::{self, Write};

use crate::exposition::{self, Bound, NameGroup, Sample, Type};
use crate::window::Window;

/// The `Content-Type` of [`prometheus`].
pub const PROMETHEUS_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The `Content-Type` of [`openmetrics`].
pub const OPENMETRICS_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// All metrics as Prometheus text, version 0.0.4 ([`PROMETHEUS_TYPE`]), sorted by name and in base units.
///
/// A histogram `x_seconds` has a cumulative bucket for each power of two in a range that is of use for its unit:
/// all values below 2^n under `le` = 2^n - 1, in base units. Beside it the summary `x_recent_seconds` has the
/// percentiles of the `window` under the label `quantile`, `NaN` while nothing is in the window, and the
/// gauge `x_max_seconds` has the highest value since the start, within 1.6 %.
///
/// ```
/// metrics::levels! {
///     /// Worker threads.
///     static THREADS: "example_threads";
/// }
/// THREADS.set(4);
/// let text = metrics::prometheus(&metrics::Window::default());
/// assert!(text.contains("# HELP example_threads Worker threads.\n# TYPE example_threads gauge\nexample_threads 4\n"));
/// ```
#[must_use]
pub fn prometheus(window: &Window) -> String {
    write(&exposition::groups(window), Form::Prometheus)
}

/// All metrics as OpenMetrics text, version 1.0.0 ([`OPENMETRICS_TYPE`]). It differs from [`prometheus`] in the form
/// alone.
///
/// ```
/// metrics::counters! {
///     /// Bytes received.
///     static RECEIVED: "example_received_bytes_total";
/// }
/// let text = metrics::openmetrics(&metrics::Window::default());
/// assert!(text.contains("# TYPE example_received_bytes counter\n# UNIT example_received_bytes bytes\n"));
/// assert!(text.contains("\nexample_received_bytes_total 0\n"));
/// assert!(text.ends_with("# EOF\n"));
/// ```
#[must_use]
pub fn openmetrics(window: &Window) -> String {
    let mut text = write(&exposition::groups(window), Form::OpenMetrics);
    text.push_str("# EOF\n");
    text
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Prometheus,
    OpenMetrics,
}

fn write(groups: &[NameGroup], form: Form) -> String {
    let mut out = String::with_capacity(32 * 1024);
    for group in groups {
        write_group(&mut out, group, form).expect("writing to a string cannot fail");
    }
    out
}

fn write_group(out: &mut String, group: &NameGroup, form: Form) -> fmt::Result {
    let NameGroup { name, kind, help, samples } = group;
    match form {
        Form::Prometheus => {
            let help = help.replace('\\', r"\\").replace('\n', r"\n");
            writeln!(out, "# HELP {name} {help}\n# TYPE {name} {}", kind.as_str())?;
        }
        Form::OpenMetrics => {
            // A counter whose name does not end as it must would not be one.
            let (name, kind) = match (kind, name.strip_suffix("_total")) {
                (Type::Counter, Some(name)) => (name, "counter"),
                (Type::Counter, None) => (name.as_str(), "unknown"),
                _ => (name.as_str(), kind.as_str()),
            };
            writeln!(out, "# TYPE {name} {kind}")?;
            if let Some(unit) = exposition::unit_of(name) {
                writeln!(out, "# UNIT {name} {unit}")?;
            }
            let help = help.replace('\\', r"\\").replace('\n', r"\n").replace('"', "\\\"");
            writeln!(out, "# HELP {name} {help}")?;
        }
    }
    samples.iter().try_for_each(|sample| write_sample(out, name, sample, form))
}

fn write_sample(out: &mut String, name: &str, sample: &Sample, form: Form) -> fmt::Result {
    let Sample { suffix, labels, bound, value } = sample;
    let mut labels = labels.clone();
    if let Some(bound) = bound {
        let comma = if labels.is_empty() { "" } else { "," };
        let mut bound = match bound {
            Bound::At(bound) => bound.to_string(),
            Bound::Infinity => "+Inf".to_owned(),
        };
        // OpenMetrics wants these to be floats.
        if form == Form::OpenMetrics && bound.bytes().all(|byte| byte.is_ascii_digit()) {
            bound.push_str(".0");
        }
        write!(labels, "{comma}le=\"{bound}\"")?;
    }
    out.push_str(name);
    out.push_str(suffix);
    if !labels.is_empty() {
        write!(out, "{{{labels}}}")?;
    }
    match value {
        Some(value) => writeln!(out, " {value}"),
        None => writeln!(out, " NaN"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_is_escaped_to_one_line() {
        let (name, help) = ("x".to_owned(), "a \\ and\na \"break\"".to_owned());
        let group = NameGroup { name, kind: Type::Gauge, help, samples: Vec::new() };
        let mut out = String::new();
        write_group(&mut out, &group, Form::Prometheus).unwrap();
        write_group(&mut out, &group, Form::OpenMetrics).unwrap();
        assert_eq!(
            out,
            "# HELP x a \\\\ and\\na \"break\"\n# TYPE x gauge\n\
             # TYPE x gauge\n# HELP x a \\\\ and\\na \\\"break\\\"\n"
        );
    }
}
