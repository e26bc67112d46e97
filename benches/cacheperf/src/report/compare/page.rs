// SPDX-License-Identifier: Apache-2.0
//! The page of a comparison: a part for each load, with a curve for each server.

use super::{heading, rate, rows};
use crate::report::html::{TIME, cdf_plot, curve_plot, escape, over_time, page, table};
use crate::report::plot::{Plot, Scale, Series, Style, Unit};
use crate::units::show_rate;
use crate::{Comparison, Percentile, Sample};

/// The page of a comparison.
pub fn page_of(found: &[Comparison]) -> String {
    let contenders = found.first().map_or(&[][..], |comparison| &comparison.contenders);
    let lines = contenders.iter().map(|one| format!("{}: {}", one.name, one.command));
    let lines: Vec<String> = lines.collect();
    let mut parts = Vec::new();
    for load in found.chunk_by(|a, b| a.name == b.name) {
        parts.extend(part(load));
    }
    page("cacheperf compare", &lines, &parts)
}

/// One load, at all its rates.
fn part(load: &[Comparison]) -> Vec<String> {
    let mut parts = Vec::new();
    let name = load.first().map_or("", |comparison| comparison.name.as_str());
    if !name.is_empty() {
        parts.push(format!("<h2>{}</h2>\n", escape(name)));
    }
    if load.len() > 1 {
        parts.push(curve_plot(curves(load)).figure());
    }
    for comparison in load {
        if load.len() > 1 {
            let offered = comparison.contenders.first().and_then(|one| one.samples.first());
            let offered = offered.and_then(|sample| sample.outcome.offered_rate).map(show_rate);
            let offered = offered.unwrap_or_default();
            let name = if name.is_empty() { String::new() } else { format!("{}, ", escape(name)) };
            parts.push(format!("<h3>{name}{offered} requests/s</h3>\n"));
        }
        let lines = heading(comparison).into_iter();
        parts.extend(lines.map(|line| format!("<p>{}</p>\n", escape(&line))));
        parts.push(table(&rows(comparison)));
        if load.len() == 1 {
            parts.push(curve_plot(rounds(comparison)).figure());
        }
        let typical = comparison.contenders.iter();
        let typical = typical.filter_map(|one| Some((one.name.clone(), &one.typical()?.outcome)));
        parts.push(cdf_plot(&typical.collect::<Vec<_>>()).figure());
        parts.push(p999_over_time(comparison).figure());
    }
    parts
}

fn p999(sample: &Sample) -> f64 {
    sample.outcome.latency.p999 as f64
}

/// A line for each server through the medians of all rates.
fn curves(load: &[Comparison]) -> Vec<Series> {
    let names = load[0].contenders.iter().map(|contender| contender.name.clone());
    let curve = |(server, name): (usize, String)| {
        let at = |comparison: &Comparison| {
            let contender = &comparison.contenders[server];
            (contender.spreads(rate).median, contender.spreads(p999).median)
        };
        let mut points: Vec<_> = load.iter().map(at).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        Series { name, style: Style::Dotted, points }
    };
    names.enumerate().map(curve).collect()
}

/// A dot for each round.
fn rounds(comparison: &Comparison) -> Vec<Series> {
    let dots = comparison.contenders.iter().map(|contender| {
        let points = contender.samples.iter().map(|sample| (rate(sample), p999(sample)));
        Series { name: contender.name.clone(), style: Style::Dots, points: points.collect() }
    });
    dots.collect()
}

/// p999 over time, in the round that is typical of each.
fn p999_over_time(comparison: &Comparison) -> Plot {
    let series = comparison.contenders.iter().filter_map(|contender| {
        let outcome = &contender.typical()?.outcome;
        Some(over_time(outcome, &contender.name, Percentile::P999))
    });
    let y = ("p999 latency", Unit::Time, Scale::Log);
    Plot::new("p999 over time", TIME, y, series.collect())
}
