// SPDX-License-Identifier: Apache-2.0
//! What was built: the labels of `shoebill_build_info`.

use std::sync::{Mutex, PoisonError};

/// The name of the metric.
pub(crate) const NAME: &str = "shoebill_build_info";

/// What it says.
pub(crate) const HELP: &str = "1, with what was built as labels.";

static LABELS: Mutex<Vec<(&'static str, String)>> = Mutex::new(Vec::new());

/// Makes the text forms show `shoebill_build_info`, a gauge that is always 1, with these labels.
///
/// ```
/// metrics::set_build_info([("version", "0.1.0"), ("server", "example")]);
/// let text = metrics::prometheus(&metrics::Window::default());
/// assert!(text.contains("\nshoebill_build_info{version=\"0.1.0\",server=\"example\"} 1\n"));
/// ```
pub fn set_build_info<const N: usize>(labels: [(&'static str, &str); N]) {
    let labels = labels.map(|(name, value)| (name, value.to_owned())).into();
    *LABELS.lock().unwrap_or_else(PoisonError::into_inner) = labels;
}

/// The labels; none before they are set.
pub(crate) fn labels() -> Vec<(&'static str, String)> {
    LABELS.lock().unwrap_or_else(PoisonError::into_inner).clone()
}
