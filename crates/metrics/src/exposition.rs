// SPDX-License-Identifier: Apache-2.0
//! What the text forms show, before it is written in one of them: names with their type and help, and samples.

use crate::bucket::Counts;
use crate::build;
use crate::distribution::Distribution;
use crate::family::Member;
use crate::registry::{self, Kind, ReadValue, Reading};
use crate::unit::{Shown, Unit};
use crate::window::{Percentile, Window};

/// The types that Prometheus knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Counter,
    Gauge,
    Histogram,
    Summary,
}

impl Type {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
            Self::Summary => "summary",
        }
    }
}

/// All samples of one name.
#[derive(Debug)]
pub(crate) struct NameGroup {
    pub(crate) name: String,
    pub(crate) kind: Type,
    pub(crate) help: String,
    pub(crate) samples: Vec<Sample>,
}

/// A line: what is behind the name, the labels as they are written between braces, and the value.
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) suffix: &'static str,
    pub(crate) labels: String,
    /// The bound of a bucket, `None` for one without.
    pub(crate) bound: Option<Bound>,
    /// `None` where there is none: a percentile of nothing.
    pub(crate) value: Option<Shown>,
}

/// Up to where a bucket of a histogram counts.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Bound {
    At(Shown),
    Infinity,
}

impl Sample {
    fn new(suffix: &'static str, labels: impl Into<String>, value: Shown) -> Self {
        Self { suffix, labels: labels.into(), bound: None, value: Some(value) }
    }
}

/// A name with labels, as every form writes it.
pub(crate) fn series(name: &str, labels: &str) -> String {
    if labels.is_empty() { name.to_owned() } else { format!("{name}{{{labels}}}") }
}

/// A label with its value, escaped.
pub(crate) fn label(name: &str, value: &str) -> String {
    let value = value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
    format!("{name}=\"{value}\"")
}

/// The base units that names end with.
const UNITS: [&str; 3] = ["seconds", "bytes", "ratio"];

/// The unit at the end of a name without `_total`.
pub(crate) fn unit_of(name: &str) -> Option<&'static str> {
    let end = name.rsplit_once('_').map(|(_, end)| end);
    UNITS.into_iter().find(|unit| end == Some(unit))
}

/// A name with a word more, which goes before the unit.
fn with_word(name: &str, word: &str) -> String {
    match unit_of(name) {
        Some(unit) => {
            let before = name.strip_suffix(unit).expect("the name ends with its unit");
            format!("{before}{word}_{unit}")
        }
        None => format!("{name}_{word}"),
    }
}

/// The names that a histogram takes beside its own.
pub(crate) fn derived(name: &str) -> Vec<String> {
    let own = ["bucket", "count", "sum"].map(|suffix| format!("{name}_{suffix}"));
    own.into_iter().chain(["max", "recent"].map(|word| with_word(name, word))).collect()
}

/// Everything at one moment, sorted by name.
pub(crate) fn groups(window: &Window) -> Vec<NameGroup> {
    let mut groups = Vec::new();
    for of_name in registry::moment().chunk_by(|a, b| a.name == b.name) {
        add(&mut groups, of_name, window);
    }
    let labels = build::labels();
    if !labels.is_empty() {
        let labels: Vec<_> = labels.iter().map(|(name, value)| label(name, value)).collect();
        groups.push(NameGroup {
            name: build::NAME.to_owned(),
            kind: Type::Gauge,
            help: build::HELP.to_owned(),
            samples: vec![Sample::new("", labels.join(","), Unit::One.show(1))],
        });
    }
    groups.sort_by(|a, b| a.name.cmp(&b.name));
    groups
}

/// Adds the metrics of one name.
fn add(groups: &mut Vec<NameGroup>, readings: &[Reading<Counts>], window: &Window) {
    let &Reading { name, help, ref value, .. } = &readings[0];
    let kind = match value.kind() {
        Kind::Counter => Type::Counter,
        Kind::Gauge => Type::Gauge,
        Kind::Histogram => Type::Histogram,
    };
    let samples: Vec<_> = readings.iter().flat_map(samples).collect();
    groups.push(NameGroup { name: name.to_owned(), kind, help: help.to_owned(), samples });
    let of_histograms = |of: fn(&Reading<Counts>, &Counts, &Window) -> Vec<Sample>| -> Vec<_> {
        let each = |reading: &Reading<Counts>| match &reading.value {
            ReadValue::Histogram(counts) if reading.labels.is_empty() || counts.total() > 0 => {
                of(reading, counts, window)
            }
            _ => Vec::new(),
        };
        readings.iter().flat_map(each).collect()
    };
    let mut beside = |word: &str, kind, help: String, samples: Vec<Sample>| {
        if !samples.is_empty() {
            groups.push(NameGroup { name: with_word(name, word), kind, help, samples });
        }
    };
    beside("max", Type::Gauge, format!("The highest {name} since the start."), of_histograms(max));
    beside(
        "recent",
        Type::Summary,
        format!("Recent percentiles of {name}, of the last minute."),
        of_histograms(recent),
    );
}

/// The samples of a metric under its own name.
fn samples(reading: &Reading<Counts>) -> Vec<Sample> {
    let Reading { unit, labels, value, .. } = reading;
    match value {
        ReadValue::Counter(value) => vec![Sample::new("", *labels, unit.show((*value).into()))],
        ReadValue::Gauge(value) => vec![Sample::new("", *labels, unit.show((*value).into()))],
        // Of many that labels tell apart, most are of no use in a program.
        ReadValue::Histogram(counts) if !labels.is_empty() && counts.total() == 0 => Vec::new(),
        ReadValue::Histogram(counts) => distribution(*unit, labels, &Distribution::from(counts)),
        ReadValue::Levels(name, members) => plain(*unit, name, labels, members),
        ReadValue::Totals(name, members) => plain(*unit, name, labels, members),
        ReadValue::Distributions(name, members) => members
            .iter()
            .flat_map(|member| {
                distribution(*unit, &member_labels(name, member, labels), &member.value)
            })
            .collect(),
    }
}

/// The labels of a family's member: its own, then those that all members have.
pub(crate) fn member_labels<T>(name: &str, member: &Member<T>, common: &str) -> String {
    let comma = if common.is_empty() { "" } else { "," };
    format!("{}{comma}{common}", label(name, &member.of))
}

fn plain<T: Copy + Into<i128>>(
    unit: Unit,
    name: &str,
    labels: &str,
    members: &[Member<T>],
) -> Vec<Sample> {
    let sample = |member: &Member<T>| {
        Sample::new("", member_labels(name, member, labels), unit.show(member.value.into()))
    };
    members.iter().map(sample).collect()
}

/// A histogram: cumulative buckets, sum and count. Values below 2^n are under the bound 2^n - 1, which is exact since
/// what is counted are whole numbers.
fn distribution(unit: Unit, labels: &str, shown: &Distribution) -> Vec<Sample> {
    let bucket = |bound, value: u64| Sample {
        suffix: "_bucket",
        labels: labels.to_owned(),
        bound: Some(bound),
        value: Some(Unit::One.show(value.into())),
    };
    let mut samples: Vec<_> = unit
        .powers()
        .map(|power| bucket(Bound::At(unit.show((1_i128 << power) - 1)), shown.below(power)))
        .collect();
    samples.push(bucket(Bound::Infinity, shown.count()));
    samples.push(Sample::new("_sum", labels, unit.show(shown.sum().into())));
    samples.push(Sample::new("_count", labels, Unit::One.show(shown.count().into())));
    samples
}

fn max(reading: &Reading<Counts>, counts: &Counts, _: &Window) -> Vec<Sample> {
    let highest = counts.highest().unwrap_or(0);
    vec![Sample::new("", reading.labels, reading.unit.show(highest.into()))]
}

fn recent(reading: &Reading<Counts>, _: &Counts, window: &Window) -> Vec<Sample> {
    let series = reading.series();
    let comma = if reading.labels.is_empty() { "" } else { "," };
    let sample = |percentile: Percentile| Sample {
        suffix: "",
        labels: format!("{}{comma}{}", reading.labels, label("quantile", percentile.quantile())),
        bound: None,
        value: window.percentile(&series, percentile).map(|value| reading.unit.show(value.into())),
    };
    Percentile::ALL.into_iter().map(sample).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_labels_are_escaped() {
        assert_eq!(label("y", "a\\b \"c\"\nd"), "y=\"a\\\\b \\\"c\\\"\\nd\"");
    }

    #[test]
    fn words_go_before_the_unit() {
        assert_eq!(with_word("x_duration_seconds", "max"), "x_duration_max_seconds");
        assert_eq!(with_word("x_per_request", "max"), "x_per_request_max");
        assert_eq!(with_word("seconds", "max"), "seconds_max");
    }
}
