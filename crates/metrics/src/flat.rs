// SPDX-License-Identifier: Apache-2.0
//! The text forms that are a flat list of names and numbers.

use std::fmt::Write;

use crate::exposition;
use crate::unit::Shown;
use crate::window::Window;

/// All metrics as one flat JSON object of numbers, sorted by name: the samples of
/// [`prometheus`](crate::prometheus), under the same names with the same labels, but for the buckets of
/// histograms. Percentiles are `null` while nothing is in the `window`.
///
/// ```
/// let json = metrics::json(&metrics::Window::default());
/// assert!(json.starts_with('{') && json.contains("\"process_open_fds\":"));
/// ```
#[must_use]
pub fn json(window: &Window) -> String {
    let mut out = String::from("{");
    for (name, value) in flatten(window) {
        let comma = if out.len() > 1 { "," } else { "" };
        let value = value.map_or_else(|| "null".to_owned(), |value| value.to_string());
        let name = name.replace('\\', r"\\").replace('"', "\\\"");
        write!(out, "{comma}\"{name}\":{value}").expect("writing to a string cannot fail");
    }
    out.push('}');
    out
}

/// All metrics as names and values: those of [`json`]; what has no value is left out.
///
/// ```
/// metrics::counters! {
///     /// Pings answered.
///     static PONG: "example_pongs_total";
/// }
/// PONG.increment();
/// let vars = metrics::vars(&metrics::Window::default());
/// assert!(vars.contains(&("example_pongs_total".to_owned(), "1".to_owned())));
/// ```
#[must_use]
pub fn vars(window: &Window) -> Vec<(String, String)> {
    let present = |(name, value): (String, Option<Shown>)| Some((name, value?.to_string()));
    flatten(window).into_iter().filter_map(present).collect()
}

fn flatten(window: &Window) -> Vec<(String, Option<Shown>)> {
    let mut flat = Vec::new();
    for group in exposition::groups(window) {
        for sample in group.samples.iter().filter(|sample| sample.bound.is_none()) {
            let name = format!("{}{}", group.name, sample.suffix);
            flat.push((exposition::series(&name, &sample.labels), sample.value));
        }
    }
    flat
}
