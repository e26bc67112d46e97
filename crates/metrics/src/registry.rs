// SPDX-License-Identifier: Apache-2.0
//! Everything declared in the process, by name.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;

use metriken_core::Value;

use crate::bucket::Counts;
use crate::declare::is_valid_name;
use crate::family::Member;
use crate::window::Percentile;
use crate::{Family, Histogram, source};

/// What a metric is, as Prometheus types it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Only grows: [`Counter`](crate::Counter) and [`Total`](crate::Total).
    Counter,
    /// Goes up and down: [`Gauge`](crate::Gauge), [`Level`](crate::Level) and [`Family`].
    Gauge,
    /// A distribution: [`Histogram`](crate::Histogram).
    Histogram,
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        })
    }
}

/// A metric as it was declared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Description {
    /// The name all text forms use.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// Its doc comment, on one line.
    pub help: &'static str,
}

/// A metric at the moment it is read; of a histogram, where to read its counts, or the counts.
#[derive(Debug)]
pub(crate) struct Reading<H = &'static Histogram> {
    pub(crate) name: &'static str,
    pub(crate) help: &'static str,
    pub(crate) value: ReadValue<H>,
}

#[derive(Debug)]
pub(crate) enum ReadValue<H = &'static Histogram> {
    Counter(u64),
    Gauge(i64),
    Histogram(H),
    Family { label: &'static str, members: Vec<Member> },
}

impl<H> ReadValue<H> {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Counter(_) => Kind::Counter,
            Self::Gauge(_) | Self::Family { .. } => Kind::Gauge,
            Self::Histogram(_) => Kind::Histogram,
        }
    }
}

/// Every metric declared in the process, sorted by name. A name declared twice is there twice.
///
/// ```
/// let uptime = metrics::list()
///     .into_iter()
///     .find(|metric| metric.name == "process_uptime_seconds")
///     .unwrap();
/// assert_eq!(uptime.kind, metrics::Kind::Gauge);
/// ```
#[must_use]
pub fn list() -> Vec<Description> {
    let mut list: Vec<_> = entries()
        .filter_map(read)
        .map(|Reading { name, help, value }| Description { name, kind: value.kind(), help })
        .collect();
    list.sort_unstable();
    list
}

/// The value of one metric: a counter's or gauge's own, a histogram's count, the sum of a family.
/// `None` for a name nobody declared.
#[must_use]
pub fn value(name: &str) -> Option<i128> {
    let reading = entries().find(|entry| entry.name() == name).and_then(read)?;
    Some(match reading.value {
        ReadValue::Counter(value) => value.into(),
        ReadValue::Gauge(value) => value.into(),
        ReadValue::Histogram(histogram) => histogram.count().into(),
        ReadValue::Family { members, .. } => {
            members.iter().map(|member| i128::from(member.value)).sum()
        }
    })
}

/// Names that more than one metric would print, sorted. Meant for a test in every server, since
/// only the whole process knows all its metrics:
///
/// ```
/// assert_eq!(metrics::duplicates(), Vec::<String>::new());
/// ```
///
/// A histogram prints several names: `x` takes `x_bucket`, `x_count`, `x_sum`, `x_max`, `x_recent` and
/// `x_p25` to `x_p9999` as well. What a [`Family`] prints in the flat forms depends on its members
/// and is not looked at. When there are duplicates after all, the text forms print the
/// first metric of each name and stay well-formed.
#[must_use]
pub fn duplicates() -> Vec<String> {
    duplicates_of(&list())
}

fn duplicates_of(list: &[Description]) -> Vec<String> {
    let mut uses = BTreeMap::new();
    let printed = list.iter().flat_map(|metric| {
        let derived = ["bucket", "count", "sum", "max", "recent"]
            .into_iter()
            .chain(Percentile::ALL.iter().map(|percentile| percentile.label()))
            .filter(|_| metric.kind == Kind::Histogram)
            .map(|suffix| format!("{}_{suffix}", metric.name));
        std::iter::once(metric.name.to_owned()).chain(derived)
    });
    for name in printed {
        *uses.entry(name).or_insert(0) += 1;
    }
    uses.into_iter().filter(|(_, uses)| *uses > 1).map(|(name, _)| name).collect()
}

/// Reads every metric, sorted by name, each name once.
pub(crate) fn readings() -> Vec<Reading> {
    let mut entries: Vec<_> = entries().collect();
    entries.sort_by_key(|entry| entry.name());
    entries.dedup_by_key(|entry| entry.name());
    entries.into_iter().filter_map(read).collect()
}

/// Every metric as it is at one moment, sorted by name, each name once: sources are asked first, and
/// nothing is left to be read later.
pub(crate) fn moment() -> Vec<Reading<Counts>> {
    source::refresh();
    let whole = |Reading { name, help, value }: Reading| {
        let value = match value {
            ReadValue::Counter(value) => ReadValue::Counter(value),
            ReadValue::Gauge(value) => ReadValue::Gauge(value),
            ReadValue::Histogram(histogram) => ReadValue::Histogram(histogram.counts()),
            ReadValue::Family { label, members } => ReadValue::Family { label, members },
        };
        Reading { name, help, value }
    };
    readings().into_iter().map(whole).collect()
}

/// Every histogram with its name, sorted by name, each name once.
pub(crate) fn histograms() -> impl Iterator<Item = (&'static str, &'static Histogram)> {
    readings().into_iter().filter_map(|reading| match reading.value {
        ReadValue::Histogram(histogram) => Some((reading.name, histogram)),
        _ => None,
    })
}

/// The entries the linker gathered. Those declared by another crate straight through metriken are
/// among them; a name the text forms could not carry is left out.
fn entries() -> impl Iterator<Item = &'static metriken_core::MetricEntry> {
    metriken_core::metrics().static_metrics().iter().filter(|entry| is_valid_name(entry.name()))
}

/// Reads a metric, unless it is of a type this crate does not know.
fn read(entry: &'static metriken_core::MetricEntry) -> Option<Reading> {
    let value = match entry.metric().value()? {
        Value::Counter(value) => ReadValue::Counter(value),
        Value::Gauge(value) => ReadValue::Gauge(value),
        Value::Other(any) => read_own(any)?,
        _ => return None,
    };
    let help = entry.description().unwrap_or_default();
    Some(Reading { name: entry.name(), help, value })
}

fn read_own(any: &'static dyn Any) -> Option<ReadValue> {
    if let Some(family) = any.downcast_ref::<Family>() {
        return Some(ReadValue::Family { label: family.label(), members: family.members() });
    }
    any.downcast_ref().map(ReadValue::Histogram)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn described(name: &'static str, kind: Kind) -> Description {
        Description { name, kind, help: "" }
    }

    #[test]
    fn a_name_is_a_duplicate_when_two_metrics_print_it() {
        let list = [
            described("get", Kind::Counter),
            described("get", Kind::Gauge),
            described("latency", Kind::Histogram),
            described("latency_p99", Kind::Counter),
            described("latency_max", Kind::Counter),
            described("latency_mean", Kind::Counter),
            described("set_count", Kind::Counter),
            described("set", Kind::Counter),
        ];
        assert_eq!(duplicates_of(&list), ["get", "latency_max", "latency_p99"]);
    }

    #[test]
    fn this_crate_declares_no_name_twice() {
        assert!(list().iter().any(|metric| metric.name == "pid"));
        assert_eq!(duplicates(), Vec::<String>::new());
    }
}
