// SPDX-License-Identifier: Apache-2.0
//! Everything declared in the process, by name.

use std::any::Any;
use std::collections::BTreeMap;
use std::fmt;

use metriken_core::Value;

use crate::bucket::Counts;
use crate::declare::is_valid_name;
use crate::distribution::Distribution;
use crate::family::{Figure, Member};
use crate::unit::Unit;
use crate::{
    Family, Histogram, HistogramFamily, TotalFamily, build, exposition, metric_set, source,
};

/// What a metric is, as Prometheus types it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// Only grows: [`Counter`](crate::Counter), [`Total`](crate::Total) and [`TotalFamily`].
    Counter,
    /// Goes up and down: [`Gauge`](crate::Gauge), [`Level`](crate::Level) and [`Family`].
    Gauge,
    /// A distribution: [`Histogram`](crate::Histogram) and [`HistogramFamily`].
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

/// A metric as it was declared; of several that labels tell apart, all of them.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub struct Description {
    /// The name all text forms use.
    pub name: &'static str,
    /// What it is.
    pub kind: Kind,
    /// The names of its labels.
    pub labels: Vec<&'static str>,
    /// Its doc comment, on one line.
    pub help: &'static str,
}

/// A metric at the moment it is read; of a histogram, where to read its counts, or the counts.
#[derive(Debug)]
pub(crate) struct Reading<H = &'static Histogram> {
    pub(crate) name: &'static str,
    /// Its labels as they are written between braces; empty without labels.
    pub(crate) labels: &'static str,
    pub(crate) help: &'static str,
    pub(crate) unit: Unit,
    pub(crate) value: ReadValue<H>,
}

#[derive(Debug)]
pub(crate) enum ReadValue<H = &'static Histogram> {
    Counter(u64),
    Gauge(i64),
    Histogram(H),
    Levels(&'static str, Vec<Member<i64>>),
    Totals(&'static str, Vec<Member<u64>>),
    Distributions(&'static str, Vec<Member<Distribution>>),
}

impl<H> ReadValue<H> {
    pub(crate) fn kind(&self) -> Kind {
        match self {
            Self::Counter(_) | Self::Totals(..) => Kind::Counter,
            Self::Gauge(_) | Self::Levels(..) => Kind::Gauge,
            Self::Histogram(_) | Self::Distributions(..) => Kind::Histogram,
        }
    }

    fn label(&self) -> Option<&'static str> {
        match self {
            Self::Levels(label, _) | Self::Totals(label, _) | Self::Distributions(label, _) => {
                Some(label)
            }
            _ => None,
        }
    }
}

impl<H> Reading<H> {
    /// The name with its labels: what tells it from all others.
    pub(crate) fn series(&self) -> String {
        exposition::series(self.name, self.labels)
    }

    fn label_names(&self) -> Vec<&'static str> {
        let of = |pair: &'static str| pair.split_once('=').map(|(name, _)| name);
        let own = self.labels.split(',').filter_map(of);
        self.value.label().into_iter().chain(own).collect()
    }
}

/// Every metric that the text forms show ([`show_only`](crate::show_only)), sorted by name. A name that is
/// declared twice is there twice.
///
/// ```
/// let open = metrics::list()
///     .into_iter()
///     .find(|metric| metric.name == "process_open_fds")
///     .unwrap();
/// assert_eq!(open.kind, metrics::Kind::Gauge);
/// ```
#[must_use]
pub fn list() -> Vec<Description> {
    let mut list: Vec<Description> = entries()
        .filter(|entry| metric_set::is_shown(entry.module()))
        .filter_map(read)
        .map(|reading| Description {
            name: reading.name,
            kind: reading.value.kind(),
            labels: reading.label_names(),
            help: reading.help,
        })
        .collect();
    let labels = build::labels();
    if !labels.is_empty() {
        let labels = labels.into_iter().map(|(name, _)| name).collect();
        list.push(Description { name: build::NAME, kind: Kind::Gauge, labels, help: build::HELP });
    }
    list.sort_unstable();
    // Members of one name; a name of two declarations has two help texts.
    list.dedup();
    list
}

/// The value of one metric, in the unit that it is counted in: a counter's or gauge's own, a histogram's count. Of a
/// name whose metrics labels tell apart, their sum, or with the labels that of one:
/// `example_requests_total{command="get"}`. `None` for a name nobody declared.
#[must_use]
pub fn value(name: &str) -> Option<i128> {
    let (name, labels) = split(name);
    if !is_valid_name(name) {
        return None;
    }
    let is_named = |entry: &&metriken_core::MetricEntry| {
        let rest = entry.name().strip_prefix(name);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('{'))
    };
    // Names are compared before any is looked at more closely: some are asked for ten times a second.
    let readings =
        metriken_core::metrics().static_metrics().iter().filter(is_named).filter_map(read);
    let mut sum = None;
    for reading in readings {
        let value = match &reading.value {
            ReadValue::Levels(label, members) => {
                of_members(&reading, label, members, labels, i128::from)
            }
            ReadValue::Totals(label, members) => {
                of_members(&reading, label, members, labels, i128::from)
            }
            ReadValue::Distributions(label, members) => {
                of_members(&reading, label, members, labels, |shown| shown.count().into())
            }
            _ if !labels.is_empty() && reading.labels != labels => None,
            ReadValue::Counter(value) => Some((*value).into()),
            ReadValue::Gauge(value) => Some((*value).into()),
            ReadValue::Histogram(histogram) => Some(histogram.count().into()),
        };
        if let Some(value) = value {
            *sum.get_or_insert(0) += value;
        }
    }
    sum
}

/// The sum of a family's members, or the value of the one that has these labels.
fn of_members<T: Figure>(
    reading: &Reading,
    label: &str,
    members: &[Member<T>],
    labels: &str,
    value: impl Fn(T) -> i128,
) -> Option<i128> {
    let values = |member: &Member<T>| value(member.value.clone());
    if labels.is_empty() {
        return Some(members.iter().map(values).sum());
    }
    let is_wanted =
        |member: &&Member<T>| exposition::member_labels(label, member, reading.labels) == labels;
    let found = members.iter().find(is_wanted);
    found.map(values)
}

/// Names that more than one metric would print, sorted. Meant for a test in every server, since
/// only the whole process knows all its metrics:
///
/// ```standalone_crate
/// assert_eq!(metrics::duplicates(), Vec::<String>::new());
/// ```
///
/// A histogram prints several names: `x` takes `x_bucket`, `x_count`, `x_sum`, `x_max` and `x_recent` as
/// well, the last two before its unit. When there are duplicates after all, the text forms print the first metric of
/// each name and stay well-formed.
#[must_use]
pub fn duplicates() -> Vec<String> {
    let readings: Vec<_> = entries().filter_map(read).collect();
    duplicates_of(readings.iter().map(|reading| (reading.series(), reading.help, reading.name)))
}

/// A series must be there once, and what metrics of one name say about it must be the same.
fn duplicates_of<'a>(all: impl Iterator<Item = (String, &'a str, &'a str)>) -> Vec<String> {
    let mut uses = BTreeMap::new();
    let mut helps = BTreeMap::new();
    for (series, help, name) in all {
        *uses.entry(series).or_insert(0) += 1;
        if *helps.entry(name.to_owned()).or_insert(help) != help {
            *uses.entry(name.to_owned()).or_insert(1) += 1;
        }
    }
    let kinds: BTreeMap<_, _> =
        entries().filter_map(read).map(|reading| (reading.name, reading.value.kind())).collect();
    for name in helps.keys() {
        let derived = exposition::derived(name)
            .into_iter()
            .filter(|_| kinds.get(name.as_str()) == Some(&Kind::Histogram));
        for derived in derived.filter(|derived| helps.contains_key(derived)) {
            *uses.entry(derived).or_insert(0) += 2;
        }
    }
    uses.into_iter().filter(|(_, uses)| *uses > 1).map(|(name, _)| name).collect()
}

/// Reads every metric that `wanted` accepts by its module, sorted by name and labels, each once.
fn readings(wanted: impl Fn(&str) -> bool) -> Vec<Reading> {
    let mut readings: Vec<_> =
        entries().filter(|entry| wanted(entry.module())).filter_map(read).collect();
    readings.sort_by_key(|reading| (reading.name, reading.labels));
    readings.dedup_by_key(|reading| (reading.name, reading.labels));
    readings
}

/// Every metric that is shown as it is at one moment, sorted by name, each once: sources are asked first, and
/// nothing is left to be read later.
pub(crate) fn moment() -> Vec<Reading<Counts>> {
    source::refresh();
    let whole = |Reading { name, labels, help, unit, value }: Reading| {
        let value = match value {
            ReadValue::Counter(value) => ReadValue::Counter(value),
            ReadValue::Gauge(value) => ReadValue::Gauge(value),
            ReadValue::Histogram(histogram) => ReadValue::Histogram(histogram.counts()),
            ReadValue::Levels(label, members) => ReadValue::Levels(label, members),
            ReadValue::Totals(label, members) => ReadValue::Totals(label, members),
            ReadValue::Distributions(label, members) => ReadValue::Distributions(label, members),
        };
        Reading { name, labels, help, unit, value }
    };
    readings(metric_set::is_shown).into_iter().map(whole).collect()
}

/// Every histogram with its series, sorted by name, each once.
pub(crate) fn histograms() -> impl Iterator<Item = (String, &'static Histogram)> {
    readings(|_| true).into_iter().filter_map(|reading| {
        let series = reading.series();
        match reading.value {
            ReadValue::Histogram(histogram) => Some((series, histogram)),
            _ => None,
        }
    })
}

/// The name and the labels of a series.
fn split(series: &str) -> (&str, &str) {
    let Some((name, rest)) = series.split_once('{') else { return (series, "") };
    (name, rest.trim_end_matches('}').trim_end_matches(','))
}

/// The entries the linker gathered. Those declared by another crate straight through metriken are
/// among them; a name the text forms could not carry is left out.
fn entries() -> impl Iterator<Item = &'static metriken_core::MetricEntry> {
    let entries = metriken_core::metrics().static_metrics().iter();
    entries.filter(|entry| is_valid_name(split(entry.name()).0))
}

/// Reads a metric, unless it is of a type this crate does not know.
fn read(entry: &'static metriken_core::MetricEntry) -> Option<Reading> {
    let value = match entry.metric().value()? {
        Value::Counter(value) => ReadValue::Counter(value),
        Value::Gauge(value) => ReadValue::Gauge(value),
        Value::Other(any) => read_own(any)?,
        _ => return None,
    };
    let (name, labels) = split(entry.name());
    let help = entry.description().unwrap_or_default();
    let unit = entry.metadata().get("unit").and_then(Unit::named).unwrap_or_default();
    Some(Reading { name, labels, help, unit, value })
}

fn read_own(any: &'static dyn Any) -> Option<ReadValue> {
    if let Some(family) = any.downcast_ref::<Family>() {
        return Some(ReadValue::Levels(family.label(), family.members()));
    }
    if let Some(family) = any.downcast_ref::<TotalFamily>() {
        return Some(ReadValue::Totals(family.label(), family.members()));
    }
    if let Some(family) = any.downcast_ref::<HistogramFamily>() {
        return Some(ReadValue::Distributions(family.label(), family.members()));
    }
    any.downcast_ref().map(ReadValue::Histogram)
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::histograms! {
        /// A histogram.
        static LATENCY: "test_latency_seconds" in nanoseconds;
    }

    #[test]
    fn a_name_is_a_duplicate_when_two_metrics_print_it() {
        let all = [
            ("get_total", "a"),
            ("get_total", "a"),
            ("set_total{a=\"1\"}", "a"),
            ("set_total{a=\"2\"}", "a"),
            ("add_total{a=\"1\"}", "a"),
            ("add_total{a=\"2\"}", "b"),
            ("test_latency_seconds", "a"),
            ("test_latency_max_seconds", "a"),
            ("test_latency_seconds_count", "a"),
            ("test_latency_mean", "a"),
        ];
        let all = all.map(|(series, help)| (series.to_owned(), help, split(series).0));
        assert_eq!(
            duplicates_of(all.into_iter()),
            ["add_total", "get_total", "test_latency_max_seconds", "test_latency_seconds_count"]
        );
        assert_eq!(LATENCY.count(), 0);
    }

    #[test]
    fn this_crate_declares_no_name_twice() {
        assert!(list().iter().any(|metric| metric.name == "process_open_fds"));
        assert_eq!(duplicates(), Vec::<String>::new());
    }
}
