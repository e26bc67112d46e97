// SPDX-License-Identifier: Apache-2.0
//! Which of the declared metrics the text forms show.

use std::sync::{PoisonError, RwLock};

/// Metrics that are of use together: those that a module and the modules in it declare. Made by
/// [`metric_set!`](crate::metric_set).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MetricSet(&'static str);

impl MetricSet {
    #[doc(hidden)]
    #[must_use]
    pub const fn of_module(path: &'static str) -> Self {
        MetricSet(path)
    }

    fn has(self, module: &str) -> bool {
        module.strip_prefix(self.0).is_some_and(|rest| rest.is_empty() || rest.starts_with("::"))
    }
}

/// The [`MetricSet`] of the module it is written in.
///
/// ```
/// mod cars {
///     metrics::counters! {
///         /// Cars that came by.
///         static CARS: "example_cars_total";
///     }
///     pub const METRICS: metrics::MetricSet = metrics::metric_set!();
/// }
/// metrics::show_only([cars::METRICS]);
/// assert!(metrics::list().iter().all(|metric| metric.name == "example_cars_total"));
/// ```
#[macro_export]
macro_rules! metric_set {
    () => {
        $crate::MetricSet::of_module(module_path!())
    };
}

static SHOWN: RwLock<Option<Vec<MetricSet>>> = RwLock::new(None);

/// From now on the lists and the text forms of this process have the metrics of these sets alone. Without it
/// they have all that the linker found, also those of code that never runs in this program.
///
/// Metrics of other sets count as before, and [`value`](crate::value) tells them.
pub fn show_only(sets: impl IntoIterator<Item = MetricSet>) {
    let sets = sets.into_iter().collect();
    *SHOWN.write().unwrap_or_else(PoisonError::into_inner) = Some(sets);
}

/// Whether metrics of this module are shown.
pub(crate) fn is_shown(module: &str) -> bool {
    let shown = SHOWN.read().unwrap_or_else(PoisonError::into_inner);
    shown.as_ref().is_none_or(|sets| sets.iter().any(|set| set.has(module)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_set_is_a_module_with_what_is_in_it() {
        let set = MetricSet::of_module("reactor::metrics");
        assert!(set.has("reactor::metrics") && set.has("reactor::metrics::inner"));
        for module in ["reactor", "reactor::metrics_of_others", "reactor::worker"] {
            assert!(!set.has(module), "{module}");
        }
    }
}
