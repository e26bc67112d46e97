// SPDX-License-Identifier: Apache-2.0
//! The results of a comparison as text and as a page.

use super::html::{cdf_plot, curve_plot, page, table};
use super::plot::{Plot, Scale, Series, Style, Unit};
use crate::units::{show_ns, show_rate};
use crate::{Comparison, Contender, Sample, Spreads};
use std::fmt::Write;

fn rate(sample: &Sample) -> f64 {
    sample.outcome.rate
}

fn server_cpu(sample: &Sample) -> f64 {
    sample.server_cpu_ns.unwrap_or(f64::NAN)
}

fn with_spread(spreads: Spreads, show: impl Fn(f64) -> String) -> String {
    format!("{} [{} – {}]", show(spreads.median), show(spreads.min), show(spreads.max))
}

fn ratio(spreads: Spreads) -> String {
    with_spread(spreads, |ratio| format!("{ratio:.2}"))
}

/// A figure that may be missing.
fn nanoseconds(ns: f64) -> String {
    if ns.is_nan() { "–".to_owned() } else { format!("{ns:.0} ns") }
}

/// A column for each server, with its name on top; the first column says what is in the rows.
fn columns(comparison: &Comparison) -> Vec<Vec<String>> {
    let titles = [
        "",
        "requests/s",
        "  to the first",
        "server CPU/request",
        "  to the first",
        "p50",
        "p99",
        "p999",
        "hits",
        "errors",
        "client CPU/request",
    ];
    let mut columns = vec![titles.map(str::to_owned).to_vec()];
    for contender in &comparison.contenders {
        let latency = |of: fn(&Sample) -> u64| {
            with_spread(contender.spreads(|sample| of(sample) as f64), show_ns)
        };
        let errors: u64 = contender.samples.iter().map(|sample| sample.outcome.errors).sum();
        let hits = contender.spreads(|sample| sample.outcome.hit_ratio.unwrap_or(f64::NAN)).median;
        columns.push(vec![
            contender.name.clone(),
            with_spread(contender.spreads(rate), show_rate),
            ratio(comparison.ratios(contender, rate)),
            with_spread(contender.spreads(server_cpu), nanoseconds),
            ratio(comparison.ratios(contender, server_cpu)),
            latency(|sample| sample.outcome.latency.p50),
            latency(|sample| sample.outcome.latency.p99),
            latency(|sample| sample.outcome.latency.p999),
            if hits.is_nan() { "–".to_owned() } else { format!("{:.2} %", 100.0 * hits) },
            errors.to_string(),
            nanoseconds(contender.spreads(|sample| sample.outcome.client_cpu_ns).median),
        ]);
    }
    columns
}

/// The table by rows, of which the first has the names of the servers.
fn rows(comparison: &Comparison) -> Vec<Vec<String>> {
    let columns = columns(comparison);
    let row = |number: usize| columns.iter().map(|column| column[number].clone()).collect();
    (0..columns[0].len()).map(row).collect()
}

fn rounds(comparison: &Comparison) -> usize {
    comparison.contenders.first().map_or(0, |contender| contender.samples.len())
}

/// The table: medians with the least and the largest.
pub fn summary(comparison: &Comparison) -> String {
    let rows = rows(comparison);
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max();
    let mut text =
        format!("{}\nmedian [least – largest] of {} rounds\n", comparison.load, rounds(comparison));
    for row in &rows {
        for (column, cell) in row.iter().enumerate() {
            let width = width(column).unwrap_or(0);
            // A string takes everything.
            let _ = write!(text, "{cell:<width$}  ");
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
    }
    for contender in &comparison.contenders {
        let errors = contender.samples.iter().flat_map(|sample| &sample.outcome.first_errors);
        for words in errors.take(3) {
            let _ = writeln!(text, "{}: {words}", contender.name);
        }
    }
    text
}

/// The page of a comparison.
pub fn page_of(comparison: &Comparison) -> String {
    let mut lines = vec![
        comparison.load.clone(),
        format!("median [least – largest] of {} rounds", rounds(comparison)),
    ];
    for contender in &comparison.contenders {
        lines.push(format!("{}: {}", contender.name, contender.command));
    }
    let typical: Vec<_> = comparison
        .contenders
        .iter()
        .filter_map(|contender| Some((contender.name.clone(), &contender.typical()?.outcome)))
        .collect();
    let parts = [
        table(&rows(comparison)),
        curve(comparison).figure(),
        cdf_plot(&typical).figure(),
        over_time(&comparison.contenders).figure(),
    ];
    page("cacheperf compare", &lines, &parts)
}

/// p999 against throughput: a dot for each round.
fn curve(comparison: &Comparison) -> Plot {
    let series = comparison.contenders.iter().map(|contender| {
        let points = contender.samples.iter();
        let points = points.map(|sample| (rate(sample), sample.outcome.latency.p999 as f64));
        Series { name: contender.name.clone(), style: Style::Dots, points: points.collect() }
    });
    curve_plot(series.collect())
}

/// p999 over time, in the round that is typical of each.
fn over_time(contenders: &[Contender]) -> Plot {
    let series = contenders.iter().filter_map(|contender| {
        let moments = contender.typical()?.outcome.timeline.iter();
        let points = moments
            .filter(|moment| moment.latency.count > 0)
            .map(|moment| (moment.at_s, moment.latency.p999 as f64))
            .collect();
        Some(Series { name: contender.name.clone(), style: Style::Line, points })
    });
    Plot::new(
        "p999 over time",
        ("time since the start, warm-up included (s)", Unit::Seconds, Scale::Linear),
        ("p999 latency", Unit::Time, Scale::Log),
        series.collect(),
    )
}
