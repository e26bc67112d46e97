// SPDX-License-Identifier: Apache-2.0
//! The text forms that are a flat list of names and numbers.

use std::fmt::Write;

use crate::family::Member;
use crate::registry::{self, ReadValue};
use crate::window::{Percentile, Window};

/// All metrics as one flat JSON object of numbers, sorted by metric.
///
/// A histogram `x` becomes `x_count`, `x_sum`, `x_max`, which is the highest value since the start,
/// within 1.6 %, and the recent percentiles `x_p25` to `x_p9999`, which are `null` while nothing is in
/// the `window`. A [`Family`](crate::Family) `x` becomes
/// `x_<value>` for each value of its label.
///
/// ```
/// let json = metrics::json(&metrics::Window::default());
/// assert!(json.starts_with('{') && json.contains("\"pid\":"));
/// ```
#[must_use]
pub fn json(window: &Window) -> String {
    let mut out = String::from("{");
    for (name, value) in flatten(window) {
        let comma = if out.len() > 1 { "," } else { "" };
        let value = value.map_or_else(|| "null".to_owned(), |value| value.to_string());
        // Names are made of characters that JSON does not escape: `is_valid_name`.
        write!(out, "{comma}\"{name}\":{value}").expect("writing to a string cannot fail");
    }
    out.push('}');
    out
}

/// All metrics as names and values, as memcached's `STAT name value` wants them.
///
/// The names are those of [`json`]; what has no value is left out.
///
/// ```
/// metrics::counters! {
///     /// Pings answered.
///     static PONG: "pong";
/// }
/// PONG.increment();
/// let stats = metrics::stats(&metrics::Window::default());
/// assert!(stats.contains(&("pong".to_owned(), "1".to_owned())));
/// ```
#[must_use]
pub fn stats(window: &Window) -> Vec<(String, String)> {
    let present = |(name, value): (String, Option<i128>)| Some((name, value?.to_string()));
    flatten(window).into_iter().filter_map(present).collect()
}

fn flatten(window: &Window) -> Vec<(String, Option<i128>)> {
    let mut flat = Vec::new();
    for reading in registry::moment() {
        let name = reading.name;
        match reading.value {
            ReadValue::Counter(value) => flat.push((name.to_owned(), Some(value.into()))),
            ReadValue::Gauge(value) => flat.push((name.to_owned(), Some(value.into()))),
            ReadValue::Family { members, .. } => {
                flat.extend(members.into_iter().map(|Member { of, value }| {
                    // Only characters that JSON names and memcached's tools accept.
                    let of = of.replace(|c: char| !c.is_ascii_alphanumeric(), "_");
                    (format!("{name}_{of}"), Some(value.into()))
                }));
            }
            ReadValue::Histogram(counts) => {
                flat.push((format!("{name}_count"), Some(counts.total().into())));
                flat.push((format!("{name}_sum"), Some(counts.sum.into())));
                flat.push((format!("{name}_max"), counts.highest().map(i128::from)));
                flat.extend(Percentile::ALL.into_iter().map(|percentile| {
                    let value = window.percentile(name, percentile).map(i128::from);
                    (format!("{name}_{}", percentile.label()), value)
                }));
            }
        }
    }
    flat
}
