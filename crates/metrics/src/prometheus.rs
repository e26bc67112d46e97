// SPDX-License-Identifier: Apache-2.0
//! The Prometheus text form, version 0.0.4.

use std::fmt::{self, Write};

use crate::bucket::{Counts, index_of};
use crate::family::Member;
use crate::registry::{self, ReadValue, Reading};
use crate::window::{Percentile, Window};

/// Histogram buckets are printed for the powers of two up to this one.
const POWER_MAX: u32 = 40;

/// All metrics as Prometheus text, version 0.0.4
/// (`Content-Type: text/plain; version=0.0.4; charset=utf-8`).
///
/// Families are sorted by name. A counter is printed under its own name: `_total` is not appended
/// (text 0.0.4 does not ask for it), so that a metric has one name in every form and in the docs.
///
/// A histogram `x` is printed as a histogram with a cumulative bucket for each power of two: all
/// values below 2^n under `le` = 2^n - 1, which is exact since values are whole numbers, in the
/// metric's own unit, up to 2^40 and then `+Inf`. Beside it the gauge family `x_recent` has the
/// percentiles of the `window` under the label `quantile`, `NaN` while nothing is in the window, and the
/// gauge `x_max` has the highest value since the start, within 1.6 %.
///
/// ```
/// metrics::levels! {
///     /// Worker threads.
///     static THREADS: "threads";
/// }
/// THREADS.set(4);
/// let text = metrics::prometheus(&metrics::Window::default());
/// assert!(text.contains("# HELP threads Worker threads.\n# TYPE threads gauge\nthreads 4\n"));
/// ```
#[must_use]
pub fn prometheus(window: &Window) -> String {
    let mut out = String::with_capacity(16 * 1024);
    for reading in registry::moment() {
        write_metric(&mut out, &reading, window).expect("writing to a string cannot fail");
    }
    out
}

fn write_metric(out: &mut String, reading: &Reading<Counts>, window: &Window) -> fmt::Result {
    let &Reading { name, help, ref value } = reading;
    write_head(out, name, &value.kind().to_string(), help)?;
    match value {
        ReadValue::Counter(value) => writeln!(out, "{name} {value}"),
        ReadValue::Gauge(value) => writeln!(out, "{name} {value}"),
        ReadValue::Histogram(counts) => {
            write_buckets(out, name, counts)?;
            write_max(out, name, counts)?;
            write_recent(out, name, window)
        }
        ReadValue::Family { label, members } => write_members(out, name, label, members),
    }
}

fn write_head(out: &mut String, name: &str, kind: &str, help: &str) -> fmt::Result {
    let help = help.replace('\\', r"\\").replace('\n', r"\n");
    writeln!(out, "# HELP {name} {help}\n# TYPE {name} {kind}")
}

fn write_members(out: &mut String, name: &str, label: &str, members: &[Member]) -> fmt::Result {
    for Member { of, value } in members {
        let of = of.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
        writeln!(out, "{name}{{{label}=\"{of}\"}} {value}")?;
    }
    Ok(())
}

fn write_buckets(out: &mut String, name: &str, counts: &Counts) -> fmt::Result {
    let mut cumulative = 0;
    let mut next = 0;
    for power in 0..=POWER_MAX {
        let below = index_of(1 << power);
        cumulative += counts.counts[next..below].iter().sum::<u64>();
        next = below;
        writeln!(out, "{name}_bucket{{le=\"{}\"}} {cumulative}", (1_u64 << power) - 1)?;
    }
    let count = counts.total();
    writeln!(out, "{name}_bucket{{le=\"+Inf\"}} {count}")?;
    writeln!(out, "{name}_sum {}\n{name}_count {count}", counts.sum)
}

fn write_max(out: &mut String, name: &str, counts: &Counts) -> fmt::Result {
    let help = format!("The highest {name} since the start.");
    write_head(out, &format!("{name}_max"), "gauge", &help)?;
    writeln!(out, "{name}_max {}", counts.highest().unwrap_or(0))
}

fn write_recent(out: &mut String, name: &str, window: &Window) -> fmt::Result {
    let help = format!("Recent percentiles of {name}.");
    write_head(out, &format!("{name}_recent"), "gauge", &help)?;
    for percentile in Percentile::ALL {
        write!(out, "{name}_recent{{quantile=\"{}\"}} ", percentile.quantile())?;
        match window.percentile(name, percentile) {
            Some(value) => writeln!(out, "{value}")?,
            None => writeln!(out, "NaN")?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_is_escaped_to_one_line() {
        let mut out = String::new();
        write_head(&mut out, "x", "gauge", "a \\ and\na break").unwrap();
        assert_eq!(out, "# HELP x a \\\\ and\\na break\n# TYPE x gauge\n");
    }

    #[test]
    fn values_of_labels_are_escaped() {
        let mut out = String::new();
        let members = [Member { of: "a\\b \"c\"\nd".to_owned(), value: -1 }];
        write_members(&mut out, "x", "y", &members).unwrap();
        assert_eq!(out, "x{y=\"a\\\\b \\\"c\\\"\\nd\"} -1\n");
    }

    #[test]
    fn every_printed_bound_is_a_bound_of_the_buckets() {
        for power in 0..=POWER_MAX {
            let bound = 1_u64 << power;
            assert_ne!(index_of(bound - 1), index_of(bound), "2^{power}");
        }
    }
}
